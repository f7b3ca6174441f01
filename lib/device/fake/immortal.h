// SPDX-License-Identifier: MIT
#pragma once

namespace rsmfake {

// Holds an object of static storage that nothing destroys: functions that run when the program ends, of
// the program or of a sanitizer, still call the interposed ones.
template <class T>
union Immortal {
    constexpr Immortal() noexcept : value{} {}
    Immortal(const Immortal &) = delete;
    Immortal &operator=(const Immortal &) = delete;
    ~Immortal() {} // NOLINT(modernize-use-equals-default): that would be deleted

    T value;
};

} // namespace rsmfake
