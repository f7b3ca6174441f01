// SPDX-License-Identifier: MIT
// dat_psp_* and dat_rsp_*.
#include "libdat/api/functions.h"

#include "engine/connect/service.h"
#include "engine/core/joined.h"
#include "engine/loop/random.h"
#include "libdat/api/query.h"
#include "libdat/api/types.h"

namespace rsmdat {
namespace {

// The range that dat_psp_create_any chooses from: such a qualifier fits wherever a port does.
constexpr std::uint32_t FIRST_ANY = 1024;
constexpr std::uint32_t COUNT_ANY = 65536 - FIRST_ANY;

using ListenerPointer = std::unique_ptr<ServicePointListener>;

// Start at a random qualifier, so that programs that start together do not all try the same one.
Status listen_anywhere(Ia &ia, DAT_CONN_QUAL &qualifier, ListenerPointer &listener) {
    std::uint32_t start = 0;
    if (!fill_random(std::as_writable_bytes(std::span(&start, 1))))
        return Status::NO_MEMORY;
    start %= COUNT_ANY;
    Status status = Status::QUALIFIER_IN_USE;
    for (std::uint32_t i = 0; i < COUNT_ANY && status == Status::QUALIFIER_IN_USE; ++i) {
        qualifier = FIRST_ANY + (start + i) % COUNT_ANY;
        status = ia.transport->listen(ia, qualifier, listener);
    }
    return status == Status::QUALIFIER_IN_USE ? Status::NO_QUALIFIER : status;
}

bool known(DAT_PSP_FLAGS flags) noexcept {
    return flags == DAT_PSP_CONSUMER_FLAG || flags == DAT_PSP_PROVIDER_FLAG;
}

// A service point that can't listen has not been there.
DAT_HANDLE begin(Ia &ia, std::unique_ptr<Sp> made, ListenerPointer &listener) {
    Sp &point = ia.adopt(std::move(made));
    try {
        point.listen(listener);
    } catch (...) {
        ia.destroy(point);
        throw;
    }
    return point.handle();
}

template <class Make>
DAT_RETURN create_psp(DAT_IA_HANDLE ia, DAT_CONN_QUAL *qualifier, DAT_EVD_HANDLE evd,
                      DAT_PSP_FLAGS flags, DAT_PSP_HANDLE *psp, Make &&make) noexcept {
    return guarded([&]() -> DAT_RETURN {
        ListenerPointer listener; // destroyed without the lock if there is no service point
        join_for(ia, evd, Stream::REQUESTS);
        const auto locked = enter<Ia>(ia);
        if (!locked)
            return invalid_handle(DAT_INVALID_HANDLE_IA);
        Evd *found = find_evd(evd, *locked);
        if (found == nullptr)
            return invalid_handle(DAT_INVALID_HANDLE_EVD_CR);
        if (psp == nullptr)
            return invalid_parameter(5);
        if (qualifier == nullptr)
            return invalid_parameter(2);
        if (!known(flags))
            return invalid_parameter(4);
        if (!found->accepts(Stream::REQUESTS))
            return invalid_handle(DAT_INVALID_HANDLE_EVD_CR);
        const DAT_RETURN result = to_return(make(*locked, listener));
        if (result == DAT_SUCCESS)
            *psp = begin(*locked,
                         std::make_unique<Psp>(*locked, *qualifier, *found, to_endpoints(flags)),
                         listener);
        return result;
    });
}

// The endpoint of an RSP; NULL is allowed.
DAT_RETURN find_endpoint(const Ia &ia, DAT_EP_HANDLE handle, Ep *&ep) noexcept {
    if (handle == DAT_HANDLE_NULL)
        return DAT_SUCCESS;
    ep = find<Ep>(handle, ia);
    return ep != nullptr ? DAT_RETURN{DAT_SUCCESS} : invalid_handle(DAT_INVALID_HANDLE_EP);
}

// NULL if the EVD has been destroyed with the open that it belonged to.
DAT_EVD_HANDLE evd_of(const Sp &sp) noexcept {
    return sp.evd != nullptr ? sp.evd->handle() : DAT_HANDLE_NULL;
}

DAT_RETURN check_rsp(DAT_CONN_QUAL qualifier, const Ep *ep, const Evd &evd,
                     const DAT_RSP_HANDLE *rsp) noexcept {
    if (rsp == nullptr)
        return invalid_parameter(5);
    if (ep != nullptr && ep->state != EpState::UNCONNECTED)
        return to_return(ep->wrong_state());
    if (!evd.accepts(Stream::REQUESTS))
        return invalid_handle(DAT_INVALID_HANDLE_EVD_CR);
    return qualifier != 0 ? DAT_RETURN{DAT_SUCCESS} : invalid_parameter(2);
}

} // namespace

DAT_RETURN psp_create(DAT_IA_HANDLE ia, DAT_CONN_QUAL qualifier, DAT_EVD_HANDLE evd,
                      DAT_PSP_FLAGS flags, DAT_PSP_HANDLE *psp) noexcept {
    return create_psp(ia, &qualifier, evd, flags, psp, [&](Ia &its, ListenerPointer &listener) {
        return qualifier != 0 ? its.transport->listen(its, qualifier, listener)
                              : Status::BAD_QUALIFIER;
    });
}

DAT_RETURN psp_create_any(DAT_IA_HANDLE ia, DAT_CONN_QUAL *qualifier, DAT_EVD_HANDLE evd,
                          DAT_PSP_FLAGS flags, DAT_PSP_HANDLE *psp) noexcept {
    return create_psp(ia, qualifier, evd, flags, psp, [&](Ia &its, ListenerPointer &listener) {
        return listen_anywhere(its, *qualifier, listener);
    });
}

DAT_RETURN psp_query(DAT_PSP_HANDLE psp, DAT_PSP_PARAM_MASK mask, DAT_PSP_PARAM *param) noexcept {
    const auto locked = enter<Psp>(psp);
    if (!locked)
        return invalid_handle(DAT_INVALID_HANDLE_PSP);
    const DAT_RETURN result = check_query(mask, DAT_PSP_FIELD_ALL, param);
    if (result == DAT_SUCCESS)
        *param = {locked->ia().handle(), locked->qualifier, evd_of(*locked),
                  to_psp_flags(locked->endpoints)};
    return result;
}

DAT_RETURN psp_free(DAT_PSP_HANDLE psp) noexcept {
    // Destroyed without the lock before the function returns, which frees the qualifier.
    ListenerPointer last;
    const auto locked = enter<Psp>(psp);
    if (!locked)
        return invalid_handle(DAT_INVALID_HANDLE_PSP);
    last = locked->stop_listening();
    locked->ia().destroy(*locked);
    return DAT_SUCCESS;
}

DAT_RETURN rsp_create(DAT_IA_HANDLE ia, DAT_CONN_QUAL qualifier, DAT_EP_HANDLE ep,
                      DAT_EVD_HANDLE evd, DAT_RSP_HANDLE *rsp) noexcept {
    return guarded([&]() -> DAT_RETURN {
        ListenerPointer listener; // likewise
        join_for(ia, evd, Stream::REQUESTS);
        const auto locked = enter<Ia>(ia);
        if (!locked)
            return invalid_handle(DAT_INVALID_HANDLE_IA);
        Ep *its_ep = nullptr;
        DAT_RETURN result = find_endpoint(*locked, ep, its_ep);
        if (result != DAT_SUCCESS)
            return result;
        Evd *found = find_evd(evd, *locked);
        if (found == nullptr)
            return invalid_handle(DAT_INVALID_HANDLE_EVD_CR);
        result = check_rsp(qualifier, its_ep, *found, rsp);
        if (result == DAT_SUCCESS)
            result = to_return(locked->transport->listen(*locked, qualifier, listener));
        if (result == DAT_SUCCESS)
            *rsp =
                begin(*locked, std::make_unique<Rsp>(*locked, qualifier, its_ep, *found), listener);
        return result;
    });
}

DAT_RETURN rsp_query(DAT_RSP_HANDLE rsp, DAT_RSP_PARAM_MASK mask, DAT_RSP_PARAM *param) noexcept {
    const auto locked = enter<Rsp>(rsp);
    if (!locked)
        return invalid_handle(DAT_INVALID_HANDLE_RSP);
    const DAT_RETURN result = check_query(mask, DAT_RSP_FIELD_ALL, param);
    if (result == DAT_SUCCESS)
        *param = {locked->ia().handle(), locked->qualifier, evd_of(*locked),
                  locked->ep != nullptr ? locked->ep->handle() : DAT_HANDLE_NULL};
    return result;
}

DAT_RETURN rsp_free(DAT_RSP_HANDLE rsp) noexcept {
    ListenerPointer last; // likewise
    auto locked = enter<Rsp>(rsp);
    if (!locked)
        return invalid_handle(DAT_INVALID_HANDLE_RSP);
    Ia &ia = locked->ia();
    Rsp *settled = Rsp::settled(rsp, ia, locked.guard);
    if (settled == nullptr)
        return invalid_handle(DAT_INVALID_HANDLE_RSP);
    last = settled->stop_listening();
    ia.destroy(*settled);
    return DAT_SUCCESS;
}

} // namespace rsmdat
