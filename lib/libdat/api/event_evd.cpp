// SPDX-License-Identifier: MIT
// Event dispatchers: making, changing and freeing them.
#include "libdat/api/functions.h"

#include "engine/event/cno.h"
#include "engine/event/evd.h"
#include "libdat/api/query.h"
#include "libdat/api/types.h"

namespace rsmdat {

namespace {

constexpr int ALL_STREAMS = DAT_EVD_DEFAULT_FLAG | DAT_EVD_SOFTWARE_FLAG;

DAT_RETURN check_create(const Ia &ia, DAT_COUNT min_qlen, DAT_CNO_HANDLE cno, DAT_EVD_FLAGS flags,
                        const DAT_EVD_HANDLE *evd) noexcept {
    if (min_qlen <= 0)
        return invalid_parameter(2);
    if (min_qlen > ia.limits.evd_length || ia.count(ObjectKind::EVD) >= ia.limits.evds)
        return no_resource(DAT_RESOURCE_TEVD);
    if (cno && !find<Cno>(cno, ia))
        return invalid_handle(DAT_INVALID_HANDLE_CNO);
    if (flags == 0 || (flags & ~ALL_STREAMS) != 0)
        return invalid_parameter(4);
    return evd ? DAT_RETURN{DAT_SUCCESS} : invalid_parameter(5);
}

DAT_EVD_STATE state_of(const Evd &evd) noexcept {
    int state = evd.enabled() ? DAT_EVD_STATE_ENABLED : DAT_EVD_STATE_DISABLED;
    state |= evd.waitable() ? DAT_EVD_STATE_WAITABLE : DAT_EVD_STATE_UNWAITABLE;
    if (evd.notify_streams > 0)
        state |= DAT_EVD_STATE_CONFIG_NOTIFY;
    else if (evd.solicited_streams > 0)
        state |= DAT_EVD_STATE_CONFIG_SOLICITED;
    else
        state |= DAT_EVD_STATE_CONFIG_THRESHOLD;
    return static_cast<DAT_EVD_STATE>(state);
}

} // namespace

DAT_RETURN evd_create(DAT_IA_HANDLE ia, DAT_COUNT min_qlen, DAT_CNO_HANDLE cno, DAT_EVD_FLAGS flags,
                      DAT_EVD_HANDLE *evd) noexcept {
    if (evd)
        *evd = DAT_HANDLE_NULL;
    const auto locked = enter<Ia>(ia);
    if (!locked)
        return invalid_handle(DAT_INVALID_HANDLE_IA);
    const DAT_RETURN result = check_create(*locked, min_qlen, cno, flags, evd);
    if (result != DAT_SUCCESS)
        return result;
    return guarded([&]() -> DAT_RETURN {
        Cno *to = find<Cno>(cno, *locked);
        *evd =
            locked
                ->adopt(std::make_unique<Evd>(*locked, min_qlen, static_cast<StreamSet>(flags), to))
                .handle();
        return DAT_SUCCESS;
    });
}

DAT_RETURN evd_query(DAT_EVD_HANDLE evd, DAT_EVD_PARAM_MASK mask, DAT_EVD_PARAM *param) noexcept {
    const auto locked = enter<Evd>(evd);
    if (!locked)
        return invalid_handle(DAT_INVALID_HANDLE1);
    const DAT_RETURN result = check_query(mask, DAT_EVD_FIELD_ALL, param);
    if (result != DAT_SUCCESS)
        return result;
    param->ia_handle = locked->ia().handle();
    param->evd_qlen = locked->length();
    param->evd_state = state_of(*locked);
    param->cno_handle = handle_of(locked->cno);
    param->evd_flags = static_cast<DAT_EVD_FLAGS>(locked->streams);
    return DAT_SUCCESS;
}

DAT_RETURN evd_modify_cno(DAT_EVD_HANDLE evd, DAT_CNO_HANDLE cno) noexcept {
    const auto locked = enter<Evd>(evd);
    if (!locked)
        return invalid_handle(DAT_INVALID_HANDLE1);
    Cno *to = find<Cno>(cno, locked->ia());
    if (cno && !to)
        return invalid_handle(DAT_INVALID_HANDLE_CNO);
    return guarded([&]() -> DAT_RETURN {
        locked->set_cno(to);
        return DAT_SUCCESS;
    });
}

DAT_RETURN evd_resize(DAT_EVD_HANDLE evd, DAT_COUNT min_qlen) noexcept {
    const auto locked = enter<Evd>(evd);
    if (!locked)
        return invalid_handle(DAT_INVALID_HANDLE1);
    if (min_qlen <= 0 || min_qlen > locked->ia().limits.evd_length)
        return invalid_parameter(2);
    return guarded([&] { return to_return(locked->resize(min_qlen)); });
}

DAT_RETURN evd_free(DAT_EVD_HANDLE evd) noexcept {
    const auto locked = enter<Evd>(evd);
    if (!locked)
        return invalid_handle(DAT_INVALID_HANDLE1);
    if (locked->users > 0)
        return invalid_state(DAT_INVALID_STATE_EVD_IN_USE);
    if (locked->waited)
        return invalid_state(DAT_INVALID_STATE_EVD_WAITER);
    locked->ia().destroy(*locked);
    return DAT_SUCCESS;
}

} // namespace rsmdat
