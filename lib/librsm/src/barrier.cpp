// SPDX-License-Identifier: MIT
// The rsm_memseg_import_*_barrier functions.
//
// A barrier object holds the handle of its segment, the low 16 bits of the use
// count of that handle's slot, and one of two marks. Nothing is allocated for it. Compares
// therefore distinguish a live barrier from one that was never initialised, and from one whose
// segment is gone.
#include "import_segment.h"
#include "kernel_transport.h"

namespace rsm {
namespace {

// Random numbers: neither addresses nor uninitialised memory are likely to equal them.
constexpr auto closed_mark = static_cast<std::uintptr_t>(0x9d4c5be23f70a617U);
constexpr auto open_mark = static_cast<std::uintptr_t>(0x62b3a41dc08f59e9U);

void set_mark(rsmapi_barrier_t &barrier, std::uintptr_t mark) noexcept {
    barrier.privdata = reinterpret_cast<void *>(mark);
}

bool has_mark(const rsmapi_barrier_t &barrier, std::uintptr_t mark) noexcept {
    return reinterpret_cast<std::uintptr_t>(barrier.privdata) == mark;
}

std::uint16_t incarnation_of(const ImportSegment &segment) noexcept {
    const auto *slot = slot_of(&segment);
    return static_cast<std::uint16_t>(slot->incarnation.load(std::memory_order_relaxed));
}

// RSM_SUCCESS and the segment of an initialised barrier, or an error.
int segment_of(const rsmapi_barrier_t *barrier, ImportSegment *&segment) noexcept {
    if (barrier == nullptr)
        return RSMERR_BAD_BARRIER_PTR;
    if (!has_mark(*barrier, closed_mark) && !has_mark(*barrier, open_mark))
        return RSMERR_BARRIER_UNINITIALIZED;
    segment = find<ImportSegment>(barrier->seg);
    if (segment == nullptr || incarnation_of(*segment) != barrier->gnum)
        return RSMERR_BAD_SEG_HNDL;
    return RSM_SUCCESS;
}

int open(const ImportSegment &segment) noexcept {
    // A broken connection shows when the barrier is closed.
    if (segment.mappable() || !segment.data_path().connected())
        return RSM_SUCCESS;
    const int status = barrier_by_kernel(segment, RSM_BARRIER_OPEN);
    return segment.data_path().connected() ? status : RSM_SUCCESS;
}

int complete(const ImportSegment &segment, rsm_barrier_op operation) noexcept {
    if (!segment.data_path().confirm())
        return RSMERR_CONN_ABORTED;
    return segment.mappable() ? RSM_SUCCESS : barrier_by_kernel(segment, operation);
}

} // namespace
} // namespace rsm

using rsm::ImportSegment;

int rsm_memseg_import_init_barrier(rsm_memseg_import_handle_t im_memseg,
                                   rsm_barrier_type_t /*type*/, rsmapi_barrier_t *barrier) {
    auto *segment = rsm::find<ImportSegment>(im_memseg);
    if (segment == nullptr)
        return RSMERR_BAD_SEG_HNDL;
    if (barrier == nullptr)
        return RSMERR_BAD_BARRIER_PTR;
    return rsm::guarded([&] {
        barrier->seg = im_memseg;
        barrier->gnum = rsm::incarnation_of(*segment);
        rsm::set_mark(*barrier, rsm::closed_mark);
        segment->set_current_barrier(barrier);
        return RSM_SUCCESS;
    });
}

int rsm_memseg_import_open_barrier(rsmapi_barrier_t *barrier) {
    ImportSegment *segment = nullptr;
    int status = rsm::segment_of(barrier, segment);
    if (status == RSM_SUCCESS)
        status = rsm::open(*segment);
    if (status == RSM_SUCCESS)
        rsm::set_mark(*barrier, rsm::open_mark);
    return status;
}

int rsm_memseg_import_order_barrier(rsmapi_barrier_t *barrier) {
    ImportSegment *segment = nullptr;
    if (const int status = rsm::segment_of(barrier, segment); status != RSM_SUCCESS)
        return status;
    if (!rsm::has_mark(*barrier, rsm::open_mark))
        return RSMERR_BARRIER_NOT_OPENED;
    return rsm::complete(*segment, RSM_BARRIER_ORDER);
}

int rsm_memseg_import_close_barrier(rsmapi_barrier_t *barrier) {
    ImportSegment *segment = nullptr;
    if (const int status = rsm::segment_of(barrier, segment); status != RSM_SUCCESS)
        return status;
    if (!rsm::has_mark(*barrier, rsm::open_mark))
        return RSMERR_BARRIER_NOT_OPENED;
    rsm::set_mark(*barrier, rsm::closed_mark);
    return rsm::complete(*segment, RSM_BARRIER_CLOSE);
}

int rsm_memseg_import_destroy_barrier(rsmapi_barrier_t *barrier) {
    ImportSegment *segment = nullptr;
    if (const int status = rsm::segment_of(barrier, segment); status != RSM_SUCCESS)
        return status;
    return rsm::guarded([&] {
        segment->forget_barrier(barrier);
        *barrier = {};
        return RSM_SUCCESS;
    });
}
