// SPDX-License-Identifier: MIT
#include "controller_name.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>

#include "text.h"

namespace rsm {

bool canonical_controller_name(const char *name, ControllerName &canonical) noexcept {
    // No controller has a name that does not fit, not counting leading zeros.
    constexpr std::size_t longest = 256;
    const std::string_view text =
        name == nullptr ? loopback_name : std::string_view(name, ::strnlen(name, longest));
    const auto unit_size = static_cast<std::size_t>(
        std::find_if_not(text.rbegin(), text.rend(), is_digit) - text.rbegin());
    const auto type = text.substr(0, text.size() - unit_size);
    const auto digits = text.substr(type.size());
    if (type.empty() || type.size() >= canonical.size() || text.size() == longest)
        return false;

    canonical.fill('\0');
    std::ranges::transform(type, canonical.begin(), to_lower);
    if (equal_ignoring_case(type, loopback_name))
        return true;

    std::uint32_t unit = 0;
    if (!digits.empty() &&
        std::from_chars(digits.data(), digits.data() + digits.size(), unit).ec != std::errc())
        return false;
    auto *last = canonical.data() + canonical.size() - 1;
    return std::to_chars(canonical.data() + type.size(), last, unit).ec == std::errc();
}

} // namespace rsm
