// SPDX-License-Identifier: GPL-2.0
// Figures of mapping a large segment, using each page once, and unmapping it.
#include <sys/mman.h>

#include "rows.hpp"
#include "segment.hpp"

namespace rsmperf {

Times map_touch_unmap(const Settings &settings) {
    const auto size = settings.large_mib * MiB;
    const Exporter exporter(size);
    const Descriptor file = filled_memfd(size);
    const Controller controller;
    Import import(controller, exporter.id());

    const auto figure = repeat([&import, size] {
        touch_pages(import.map(size), size);
        import.unmap();
    });
    const auto floor = repeat([&file, size] {
        const Mapping mapping(size, MAP_SHARED | MAP_POPULATE, file.get());
        touch_pages(mapping.data(), size);
    });
    return compare_single(settings, figure, floor);
}

} // namespace rsmperf
