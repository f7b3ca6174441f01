// SPDX-License-Identifier: MIT
// IP addresses of IAs.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <sys/socket.h>

namespace rsmengine {

class Ia;

// Is the address one that a service point can have?
enum class AddressKind { UNICAST, UNSUPPORTED, MALFORMED };
AddressKind kind_of(const sockaddr &address) noexcept;

// Casts between a sockaddr_storage and the structure of its family.
template <class To>
To view(const sockaddr_storage &address) noexcept {
    To result{};
    std::memcpy(&result, &address, sizeof result);
    return result;
}
template <class From>
sockaddr_storage store(const From &address) noexcept {
    sockaddr_storage result{};
    std::memcpy(&result, &address, sizeof address);
    return result;
}
sockaddr_storage internet(std::uint32_t host_order) noexcept;

// The address alone, in one form only: no port, a scope with link-local addresses only, an IPv4
// address never as IPv6. Nothing if it is neither.
std::optional<sockaddr_storage> bare(const sockaddr &from) noexcept;

// True if two bare addresses are equal. A link-local one without scope is that of any link.
bool same_address(const sockaddr_storage &one, const sockaddr_storage &other) noexcept;
// A link-local address without scope is one of the own address's link, if that is link-local, too.
void complete_scope(sockaddr_storage &address, const sockaddr_storage &own) noexcept;

// The pointer type of the interface.
sockaddr *address_pointer(const sockaddr_storage &address) noexcept;
sockaddr *own_address_of(const Ia &ia) noexcept;

} // namespace rsmengine
