// SPDX-License-Identifier: MIT
#include "engine/memory/lmr.h"

#include "engine/memory/pz.h"
#include "engine/transport.h"

#include <algorithm>
#include <cstring>

namespace rsmdat {

namespace {

Contexts::Cookie as_key(const char (&cookie)[DAT_LMR_COOKIE_SIZE]) noexcept {
    Contexts::Cookie key;
    std::copy(std::begin(cookie), std::end(cookie), key.begin());
    return key;
}

} // namespace

Lmr::Lmr(Ia &ia, const DAT_LMR_PARAM &asked, Region &its)
    : Object(KIND, ia), param(asked), region(&its) {
    if (param.mem_type == DAT_MEM_TYPE_SHARED_VIRTUAL) {
        auto &id = param.region_desc.for_shared_memory.shared_memory_id;
        std::memcpy(cookie, *id, sizeof(cookie));
        id = &cookie; // the consumer may free its own copy
        ia.transport->contexts.shared.emplace(as_key(cookie), this);
    }
    param.ia_handle = ia.handle();
    its.lmr = this;
    ++its.pz->users;
}

Lmr::~Lmr() {
    Contexts &contexts = ia().transport->contexts;
    const auto [first, last] = contexts.shared.equal_range(as_key(cookie));
    const auto own =
        std::find_if(first, last, [&](const auto &entry) { return entry.second == this; });
    if (own != last)
        contexts.shared.erase(own);
    --region->pz->users;
    contexts.destroy(*region);
}

} // namespace rsmdat
