// SPDX-License-Identifier: MIT
#include "engine/memory/pages.h"

#include <unistd.h>

namespace rsmengine {

namespace {

std::uint64_t page_mask() noexcept {
    static const auto mask = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) - 1;
    return mask;
}

} // namespace

std::optional<PageRange> pages_around(std::uint64_t start, std::uint64_t length) noexcept {
    const std::uint64_t mask = page_mask();
    std::uint64_t end = 0;
    if (__builtin_add_overflow(start, length, &end) || __builtin_add_overflow(end, mask, &end))
        return {};
    return PageRange{start & ~mask, (end & ~mask) - (start & ~mask)};
}

PageRange pages_inside(std::uint64_t start, std::uint64_t length) noexcept {
    const std::uint64_t mask = page_mask();
    const std::uint64_t end = (start + length) & ~mask;
    std::uint64_t first = 0;
    if (__builtin_add_overflow(start, mask, &first) || (first & ~mask) >= end)
        return {end, 0};
    return {first & ~mask, end - (first & ~mask)};
}

} // namespace rsmengine
