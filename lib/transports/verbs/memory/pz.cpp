// SPDX-License-Identifier: MIT
#include "memory/pz.h"

#include "wire/device.h"

namespace rsmdat {
namespace {

std::shared_ptr<ibv_pd> new_domain(const Device &device) {
    Owned<ibv_pd, ibv_dealloc_pd> made(::ibv_alloc_pd(&device.context()));
    if (!made)
        throw std::bad_alloc();
    return made;
}

} // namespace

Pz::Pz(Ia &ia) : Object(KIND, ia), domain(new_domain(*ia.device)) {}

} // namespace rsmdat
