// SPDX-License-Identifier: MIT
#include "memory/contexts.h"

#include "memory/pz.h"

#include <utility>

namespace rsmdat {

Contexts::Contexts() noexcept = default;

Contexts::~Contexts() = default;

std::optional<std::uint32_t> Contexts::take_slot() {
    if (waiting_ > LEAST_WAITING || (used_ == MOST_SLOTS && waiting_ > 0)) {
        --waiting_;
        return std::exchange(first_waiting_, slot(first_waiting_).next);
    }
    if (used_ == MOST_SLOTS)
        return {};
    if (used_ % CHUNK == 0)
        chunks_.push_back(std::make_unique<Slot[]>(CHUNK));
    return used_++;
}

void Contexts::give_back(std::uint32_t index) noexcept {
    if (waiting_++ == 0)
        first_waiting_ = index;
    else
        slot(last_waiting_).next = index;
    last_waiting_ = index;
}

Region *Contexts::create(Pz &pz, std::shared_ptr<Pinned> pinned, std::uint64_t address,
                         std::uint64_t length, unsigned privileges, bool local) {
    const auto index = take_slot();
    if (!index)
        return nullptr;
    Slot &region = slot(*index);
    // 0 uses would be context 0, which is no context.
    region.uses = region.uses == UINT32_MAX >> INDEX_BITS ? 1 : region.uses + 1;
    region.context = region.uses << INDEX_BITS | *index;
    region.pz = &pz;
    region.address = address;
    region.length = length;
    region.privileges = privileges;
    region.local = local;
    region.open = true;
    region.lmr = nullptr;
    region.pinned = std::move(pinned);
    return &region;
}

void Contexts::destroy(Region &region) noexcept {
    for (const Ep *ep : region.holders) {
        const auto held = tickets_.find({ep, &region});
        (void)region.pinned->handle.revoke(held->second);
        tickets_.erase(held);
    }
    region.holders.clear();
    region.pinned.reset();
    give_back(std::exchange(region.context, 0) % MOST_SLOTS);
}

std::optional<std::span<std::byte>> Contexts::reach(const Pz *pz, std::uint32_t context,
                                                    std::uint64_t address, std::uint64_t length,
                                                    unsigned privilege) const noexcept {
    const Region *region = find(context);
    if (!region || !region->open || region->pz != pz || (region->privileges & privilege) == 0 ||
        !region->contains(address, length))
        return {};
    return std::span(reinterpret_cast<std::byte *>(address), static_cast<std::size_t>(length));
}

} // namespace rsmdat
