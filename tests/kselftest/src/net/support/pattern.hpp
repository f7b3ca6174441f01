// SPDX-License-Identifier: GPL-2.0
// Contents that both ends of a transfer can compute: a word for each place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace rsmtest::net {

// Word number index of the pattern with this seed (the mixer of splitmix64).
constexpr std::uint64_t pattern(std::uint64_t seed, std::uint64_t index) {
    std::uint64_t word = (seed * 0x100000001b3 + index + 1) * 0x9e3779b97f4a7c15;
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9;
    word = (word ^ (word >> 27)) * 0x94d049bb133111eb;
    return word ^ (word >> 31);
}

inline void fill(std::span<volatile std::uint64_t> words, std::uint64_t seed) {
    for (std::size_t i = 0; i < words.size(); i++)
        words[i] = pattern(seed, i);
}

// Number of words that are not the pattern's.
inline std::uint64_t mismatches(std::span<const volatile std::uint64_t> words, std::uint64_t seed) {
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < words.size(); i++)
        count += words[i] != pattern(seed, i);
    return count;
}

} // namespace rsmtest::net
