// SPDX-License-Identifier: GPL-2.0
// Binding memory to a segment against the kernel's other long-term pin, io_uring's registered
// buffers: the same pages for both, present beforehand.
#include <linux/io_uring.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "rows.hpp"
#include "segment.hpp"

namespace rsmperf {

namespace {

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

} // namespace

Times export_destroy(const Settings &settings) {
    const auto size = settings.large_mib * MiB;
    const PrivateMemory memory(size);
    const Ring ring;
    const Controller controller;

    const auto figure = repeat(
        [&controller, &memory] { const Export segment(controller, memory.data(), memory.size()); });
    const auto floor = repeat([&ring, &memory] { ring.register_and_unregister(memory); });
    auto times = compare_single(settings, figure, floor);

    const auto pages = static_cast<double>(size) / static_cast<double>(page_size());
    times.figure_ns /= pages;
    times.floor_ns /= pages;
    return times;
}

} // namespace rsmperf
