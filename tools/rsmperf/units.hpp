// SPDX-License-Identifier: GPL-2.0
// Sizes, times and rates as people write them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace rsmperf {

// A size: digits, and perhaps K, M or G (powers of 1024; KiB and KB mean the same). Throws
// std::invalid_argument, with the text in its message.
std::size_t parse_size(const std::string &text);

// A list of sizes or of other numbers above 0: "8,64,1K"; "8:64M" for 8, 16, 32 ... 64M; "1:64M:8"
// for each eighth power. Ascending and without repetition. Throws std::invalid_argument.
std::vector<std::size_t> parse_list(const std::string &text);

// 8, 64K, 1M; a size that is no multiple of 1024 in full.
std::string size_text(std::size_t size);

// Three digits that mean something, and the unit that fits: 38.2 ns, 4.10 ms.
std::string time_text(double ns);

// Bytes per time, as 12.3 GB/s (10^9 bytes) or 640 MB/s.
std::string rate_text(std::size_t bytes, double ns);

// Pads a text to so many characters (not bytes: µ has two), on the left or on the right.
std::string padded_left(const std::string &text, std::size_t width);
std::string padded_right(const std::string &text, std::size_t width);

} // namespace rsmperf
