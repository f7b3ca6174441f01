// SPDX-License-Identifier: MIT
#include "engine/connect/address.h"

#include "engine/core/ia.h"
#include "engine/transport.h"

#include <netinet/in.h>

namespace rsmengine {
namespace {

AddressKind kind_of_internet(std::uint32_t address) noexcept {
    if (address == INADDR_BROADCAST || IN_MULTICAST(address))
        return AddressKind::UNSUPPORTED;
    return address >> 24 == 0 || address >> 28 == 15 ? AddressKind::MALFORMED
                                                     : AddressKind::UNICAST;
}

} // namespace

sockaddr_storage internet(std::uint32_t host_order) noexcept {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(host_order);
    return store(address);
}

std::optional<sockaddr_storage> bare(const sockaddr &from) noexcept {
    if (from.sa_family == AF_INET) {
        sockaddr_in address{};
        std::memcpy(&address, &from, sizeof address);
        return internet(ntohl(address.sin_addr.s_addr));
    }
    if (from.sa_family != AF_INET6)
        return std::nullopt;
    sockaddr_in6 address{};
    std::memcpy(&address, &from, sizeof address);
    if (IN6_IS_ADDR_V4MAPPED(&address.sin6_addr)) {
        std::uint32_t low = 0;
        std::memcpy(&low, &address.sin6_addr.s6_addr[12], sizeof low);
        return internet(ntohl(low));
    }
    sockaddr_in6 result{};
    result.sin6_family = AF_INET6;
    result.sin6_addr = address.sin6_addr;
    if (IN6_IS_ADDR_LINKLOCAL(&address.sin6_addr))
        result.sin6_scope_id = address.sin6_scope_id;
    return store(result);
}

bool same_address(const sockaddr_storage &one, const sockaddr_storage &other) noexcept {
    if (one.ss_family != AF_INET6 || other.ss_family != AF_INET6)
        return std::memcmp(&one, &other, sizeof one) == 0;
    const auto first = view<sockaddr_in6>(one);
    const auto second = view<sockaddr_in6>(other);
    return IN6_ARE_ADDR_EQUAL(&first.sin6_addr, &second.sin6_addr) &&
           (first.sin6_scope_id == second.sin6_scope_id || first.sin6_scope_id == 0 ||
            second.sin6_scope_id == 0);
}

void complete_scope(sockaddr_storage &address, const sockaddr_storage &own) noexcept {
    if (address.ss_family != AF_INET6 || own.ss_family != AF_INET6)
        return;
    auto wanted = view<sockaddr_in6>(address);
    const auto ours = view<sockaddr_in6>(own);
    if (!IN6_IS_ADDR_LINKLOCAL(&wanted.sin6_addr) || !IN6_IS_ADDR_LINKLOCAL(&ours.sin6_addr) ||
        wanted.sin6_scope_id != 0)
        return;
    wanted.sin6_scope_id = ours.sin6_scope_id;
    address = store(wanted);
}

AddressKind kind_of(const sockaddr &address) noexcept {
    const auto plain = bare(address);
    if (!plain)
        return AddressKind::MALFORMED;
    if (plain->ss_family == AF_INET)
        return kind_of_internet(ntohl(view<sockaddr_in>(*plain).sin_addr.s_addr));
    const auto v6 = view<sockaddr_in6>(*plain);
    if (IN6_IS_ADDR_MULTICAST(&v6.sin6_addr))
        return AddressKind::UNSUPPORTED;
    return IN6_IS_ADDR_UNSPECIFIED(&v6.sin6_addr) ? AddressKind::MALFORMED : AddressKind::UNICAST;
}

// The type of the interface lacks const; the engine does not write there.
sockaddr *address_pointer(const sockaddr_storage &address) noexcept {
    return const_cast<sockaddr *>(reinterpret_cast<const sockaddr *>(&address));
}

sockaddr *own_address_of(const Ia &ia) noexcept {
    return address_pointer(ia.transport->address());
}

} // namespace rsmengine
