// SPDX-License-Identifier: MIT
// A descriptor with one owner.
#pragma once

#include "device/policy.h"

#include <utility>

namespace rsmdev {

class Descriptor {
  public:
    Descriptor() noexcept = default;
    explicit Descriptor(int fd) noexcept : fd_(fd) {}
    Descriptor(Descriptor &&other) noexcept
        : fd_(std::exchange(other.fd_, -1)), set_(std::exchange(other.set_, nullptr)) {}
    Descriptor &operator=(Descriptor &&other) noexcept {
        std::swap(fd_, other.fd_);
        std::swap(set_, other.set_);
        return *this;
    }
    Descriptor(const Descriptor &) = delete;
    Descriptor &operator=(const Descriptor &) = delete;
    ~Descriptor();

    // Opens a file; programs that the process executes do not inherit the descriptor. 0 or errno.
    static int open(const char *path, int flags, const DescriptorPolicy &policy,
                    Descriptor &result) noexcept;
    // Takes over a new descriptor, or none (-1). The descriptor keeps its number if there is no
    // room above `policy.lowest`.
    static Descriptor keep(int fd, const DescriptorPolicy &policy) noexcept;

    [[nodiscard]] int get() const noexcept { return fd_; }
    explicit operator bool() const noexcept { return fd_ >= 0; }

  private:
    Descriptor(int fd, ClosedInChildren *set) noexcept;

    int fd_ = -1;
    ClosedInChildren *set_ = nullptr;
};

// Raises the soft limit on descriptors to the hard one. False if there is nothing to raise.
bool raise_descriptor_limit() noexcept;

} // namespace rsmdev
