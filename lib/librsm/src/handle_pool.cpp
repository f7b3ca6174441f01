// SPDX-License-Identifier: MIT
#include "handle_pool.h"

#include <mutex>
#include <sys/mman.h>
#include <unistd.h>

#include "locks.h"

namespace rsm {

constinit PoolRange pool_range{};

namespace {

// Twice what a kernel with default limits has segments; costs address space only.
constexpr std::size_t pool_slots = 131072;
constexpr std::size_t pool_size = pool_slots * slot_size;
constexpr std::size_t growth = 65536;

// Every put and get touches a status word, a slot of the pool and the segment. The
// kernel tends to place their mappings one below the other, multiples of megabytes
// apart. In a TLB without associativity, as emulators have, their first pages would
// push each other out each time; so this many pages are left unused on either side
// of the pool.
constexpr std::size_t margin_pages = 19;

// A free slot is used again only when this many are free: the longer a slot stays free, the more
// likely is it that a program which still uses its handle gets an error.
constexpr std::size_t least_waiting = 64;

struct FreeList {
    Slot *first = nullptr;
    Slot *last = nullptr;
    std::size_t count = 0;
};

constinit FreeList free_list;
constinit std::size_t slots_handed_out = 0;

// The link of a free slot is in the place of its object.
Slot *&next_of(Slot *slot) noexcept {
    return *reinterpret_cast<Slot **>(slot->object);
}

Slot *take_free_slot() noexcept {
    auto *slot = free_list.first;
    if (slot == nullptr)
        return nullptr;
    free_list.first = next_of(slot);
    if (free_list.first == nullptr)
        free_list.last = nullptr;
    --free_list.count;
    return slot;
}

bool reserve_range() noexcept {
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    const auto margin = margin_pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    void *range = ::mmap(nullptr, pool_size + 2 * margin, PROT_NONE, flags, -1, 0);
    if (range == MAP_FAILED)
        return false;
    const auto base = reinterpret_cast<std::uintptr_t>(range) + margin;
    pool_range.base.store(base, std::memory_order_relaxed);
    return true;
}

bool grow() noexcept {
    if (pool_range.base.load(std::memory_order_relaxed) == 0 && !reserve_range())
        return false;
    const auto size = pool_range.size.load(std::memory_order_relaxed);
    if (size == pool_size)
        return false;
    auto *end = reinterpret_cast<void *>(pool_range.base.load(std::memory_order_relaxed) + size);
    if (::mprotect(end, growth, PROT_READ | PROT_WRITE) != 0)
        return false;
    pool_range.size.store(size + growth, std::memory_order_release);
    return true;
}

Slot *take_fresh_slot() noexcept {
    const auto offset = slots_handed_out * slot_size;
    if (offset == pool_range.size.load(std::memory_order_relaxed) && !grow())
        return nullptr;
    ++slots_handed_out;
    // Slots in zeroed pages are free.
    return reinterpret_cast<Slot *>(pool_range.base.load(std::memory_order_relaxed) + offset);
}

} // namespace

Slot *allocate_slot() noexcept {
    const std::lock_guard guard(locks.pool);
    auto *slot = free_list.count > least_waiting ? take_free_slot() : take_fresh_slot();
    if (slot == nullptr)
        slot = take_free_slot();
    if (slot != nullptr)
        slot->incarnation.fetch_add(1, std::memory_order_relaxed);
    return slot;
}

void free_slot(Slot *slot) noexcept {
    const std::lock_guard guard(locks.pool);
    next_of(slot) = nullptr;
    if (free_list.last != nullptr)
        next_of(free_list.last) = slot;
    else
        free_list.first = slot;
    free_list.last = slot;
    ++free_list.count;
}

} // namespace rsm
