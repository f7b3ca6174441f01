// SPDX-License-Identifier: MIT
// dat_rmr_create, dat_rmr_query, dat_rmr_bind, dat_rmr_free.
#include "api/functions.h"

#include "api/query.h"
#include "connect/ep.h"
#include "core/limits.h"
#include "memory/pz.h"
#include "memory/rmr.h"

namespace rsmdat::api {

namespace {

DAT_RMR_PARAM describe(const Rmr &rmr) noexcept {
    DAT_RMR_PARAM param{};
    param.ia_handle = rmr.ia().handle();
    param.pz_handle = rmr.pz->handle();
    param.lmr_triplet = rmr.triplet;
    param.mem_priv = rmr.privileges;
    param.rmr_context = rmr.region ? rmr.region->context : 0;
    return param;
}

} // namespace

DAT_RETURN rmr_create(DAT_PZ_HANDLE handle, DAT_RMR_HANDLE *rmr) noexcept {
    return guarded([&] {
        const auto pz = enter<Pz>(handle);
        if (!pz)
            return invalid_handle(DAT_INVALID_HANDLE_PZ);
        if (!rmr)
            return invalid_parameter(2);
        Ia &ia = pz->ia();
        if (ia.count(DAT_HANDLE_TYPE_RMR) >= limits::RMRS)
            return no_resource(DAT_RESOURCE_MEMORY_REGION);
        *rmr = ia.adopt(std::make_unique<Rmr>(ia, *pz)).handle();
        return DAT_RETURN{DAT_SUCCESS};
    });
}

DAT_RETURN rmr_query(DAT_RMR_HANDLE handle, DAT_RMR_PARAM_MASK mask,
                     DAT_RMR_PARAM *param) noexcept {
    const auto rmr = enter<Rmr>(handle);
    if (!rmr)
        return invalid_handle(DAT_INVALID_HANDLE_RMR);
    const DAT_RETURN result = check_query(mask, DAT_RMR_FIELD_ALL, param);
    if (result == DAT_SUCCESS)
        *param = describe(*rmr);
    return result;
}

DAT_RETURN rmr_bind(DAT_RMR_HANDLE handle, const DAT_LMR_TRIPLET *triplet,
                    DAT_MEM_PRIV_FLAGS privileges, DAT_EP_HANDLE ep_handle, DAT_RMR_COOKIE cookie,
                    DAT_COMPLETION_FLAGS flags, DAT_RMR_CONTEXT *context) noexcept {
    return guarded([&] {
        const auto rmr = enter<Rmr>(handle);
        if (!rmr)
            return invalid_handle(DAT_INVALID_HANDLE_RMR);
        Ep *ep = find<Ep>(ep_handle, rmr->ia());
        if (!ep)
            return invalid_handle(DAT_INVALID_HANDLE_EP);
        if (!triplet)
            return invalid_parameter(2);
        return ep->transfer.post_bind(*rmr, *triplet, privileges, cookie, flags, context);
    });
}

DAT_RETURN rmr_free(DAT_RMR_HANDLE handle) noexcept {
    const auto rmr = enter<Rmr>(handle);
    if (!rmr)
        return invalid_handle(DAT_INVALID_HANDLE_RMR);
    rmr->ia().destroy(*rmr);
    return DAT_SUCCESS;
}

} // namespace rsmdat::api
