// SPDX-License-Identifier: MIT
// A range of address space with one owner.
#pragma once

#include <cstddef>
#include <sys/mman.h>
#include <utility>

namespace rsm {

class Mapping {
  public:
    Mapping() noexcept = default;
    // Takes over what mmap() returned; empty if that was MAP_FAILED.
    Mapping(void *address, std::size_t length) noexcept
        : address_(address == MAP_FAILED ? nullptr : address), length_(length) {}
    Mapping(Mapping &&other) noexcept
        : address_(std::exchange(other.address_, nullptr)), length_(other.length_) {}
    Mapping &operator=(Mapping &&other) noexcept {
        std::swap(address_, other.address_);
        std::swap(length_, other.length_);
        return *this;
    }
    Mapping(const Mapping &) = delete;
    Mapping &operator=(const Mapping &) = delete;
    ~Mapping() {
        // The kernel may lack the few bytes that this takes; what stayed behind would
        // keep a segment alive.
        if (address_ != nullptr && ::munmap(address_, length_) != 0)
            ::munmap(address_, length_);
    }

    [[nodiscard]] std::byte *data() const noexcept { return static_cast<std::byte *>(address_); }
    [[nodiscard]] std::size_t size() const noexcept { return length_; }
    explicit operator bool() const noexcept { return address_ != nullptr; }

    // Gives up ownership without unmapping.
    void *release() noexcept { return std::exchange(address_, nullptr); }

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

} // namespace rsm
