// SPDX-License-Identifier: MIT
#include "memory/contexts.h"

#include "memory/pz.h"

#include <utility>

namespace rsmdat {

namespace {

// Of a local privilege.
bool is_write(unsigned privilege) noexcept {
    return privilege == DAT_MEM_PRIV_LOCAL_WRITE_FLAG;
}

DAT_RETURN privileges_violation(unsigned privilege) noexcept {
    return failure(DAT_PRIVILEGES_VIOLATION,
                   is_write(privilege) ? DAT_PRIVILEGES_WRITE : DAT_PRIVILEGES_READ);
}

DAT_RETURN protection_violation(unsigned privilege) noexcept {
    return failure(DAT_PROTECTION_VIOLATION,
                   is_write(privilege) ? DAT_PROTECTION_WRITE : DAT_PROTECTION_READ);
}

} // namespace

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

DAT_RETURN Contexts::check(const Pz *pz, const DAT_LMR_TRIPLET &piece,
                           unsigned privilege) const noexcept {
    const Region *region = find(piece.lmr_context);
    if (!region || !region->local)
        return privileges_violation(privilege);
    if (region->pz != pz)
        return protection_violation(privilege);
    if ((region->privileges & privilege) == 0)
        return privileges_violation(privilege);
    if (!region->contains(piece.virtual_address, piece.segment_length))
        return invalid_parameter(3);
    return DAT_SUCCESS;
}

DAT_RETURN Contexts::gather(const Pz *pz, DAT_COUNT segments, const DAT_LMR_TRIPLET *iov,
                            unsigned privilege, std::span<DAT_LMR_TRIPLET> pieces, DAT_COUNT &used,
                            DAT_VLEN &total) const noexcept {
    if (segments < 0)
        return invalid_parameter(2);
    if (segments > 0 && !iov)
        return invalid_parameter(3);
    for (DAT_COUNT i = 0; i < segments; ++i) {
        const DAT_LMR_TRIPLET piece = iov[i];
        if (piece.segment_length == 0)
            continue;
        if (const DAT_RETURN status = check(pz, piece, privilege); status != DAT_SUCCESS)
            return status;
        if (static_cast<std::size_t>(used) >= pieces.size())
            return invalid_parameter(2);
        if (__builtin_add_overflow(total, piece.segment_length, &total))
            return invalid_parameter(3);
        pieces[static_cast<std::size_t>(used++)] = piece;
    }
    return DAT_SUCCESS;
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
