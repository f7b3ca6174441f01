// SPDX-License-Identifier: MIT
// Contexts: what the vector of a post is checked for.
#include "engine/memory/contexts.h"

#include "engine/core/status.h"

namespace rsmengine {

namespace {

// `privilege` is one of the two local ones.
bool is_write(unsigned privilege) noexcept {
    return privilege == rights::LOCAL_WRITE;
}

Status privileges_violation(unsigned privilege) noexcept {
    return is_write(privilege) ? Status::RIGHT_TO_WRITE_MISSING : Status::RIGHT_TO_READ_MISSING;
}

Status protection_violation(unsigned privilege) noexcept {
    return is_write(privilege) ? Status::ZONE_OF_WRITE_DIFFERS : Status::ZONE_OF_READ_DIFFERS;
}

} // namespace

Status Contexts::check(const Pz *pz, const Segment &piece, unsigned privilege) const noexcept {
    const Region *region = find(piece.key);
    if (!region || !region->local)
        return privileges_violation(privilege);
    if (region->pz != pz)
        return protection_violation(privilege);
    if ((region->privileges & privilege) == 0)
        return privileges_violation(privilege);
    if (!region->contains(piece.address, piece.length))
        return Status::BAD_SEGMENT;
    return Status::OK;
}

Status Contexts::gather(const Pz *pz, Count segments, View<Segment> iov, unsigned privilege,
                        std::span<Segment> pieces, Count &used,
                        std::uint64_t &total) const noexcept {
    if (segments < 0)
        return Status::BAD_SEGMENT_COUNT;
    if (segments > 0 && !iov)
        return Status::BAD_SEGMENT;
    for (Count i = 0; i < segments; ++i) {
        const Segment piece = iov[static_cast<std::size_t>(i)];
        if (piece.length == 0)
            continue;
        if (const Status status = check(pz, piece, privilege); status != Status::OK)
            return status;
        if (static_cast<std::size_t>(used) >= pieces.size())
            return Status::BAD_SEGMENT_COUNT;
        if (__builtin_add_overflow(total, piece.length, &total))
            return Status::BAD_SEGMENT;
        pieces[static_cast<std::size_t>(used++)] = piece;
    }
    return Status::OK;
}

} // namespace rsmengine
