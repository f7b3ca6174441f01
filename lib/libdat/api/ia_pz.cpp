// SPDX-License-Identifier: MIT
// Protection zones.
#include "libdat/api/functions.h"

#include "engine/memory/pz.h"
#include "engine/transport.h"
#include "libdat/api/query.h"

namespace rsmdat {

DAT_RETURN pz_create(DAT_IA_HANDLE ia, DAT_PZ_HANDLE *pz) noexcept {
    const auto locked = enter<Ia>(ia);
    if (!locked)
        return invalid_handle(DAT_INVALID_HANDLE_IA);
    if (!pz)
        return invalid_parameter(2);
    if (locked->count(ObjectKind::PZ) >= locked->limits.pzs)
        return no_resource(DAT_RESOURCE_PROTECTION_DOMAIN);
    return guarded([&]() -> DAT_RETURN {
        *pz = locked->adopt(locked->transport->make_pz(*locked)).handle();
        return DAT_SUCCESS;
    });
}

DAT_RETURN pz_query(DAT_PZ_HANDLE pz, DAT_PZ_PARAM_MASK mask, DAT_PZ_PARAM *param) noexcept {
    const auto locked = enter<Pz>(pz);
    if (!locked)
        return invalid_handle(DAT_INVALID_HANDLE_PZ);
    const DAT_RETURN result = check_query(mask, DAT_PZ_FIELD_ALL, param);
    if (result == DAT_SUCCESS)
        param->ia_handle = locked->ia().handle();
    return result;
}

DAT_RETURN pz_free(DAT_PZ_HANDLE pz) noexcept {
    const auto locked = enter<Pz>(pz);
    if (!locked)
        return invalid_handle(DAT_INVALID_HANDLE_PZ);
    if (locked->users > 0)
        return invalid_state(DAT_INVALID_STATE_PZ_IN_USE);
    locked->ia().destroy(*locked);
    return DAT_SUCCESS;
}

} // namespace rsmdat
