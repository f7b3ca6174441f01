// SPDX-License-Identifier: MIT
#include "segment.h"

#include "export_segment.h"
#include "import_segment.h"

namespace rsm {

int Segment::consume_event(int timeout) {
    using rsmdev::Table;
    switch (handle_.take_event()) {
    case Table::Attempt::consumed:
        return RSM_SUCCESS;
    case Table::Attempt::none_pending:
        if (timeout == 0)
            return RSMERR_TIMEOUT;
        break;
    case Table::Attempt::not_possible:
        break;
    }
    constexpr std::int64_t ns_per_ms = 1'000'000;
    return handle_.wait(timeout < 0 ? -1 : timeout * ns_per_ms);
}

Segment *find_segment(const void *handle) noexcept {
    if (auto *segment = find<ImportSegment>(handle))
        return segment;
    return find<ExportSegment>(handle);
}

} // namespace rsm
