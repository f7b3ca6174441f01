// SPDX-License-Identifier: MIT
// dat_lmr_create: first the plan, then the pages, then the region.
#include "libdat/api/functions.h"

#include "engine/memory/lmr.h"
#include "engine/memory/pz.h"
#include "engine/memory/sharing.h"
#include "engine/transport.h"
#include "libdat/api/types.h"

#include <algorithm>
#include <cstring>

namespace rsmdat {

namespace {

constexpr unsigned DEFINED = rights::ALL | rights::STRICT_ORDER;
constexpr unsigned REMOTE = rights::REMOTE_READ | rights::REMOTE_WRITE;

static_assert(same(MemoryKind::ADDRESS, DAT_MEM_TYPE_VIRTUAL) &&
              same(MemoryKind::LMR, DAT_MEM_TYPE_LMR) &&
              same(MemoryKind::SHARED, DAT_MEM_TYPE_SHARED_VIRTUAL) &&
              same(MemoryKind::ORDERED_ADDRESS, DAT_MEM_TYPE_SO_VIRTUAL));
static_assert(std::tuple_size_v<SharedId> == DAT_LMR_COOKIE_SIZE);

// A registration in progress.
struct Plan {
    DAT_LMR_PARAM param{};
    Wanted wanted{};
    std::shared_ptr<Pinned> pinned; // another LMR's pages, which can be shared
    SharedId id{};

    [[nodiscard]] bool shared() const noexcept {
        return param.mem_type == DAT_MEM_TYPE_SHARED_VIRTUAL;
    }
    void share(const Ia &ia, const std::shared_ptr<Pinned> &others) {
        if (ia.transport->serves(*others, wanted))
            pinned = others;
    }
};

DAT_RETURN plan_range(const Ia &ia, const void *start, Plan &plan) {
    Wanted &wanted = plan.wanted;
    wanted.length = plan.param.length;
    if (wanted.length == 0)
        return failure(DAT_LENGTH_ERROR);
    if (wanted.length > ia.limits.lmr_length)
        return invalid_parameter(4);
    wanted.address = reinterpret_cast<std::uintptr_t>(start);
    const auto pages = pages_around(wanted.address, wanted.length);
    if (wanted.address == 0 || !pages)
        return invalid_parameter(3);
    wanted.pages = *pages;
    return DAT_SUCCESS;
}

DAT_RETURN plan_shared(const Ia &ia, const DAT_SHARED_MEMORY &memory, Plan &plan) {
    if (!memory.shared_memory_id)
        return invalid_parameter(3);
    std::copy_n(*memory.shared_memory_id, plan.id.size(), plan.id.begin());
    return plan_range(ia, memory.virtual_address, plan);
}

// The same bytes as another LMR's.
DAT_RETURN plan_lmr(const Ia &ia, DAT_LMR_HANDLE handle, Plan &plan) {
    const Lmr *other = find<Lmr>(handle, ia);
    if (!other)
        return invalid_handle(DAT_INVALID_HANDLE_LMR);
    const Region &region = *other->region;
    plan.param.length = plan.wanted.length = region.length;
    plan.wanted.address = region.address;
    plan.wanted.pages = *pages_around(region.address, region.length); // as when that was made
    plan.share(ia, region.pinned);
    return DAT_SUCCESS;
}

DAT_RETURN plan_memory(const Ia &ia, Plan &plan) {
    const DAT_REGION_DESCRIPTION &region = plan.param.region_desc;
    switch (plan.param.mem_type) {
    case DAT_MEM_TYPE_VIRTUAL:
    case DAT_MEM_TYPE_SO_VIRTUAL: // no bus here reorders writes
        return plan_range(ia, region.for_va, plan);
    case DAT_MEM_TYPE_SHARED_VIRTUAL:
        return plan_shared(ia, region.for_shared_memory, plan);
    case DAT_MEM_TYPE_LMR:
        return plan_lmr(ia, region.for_lmr_handle, plan);
    }
    return failure(DAT_MODEL_NOT_SUPPORTED);
}

// One cookie is one memory: of one length, pinned once where it is at the same address.
DAT_RETURN compare_cookies(const Ia &ia, Plan &plan) {
    if (!plan.shared())
        return DAT_SUCCESS;
    const auto [first, last] = ia.transport->contexts.shared.equal_range(plan.id);
    for (auto other = first; other != last; ++other) {
        const Region &region = *other->second->region;
        if (region.length != plan.param.length)
            return invalid_state();
        if (region.address == plan.wanted.address)
            plan.share(ia, region.pinned);
    }
    return DAT_SUCCESS;
}

// State that can change while the lock is not held.
DAT_RETURN check_ia(const Ia &ia, Plan &plan) {
    if (!find<Pz>(plan.param.pz_handle, ia))
        return invalid_handle(DAT_INVALID_HANDLE_PZ);
    if (ia.count(ObjectKind::LMR) >= ia.limits.lmrs)
        return no_resource(DAT_RESOURCE_MEMORY_REGION);
    return compare_cookies(ia, plan);
}

DAT_RETURN check(const Ia &ia, Plan &plan) {
    plan.wanted.privileges = static_cast<unsigned>(plan.param.mem_priv);
    if (const DAT_RETURN status = plan_memory(ia, plan); status != DAT_SUCCESS)
        return status;
    if ((plan.wanted.privileges & ~DEFINED) != 0)
        return invalid_parameter(6);
    return check_ia(ia, plan);
}

// Ia::lock not held.
DAT_RETURN get_pages(const Pz &pz, Plan &plan) {
    if (plan.shared()) {
        const Sharing sharing = sharing_of(plan.wanted.address, plan.wanted.length);
        if (sharing != Sharing::SHARED)
            return sharing == Sharing::ABSENT ? invalid_parameter(3) : invalid_state();
    }
    return plan.pinned ? DAT_RETURN{DAT_SUCCESS}
                       : to_return(pz.ia().transport->get_memory(pz, plan.wanted, plan.pinned));
}

// Counts as a user of the Pz, so that it cannot be freed while the lock is not held.
class InUse {
  public:
    explicit InUse(Pz &pz) noexcept : pz_(pz) { ++pz_.users; }
    ~InUse() { --pz_.users; }
    InUse(const InUse &) = delete;
    InUse(InUse &&) = delete;
    InUse &operator=(const InUse &) = delete;
    InUse &operator=(InUse &&) = delete;

  private:
    Pz &pz_;
};

MemoryOrigin origin_of(const Plan &plan) noexcept {
    const DAT_REGION_DESCRIPTION &region = plan.param.region_desc;
    MemoryOrigin origin{.kind = static_cast<MemoryKind>(plan.param.mem_type)};
    if (origin.kind == MemoryKind::LMR)
        origin.lmr = region.for_lmr_handle;
    else
        origin.start = plan.shared() ? region.for_shared_memory.virtual_address : region.for_va;
    origin.id = plan.id;
    return origin;
}

DAT_RETURN make(Ia &ia, Plan &plan, Lmr *&result) {
    Contexts &contexts = ia.transport->contexts;
    const Wanted &wanted = plan.wanted;
    Pz &pz = *find<Pz>(plan.param.pz_handle, ia);
    Region *region =
        contexts.create(pz, plan.pinned, wanted.address, wanted.length, wanted.privileges, true);
    if (!region)
        return no_resource(DAT_RESOURCE_MEMORY_REGION);
    const auto destroy = [&](Region *unused) { contexts.destroy(*unused); };
    std::unique_ptr<Region, decltype(destroy)> hold(region, destroy);
    plan.param.lmr_context = region->context;
    plan.param.rmr_context = (wanted.privileges & REMOTE) != 0 ? region->rmr_context : 0;
    plan.param.registered_address = plan.pinned->start;
    plan.param.registered_size = plan.pinned->length;
    auto lmr = std::make_unique<Lmr>(ia, origin_of(plan), *region);
    (void)hold.release();
    result = &ia.adopt(std::move(lmr));
    return DAT_SUCCESS;
}

template <class Value>
void give(Value *to, Value value) noexcept {
    if (to)
        *to = value;
}

DAT_RETURN create(Ia &ia, Guard &guard, Plan &plan, Lmr *&result) {
    DAT_RETURN status = check(ia, plan);
    if (status != DAT_SUCCESS)
        return status;
    Pz &pz = *find<Pz>(plan.param.pz_handle, ia);
    const InUse in_use(pz);
    {
        const UnlockedScope unlocked(ia, guard); // pinning can take long
        status = get_pages(pz, plan);
    }
    if (status == DAT_SUCCESS)
        status = check_ia(ia, plan);
    return status == DAT_SUCCESS ? make(ia, plan, result) : status;
}

} // namespace

DAT_RETURN lmr_create(DAT_IA_HANDLE ia, DAT_MEM_TYPE type, DAT_REGION_DESCRIPTION region,
                      DAT_VLEN length, DAT_PZ_HANDLE pz, DAT_MEM_PRIV_FLAGS privileges,
                      DAT_LMR_HANDLE *lmr, DAT_LMR_CONTEXT *lmr_context,
                      DAT_RMR_CONTEXT *rmr_context, DAT_VLEN *registered_size,
                      DAT_VADDR *registered_address) noexcept {
    return guarded([&] {
        Plan plan; // outlives the lock, so that unused pages are unpinned without it
        auto locked = enter<Ia>(ia);
        if (!locked)
            return invalid_handle(DAT_INVALID_HANDLE_IA);
        plan.param.mem_type = type;
        plan.param.region_desc = region;
        plan.param.length = length;
        plan.param.pz_handle = pz;
        plan.param.mem_priv = privileges;
        Lmr *made = nullptr;
        const DAT_RETURN status = create(*locked, locked.guard, plan, made);
        if (status != DAT_SUCCESS)
            return status;
        give(lmr, made->handle());
        give(lmr_context, plan.param.lmr_context);
        give(rmr_context, plan.param.rmr_context);
        give(registered_size, plan.param.registered_size);
        give(registered_address, plan.param.registered_address);
        return DAT_RETURN{DAT_SUCCESS};
    });
}

} // namespace rsmdat
