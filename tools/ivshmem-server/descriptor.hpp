// SPDX-License-Identifier: GPL-2.0
// Descriptors that close themselves, and system calls that throw.
#pragma once

#include <string>

namespace ivshmem {

// A system call that failed, as std::system_error with errno.
[[noreturn]] void fail_errno(const std::string &what);

// Passes a system call's result on unless it is an error.
template <typename Result>
Result check_errno(Result result, const std::string &what) {
    if (result < 0)
        fail_errno(what);
    return result;
}

// Owns a descriptor.
class Descriptor {
  public:
    Descriptor() = default;
    explicit Descriptor(int number) : number_(number) {}
    Descriptor(Descriptor &&other) noexcept;
    Descriptor &operator=(Descriptor &&other) noexcept;
    Descriptor(const Descriptor &) = delete;
    Descriptor &operator=(const Descriptor &) = delete;
    ~Descriptor() { reset(); }

    int get() const { return number_; }
    explicit operator bool() const { return number_ >= 0; }
    void reset();

  private:
    int number_ = -1;
};

} // namespace ivshmem
