// SPDX-License-Identifier: MIT
// A range of address space with one owner.
#pragma once

#include <cstddef>
#include <span>
#include <sys/mman.h>
#include <utility>

namespace rsmdev {

class Mapping {
  public:
    Mapping() noexcept = default;
    // Takes over the result of mmap(); empty if that was MAP_FAILED.
    Mapping(void *address, std::size_t length) noexcept
        : address_(address == MAP_FAILED ? nullptr : address),
          length_(address == MAP_FAILED ? 0 : length) {}
    Mapping(Mapping &&other) noexcept
        : address_(std::exchange(other.address_, nullptr)),
          length_(std::exchange(other.length_, 0)) {}
    Mapping &operator=(Mapping &&other) noexcept {
        std::swap(address_, other.address_);
        std::swap(length_, other.length_);
        return *this;
    }
    Mapping(const Mapping &) = delete;
    Mapping &operator=(const Mapping &) = delete;
    ~Mapping() {
        // munmap() needs memory to split a range and may fail once. A mapping that stays keeps its
        // segment alive.
        if (address_ != nullptr && ::munmap(address_, length_) != 0)
            ::munmap(address_, length_);
    }

    [[nodiscard]] std::byte *data() const noexcept { return static_cast<std::byte *>(address_); }
    [[nodiscard]] std::size_t size() const noexcept { return length_; }
    [[nodiscard]] std::span<std::byte> bytes() const noexcept { return {data(), length_}; }
    explicit operator bool() const noexcept { return address_ != nullptr; }

    // A forked child does not inherit the range. madvise() may fail for want of memory: then the
    // child inherits a mapping that it does not use.
    void keep_from_children() const noexcept {
        if (address_ != nullptr)
            (void)::madvise(address_, length_, MADV_DONTFORK);
    }

    // Gives up ownership without unmapping.
    void *release() noexcept {
        length_ = 0;
        return std::exchange(address_, nullptr);
    }

  private:
    void *address_ = nullptr;
    std::size_t length_ = 0;
};

// Moves a mapping over the target, which is left as it is if the kernel refuses. A mapping that
// lies there gives way at once: other threads see one or the other. False, and errno, for failure;
// the mapping stays where it is then.
inline bool move_to(void *target, Mapping &from) noexcept {
    const int flags = MREMAP_MAYMOVE | MREMAP_FIXED;
    if (::mremap(from.data(), from.size(), from.size(), flags, target) == MAP_FAILED)
        return false;
    (void)from.release();
    return true;
}

} // namespace rsmdev
