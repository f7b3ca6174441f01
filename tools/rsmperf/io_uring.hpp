// SPDX-License-Identifier: GPL-2.0
// io_uring's registered buffers: the kernel's other long-term pin.
#pragma once

#include <linux/io_uring.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "memory.hpp"

namespace rsmperf {

// A ring that nothing is ever submitted to.
class Ring {
  public:
    Ring() {
        io_uring_params parameters{};
        ring_ = Descriptor(static_cast<int>(
            check_errno(syscall(SYS_io_uring_setup, 1, &parameters), "io_uring_setup")));
    }

    void register_and_unregister(const Mapping &memory) const {
        const iovec range{memory.data(), memory.size()};
        control(IORING_REGISTER_BUFFERS, &range, 1);
        control(IORING_UNREGISTER_BUFFERS, nullptr, 0);
    }

  private:
    void control(unsigned operation, const void *argument, unsigned count) const {
        check_errno(syscall(SYS_io_uring_register, ring_.get(), operation, argument, count),
                    "io_uring_register");
    }

    Descriptor ring_;
};

} // namespace rsmperf
