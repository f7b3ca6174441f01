// SPDX-License-Identifier: GPL-2.0
#include "descriptor.hpp"

#include <cerrno>
#include <system_error>
#include <utility>

#include <unistd.h>

namespace ivshmem {

void fail_errno(const std::string &what) {
    throw std::system_error(errno, std::generic_category(), what);
}

Descriptor::Descriptor(Descriptor &&other) noexcept : number_(std::exchange(other.number_, -1)) {}

Descriptor &Descriptor::operator=(Descriptor &&other) noexcept {
    if (this != &other) {
        reset();
        number_ = std::exchange(other.number_, -1);
    }
    return *this;
}

void Descriptor::reset() {
    if (number_ >= 0) {
        close(std::exchange(number_, -1));
    }
}

} // namespace ivshmem
