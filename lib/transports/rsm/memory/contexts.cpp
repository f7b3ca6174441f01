// SPDX-License-Identifier: MIT
#include "memory/contexts.h"

#include "engine/core/own.h"
#include "engine/memory/pz.h"
#include "memory/copy.h"

#include <algorithm>
#include <utility>

namespace rsmengine {

RsmContexts::RsmContexts() noexcept = default;

RsmContexts::~RsmContexts() = default;

std::optional<std::uint32_t> RsmContexts::take_slot() {
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

void RsmContexts::give_back(std::uint32_t index) noexcept {
    if (waiting_++ == 0)
        first_waiting_ = index;
    else
        slot(last_waiting_).next = index;
    last_waiting_ = index;
}

RsmRegion *RsmContexts::create(Pz &pz, std::shared_ptr<Pinned> pinned, std::uint64_t address,
                               std::uint64_t length, unsigned privileges, bool local) {
    const auto index = take_slot();
    if (!index)
        return nullptr;
    Slot &region = slot(*index);
    // 0 uses would be context 0, which is no context.
    region.uses = region.uses == UINT32_MAX >> INDEX_BITS ? 1 : region.uses + 1;
    region.context = region.rmr_context = region.uses << INDEX_BITS | *index;
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

void RsmContexts::destroy(Region &which) noexcept {
    auto &region = own<RsmRegion>(which);
    for (const Ep *ep : region.holders)
        tickets.revoke(*ep, region);
    region.holders.clear();
    region.pinned.reset();
    give_back(std::exchange(region.context, 0) % MOST_SLOTS);
}

bool RsmContexts::view(const Pz *pz, std::span<const Segment> pieces, unsigned privilege,
                       Pieces &seen) const noexcept {
    auto *place = seen.begin();
    for (const Segment &piece : pieces) {
        const RsmRegion *region = usable(pz, piece, privilege);
        if (!region)
            return false;
        *place = piece;
        place->address = reinterpret_cast<std::uintptr_t>(region->memory().at(piece.address));
        ++place;
    }
    return true;
}

bool RsmContexts::intact(std::span<const Segment> pieces) const noexcept {
    return std::ranges::all_of(pieces, [this](const Segment &piece) {
        const RsmRegion *region = find(piece.key);
        return region != nullptr && region->memory().intact();
    });
}

bool RsmContexts::fill(const Pz *pz, std::span<const Segment> pieces, std::uint64_t offset,
                       std::span<const std::byte> from) const noexcept {
    Pieces seen; // NOLINT(*-member-init): as much of it is read as was written
    if (!view(pz, pieces, rights::LOCAL_WRITE, seen))
        return false;
    copy_to_pieces(std::span(seen).first(pieces.size()), offset, from);
    return intact(pieces);
}

std::optional<RsmContexts::Reached> RsmContexts::reach(const Pz *pz, std::uint32_t context,
                                                       std::uint64_t address, std::uint64_t length,
                                                       unsigned privilege) const noexcept {
    const RsmRegion *region = find(context);
    if (!region || !region->open || region->pz != pz || (region->privileges & privilege) == 0 ||
        !region->contains(address, length))
        return {};
    const RsmPinned &pinned = region->memory();
    return Reached{std::span(pinned.at(address), static_cast<std::size_t>(length)), &pinned};
}

} // namespace rsmengine
