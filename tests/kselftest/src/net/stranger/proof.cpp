// SPDX-License-Identifier: GPL-2.0
#include "net/stranger/proof.hpp"

#include <bit>
#include <vector>

namespace rsmtest::stranger {
namespace {

constexpr std::size_t block_size = 64;
using Bytes = std::vector<std::uint8_t>;
using Words = std::array<std::uint32_t, 16>;
using State = std::array<std::uint32_t, 8>;

constexpr State start = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

// In which order the rounds take the words of a block.
constexpr std::array<std::array<std::uint8_t, 16>, 10> orders = {{
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
    {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
    {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
    {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
    {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
}};

// The words that each step of a round mixes: columns, then diagonals.
constexpr std::array<std::array<std::uint8_t, 4>, 8> steps = {{
    {0, 4, 8, 12},
    {1, 5, 9, 13},
    {2, 6, 10, 14},
    {3, 7, 11, 15},
    {0, 5, 10, 15},
    {1, 6, 11, 12},
    {2, 7, 8, 13},
    {3, 4, 9, 14},
}};

void mix(Words &v, const std::array<std::uint8_t, 4> &at, std::uint32_t x, std::uint32_t y) {
    auto &a = v.at(at[0]);
    auto &b = v.at(at[1]);
    auto &c = v.at(at[2]);
    auto &d = v.at(at[3]);
    a += b + x;
    d = std::rotr(d ^ a, 16);
    c += d;
    b = std::rotr(b ^ c, 12);
    a += b + y;
    d = std::rotr(d ^ a, 8);
    c += d;
    b = std::rotr(b ^ c, 7);
}

Words words_of(std::span<const std::uint8_t> block) {
    Words words{};
    for (std::size_t i = 0; i < block.size(); i++)
        words.at(i / 4) |= static_cast<std::uint32_t>(block[i]) << (8 * (i % 4));
    return words;
}

enum class Block { inner, last };

void compress(State &state, std::span<const std::uint8_t> block, std::size_t count, Block place) {
    const Words m = words_of(block);
    Words v{};
    for (std::size_t i = 0; i < state.size(); i++) {
        v.at(i) = state.at(i);
        v.at(i + 8) = start.at(i);
    }
    v[12] ^= static_cast<std::uint32_t>(count);
    v[14] ^= place == Block::last ? ~0U : 0U;
    for (const auto &order : orders)
        for (std::size_t i = 0; i < steps.size(); i++)
            mix(v, steps.at(i), m.at(order.at(2 * i)), m.at(order.at(2 * i + 1)));
    for (std::size_t i = 0; i < state.size(); i++)
        state.at(i) ^= v.at(i) ^ v.at(i + 8);
}

// The text must not be empty.
Digest blake2s(std::span<const std::uint8_t> text) {
    State state = start;
    state[0] ^= 0x01010000U | static_cast<std::uint32_t>(Digest{}.size());
    std::size_t done = 0;
    for (; text.size() - done > block_size; done += block_size)
        compress(state, text.subspan(done, block_size), done + block_size, Block::inner);
    compress(state, text.subspan(done), text.size(), Block::last);
    Digest digest{};
    for (std::size_t i = 0; i < digest.size(); i++)
        digest.at(i) = static_cast<std::uint8_t>(state.at(i / 4) >> (8 * (i % 4)));
    return digest;
}

Bytes padded(const Secret &secret, std::uint8_t pad) {
    Bytes block(block_size, pad);
    for (std::size_t i = 0; i < secret.size(); i++)
        block[i] ^= secret[i];
    return block;
}

} // namespace

Digest hmac(const Secret &secret, std::span<const std::byte> data) {
    Bytes inner = padded(secret, 0x36);
    for (const std::byte each : data)
        inner.push_back(std::to_integer<std::uint8_t>(each));
    const Digest digest = blake2s(inner);
    Bytes outer = padded(secret, 0x5c);
    outer.insert(outer.end(), digest.begin(), digest.end());
    return blake2s(outer);
}

} // namespace rsmtest::stranger
