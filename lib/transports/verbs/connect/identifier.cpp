// SPDX-License-Identifier: MIT
#include "connect/identifier.h"

#include "engine/loop/blocking.h"

#include <cerrno>
#include <new>

namespace rsmengine {

Identifier::Inside::~Inside() {
    if (id == nullptr)
        return;
    about_to_block("end of an rdma_cm_id");
    (void)::rdma_destroy_id(id);
}

Identifier Identifier::create(const Events &events) noexcept {
    try {
        auto made = std::make_unique<Inside>(events);
        if (::rdma_create_id(events.get(), &made->id, nullptr, RDMA_PS_TCP) == 0)
            return Identifier(std::move(made));
        made->id = nullptr;
    } catch (const std::bad_alloc &) {
        errno = ENOMEM;
    }
    return {};
}

// Nothing has been sent for an identifier that nobody has used, so its end does not wait.
Identifier Identifier::adopt(const Events &events, rdma_cm_id *id) noexcept {
    try {
        auto made = std::make_unique<Inside>(events);
        made->id = id;
        return Identifier(std::move(made));
    } catch (const std::bad_alloc &) {
        (void)::rdma_destroy_id(id);
        return {};
    }
}

} // namespace rsmengine
