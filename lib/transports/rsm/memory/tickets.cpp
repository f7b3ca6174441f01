// SPDX-License-Identifier: MIT
#include "memory/contexts.h"

namespace rsmengine {

namespace {

std::uint32_t permission_of(unsigned privileges) noexcept {
    std::uint32_t permission = 0;
    if ((privileges & rights::REMOTE_READ) != 0)
        permission |= RSM_PERM_READ;
    if ((privileges & rights::REMOTE_WRITE) != 0)
        permission |= RSM_PERM_WRITE;
    return permission;
}

std::uint64_t offset_of(const RsmRegion &region) noexcept {
    return region.address - region.memory().start;
}

Grant make_grant(const RsmRegion &region, const Ticket &ticket, std::uint32_t permission) noexcept {
    Grant grant{};
    grant.ticket[0] = ticket[0];
    grant.ticket[1] = ticket[1];
    grant.address = region.address;
    grant.length = region.length;
    grant.offset = offset_of(region);
    grant.permission = permission;
    return grant;
}

} // namespace

// All that can throw comes before the kernel is asked.
const Ticket *Tickets::ticket_of(const Ep &ep, RsmRegion &region, std::uint32_t permission) {
    if (region.holders.size() == region.holders.capacity())
        region.holders.reserve(2 * region.holders.size() + 1);
    const auto [entry, is_new] = all_.try_emplace({&ep, &region});
    if (!is_new)
        return &entry->second;
    const Export &memory = region.memory().handle;
    if (memory.grant(offset_of(region), region.length, permission, TicketUse::MANY,
                     entry->second) == RSM_SUCCESS) {
        region.holders.push_back(&ep);
        return &entry->second;
    }
    all_.erase(entry);
    return nullptr;
}

std::optional<Grant> Tickets::grant(RsmContexts &contexts, const Ep &ep, const Pz *pz,
                                    std::uint32_t context) noexcept {
    RsmRegion *region = contexts.find(context);
    if (!region || !region->open || region->pz != pz)
        return {};
    const std::uint32_t permission = permission_of(region->privileges);
    if (permission == 0)
        return {};
    try {
        if (const Ticket *ticket = ticket_of(ep, *region, permission))
            return make_grant(*region, *ticket, permission);
    } catch (const std::bad_alloc &) { // the same to the peer as a region that is gone
    }
    return {};
}

void Tickets::revoke(const Ep &ep) noexcept {
    auto held = all_.lower_bound({&ep, nullptr});
    while (held != all_.end() && held->first.first == &ep) {
        RsmRegion &region = *held->first.second;
        (void)region.memory().handle.revoke(held->second);
        std::erase(region.holders, &ep);
        held = all_.erase(held);
    }
}

void Tickets::revoke(const Ep &ep, RsmRegion &region) noexcept {
    const auto held = all_.find({&ep, &region});
    (void)region.memory().handle.revoke(held->second);
    all_.erase(held);
}

} // namespace rsmengine
