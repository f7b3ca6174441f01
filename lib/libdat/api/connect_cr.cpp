// SPDX-License-Identifier: MIT
// dat_cr_*.
#include "libdat/api/functions.h"

#include "engine/connect/address.h"
#include "engine/connect/service.h"
#include "libdat/api/query.h"

namespace rsmdat {
namespace {

// The endpoint to accept with: the request's own, or one that the consumer brings.
DAT_RETURN find_endpoint(const Cr &cr, DAT_EP_HANDLE handle, Ep *&ep) noexcept {
    const bool given = handle != DAT_HANDLE_NULL;
    ep = given ? find<Ep>(handle, cr.ia()) : cr.ep;
    if (ep == nullptr || (given && cr.ep != nullptr))
        return invalid_handle(DAT_INVALID_HANDLE_EP);
    if (ep->pz == nullptr || ep->connect_evd == nullptr)
        return invalid_handle(DAT_INVALID_HANDLE_EP);
    return DAT_SUCCESS;
}

DAT_RETURN check_data(const Cr &cr, DAT_COUNT size, const void *data) noexcept {
    if (size > 0 && data == nullptr)
        return invalid_parameter(4);
    return size >= 0 && size <= cr.ia().limits.private_data ? DAT_RETURN{DAT_SUCCESS}
                                                            : invalid_parameter(3);
}

DAT_RETURN check_state(const Cr &cr, const Ep &ep) noexcept {
    return cr.ep == &ep || ep.state == EpState::UNCONNECTED ? DAT_RETURN{DAT_SUCCESS}
                                                            : to_return(ep.wrong_state());
}

// Listeners on the qualifiers of this Ia.
Sp *listener_on(const Ia &ia, DAT_CONN_QUAL qualifier) noexcept {
    for (const auto &object : ia.objects()) {
        auto *sp = dynamic_cast<Sp *>(object.get());
        if (sp != nullptr && sp->qualifier == qualifier && sp->listening())
            return sp;
    }
    return nullptr;
}

} // namespace

DAT_RETURN cr_query(DAT_CR_HANDLE cr, DAT_CR_PARAM_MASK mask, DAT_CR_PARAM *param) noexcept {
    const auto locked = enter<Cr>(cr);
    if (!locked)
        return invalid_handle(DAT_INVALID_HANDLE_CR);
    const DAT_RETURN result = check_query(mask, DAT_CR_FIELD_ALL, param);
    if (result != DAT_SUCCESS)
        return result;
    auto &data = locked->private_data;
    param->remote_ia_address_ptr = address_pointer(locked->link->remote);
    param->remote_port_qual = locked->link->remote_port;
    param->private_data_size = static_cast<DAT_COUNT>(data.size());
    param->private_data = data.empty() ? nullptr : data.data();
    param->local_ep_handle = locked->ep != nullptr ? locked->ep->handle() : DAT_HANDLE_NULL;
    return DAT_SUCCESS;
}

DAT_RETURN cr_accept(DAT_CR_HANDLE cr, DAT_EP_HANDLE ep, DAT_COUNT size, DAT_PVOID data) noexcept {
    return guarded([&]() -> DAT_RETURN {
        const auto locked = enter<Cr>(cr);
        if (!locked)
            return invalid_handle(DAT_INVALID_HANDLE_CR);
        Ep *with = nullptr;
        DAT_RETURN result = find_endpoint(*locked, ep, with);
        if (result == DAT_SUCCESS)
            result = check_data(*locked, size, data);
        if (result == DAT_SUCCESS)
            result = check_state(*locked, *with);
        if (result != DAT_SUCCESS)
            return result;
        const auto *bytes = static_cast<const std::byte *>(data);
        result = to_return(locked->accept(*with, {bytes, static_cast<std::size_t>(size)}));
        if (result == DAT_SUCCESS)
            locked->ia().destroy(*locked);
        return result;
    });
}

DAT_RETURN cr_reject(DAT_CR_HANDLE cr) noexcept {
    const auto locked = enter<Cr>(cr);
    if (!locked)
        return invalid_handle(DAT_INVALID_HANDLE_CR);
    locked->reject();
    locked->ia().destroy(*locked);
    return DAT_SUCCESS;
}

DAT_RETURN cr_handoff(DAT_CR_HANDLE cr, DAT_CONN_QUAL qualifier) noexcept {
    const auto locked = enter<Cr>(cr);
    if (!locked)
        return invalid_handle(DAT_INVALID_HANDLE_CR);
    if (qualifier == 0)
        return invalid_parameter(2);
    locked->hand_off(listener_on(locked->ia(), qualifier));
    locked->ia().destroy(*locked);
    return DAT_SUCCESS;
}

} // namespace rsmdat
