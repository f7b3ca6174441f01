// SPDX-License-Identifier: MIT
#include "connect/greeting.h"

#include <algorithm>
#include <cassert>

namespace rsmengine {
namespace {

constexpr std::byte MARK{0xda};
constexpr std::byte REJECTION_MARK{0xdb};
constexpr std::byte CONSUMER{1};
constexpr std::byte PROVIDER{2};

} // namespace

Greeting::Greeting(std::span<const std::byte> data) noexcept : size_(GREETING_HEAD + data.size()) {
    assert(data.size() <= GREETING_ROOM);
    bytes_[0] = MARK;
    bytes_[1] = static_cast<std::byte>(data.size());
    std::ranges::copy(data, bytes_.begin() + GREETING_HEAD);
}

std::optional<std::span<const std::byte>>
Greeting::data_of(std::span<const std::byte> from) noexcept {
    if (from.size() < GREETING_HEAD || from[0] != MARK)
        return std::nullopt;
    const auto size = std::to_integer<std::size_t>(from[1]);
    if (size > GREETING_ROOM || size > from.size() - GREETING_HEAD)
        return std::nullopt;
    return from.subspan(GREETING_HEAD, size);
}

Rejection rejection(Refusal how) noexcept {
    return {REJECTION_MARK, how == Refusal::BY_CONSUMER ? CONSUMER : PROVIDER};
}

Refusal refusal_of(std::span<const std::byte> from) noexcept {
    const bool ours = from.size() >= GREETING_HEAD && from[0] == REJECTION_MARK;
    return ours && from[1] == CONSUMER ? Refusal::BY_CONSUMER : Refusal::BY_PROVIDER;
}

} // namespace rsmengine
