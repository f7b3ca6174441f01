// SPDX-License-Identifier: GPL-2.0
// The table of lifetimes: rows of librsm.def and libdat.def.
#pragma once

#include <ostream>
#include <span>
#include <string>
#include <vector>

namespace rsmtest::lifetime {

// How something ends, or what happens to it instead; see librsm.def.
enum class Way { NONE, FREED, UNMAPPED, TRUNCATED, PROTECTED, FORKED, EXECED, CANCELLED, KILLED };
// At which of the two sides.
enum class Where { HERE, PEER };

std::string name_of(Way way);
std::string name_of(Where where);

// An object, and the columns of its rows.
struct Object {
    const char *name;
    const char *title;
    const char *columns;
};

// The cells of an object at its own side, when something has happened to it here, or at the peer.
struct Row {
    const char *object;
    Way way;
    Where where;
    const char *cells;
};

// The words between blanks.
using Words = std::vector<std::string>;
Words words_of(const std::string &text);

// As gtest wants the name of a row's test: EXPORT_UNMAPPED_HERE.
std::string name_of(const Row &row);
// gtest prints a row by its name.
void PrintTo(const Row &row, std::ostream *out);

// The test of a row: fails for each cell that is not what the row says. `provider`: which half of a
// cell "ONE/OTHER" counts, 0 or 1.
void compare(std::span<const Object> objects, const Row &row, const Words &seen, int provider = 0);

} // namespace rsmtest::lifetime
