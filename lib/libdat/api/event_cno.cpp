// SPDX-License-Identifier: MIT
// Consumer notification objects.
#include "libdat/api/functions.h"

#include "engine/event/cno.h"
#include "libdat/api/query.h"
#include "libdat/api/types.h"

namespace rsmdat {

namespace {

// Locks a CNO whose agent is not running: the caller may free the agent's data afterwards.
LockedHandle<Cno> enter_quiet(DAT_CNO_HANDLE cno) noexcept {
    auto locked = enter<Cno>(cno);
    while (locked && locked->agent_busy()) {
        locked->await_agent(locked.guard);
        locked = {};
        locked = enter<Cno>(cno);
    }
    return locked;
}

} // namespace

DAT_RETURN cno_create(DAT_IA_HANDLE ia, DAT_OS_WAIT_PROXY_AGENT agent,
                      DAT_CNO_HANDLE *cno) noexcept {
    const auto locked = enter<Ia>(ia);
    if (!locked)
        return invalid_handle(DAT_INVALID_HANDLE_IA);
    if (!cno)
        return invalid_parameter(3);
    return guarded([&]() -> DAT_RETURN {
        *cno = locked->adopt(std::make_unique<Cno>(*locked, to_agent(agent))).handle();
        return DAT_SUCCESS;
    });
}

DAT_RETURN cno_modify_agent(DAT_CNO_HANDLE cno, DAT_OS_WAIT_PROXY_AGENT agent) noexcept {
    const auto locked = enter_quiet(cno);
    if (!locked)
        return invalid_handle(DAT_INVALID_HANDLE_CNO);
    locked->agent = to_agent(agent);
    return DAT_SUCCESS;
}

DAT_RETURN cno_query(DAT_CNO_HANDLE cno, DAT_CNO_PARAM_MASK mask, DAT_CNO_PARAM *param) noexcept {
    const auto locked = enter<Cno>(cno);
    if (!locked)
        return invalid_handle(DAT_INVALID_HANDLE_CNO);
    const DAT_RETURN result = check_query(mask, DAT_CNO_FIELD_ALL, param);
    if (result == DAT_SUCCESS)
        *param = {locked->ia().handle(), {locked->agent.data, locked->agent.call}};
    return result;
}

DAT_RETURN cno_free(DAT_CNO_HANDLE cno) noexcept {
    const auto locked = enter_quiet(cno);
    if (!locked)
        return invalid_handle(DAT_INVALID_HANDLE_CNO);
    if (locked->in_use())
        return invalid_state(DAT_INVALID_STATE_CNO_IN_USE);
    locked->ia().destroy(*locked);
    return DAT_SUCCESS;
}

DAT_RETURN cno_wait(DAT_CNO_HANDLE cno, DAT_TIMEOUT timeout, DAT_EVD_HANDLE *evd) noexcept {
    auto locked = enter<Cno>(cno);
    if (!locked)
        return invalid_handle(DAT_INVALID_HANDLE_CNO);
    if (!evd)
        return invalid_parameter(3);
    return to_return(locked->wait(locked.guard, to_timeout(timeout), *evd));
}

} // namespace rsmdat
