// SPDX-License-Identifier: MIT
#include "kernel_transport.h"

#include "device.h"

namespace rsm {

std::uint32_t asynchronous_if_explicit(const ImportSegment &segment, Direction direction) noexcept {
    const bool implicit = segment.data_path().implicit.load(std::memory_order_relaxed);
    return implicit || direction == Direction::get ? 0U : RSM_TRANSFER_ASYNC;
}

int transfer_by_kernel(const ImportSegment &segment, Direction direction,
                       std::span<rsm_transfer_entry> entries, rsm_transfer &request) noexcept {
    return segment.import().transfer(direction, entries, request);
}

int transfer_by_kernel(const ImportSegment &segment, Direction direction, const Transfer &transfer,
                       const void *local) noexcept {
    if (transfer.length == 0)
        return segment.data_path().connected() ? RSM_SUCCESS : RSMERR_CONN_ABORTED;
    rsm_transfer_entry entry{};
    entry.type = RSM_VA_TYPE;
    entry.fd = -1;
    entry.addr = address_of(local);
    entry.remote_offset = transfer.offset;
    entry.length = transfer.length;
    rsm_transfer request{};
    request.flags = asynchronous_if_explicit(segment, direction);
    return transfer_by_kernel(segment, direction, {&entry, 1}, request);
}

int barrier_by_kernel(const ImportSegment &segment, rsm_barrier_op operation) noexcept {
    return segment.import().barrier(operation);
}

} // namespace rsm
