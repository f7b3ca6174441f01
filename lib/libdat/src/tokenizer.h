// SPDX-License-Identifier: MIT
// Splits a line of dat.conf into its fields.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dat {

// The fields of a line (without its newline), quotes and comments taken off.
// Not more than `limit` of them: a line with as many is as bad as a longer one.
// Nothing if a quote is left open or a byte is zero: C strings are made of them.
std::optional<std::vector<std::string>> split_fields(std::string_view line, std::size_t limit);

} // namespace dat
