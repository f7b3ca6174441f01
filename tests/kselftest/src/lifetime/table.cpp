// SPDX-License-Identifier: GPL-2.0
#include "lifetime/table.hpp"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <sstream>

namespace rsmtest::lifetime {
namespace {

std::string half_of(const std::string &cell, int provider)
{
    const auto slash = cell.find('/');
    if (slash == std::string::npos)
        return cell;
    return provider == 0 ? cell.substr(0, slash) : cell.substr(slash + 1);
}

Words columns_of(std::span<const Object> objects, const Row &row)
{
    const auto found = std::ranges::find_if(objects, [&](const Object &object) {
        return std::strcmp(object.name, row.object) == 0;
    });
    return found == objects.end() ? Words() : words_of(found->columns);
}

} // namespace

std::string name_of(Way way)
{
    const char *const names[] = {"NONE",   "FREED",  "UNMAPPED",  "TRUNCATED", "PROTECTED",
                                 "FORKED", "EXECED", "CANCELLED", "KILLED"};
    return names[static_cast<int>(way)];
}

std::string name_of(Where where)
{
    return where == Where::HERE ? "HERE" : "PEER";
}

Words words_of(const std::string &text)
{
    Words words;
    std::istringstream stream(text);
    for (std::string word; stream >> word;)
        words.push_back(word);
    return words;
}

std::string name_of(const Row &row)
{
    return std::string(row.object) + "_" + name_of(row.way) + "_" + name_of(row.where);
}

void PrintTo(const Row &row, std::ostream *out)
{
    *out << name_of(row);
}

void compare(std::span<const Object> objects, const Row &row, const Words &seen, int provider)
{
    const Words columns = columns_of(objects, row);
    const Words cells = words_of(row.cells);
    ASSERT_FALSE(columns.empty()) << "no such object: " << row.object;
    ASSERT_EQ(cells.size(), columns.size()) << "the row has not one cell for each column";
    ASSERT_EQ(seen.size(), columns.size()) << testing::PrintToString(seen);
    for (std::size_t i = 0; i < cells.size(); i++)
        EXPECT_EQ(half_of(cells[i], provider), seen[i]) << columns[i];
}

} // namespace rsmtest::lifetime
