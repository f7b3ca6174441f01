// SPDX-License-Identifier: MIT
// dat_ep_connect and dat_ep_dup_connect.
#include "libdat/api/functions.h"

#include "engine/connect/address.h"
#include "engine/connect/ep.h"
#include "libdat/api/attributes.h"
#include "libdat/api/types.h"

#include <cstring>

namespace rsmdat {
namespace {

struct Wish {
    DAT_TIMEOUT timeout;
    DAT_COUNT size;
    const void *data;
    DAT_QOS qos;
    DAT_CONNECT_FLAGS flags;
};

// Positions of arguments in errors; the next ones follow it.
DAT_RETURN check_wish(const Ep &ep, const Wish &wish, int timeout_position) noexcept {
    const bool known_qos = is_known_qos(wish.qos);
    const bool known_flags =
        wish.flags == DAT_CONNECT_DEFAULT_FLAG || wish.flags == DAT_CONNECT_MULTIPATH_FLAG;
    if ((known_qos && wish.qos != DAT_QOS_BEST_EFFORT) || wish.flags == DAT_CONNECT_MULTIPATH_FLAG)
        return failure(DAT_MODEL_NOT_SUPPORTED);
    if (wish.timeout == 0)
        return invalid_parameter(timeout_position);
    if (wish.size < 0 || wish.size > ep.ia().limits.private_data)
        return invalid_parameter(timeout_position + 1);
    if (wish.size > 0 && wish.data == nullptr)
        return invalid_parameter(timeout_position + 2);
    if (!known_qos)
        return invalid_parameter(timeout_position + 3);
    return known_flags ? DAT_RETURN{DAT_SUCCESS} : invalid_parameter(timeout_position + 4);
}

DAT_RETURN check_endpoint(const Ep &ep) noexcept {
    if (ep.connect_evd == nullptr)
        return invalid_handle(DAT_INVALID_HANDLE_EVD_CONN);
    if (ep.pz == nullptr)
        return invalid_state(DAT_INVALID_STATE_EP_NOTREADY);
    return ep.state == EpState::UNCONNECTED ? DAT_RETURN{DAT_SUCCESS} : to_return(ep.wrong_state());
}

DAT_RETURN check_address(const sockaddr &address) noexcept {
    switch (kind_of(address)) {
    case AddressKind::MALFORMED:
        return failure(DAT_INVALID_ADDRESS, DAT_INVALID_ADDRESS_MALFORMED);
    case AddressKind::UNSUPPORTED:
        return failure(DAT_INVALID_ADDRESS, DAT_INVALID_ADDRESS_UNSUPPORTED);
    case AddressKind::UNICAST:
        break;
    }
    return DAT_SUCCESS;
}

sockaddr_storage copy_of(const sockaddr &address) noexcept {
    sockaddr_storage copy{};
    const bool v6 = address.sa_family == AF_INET6;
    std::memcpy(&copy, &address, v6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in));
    return copy;
}

std::span<const std::byte> data_of(const Wish &wish) noexcept {
    return {static_cast<const std::byte *>(wish.data), static_cast<std::size_t>(wish.size)};
}

} // namespace

DAT_RETURN ep_connect(DAT_EP_HANDLE ep, DAT_IA_ADDRESS_PTR address, DAT_CONN_QUAL qualifier,
                      DAT_TIMEOUT timeout, DAT_COUNT size, DAT_PVOID data, DAT_QOS qos,
                      DAT_CONNECT_FLAGS flags) noexcept {
    return guarded([&]() -> DAT_RETURN {
        const auto locked = enter<Ep>(ep);
        if (!locked)
            return invalid_handle(DAT_INVALID_HANDLE_EP);
        if (address == nullptr)
            return invalid_parameter(2);
        const Wish wish{timeout, size, data, qos, flags};
        DAT_RETURN result = check_endpoint(*locked);
        if (result == DAT_SUCCESS)
            result = check_wish(*locked, wish, 4);
        if (result == DAT_SUCCESS)
            result = check_address(*address);
        if (result != DAT_SUCCESS)
            return result;
        return to_return(locked->connector->connect(copy_of(*address), qualifier,
                                                    to_timeout(timeout), data_of(wish)));
    });
}

DAT_RETURN ep_dup_connect(DAT_EP_HANDLE ep, DAT_EP_HANDLE dup, DAT_TIMEOUT timeout, DAT_COUNT size,
                          DAT_PVOID data, DAT_QOS qos) noexcept {
    return guarded([&]() -> DAT_RETURN {
        const auto locked = enter<Ep>(ep);
        if (!locked)
            return invalid_handle(DAT_INVALID_HANDLE_EP);
        const Ep *model = find<Ep>(dup, locked->ia());
        if (model == nullptr)
            return invalid_handle(DAT_INVALID_HANDLE_EP);
        const Wish wish{timeout, size, data, qos, DAT_CONNECT_DEFAULT_FLAG};
        DAT_RETURN result = check_endpoint(*locked);
        if (result == DAT_SUCCESS && model->state != EpState::CONNECTED)
            result = to_return(model->wrong_state());
        if (result == DAT_SUCCESS)
            result = check_wish(*locked, wish, 3);
        if (result != DAT_SUCCESS)
            return result;
        return to_return(
            locked->connector->connect_like(*model->link, to_timeout(timeout), data_of(wish)));
    });
}

} // namespace rsmdat
