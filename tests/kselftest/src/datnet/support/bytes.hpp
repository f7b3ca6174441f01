// SPDX-License-Identifier: GPL-2.0
// Contents that both nodes can compute: a byte for each place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace rsmtest::datnet {

constexpr std::byte byte_at(std::uint64_t seed, std::size_t index) {
    return static_cast<std::byte>(((index + 1) * 0x9e3779b97f4a7c15 + seed * 0x100000001b3) >> 56);
}

inline void fill(std::span<std::byte> bytes, std::uint64_t seed) {
    for (std::size_t i = 0; i < bytes.size(); i++)
        bytes[i] = byte_at(seed, i);
}

// Number of bytes that are not the pattern's.
inline std::size_t mismatches(std::span<const std::byte> bytes, std::uint64_t seed) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < bytes.size(); i++)
        count += bytes[i] != byte_at(seed, i);
    return count;
}

// Private data of connections: the active side's and the passive side's differ.
inline constexpr std::uint64_t active_seed = 11;
inline constexpr std::uint64_t passive_seed = 12;

inline std::string private_data(std::uint64_t seed, std::size_t size) {
    std::string data(size, '\0');
    fill(std::as_writable_bytes(std::span(data)), seed);
    return data;
}

inline std::size_t private_mismatches(const void *data, std::size_t size, std::uint64_t seed) {
    return mismatches({static_cast<const std::byte *>(data), size}, seed);
}

} // namespace rsmtest::datnet
