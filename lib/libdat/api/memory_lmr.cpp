// SPDX-License-Identifier: MIT
// dat_lmr_query, dat_lmr_free, dat_lmr_sync_rdma_read, dat_lmr_sync_rdma_write.
#include "libdat/api/functions.h"

#include "engine/memory/bind.h"
#include "engine/memory/lmr.h"
#include "engine/memory/pz.h"
#include "engine/transport.h"
#include "libdat/api/query.h"
#include "libdat/api/types.h"

#include <atomic>

namespace rsmdat {

namespace {

// Memory is coherent: only reordering by the compiler or the CPU must be prevented.
DAT_RETURN sync(DAT_IA_HANDLE handle, const DAT_LMR_TRIPLET *segments, DAT_VLEN count) noexcept {
    const auto ia = enter<Ia>(handle);
    if (!ia)
        return invalid_handle(DAT_INVALID_HANDLE_IA);
    if (count > 0 && !segments)
        return invalid_parameter(2);
    for (DAT_VLEN i = 0; i < count; ++i) {
        const DAT_LMR_TRIPLET segment = segments[i];
        if (segment.segment_length == 0)
            continue;
        const Region *region = ia->transport->contexts.find(segment.lmr_context);
        if (!region || !region->local ||
            !region->contains(segment.virtual_address, segment.segment_length))
            return invalid_parameter(2);
    }
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return DAT_SUCCESS;
}

DAT_REGION_DESCRIPTION region_of(Lmr &lmr) noexcept {
    DAT_REGION_DESCRIPTION region{};
    switch (lmr.origin.kind) {
    case MemoryKind::ADDRESS:
    case MemoryKind::ORDERED_ADDRESS:
        region.for_va = lmr.origin.start;
        break;
    case MemoryKind::LMR:
        region.for_lmr_handle = lmr.origin.lmr;
        break;
    case MemoryKind::SHARED: // the consumer may have freed its own copy of the cookie
        region.for_shared_memory = {lmr.origin.start,
                                    reinterpret_cast<DAT_LMR_COOKIE>(lmr.origin.id.data())};
    }
    return region;
}

DAT_LMR_PARAM describe(Lmr &lmr) noexcept {
    const Region &region = *lmr.region;
    DAT_LMR_PARAM param{};
    param.ia_handle = lmr.ia().handle();
    param.mem_type = static_cast<DAT_MEM_TYPE>(lmr.origin.kind);
    param.region_desc = region_of(lmr);
    param.length = region.length;
    param.pz_handle = handle_of(region.pz);
    param.mem_priv = static_cast<DAT_MEM_PRIV_FLAGS>(region.privileges);
    param.lmr_context = region.context;
    param.rmr_context = remote_part(region.privileges) != 0 ? region.rmr_context : 0;
    param.registered_size = region.pinned->length;
    param.registered_address = region.pinned->start;
    return param;
}

} // namespace

DAT_RETURN lmr_query(DAT_LMR_HANDLE lmr, DAT_LMR_PARAM_MASK mask, DAT_LMR_PARAM *param) noexcept {
    const auto locked = enter<Lmr>(lmr);
    if (!locked)
        return invalid_handle(DAT_INVALID_HANDLE_LMR);
    const DAT_RETURN result = check_query(mask, DAT_LMR_FIELD_ALL, param);
    if (result == DAT_SUCCESS)
        *param = describe(*locked);
    return result;
}

DAT_RETURN lmr_free(DAT_LMR_HANDLE lmr) noexcept {
    std::unique_ptr<Job> last; // destroyed without the lock, because unpinning can take long
    const auto locked = enter<Lmr>(lmr);
    if (!locked)
        return invalid_handle(DAT_INVALID_HANDLE_LMR);
    if (locked->bound_rmrs > 0)
        return invalid_state(DAT_INVALID_STATE_LMR_IN_USE);
    last = locked->take_end();
    locked->ia().destroy(*locked);
    return DAT_SUCCESS;
}

DAT_RETURN lmr_sync_rdma_read(DAT_IA_HANDLE ia, const DAT_LMR_TRIPLET *segments,
                              DAT_VLEN count) noexcept {
    return sync(ia, segments, count);
}

DAT_RETURN lmr_sync_rdma_write(DAT_IA_HANDLE ia, const DAT_LMR_TRIPLET *segments,
                               DAT_VLEN count) noexcept {
    return sync(ia, segments, count);
}

} // namespace rsmdat
