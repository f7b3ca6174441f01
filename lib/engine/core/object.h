// SPDX-License-Identifier: MIT
// The base of every object that programs hold: a handle that can be checked, an IA it belongs to, a
// cookie of the program's.
//
// A function of the API starts with enter(): it turns its first handle into an object and holds the
// lock of the object's IA. Other handles are then looked up with find(handle, ia). Both accept any
// value as a handle, and both are safe against another thread that frees the object.
#pragma once

#include "engine/core/types.h"

#include "engine/core/lock.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>

namespace rsmengine {

class Ia;
class Object;

// Memory of Locks is never freed: a thread that waits for the lock of an IA that another thread
// closes gets a valid lock, and then finds that the handle is invalid.
using Guard = std::unique_lock<Lock>;

// The memory that a Handle points to. All cells lie in one range of addresses that is never
// unmapped, so the check of a handle can detect a freed handle and a value that is no handle. A
// freed cell is reused late.
struct alignas(64) HandleCell {
    void *face;                            // must come first: what the face is found by
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

    [[nodiscard]] Handle handle() const noexcept { return cell_; }
    [[nodiscard]] ObjectKind kind() const noexcept { return kind_; }
    [[nodiscard]] Ia &ia() const noexcept { return *ia_; }
    // Together with the handle it identifies this object uniquely.
    [[nodiscard]] std::uint32_t generation() const noexcept { return cell_->generation; }
    // Detaches this object from the EVDs of another Ia, which is closing. Destroys no object.
    // Ia::lock held.
    virtual void leave_evds_of(const Ia &closing) noexcept { (void)closing; }

    Cookie cookie{}; // of the program

  protected:
    // Throws std::bad_alloc. Ia::lock is held.
    Object(ObjectKind kind, Ia &ia);
    // The Ia itself; its handle is dead until publish().
    Object(void *face, ObjectKind kind, Ia &ia);

    void publish(Lock &lock) noexcept;
    void hide() noexcept; // the handle is invalid from now on

  private:
    friend class Ia;
    ObjectKind kind_;
    Ia *ia_;
    HandleCell *cell_;
    std::size_t index_ = 0; // the Ia's: its place among its objects
};

// The range of cells and the list of free ones. The kernel zeroes its page in a forked child,
// whatever the threads of the parent were doing: no handle of the parent is valid in the child.
struct alignas(4096) Cells {
    std::atomic<std::uintptr_t> base{0};
    std::atomic<std::size_t> size{0}; // bytes in use, from the base
    std::mutex mutex;                 // guards all that follows
    std::size_t usable = 0;           // bytes of the range that may be read and written
    std::uint32_t first = 0;          // free ones, as HandleCell::next counts
    std::uint32_t last = 0;
    std::size_t waiting = 0;
};
extern constinit Cells cells;

// The cell of a handle, valid or stale; null if the value is no handle of this library.
inline HandleCell *find_cell(Handle handle) noexcept {
    const auto offset =
        reinterpret_cast<std::uintptr_t>(handle) - cells.base.load(std::memory_order_acquire);
    if (offset >= cells.size.load(std::memory_order_acquire) || offset % sizeof(HandleCell) != 0)
        return nullptr;
    return static_cast<HandleCell *>(handle);
}

// The object of a handle, of any kind; null if the handle is invalid. The object stays only while
// the caller holds the lock of its Ia.
inline Object *find_object(Handle handle) noexcept {
    const HandleCell *cell = find_cell(handle);
    return cell ? cell->object.load(std::memory_order_acquire) : nullptr;
}

// The object of a cell if its Ia is the one that has this lock.
inline Object *object_of(const HandleCell &cell, const Lock &lock) noexcept {
    if (cell.lock.load(std::memory_order_acquire) != &lock)
        return nullptr;
    Object *object = cell.object.load(std::memory_order_acquire);
    // Check that the cell has not passed to another Ia meanwhile; cells of this Ia do not change
    // while its lock is held.
    return cell.lock.load(std::memory_order_acquire) == &lock ? object : nullptr;
}

// The same for a handle.
inline Object *find_object(Handle handle, const Lock &lock) noexcept {
    const HandleCell *cell = find_cell(handle);
    return cell ? object_of(*cell, lock) : nullptr;
}

// The object of a handle if it is a T; T::KIND says which kind that is.
template <class T>
T *find(Handle handle) noexcept {
    Object *object = find_object(handle);
    return object && object->kind() == T::KIND ? static_cast<T *>(object) : nullptr;
}

// An object and the lock of its Ia, which is held; or nothing.
template <class T>
class LockedHandle {
  public:
    LockedHandle() noexcept = default;
    LockedHandle(T &object, Guard held) noexcept : guard(std::move(held)), object_(&object) {}
    explicit operator bool() const noexcept { return object_ != nullptr; }
    T &operator*() const noexcept { return *object_; }
    T *operator->() const noexcept { return object_; }
    T *get() const noexcept { return object_; }

    Guard guard;

  private:
    T *object_ = nullptr;
};

// The object of a handle and the lock, if the object `fits`. The object may have been freed, or the
// cell become another object's, before this thread got the lock, so check the cell again.
template <class T, class Fits>
[[gnu::always_inline]] inline LockedHandle<T> enter_if(Handle handle, Fits fits) noexcept {
    const HandleCell *cell = find_cell(handle);
    if (!cell || !cell->object.load(std::memory_order_acquire))
        return {};
    Lock &lock = *cell->lock.load(std::memory_order_acquire);
    lock.lock();
    Object *object = object_of(*cell, lock);
    if (object && fits(*object)) [[likely]]
        return {static_cast<T &>(*object), Guard(lock, std::adopt_lock)};
    lock.unlock();
    return {};
}

// An object of any kind.
inline LockedHandle<Object> enter_object(Handle handle) noexcept {
    return enter_if<Object>(handle, [](const Object &) { return true; });
}

// The object if it is a T.
template <class T>
[[gnu::always_inline]] inline LockedHandle<T> enter(Handle handle) noexcept {
    return enter_if<T>(handle, [](const Object &object) { return object.kind() == T::KIND; });
}

} // namespace rsmengine
