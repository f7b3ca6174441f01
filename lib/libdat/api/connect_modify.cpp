// SPDX-License-Identifier: MIT
// dat_ep_modify.
#include "libdat/api/functions.h"

#include "engine/connect/ep.h"
#include "engine/core/joined.h"
#include "engine/transfer/srq.h"
#include "libdat/api/attributes.h"
#include "libdat/api/types.h"

namespace rsmdat {
namespace {

constexpr DAT_EP_PARAM_MASK NEVER =
    DAT_EP_FIELD_IA_HANDLE | DAT_EP_FIELD_EP_STATE | DAT_EP_FIELD_LOCAL_IA_ADDRESS_PTR |
    DAT_EP_FIELD_LOCAL_PORT_QUAL | DAT_EP_FIELD_REMOTE_IA_ADDRESS_PTR |
    DAT_EP_FIELD_REMOTE_PORT_QUAL | DAT_EP_FIELD_SRQ_HANDLE | DAT_EP_FIELD_EP_ATTR_SRQ_SOFT_HW;
constexpr DAT_EP_PARAM_MASK NAMED =
    DAT_EP_FIELD_EP_ATTR_NUM_TRANSPORT_ATTR | DAT_EP_FIELD_EP_ATTR_TRANSPORT_SPECIFIC_ATTR |
    DAT_EP_FIELD_EP_ATTR_NUM_PROVIDER_ATTR | DAT_EP_FIELD_EP_ATTR_PROVIDER_SPECIFIC_ATTR;

// The wanted state of the endpoint.
struct Setup {
    Pz *pz;
    Evd *recv;
    Evd *request;
    Evd *connect;
    DAT_EP_ATTR attributes;
};

// In which states (4.3) all that the mask names can be changed.
bool state_allows(EpState state, DAT_EP_PARAM_MASK mask) noexcept {
    switch (state) {
    case EpState::UNCONNECTED:
        return true;
    case EpState::TENTATIVE_PENDING:
        return (mask & NAMED) == 0;
    case EpState::RESERVED:
    case EpState::PASSIVE_PENDING:
        return (mask & (NAMED | DAT_EP_FIELD_PZ_HANDLE)) == 0;
    default:
        return mask == 0;
    }
}

template <class T>
void take(DAT_EP_PARAM_MASK mask, DAT_EP_PARAM_MASK bit, const T &from, T &to) noexcept {
    if ((mask & bit) != 0)
        to = from;
}

void take_limits(DAT_EP_PARAM_MASK mask, const DAT_EP_ATTR &from, DAT_EP_ATTR &to) noexcept {
    take(mask, DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS, from.max_recv_dtos, to.max_recv_dtos);
    take(mask, DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_DTOS, from.max_request_dtos, to.max_request_dtos);
    take(mask, DAT_EP_FIELD_EP_ATTR_MAX_RECV_IOV, from.max_recv_iov, to.max_recv_iov);
    take(mask, DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_IOV, from.max_request_iov, to.max_request_iov);
    take(mask, DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IN, from.max_rdma_read_in, to.max_rdma_read_in);
    take(mask, DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_OUT, from.max_rdma_read_out,
         to.max_rdma_read_out);
    take(mask, DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IOV, from.max_rdma_read_iov,
         to.max_rdma_read_iov);
    take(mask, DAT_EP_FIELD_EP_ATTR_MAX_RDMA_WRITE_IOV, from.max_rdma_write_iov,
         to.max_rdma_write_iov);
}

void take_attributes(DAT_EP_PARAM_MASK mask, const DAT_EP_ATTR &from, DAT_EP_ATTR &to) noexcept {
    take(mask, DAT_EP_FIELD_EP_ATTR_SERVICE_TYPE, from.service_type, to.service_type);
    take(mask, DAT_EP_FIELD_EP_ATTR_MAX_MESSAGE_SIZE, from.max_message_size, to.max_message_size);
    take(mask, DAT_EP_FIELD_EP_ATTR_MAX_RDMA_SIZE, from.max_rdma_size, to.max_rdma_size);
    take(mask, DAT_EP_FIELD_EP_ATTR_QOS, from.qos, to.qos);
    take(mask, DAT_EP_FIELD_EP_ATTR_RECV_COMPLETION_FLAGS, from.recv_completion_flags,
         to.recv_completion_flags);
    take(mask, DAT_EP_FIELD_EP_ATTR_REQUEST_COMPLETION_FLAGS, from.request_completion_flags,
         to.request_completion_flags);
    take_limits(mask, from, to);
    take(mask, DAT_EP_FIELD_EP_ATTR_NUM_TRANSPORT_ATTR, from.ep_transport_specific_count,
         to.ep_transport_specific_count);
    take(mask, DAT_EP_FIELD_EP_ATTR_TRANSPORT_SPECIFIC_ATTR, from.ep_transport_specific,
         to.ep_transport_specific);
    take(mask, DAT_EP_FIELD_EP_ATTR_NUM_PROVIDER_ATTR, from.ep_provider_specific_count,
         to.ep_provider_specific_count);
    take(mask, DAT_EP_FIELD_EP_ATTR_PROVIDER_SPECIFIC_ATTR, from.ep_provider_specific,
         to.ep_provider_specific);
}

// A handle of an EVD that takes such streams, or NULL; false for any other.
bool take_evd(Ia &ia, bool named, DAT_EVD_HANDLE handle, Stream stream, Evd *&evd) noexcept {
    if (!named)
        return true;
    evd = handle != DAT_HANDLE_NULL ? find_evd(handle, ia) : nullptr;
    return handle == DAT_HANDLE_NULL || (evd != nullptr && evd->accepts(stream));
}

bool take_handles(Ia &ia, DAT_EP_PARAM_MASK mask, const DAT_EP_PARAM &param,
                  Setup &wanted) noexcept {
    if ((mask & DAT_EP_FIELD_PZ_HANDLE) != 0) {
        const bool none = param.pz_handle == DAT_HANDLE_NULL;
        wanted.pz = none ? nullptr : find<Pz>(param.pz_handle, ia);
        if (!none && wanted.pz == nullptr)
            return false;
    }
    return take_evd(ia, (mask & DAT_EP_FIELD_RECV_EVD_HANDLE) != 0, param.recv_evd_handle,
                    Stream::TRANSFERS, wanted.recv) &&
           take_evd(ia, (mask & DAT_EP_FIELD_REQUEST_EVD_HANDLE) != 0, param.request_evd_handle,
                    Stream::TRANSFERS, wanted.request) &&
           take_evd(ia, (mask & DAT_EP_FIELD_CONNECT_EVD_HANDLE) != 0, param.connect_evd_handle,
                    Stream::CONNECTIONS, wanted.connect);
}

// True if the posted receives can stay.
bool receives_fit(const Ep &ep, DAT_EP_PARAM_MASK mask, const DAT_EP_ATTR &attributes) noexcept {
    if ((mask & DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS) == 0)
        return true;
    if (ep.srq != nullptr)
        return false;
    DAT_COUNT posted = 0;
    DAT_COUNT span = 0;
    ep.transfer->recv_counts(posted, span);
    return attributes.max_recv_dtos >= posted;
}

// The same checks as when an endpoint is created.
bool zones_fit(const Ep &ep, const Setup &wanted) noexcept {
    return ep.ia().limits.srq_ep_pz_difference || ep.srq == nullptr || wanted.pz == nullptr ||
           wanted.pz == ep.srq->pz;
}

bool streams_fit(const Ep &ep, const Setup &wanted) noexcept {
    const Streams streams{wanted.recv,
                          wanted.request,
                          wanted.connect,
                          to_flags(wanted.attributes.recv_completion_flags),
                          to_flags(wanted.attributes.request_completion_flags),
                          ep.srq != nullptr};
    return may_share(ep.ia(), &ep, streams);
}

// DAT_SUCCESS if all of it is possible, regardless of the endpoint's state.
DAT_RETURN check(const Ep &ep, DAT_EP_PARAM_MASK mask, const DAT_EP_PARAM &param,
                 Setup &wanted) noexcept {
    take_attributes(mask, param.ep_attr, wanted.attributes);
    if (!take_handles(ep.ia(), mask, param, wanted) ||
        check_attributes(ep.ia().limits, wanted.attributes, ep.srq != nullptr, 3) != DAT_SUCCESS ||
        !zones_fit(ep, wanted) || !receives_fit(ep, mask, wanted.attributes) ||
        !streams_fit(ep, wanted))
        return invalid_parameter(3);
    return DAT_SUCCESS;
}

bool too_late(const Ep &ep, DAT_EP_PARAM_MASK mask) noexcept {
    return (mask & DAT_EP_FIELD_EP_ATTR_RECV_COMPLETION_FLAGS) != 0 &&
           ep.transfer->receives_were_posted();
}

// First the steps that can fail.
void apply(Ep &ep, const Setup &wanted) {
    ep.set_attributes(kept_attributes(to_attributes(wanted.attributes)));
    ep.set_pz(wanted.pz);
    ep.set_recv_evd(wanted.recv);
    ep.set_request_evd(wanted.request);
    ep.set_connect_evd(wanted.connect);
}

// Joins the Ias of EVDs that belong to other opens, so that they can be used. No lock is held.
void join_for_evds(DAT_EP_HANDLE ep, DAT_EP_PARAM_MASK mask, const DAT_EP_PARAM *param) noexcept {
    if (param == nullptr || find_object(ep) == nullptr)
        return;
    if ((mask & DAT_EP_FIELD_RECV_EVD_HANDLE) != 0)
        join_for(ep, param->recv_evd_handle, Stream::TRANSFERS);
    if ((mask & DAT_EP_FIELD_REQUEST_EVD_HANDLE) != 0)
        join_for(ep, param->request_evd_handle, Stream::TRANSFERS);
    if ((mask & DAT_EP_FIELD_CONNECT_EVD_HANDLE) != 0)
        join_for(ep, param->connect_evd_handle, Stream::CONNECTIONS);
}

} // namespace

DAT_RETURN ep_modify(DAT_EP_HANDLE ep, DAT_EP_PARAM_MASK mask, const DAT_EP_PARAM *param) noexcept {
    return guarded([&]() -> DAT_RETURN {
        join_for_evds(ep, mask, param);
        const auto locked = enter<Ep>(ep);
        if (!locked)
            return invalid_handle(DAT_INVALID_HANDLE_EP);
        if ((mask & (NEVER | ~DAT_EP_PARAM_MASK{DAT_EP_FIELD_ALL})) != 0)
            return invalid_parameter(2);
        if (param == nullptr)
            return invalid_parameter(3);
        Setup wanted{locked->pz, locked->recv_evd, locked->request_evd, locked->connect_evd,
                      to_attr(locked->attributes)};
        const DAT_RETURN result = check(*locked, mask, *param, wanted);
        if (result != DAT_SUCCESS)
            return result;
        if (!state_allows(locked->state, mask) || too_late(*locked, mask))
            return to_return(locked->wrong_state());
        if (mask != 0)
            apply(*locked, wanted);
        return DAT_SUCCESS;
    });
}

} // namespace rsmdat
