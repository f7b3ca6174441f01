// SPDX-License-Identifier: MIT
// The memory of the objects behind handles.
//
// Every handle is an address in one range that is reserved at first need and
// never given back. A slot of it holds objects of any kind, one after another,
// but its head keeps its meaning for ever. So the library can check for any value that a
// program passes whether it is a live handle of the right kind, without access to memory
// outside of the pool: a few compares recognise NULL, foreign, freed and mixed-up handles.
//
// The low byte of a handle counts the uses of its slot, so that a freed handle
// stays recognisable when the slot is used again.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

namespace rsm {

enum class Kind : std::uint32_t { none, controller, export_segment, import_segment, local_memory };

constexpr std::size_t slot_size = 256;

struct alignas(slot_size) Slot {
    static constexpr std::size_t head_size = 16;

    std::atomic<std::uintptr_t> handle; // 0 while the slot is free
    std::atomic<Kind> kind;
    std::atomic<std::uint32_t> incarnation; // counts the uses of the slot
    alignas(head_size) std::byte object[slot_size - head_size];
};
static_assert(sizeof(Slot) == slot_size);

struct PoolRange {
    std::atomic<std::uintptr_t> base;
    std::atomic<std::size_t> size; // of the part in use; 0 before the first handle
};
extern constinit PoolRange pool_range;

// A free slot, with its incarnation counted up, or nullptr without memory.
Slot *allocate_slot() noexcept;
void free_slot(Slot *slot) noexcept;

template <class Object>
Slot *slot_of(const Object *object) noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(object);
    return reinterpret_cast<Slot *>(address & ~(slot_size - 1));
}

// Number of the object's slot.
template <class Object>
std::size_t slot_index(const Object *object) noexcept {
    const auto base = pool_range.base.load(std::memory_order_relaxed);
    return (reinterpret_cast<std::uintptr_t>(object) - base) / slot_size;
}

// The object that a handle stands for, nullptr if it is no live handle of that
// kind.
template <class Object>
[[gnu::always_inline]] inline Object *find(const void *handle) noexcept {
    const auto value = reinterpret_cast<std::uintptr_t>(handle);
    const auto offset = value - pool_range.base.load(std::memory_order_relaxed);
    if (offset >= pool_range.size.load(std::memory_order_acquire)) [[unlikely]]
        return nullptr;
    auto *slot = reinterpret_cast<Slot *>(value & ~(slot_size - 1));
    if (slot->handle.load(std::memory_order_relaxed) != value ||
        slot->kind.load(std::memory_order_acquire) != Object::kind) [[unlikely]]
        return nullptr;
    auto *object = std::launder(reinterpret_cast<Object *>(slot->object));
    // Saves the caller an instruction or two on the data path.
    if (object == nullptr)
        __builtin_unreachable();
    return object;
}

// A new object, nullptr without memory. Its constructor must not throw.
template <class Object, class... Arguments>
Object *create(Arguments &&...arguments) noexcept {
    static_assert(sizeof(Object) <= sizeof(Slot::object));
    static_assert(alignof(Object) <= Slot::head_size);
    auto *slot = allocate_slot();
    if (slot == nullptr)
        return nullptr;
    auto *object = new (slot->object) Object(std::forward<Arguments>(arguments)...);
    const auto use = slot->incarnation.load(std::memory_order_relaxed) % slot_size;
    slot->handle.store(reinterpret_cast<std::uintptr_t>(slot) + use, std::memory_order_relaxed);
    slot->kind.store(Object::kind, std::memory_order_release);
    return object;
}

// The handle dies first, then the object.
template <class Object>
void destroy(Object *object) noexcept {
    auto *slot = slot_of(object);
    slot->kind.store(Kind::none, std::memory_order_relaxed);
    slot->handle.store(0, std::memory_order_relaxed);
    object->~Object();
    free_slot(slot);
}

// The object's handle, as the public type of its kind.
template <class Handle, class Object>
Handle handle_of(const Object *object) noexcept {
    return reinterpret_cast<Handle>(slot_of(object)->handle.load(std::memory_order_relaxed));
}

} // namespace rsm
