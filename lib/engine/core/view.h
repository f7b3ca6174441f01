// SPDX-License-Identifier: MIT
// Structures in the memory of a program.
#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>

namespace rsmengine {

// Some T, a Segment or a RemoteSegment, one behind the other, in memory where a face has a
// structure of its own. A face that asserts that its structure has the same members at the same
// places passes its callers' memory on without a copy. An access reads each member once, so the
// compiler need not know that the types agree. It reads them one by one, because the compiler keeps
// a structure that is copied as a whole on the stack, not in registers.
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
        const T *one = static_cast<const T *>(first_) + place;
        return {.key = read(&one->key),
                .unused = 0,
                .address = read(&one->address),
                .length = read(&one->length)};
    }

  private:
    template <class Member>
    static Member read(const Member *member) noexcept {
        Member value;
        std::memcpy(&value, member, sizeof value);
        return value;
    }

    const void *first_;
};

} // namespace rsmengine
