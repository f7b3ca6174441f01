// SPDX-License-Identifier: MIT
// dat_ep_create* and the functions that look at an endpoint or end it.
#include "libdat/api/functions.h"

#include "engine/connect/address.h"
#include "engine/connect/service.h"
#include "engine/core/joined.h"
#include "engine/transfer/srq.h"
#include "libdat/api/attributes.h"
#include "libdat/api/query.h"
#include "libdat/api/types.h"

namespace rsmdat {
namespace {

struct Asked { // handles of a create function, and what they stand for
    DAT_PZ_HANDLE pz_handle = nullptr;
    DAT_EVD_HANDLE recv_handle = nullptr;
    DAT_EVD_HANDLE request_handle = nullptr;
    DAT_EVD_HANDLE connect_handle = nullptr;
    Pz *pz = nullptr;
    Evd *recv = nullptr;
    Evd *request = nullptr;
    Evd *connect = nullptr;
    Srq *srq = nullptr;
};

// Joins the Ias of EVDs that belong to other opens, so that they can be used. No lock is held.
void join_for_evds(DAT_IA_HANDLE ia, const Asked &asked) noexcept {
    join_for(ia, asked.recv_handle, Stream::TRANSFERS);
    join_for(ia, asked.request_handle, Stream::TRANSFERS);
    join_for(ia, asked.connect_handle, Stream::CONNECTIONS);
}

// A NULL handle is allowed; false for an invalid one.
bool take_evd(Ia &ia, DAT_EVD_HANDLE handle, Stream stream, Evd *&evd) noexcept {
    if (handle == DAT_HANDLE_NULL)
        return true;
    evd = find_evd(handle, ia);
    return evd != nullptr && evd->accepts(stream);
}

DAT_RETURN find_all(Ia &ia, Asked &asked) noexcept {
    if (asked.pz_handle != DAT_HANDLE_NULL) {
        asked.pz = find<Pz>(asked.pz_handle, ia);
        if (asked.pz == nullptr)
            return invalid_handle(DAT_INVALID_HANDLE_PZ);
    }
    if (!take_evd(ia, asked.connect_handle, Stream::CONNECTIONS, asked.connect))
        return invalid_handle(DAT_INVALID_HANDLE_EVD_CONN);
    if (!take_evd(ia, asked.recv_handle, Stream::TRANSFERS, asked.recv))
        return invalid_handle(DAT_INVALID_HANDLE_EVD_RECV);
    if (!take_evd(ia, asked.request_handle, Stream::TRANSFERS, asked.request))
        return invalid_handle(DAT_INVALID_HANDLE_EVD_REQUEST);
    return DAT_SUCCESS;
}

// Some devices check receives of an SRQ against the queue pair's protection domain.
bool zones_fit(const Ia &ia, const Asked &asked) noexcept {
    return ia.limits.srq_ep_pz_difference || asked.srq == nullptr || asked.pz == nullptr ||
           asked.pz == asked.srq->pz;
}

// A direction takes posts if, and only if, it has an EVD.
bool directions_fit(const DAT_EP_ATTR &attributes, const Asked &asked) noexcept {
    const bool receives =
        asked.srq != nullptr || (attributes.max_recv_dtos != 0) == (asked.recv != nullptr);
    return receives && (attributes.max_request_dtos != 0) == (asked.request != nullptr);
}

DAT_RETURN check_wishes(const Ia &ia, const DAT_EP_ATTR &attributes, const Asked &asked,
                        int position) noexcept {
    if (!directions_fit(attributes, asked))
        return invalid_parameter(position);
    const Streams streams{asked.recv,
                          asked.request,
                          asked.connect,
                          to_flags(attributes.recv_completion_flags),
                          to_flags(attributes.request_completion_flags),
                          asked.srq != nullptr};
    const DAT_RETURN result =
        check_attributes(ia.limits, attributes, asked.srq != nullptr, position);
    if (result != DAT_SUCCESS)
        return result;
    return may_share(ia, nullptr, streams) ? result : invalid_parameter(position);
}

DAT_RETURN make(Ia &ia, const DAT_EP_ATTR &attributes, const Asked &asked, int position,
                DAT_EP_HANDLE *handle) {
    const DAT_RETURN result = check_wishes(ia, attributes, asked, position);
    if (result != DAT_SUCCESS)
        return result;
    if (ia.count(ObjectKind::EP) >= ia.limits.eps)
        return no_resource(DAT_RESOURCE_TEP);
    Ep &ep =
        ia.adopt(std::make_unique<Ep>(ia, kept_attributes(to_attributes(attributes)), asked.srq));
    ep.set_pz(asked.pz);
    ep.set_recv_evd(asked.recv);
    ep.set_request_evd(asked.request);
    ep.set_connect_evd(asked.connect);
    *handle = ep.handle();
    return DAT_SUCCESS;
}

void describe_connection(const Ep &ep, DAT_EP_PARAM &param) noexcept {
    const Link *link = ep.known_link();
    param.local_ia_address_ptr = own_address_of(ep.ia());
    param.local_port_qual = link != nullptr ? link->local_port : 0;
    param.remote_ia_address_ptr = link != nullptr ? address_pointer(link->remote) : nullptr;
    param.remote_port_qual = link != nullptr ? link->remote_port : 0;
}

void describe(const Ep &ep, DAT_EP_PARAM &param) noexcept {
    param.ia_handle = ep.ia().handle();
    param.ep_state = to_state(ep.state);
    describe_connection(ep, param);
    param.pz_handle = handle_of(ep.pz);
    param.recv_evd_handle = handle_of(ep.recv_evd);
    param.request_evd_handle = handle_of(ep.request_evd);
    param.connect_evd_handle = handle_of(ep.connect_evd);
    param.srq_handle = handle_of(ep.srq);
    param.ep_attr = to_attr(ep.attributes);
}

} // namespace

DAT_RETURN ep_create(DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz, DAT_EVD_HANDLE recv_evd,
                     DAT_EVD_HANDLE request_evd, DAT_EVD_HANDLE connect_evd,
                     const DAT_EP_ATTR *attr, DAT_EP_HANDLE *ep) noexcept {
    return guarded([&]() -> DAT_RETURN {
        Asked asked{pz, recv_evd, request_evd, connect_evd};
        join_for_evds(ia, asked);
        const auto locked = enter<Ia>(ia);
        if (!locked)
            return invalid_handle(DAT_INVALID_HANDLE_IA);
        const DAT_RETURN result = find_all(*locked, asked);
        if (result != DAT_SUCCESS)
            return result;
        if (ep == nullptr)
            return invalid_parameter(7);
        const DAT_EP_ATTR attributes =
            attr != nullptr ? *attr
                            : to_attr(default_attributes(locked->limits, asked.recv != nullptr,
                                                         asked.request != nullptr));
        return make(*locked, attributes, asked, 6, ep);
    });
}

DAT_RETURN ep_create_with_srq(DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz, DAT_EVD_HANDLE recv_evd,
                              DAT_EVD_HANDLE request_evd, DAT_EVD_HANDLE connect_evd,
                              DAT_SRQ_HANDLE srq, const DAT_EP_ATTR *attr,
                              DAT_EP_HANDLE *ep) noexcept {
    return guarded([&]() -> DAT_RETURN {
        Asked asked{pz, recv_evd, request_evd, connect_evd};
        join_for_evds(ia, asked);
        const auto locked = enter<Ia>(ia);
        if (!locked)
            return invalid_handle(DAT_INVALID_HANDLE_IA);
        const DAT_RETURN result = find_all(*locked, asked);
        if (result != DAT_SUCCESS)
            return result;
        asked.srq = find<Srq>(srq, *locked);
        if (asked.srq == nullptr)
            return invalid_handle(DAT_INVALID_HANDLE_SRQ);
        if (ep == nullptr)
            return invalid_parameter(8);
        if (attr == nullptr)
            return invalid_parameter(7);
        if (!zones_fit(*locked, asked))
            return invalid_parameter(2);
        return make(*locked, *attr, asked, 7, ep);
    });
}

DAT_RETURN ep_query(DAT_EP_HANDLE ep, DAT_EP_PARAM_MASK mask, DAT_EP_PARAM *param) noexcept {
    const auto locked = enter<Ep>(ep);
    if (!locked)
        return invalid_handle(DAT_INVALID_HANDLE_EP);
    const DAT_RETURN result = check_query(mask, DAT_EP_FIELD_ALL, param);
    if (result == DAT_SUCCESS)
        describe(*locked, *param);
    return result;
}

DAT_RETURN ep_get_status(DAT_EP_HANDLE ep, DAT_EP_STATE *state, DAT_BOOLEAN *recv_idle,
                         DAT_BOOLEAN *request_idle) noexcept {
    const auto locked = enter<Ep>(ep);
    if (!locked)
        return invalid_handle(DAT_INVALID_HANDLE_EP);
    if (state != nullptr)
        *state = to_state(locked->state);
    if (recv_idle != nullptr)
        *recv_idle = locked->transfer->recv_idle() ? DAT_TRUE : DAT_FALSE;
    if (request_idle != nullptr)
        *request_idle = locked->transfer->request_idle() ? DAT_TRUE : DAT_FALSE;
    return DAT_SUCCESS;
}

DAT_RETURN ep_disconnect(DAT_EP_HANDLE ep, DAT_CLOSE_FLAGS flags) noexcept {
    const auto locked = enter<Ep>(ep);
    if (!locked)
        return invalid_handle(DAT_INVALID_HANDLE_EP);
    if (flags != DAT_CLOSE_ABRUPT_FLAG && flags != DAT_CLOSE_GRACEFUL_FLAG)
        return invalid_parameter(2);
    return to_return(locked->disconnect(to_close(flags)));
}

DAT_RETURN ep_reset(DAT_EP_HANDLE ep) noexcept {
    const auto locked = enter<Ep>(ep);
    return locked ? to_return(locked->reset()) : invalid_handle(DAT_INVALID_HANDLE_EP);
}

// An endpoint that is reserved for a request, or used by one, cannot be freed.
DAT_RETURN ep_free(DAT_EP_HANDLE ep) noexcept {
    const auto locked = enter<Ep>(ep);
    if (!locked)
        return invalid_handle(DAT_INVALID_HANDLE_EP);
    switch (locked->state) {
    case EpState::RESERVED:
    case EpState::PASSIVE_PENDING:
    case EpState::TENTATIVE_PENDING:
        return to_return(locked->wrong_state());
    default:
        locked->ia().destroy(*locked);
        return DAT_SUCCESS;
    }
}

} // namespace rsmdat
