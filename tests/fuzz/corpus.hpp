// SPDX-License-Identifier: GPL-2.0
// Inputs of the fuzzer: a file with one per line, in hexadecimal digits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rsmtest::fuzz {

using Bytes = std::vector<std::uint8_t>;

inline constexpr std::size_t longest_input = 384;
inline constexpr std::uint64_t calls_per_input = 64;

std::vector<Bytes> load_corpus(const std::string &path);
std::string to_text(const Bytes &input);
// The corpus that the guest gets beside the tests.
std::string corpus_beside_program();

} // namespace rsmtest::fuzz
