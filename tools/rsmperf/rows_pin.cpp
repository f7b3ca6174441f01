// SPDX-License-Identifier: GPL-2.0
// Binding memory to a segment against io_uring's registered buffers: the same pages for both,
// present beforehand.
#include "io_uring.hpp"
#include "rows.hpp"
#include "segment.hpp"

namespace rsmperf {

Times export_destroy(const Settings &settings) {
    const auto size = settings.large_mib * MiB;
    const PrivateMemory memory(size);
    const Ring ring;
    const Controller controller;

    const auto figure = repeat(
        [&controller, &memory] { const Export segment(controller, memory.data(), memory.size()); });
    const auto floor = repeat([&ring, &memory] { ring.register_and_unregister(memory); });
    auto times = compare_single(settings, figure, floor);

    times.divide(static_cast<double>(size) / static_cast<double>(page_size()));
    return times;
}

} // namespace rsmperf
