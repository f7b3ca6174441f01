// SPDX-License-Identifier: MIT
// A descriptor with one owner.
#pragma once

#include <unistd.h>
#include <utility>

namespace rsm {

class UniqueFd {
  public:
    UniqueFd() noexcept = default;
    explicit UniqueFd(int descriptor) noexcept : fd_(descriptor) {}
    UniqueFd(UniqueFd &&other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    UniqueFd &operator=(UniqueFd &&other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    UniqueFd(const UniqueFd &) = delete;
    UniqueFd &operator=(const UniqueFd &) = delete;
    ~UniqueFd() {
        if (fd_ >= 0)
            ::close(fd_);
    }

    [[nodiscard]] int get() const noexcept { return fd_; }
    explicit operator bool() const noexcept { return fd_ >= 0; }

  private:
    int fd_ = -1;
};

} // namespace rsm
