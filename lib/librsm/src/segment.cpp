// SPDX-License-Identifier: MIT
#include "segment.h"

#include "device.h"
#include "device/wait.h"
#include "export_segment.h"
#include "import_segment.h"

namespace rsm {

Segment::Attempt Segment::try_consume() noexcept {
    auto *words = table_->consumed_slot(slot_);
    if (words == nullptr)
        return Attempt::not_possible;
    const auto *status = table_->status_slot(slot_);
    const std::atomic_ref consumed(words->consumed);
    auto count = consumed.load(std::memory_order_acquire);
    // Posted is read after consumed, so that it is never the older of the two: a
    // difference means that an event is pending.
    while (load_word(status->posted, __ATOMIC_ACQUIRE) != count)
        if (consumed.compare_exchange_weak(count, count + 1, std::memory_order_acq_rel,
                                           std::memory_order_acquire))
            return Attempt::consumed;
    return Attempt::none_pending;
}

int Segment::consume_event(int timeout) {
    switch (try_consume()) {
    case Attempt::consumed:
        return RSM_SUCCESS;
    case Attempt::none_pending:
        if (timeout == 0)
            return RSMERR_TIMEOUT;
        break;
    case Attempt::not_possible:
        break;
    }
    constexpr std::int64_t ns_per_ms = 1'000'000;
    rsm_wait wait{};
    wait.timeout_ns = timeout < 0 ? -1 : timeout * ns_per_ms;
    if (timeout == 0)
        return command(device(), RSM_IOC_WAIT, wait);
    wait.size = sizeof(wait);
    if (rsmdev_wait(device(), RSM_IOC_WAIT, &wait) == 0)
        return static_cast<int>(wait.status);
    return rsmdev::status_of_errno(errno);
}

Segment *find_segment(const void *handle) noexcept {
    if (auto *segment = find<ImportSegment>(handle))
        return segment;
    return find<ExportSegment>(handle);
}

} // namespace rsm
