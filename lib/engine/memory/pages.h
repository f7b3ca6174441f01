// SPDX-License-Identifier: MIT
// Ranges of whole pages.
#pragma once

#include <cstdint>
#include <optional>

namespace rsmengine {

struct PageRange {
    std::uint64_t start;
    std::uint64_t length;
};

// All pages that a range touches. Nothing if they would reach beyond the end of the address space.
std::optional<PageRange> pages_around(std::uint64_t start, std::uint64_t length) noexcept;

// The pages that lie wholly inside, of length 0 if there are none. start + length does not
// overflow.
PageRange pages_inside(std::uint64_t start, std::uint64_t length) noexcept;

} // namespace rsmengine
