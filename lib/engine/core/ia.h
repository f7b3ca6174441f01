// SPDX-License-Identifier: MIT
// An open interface adapter: owner of everything made through it, and of the one lock that guards
// it all.
//
// Locking: Ia::lock guards every object of the Ia, and of the Ias that it is joined to (joined.h):
// theirs stands for the same mutex. API functions take it with enter() (object.h); functions of
// classes expect it held unless they say otherwise. A thread drops the lock, with an UnlockedScope,
// only while it sleeps (Evd::wait, Cno::wait, Rsp::settled), during an ioctl or mmap that can take
// long (pinning, connecting: marked where it happens), and while it calls an agent of the consumer.
// It must look up all objects again afterwards. No thread waits for another node with the lock. The
// engine's thread takes the lock like all others. Below Ia::lock are only the locks inside malloc,
// the handle cells, the list of asynchronous EVDs and the thread pools; there is none above it.
#pragma once

#include "engine/core/async_evds.h"
#include "engine/core/limit_set.h"
#include "engine/core/lock_pool.h"
#include "engine/core/object.h"
#include "engine/core/status.h"
#include "engine/core/types.h"
#include "engine/event/event.h"
#include "engine/event/futex.h"

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace rsmengine {

class Engine;
class Evd;
class Transport;
struct Arrival;

class Ia final : public Object {
  public:
    static constexpr ObjectKind KIND = ObjectKind::IA;

    // Starts the engine and the transport. Throws std::bad_alloc, and Unavailable (transport.h).
    Ia(void *its_face, std::string as, std::unique_ptr<Transport> over);
    // Ia::lock not held. Wakes waiters, waits for threads that hold an UnlockedScope and destroys
    // what is left, in the order of udapl-functions.md section 3.
    ~Ia() override;

    // Takes ownership of a new object and returns a reference to it. Throws std::bad_alloc.
    template <class T>
    T &adopt(std::unique_ptr<T> object) {
        T &result = *object;
        take(std::move(object));
        return result;
    }
    // Destroys an object; its handle is invalid on return.
    void destroy(Object &object) noexcept;
    // Objects that the consumer made or has been given; the async EVD of open is not one.
    [[nodiscard]] std::size_t consumer_objects() const noexcept;
    [[nodiscard]] Count count(ObjectKind kind) const noexcept {
        return counts_[static_cast<std::size_t>(kind)];
    }
    [[nodiscard]] const std::vector<std::unique_ptr<Object>> &objects() const noexcept {
        return objects_;
    }

    // Sets the EVD that gets async events from now on: one of this Ia, or one of another Ia, which
    // may be destroyed. The second function takes the other Ia's lock and must be called with no
    // lock held; it returns false if the handle is no such EVD.
    void use_async_evd(Evd &own) noexcept;
    [[nodiscard]] bool use_foreign_async_evd(Handle handle) noexcept;
    // Delivers an async event to that EVD, and to the async EVDs of the adapter's other opens.
    void report(EventKind number, Handle about, Reason reason) noexcept;

    // Invalidates the handles of this Ia and of its objects: ~Ia may follow.
    void close() noexcept;

    // Joins two Ias whose locks are held: from now on these, and all that either was joined to,
    // share one mutex.
    void join(Ia &other) noexcept;
    // This Ia, and those that it is joined to. `what` does not open or close any.
    template <class What>
    void for_each_joined(What what) const {
        const Ia *one = this;
        do {
            what(*one);
            one = one->next_joined_;
        } while (one != this);
    }
    // Engine::arm_all of all of them: an EVD may be fed by the connections of others.
    void arm_all() const noexcept;

    void *const face; // what the face wants in the first word of every handle

  private:
    const PooledLock pooled_lock_;

  public:
    Lock &lock;
    const std::string name;
    const std::unique_ptr<Transport> transport; // transport.h
    const LimitSet limits;
    std::unique_ptr<Engine> engine; // loop/engine.h
    Evd *async_evd = nullptr;       // made for this Ia
    Handle async_handle = nullptr;  // of the EVD that gets async events; null: none
    bool closing = false;
    Futex agent_returned; // woken when an agent of a Cno has returned
    Futex listener_ended; // woken when the listener of an Rsp has ended

  private:
    friend class UnlockedScope;
    void take(std::unique_ptr<Object> object);
    void leave_foreign_async_evd() const noexcept;
    void report_to_others(const Arrival &arrival) const noexcept;
    [[nodiscard]] AsyncEvd used_async_evd() const noexcept;
    void release_waiters() noexcept;
    void await_unlocked(Guard &guard) noexcept;
    [[nodiscard]] std::vector<Agent> agents() const noexcept;
    void destroy_all() noexcept;
    void destroy_all(ObjectKind kind) noexcept;
    void leave_joined() noexcept;

    std::vector<std::unique_ptr<Object>> objects_;
    std::array<Count, OBJECT_KINDS> counts_{};
    std::uint32_t async_generation_ = 0; // of the async EVD
    AsyncListener async_listener_{name};
    Ia *next_joined_ = this; // a ring
    int unlocked_ = 0;       // threads that have given up the lock for a while
    Futex came_back_;
};

// Releases Ia::lock for its lifetime. ~Ia waits until the lock is held again; objects of the Ia may
// be destroyed meanwhile.
class UnlockedScope {
  public:
    UnlockedScope(Ia &ia, Guard &guard) noexcept : ia_(ia), guard_(guard) {
        ++ia_.unlocked_;
        guard_.unlock();
    }
    ~UnlockedScope() {
        guard_.lock();
        if (--ia_.unlocked_ == 0 && ia_.closing)
            ia_.came_back_.wake();
    }
    UnlockedScope(const UnlockedScope &) = delete;
    UnlockedScope &operator=(const UnlockedScope &) = delete;

  private:
    Ia &ia_;
    Guard &guard_;
};

// The object of a handle that must belong to `ia`, whose lock is held; else null. EVDs may belong
// to another one: find_evd() (joined.h).
template <class T>
T *find(Handle handle, const Ia &ia) noexcept {
    Object *object = find_object(handle, ia.lock);
    return object && object->kind() == T::KIND ? static_cast<T *>(object) : nullptr;
}

} // namespace rsmengine
