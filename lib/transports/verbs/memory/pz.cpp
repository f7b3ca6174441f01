// SPDX-License-Identifier: MIT
#include "memory/pz.h"

#include "core/transport.h"
#include "wire/rdma_device.h"

namespace rsmengine {
namespace {

std::shared_ptr<ibv_pd> new_domain(const RdmaDevice &device) {
    Owned<ibv_pd, ibv_dealloc_pd> made(::ibv_alloc_pd(&device.context()));
    if (!made)
        throw std::bad_alloc();
    return made;
}

} // namespace

VerbsPz::VerbsPz(Ia &ia) : Pz(ia), domain(new_domain(*transport_of(ia).device)) {}

} // namespace rsmengine
