// SPDX-License-Identifier: MIT
// Descriptors of the library.
#pragma once

#include <utility>

namespace rsmdat {

// A descriptor, at 1024 or above where the limit allows it: those below are the program's, for
// select(). When the soft limit is reached it is raised to the hard one. A forked child closes all
// of them at once.
class HandleFd {
  public:
    HandleFd() noexcept = default;
    HandleFd(HandleFd &&other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    HandleFd &operator=(HandleFd &&other) noexcept;
    ~HandleFd();
    // 0, or errno; not inherited by programs.
    static int open(const char *path, int flags, HandleFd &handle) noexcept;
    // A new descriptor of another kind, or of none (-1), that is to be kept in the same way.
    static HandleFd keep(int fd) noexcept;
    [[nodiscard]] int get() const noexcept { return fd_; }
    explicit operator bool() const noexcept { return fd_ >= 0; }

  private:
    explicit HandleFd(int fd) noexcept;
    int fd_ = -1;
};

// For descriptors that other libraries make: raises the soft limit when one comes near it.
void keep_room_above(int fd) noexcept;

// Are there some descriptors left for the rest of the program when this one is the highest? For
// what a program may have many of.
bool leaves_descriptors(int fd) noexcept;

} // namespace rsmdat
