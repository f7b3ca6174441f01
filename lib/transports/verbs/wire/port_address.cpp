// SPDX-License-Identifier: MIT
#include "wire/port_address.h"

#include <array>
#include <cstring>
#include <ifaddrs.h>
#include <memory>
#include <net/if.h>
#include <netinet/in.h>
#include <rdma/rdma_cma.h>

namespace rsmengine {

namespace {

struct FreeAddresses {
    void operator()(ifaddrs *list) const noexcept { ::freeifaddrs(list); }
};
using Addresses = std::unique_ptr<ifaddrs, FreeAddresses>;

struct DestroyId {
    void operator()(rdma_cm_id *id) const noexcept { (void)::rdma_destroy_id(id); }
};
using Id = std::unique_ptr<rdma_cm_id, DestroyId>;

constexpr std::array FAMILIES{AF_INET, AF_INET6};

Addresses all_addresses() noexcept {
    ifaddrs *list = nullptr;
    return Addresses(::getifaddrs(&list) == 0 ? list : nullptr);
}

bool is_family(const ifaddrs &entry, int family) noexcept {
    return entry.ifa_addr != nullptr && entry.ifa_addr->sa_family == family &&
           (entry.ifa_flags & IFF_LOOPBACK) == 0;
}

sockaddr_storage copy_of(const sockaddr &address) noexcept {
    sockaddr_storage copy{};
    std::memcpy(&copy, &address,
                address.sa_family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6));
    return copy;
}

bool leads_to(sockaddr_storage address, std::string_view device, std::uint8_t port) noexcept {
    rdma_cm_id *made = nullptr;
    if (::rdma_create_id(nullptr, &made, nullptr, RDMA_PS_TCP) != 0)
        return false;
    const Id id(made);
    return ::rdma_bind_addr(made, reinterpret_cast<sockaddr *>(&address)) == 0 &&
           made->verbs != nullptr && device == ::ibv_get_device_name(made->verbs->device) &&
           made->port_num == port;
}

} // namespace

std::optional<sockaddr_storage> address_of_port(std::string_view device, std::uint8_t port) {
    const Addresses list = all_addresses();
    for (const int family : FAMILIES)
        for (const ifaddrs *entry = list.get(); entry != nullptr; entry = entry->ifa_next) {
            if (!is_family(*entry, family))
                continue;
            const sockaddr_storage address = copy_of(*entry->ifa_addr);
            if (leads_to(address, device, port))
                return address;
        }
    return {};
}

} // namespace rsmengine
