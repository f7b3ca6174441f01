// SPDX-License-Identifier: MIT
// Contexts: what the vector of a post is checked for.
#include "engine/memory/contexts.h"

#include "engine/core/error.h"

namespace rsmdat {

namespace {

// A local privilege.
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

} // namespace rsmdat
