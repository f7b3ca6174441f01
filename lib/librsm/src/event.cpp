// SPDX-License-Identifier: MIT
// rsm_intr_signal_post and rsm_intr_signal_wait.
#include "device.h"
#include "segment.h"

using rsm::find_segment;

int rsm_intr_signal_post(void *memseg, uint_t flags) {
    const auto *segment = find_segment(memseg);
    if (segment == nullptr)
        return RSMERR_BAD_SEG_HNDL;
    return segment->handle().post(flags & RSM_SIGPOST_NO_ACCUMULATE);
}

int rsm_intr_signal_wait(void *memseg, int timeout) {
    auto *segment = find_segment(memseg);
    if (segment == nullptr)
        return RSMERR_BAD_SEG_HNDL;
    const int status = segment->consume_event(timeout);
    switch (status) {
    case RSM_SUCCESS:
    case RSMERR_TIMEOUT:
    case RSMERR_INTERRUPTED:
    case RSMERR_INSUFFICIENT_MEM:
    case RSMERR_INSUFFICIENT_RESOURCES:
        return status;
    default:
        return RSMERR_BAD_ARGS_ERRORS;
    }
}
