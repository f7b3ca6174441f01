// SPDX-License-Identifier: MIT
// dat_rmr_create, dat_rmr_query, dat_rmr_bind, dat_rmr_free.
#include "libdat/api/functions.h"

#include "engine/connect/ep.h"
#include "engine/memory/pz.h"
#include "engine/memory/rmr.h"
#include "libdat/api/query.h"
#include "libdat/api/types.h"

namespace rsmdat {

namespace {

DAT_RMR_PARAM describe(const Rmr &rmr) noexcept {
    DAT_RMR_PARAM param{};
    param.ia_handle = rmr.ia().handle();
    param.pz_handle = rmr.pz->handle();
    param.lmr_triplet = to_triplet(rmr.triplet);
    param.mem_priv = static_cast<DAT_MEM_PRIV_FLAGS>(rmr.privileges);
    param.rmr_context = rmr.rmr_context();
    return param;
}

} // namespace

DAT_RETURN rmr_create(DAT_PZ_HANDLE pz, DAT_RMR_HANDLE *rmr) noexcept {
    return guarded([&] {
        const auto locked = enter<Pz>(pz);
        if (!locked)
            return invalid_handle(DAT_INVALID_HANDLE_PZ);
        if (!rmr)
            return invalid_parameter(2);
        Ia &ia = locked->ia();
        if (ia.count(ObjectKind::RMR) >= ia.limits.rmrs)
            return no_resource(DAT_RESOURCE_MEMORY_REGION);
        *rmr = ia.adopt(ia.transport->make_rmr(*locked)).handle();
        return DAT_RETURN{DAT_SUCCESS};
    });
}

DAT_RETURN rmr_query(DAT_RMR_HANDLE rmr, DAT_RMR_PARAM_MASK mask, DAT_RMR_PARAM *param) noexcept {
    const auto locked = enter<Rmr>(rmr);
    if (!locked)
        return invalid_handle(DAT_INVALID_HANDLE_RMR);
    const DAT_RETURN result = check_query(mask, DAT_RMR_FIELD_ALL, param);
    if (result == DAT_SUCCESS)
        *param = describe(*locked);
    return result;
}

DAT_RETURN rmr_bind(DAT_RMR_HANDLE rmr, const DAT_LMR_TRIPLET *triplet,
                    DAT_MEM_PRIV_FLAGS privileges, DAT_EP_HANDLE ep, DAT_RMR_COOKIE cookie,
                    DAT_COMPLETION_FLAGS flags, DAT_RMR_CONTEXT *context) noexcept {
    return guarded([&] {
        const auto locked = enter<Rmr>(rmr);
        if (!locked)
            return invalid_handle(DAT_INVALID_HANDLE_RMR);
        Ep *poster = find<Ep>(ep, locked->ia());
        if (!poster)
            return invalid_handle(DAT_INVALID_HANDLE_EP);
        if (!triplet)
            return invalid_parameter(2);
        return to_return(poster->transfer->post_bind(
            *locked, *to_segments(triplet), static_cast<unsigned>(privileges),
            {0, nullptr, to_cookie(cookie), to_flags(flags)}, context));
    });
}

DAT_RETURN rmr_free(DAT_RMR_HANDLE rmr) noexcept {
    const auto locked = enter<Rmr>(rmr);
    if (!locked)
        return invalid_handle(DAT_INVALID_HANDLE_RMR);
    locked->ia().destroy(*locked);
    return DAT_SUCCESS;
}

} // namespace rsmdat
