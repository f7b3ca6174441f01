// SPDX-License-Identifier: MIT
#include "memory/contexts.h"
#include "engine/core/own.h"

#include <utility>

namespace rsmengine {

Region *VerbsContexts::create(Pz &pz, std::shared_ptr<Pinned> pinned, std::uint64_t address,
                              std::uint64_t length, unsigned privileges, bool local) {
    const ibv_mr &keys = *own<VerbsPinned>(*pinned).keys;
    const auto [place, is_new] = regions_.try_emplace(keys.lkey);
    if (!is_new)
        return nullptr;
    place->second = {.context = place->first,
                     .rmr_context = keys.rkey,
                     .pz = &pz,
                     .address = address,
                     .length = length,
                     .privileges = privileges,
                     .local = local,
                     .lmr = nullptr,
                     .pinned = std::move(pinned)};
    return &place->second;
}

void VerbsContexts::destroy(Region &region) noexcept {
    regions_.erase(region.context);
}

} // namespace rsmengine
