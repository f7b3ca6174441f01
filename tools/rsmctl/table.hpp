// SPDX-License-Identifier: GPL-2.0
// Records as people read them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "colour.hpp"
#include "record.hpp"

namespace rsmctl {

// A line of headings, and one for each record, of the fields that have a heading. Columns are as
// wide as they need to be; numbers end at the same place. Words that tell of a state have colours.
std::string table_of(std::span<const Field> fields, const std::vector<Json> &records, bool human,
                     Colours colours = Colours::off);

// Those fields, in that order, each with a heading: its key, where it has none.
std::vector<Field> fields_named(std::span<const Field> fields,
                                const std::vector<std::string> &keys);

// A line for each field that the record has.
std::string lines_of(std::span<const Field> fields, const Json &record, bool human,
                     Colours colours = Colours::off);

} // namespace rsmctl
