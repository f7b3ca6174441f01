// SPDX-License-Identifier: MIT
// What every DAT object has: a handle that can be checked, an IA it belongs to, a context of the
// consumer's.
//
// A function of the API starts with enter(): it turns its first handle into an object and holds the
// lock of the object's IA. Other handles are then looked up with find(handle, ia). Both are safe
// against anything in the handle and against a thread that frees the object at the same time.
#pragma once

#include <dat/udat.h>

#include <dat/dat_registry.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>

namespace rsmdat {

class Ia;
class Object;

// Locks are never given back to the allocator: a thread that waits for the lock of an IA that
// another one closes finds a lock there, and that the handle is dead.
using Lock = std::mutex;
using Guard = std::unique_lock<Lock>;

// What a DAT_HANDLE points to. All lie in one range of addresses and are never given back, so a
// handle that was freed, or is no handle at all, can be told; a freed cell is used again late.
struct HandleCell {
    DAT_PROVIDER *provider;                // must come first: libdat reads it
    std::atomic<Object *> object;          // null when freed
    std::atomic<Lock *> lock;              // of the object's Ia
    std::atomic<std::uint32_t> generation; // how often it has been used
    std::uint32_t next;                    // free cell, counted from 1; 0: the last
};

class Object {
  public:
    Object(const Object &) = delete;
    Object &operator=(const Object &) = delete;
    virtual ~Object();

    [[nodiscard]] DAT_HANDLE handle() const noexcept { return cell_; }
    [[nodiscard]] DAT_HANDLE_TYPE kind() const noexcept { return kind_; }
    [[nodiscard]] Ia &ia() const noexcept { return *ia_; }
    // With the handle it tells this object from all that will ever be.
    [[nodiscard]] std::uint32_t generation() const noexcept { return cell_->generation; }

    DAT_CONTEXT context{};

  protected:
    // Throws std::bad_alloc. Ia::lock is held.
    Object(DAT_HANDLE_TYPE kind, Ia &ia);
    // The Ia itself; its handle is dead until publish().
    Object(DAT_PROVIDER &provider, DAT_HANDLE_TYPE kind, Ia &ia);

    void publish(Lock &lock) noexcept;
    void hide() noexcept; // the handle is dead from now on

  private:
    friend class Ia;
    DAT_HANDLE_TYPE kind_;
    Ia *ia_;
    HandleCell *cell_;
    std::size_t index_ = 0; // the Ia's: its place among its objects
};

// The cell of a handle; null if it is no handle of ours, dead or alive.
HandleCell *find_cell(DAT_HANDLE handle) noexcept;

// The object of a handle, whatever its kind; null if the handle is not a live one of ours. The lock
// of its Ia must be held for it to stay.
Object *find_object(DAT_HANDLE handle) noexcept;
// The same if its Ia is the one that has this lock.
Object *find_object(DAT_HANDLE handle, const Lock &lock) noexcept;

// The object of a handle if it is a T; T::KIND says which kind that is.
template <class T>
T *find(DAT_HANDLE handle) noexcept {
    Object *object = find_object(handle);
    return object && object->kind() == T::KIND ? static_cast<T *>(object) : nullptr;
}

// An object and the lock of its Ia, which is held; or nothing.
template <class T>
class Entered {
  public:
    Entered() noexcept = default;
    Entered(T &object, Guard held) noexcept : guard(std::move(held)), object_(&object) {}
    explicit operator bool() const noexcept { return object_ != nullptr; }
    T &operator*() const noexcept { return *object_; }
    T *operator->() const noexcept { return object_; }
    T *get() const noexcept { return object_; }

    Guard guard;

  private:
    T *object_ = nullptr;
};

// The object of any kind.
Entered<Object> enter_object(DAT_HANDLE handle) noexcept;

// The object if it is a T.
template <class T>
Entered<T> enter(DAT_HANDLE handle) noexcept {
    auto entered = enter_object(handle);
    if (!entered || entered->kind() != T::KIND)
        return {};
    return {static_cast<T &>(*entered), std::move(entered.guard)};
}

// After fork() the child's handles are all dead: they belong to the parent. The three are what
// pthread_atfork wants.
void lock_handles() noexcept;
void unlock_handles() noexcept;
void forget_all_handles() noexcept;

} // namespace rsmdat
