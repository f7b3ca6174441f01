// SPDX-License-Identifier: MIT
// A range of address space with one owner. A forked child does not inherit it.
#pragma once

#include <cstddef>
#include <span>
#include <sys/mman.h>
#include <utility>

namespace rsmdat {

class Mapping {
  public:
    Mapping() noexcept = default;
    // Takes over what mmap() returned; empty if that was MAP_FAILED.
    Mapping(void *address, std::size_t length) noexcept {
        if (address == MAP_FAILED)
            return;
        bytes_ = {static_cast<std::byte *>(address), length};
        // It may fail for want of memory; then a child has the mapping and makes no use of it.
        (void)::madvise(address, length, MADV_DONTFORK);
    }
    Mapping(Mapping &&other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
    Mapping &operator=(Mapping &&other) noexcept {
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    Mapping(const Mapping &) = delete;
    Mapping &operator=(const Mapping &) = delete;
    ~Mapping() {
        // The kernel may lack the few bytes that this takes; what stayed behind would
        // keep a segment alive.
        if (!bytes_.empty() && ::munmap(bytes_.data(), bytes_.size()) != 0)
            ::munmap(bytes_.data(), bytes_.size());
    }

    [[nodiscard]] std::span<std::byte> bytes() const noexcept { return bytes_; }
    explicit operator bool() const noexcept { return !bytes_.empty(); }

  private:
    std::span<std::byte> bytes_;
};

} // namespace rsmdat
