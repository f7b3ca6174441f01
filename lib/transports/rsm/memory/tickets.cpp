// SPDX-License-Identifier: MIT
// Contexts: how the peers of connections on this node are let in, and shut out again.
#include "memory/contexts.h"

namespace rsmdat {

namespace {

std::uint32_t permission_of(unsigned privileges) noexcept {
    std::uint32_t permission = 0;
    if ((privileges & DAT_MEM_PRIV_REMOTE_READ_FLAG) != 0)
        permission |= RSM_PERM_READ;
    if ((privileges & DAT_MEM_PRIV_REMOTE_WRITE_FLAG) != 0)
        permission |= RSM_PERM_WRITE;
    return permission;
}

std::uint64_t offset_of(const Region &region) noexcept {
    return region.address - region.pinned->start;
}

Grant make_grant(const Region &region, const Ticket &ticket, std::uint32_t permission) noexcept {
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
const Ticket *Contexts::ticket_of(const Ep &ep, Region &region, std::uint32_t permission) {
    if (region.holders.size() == region.holders.capacity())
        region.holders.reserve(2 * region.holders.size() + 1);
    const auto [entry, is_new] = tickets_.try_emplace({&ep, &region});
    if (!is_new)
        return &entry->second;
    const Export &memory = region.pinned->handle;
    if (memory.grant(offset_of(region), region.length, permission, TicketUse::MANY,
                     entry->second) == RSM_SUCCESS) {
        region.holders.push_back(&ep);
        return &entry->second;
    }
    tickets_.erase(entry);
    return nullptr;
}

std::optional<Grant> Contexts::grant(const Ep &ep, const Pz *pz, std::uint32_t context) noexcept {
    Region *region = find(context);
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

void Contexts::revoke(const Ep &ep) noexcept {
    auto held = tickets_.lower_bound({&ep, nullptr});
    while (held != tickets_.end() && held->first.first == &ep) {
        Region &region = *held->first.second;
        (void)region.pinned->handle.revoke(held->second);
        std::erase(region.holders, &ep);
        held = tickets_.erase(held);
    }
}

} // namespace rsmdat
