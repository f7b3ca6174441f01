// SPDX-License-Identifier: GPL-2.0
// HMAC-BLAKE2s (RFC 2104, RFC 7693), for somebody who has the secret of a cluster and not its kernel.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace rsmtest::stranger {

using Secret = std::array<std::uint8_t, 32>;
using Digest = std::array<std::uint8_t, 32>;

Digest hmac(const Secret &secret, std::span<const std::byte> data);

} // namespace rsmtest::stranger
