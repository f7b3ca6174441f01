// SPDX-License-Identifier: MIT
#include "engine/memory/lmr.h"

#include "engine/loop/engine.h"
#include "engine/memory/pz.h"
#include "engine/transport.h"

#include <algorithm>

namespace rsmengine {

Lmr::Lmr(Ia &ia, const MemoryOrigin &from, Region &its)
    : Object(KIND, ia), origin(from), region(&its),
      end_(std::make_unique<SharedJob<Pinned>>(its.pinned)) {
    if (origin.kind == MemoryKind::SHARED)
        ia.transport->contexts.shared.emplace(origin.id, this);
    its.lmr = this;
    ++its.pz->users;
}

Lmr::~Lmr() {
    Contexts &contexts = ia().transport->contexts;
    const auto [first, last] = contexts.shared.equal_range(origin.id);
    const auto own =
        std::find_if(first, last, [&](const auto &entry) { return entry.second == this; });
    if (own != last)
        contexts.shared.erase(own);
    --region->pz->users;
    contexts.destroy(*region);
    if (end_)
        ia().engine->end_aside(std::move(end_));
}

std::unique_ptr<Job> Lmr::take_end() noexcept {
    return std::move(end_);
}

} // namespace rsmengine
