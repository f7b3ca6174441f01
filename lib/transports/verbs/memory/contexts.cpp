// SPDX-License-Identifier: MIT
#include "memory/contexts.h"

#include <utility>

namespace rsmdat {

Region *Contexts::create(Pz &pz, std::shared_ptr<Pinned> pinned, std::uint64_t address,
                         std::uint64_t length, unsigned privileges, bool local) {
    const auto [place, is_new] = regions_.try_emplace(pinned->keys->lkey);
    if (!is_new)
        return nullptr;
    place->second = {.context = place->first,
                     .pz = &pz,
                     .address = address,
                     .length = length,
                     .privileges = privileges,
                     .local = local,
                     .pinned = std::move(pinned)};
    return &place->second;
}

void Contexts::destroy(Region &region) noexcept {
    regions_.erase(region.context);
}

} // namespace rsmdat
