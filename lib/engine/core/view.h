// SPDX-License-Identifier: MIT
// Structures in the memory of a program.
#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>

namespace rsmengine {

// Some T one behind the other, in memory that holds what a face calls otherwise. A face whose own
// structure has the same members at the same places, which it asserts, passes its callers' memory
// on without a copy. Each read copies one T, so the compiler need not know that the types agree.
template <class T>
class View {
    static_assert(std::is_trivially_copyable_v<T>);

  public:
    View(const T *first) noexcept : first_(first) {} // NOLINT(*-explicit-*): each T is such memory
    template <class Other>
    static View of(const Other *first) noexcept {
        static_assert(sizeof(Other) == sizeof(T) && alignof(Other) == alignof(T) &&
                      std::is_trivially_copyable_v<Other>);
        View result(nullptr);
        result.first_ = first;
        return result;
    }

    explicit operator bool() const noexcept { return first_ != nullptr; }
    [[nodiscard]] T operator*() const noexcept { return (*this)[0]; }
    [[nodiscard]] T operator[](std::size_t place) const noexcept {
        T value;
        std::memcpy(&value, static_cast<const std::byte *>(first_) + place * sizeof(T), sizeof(T));
        return value;
    }

  private:
    const void *first_;
};

} // namespace rsmengine
