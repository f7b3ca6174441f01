// SPDX-License-Identifier: GPL-2.0
// The order of a list, and its columns.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "record.hpp"

namespace rsmctl {

enum class Direction { ascending, descending };

// The key that a user means by a word: the key itself, or the heading of its column in letters of
// any case. Throws std::invalid_argument that says which there are.
std::string column_named(std::span<const Field> fields, const std::string &word);

// The keys of columns that a user names with commas in between, each as column_named() takes it.
std::vector<std::string> columns_named(std::span<const Field> fields, const std::string &words);

// By what a field says; records that do not have it come last. No limit is more than any limit.
// Records that are equal stay in their order.
void sort_records(std::vector<Json> &records, const Field &field, Direction direction);

} // namespace rsmctl
