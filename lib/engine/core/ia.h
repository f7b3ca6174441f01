// SPDX-License-Identifier: MIT
// An open interface adapter: owner of everything made through it, and of the one lock that guards
// it all.
//
// Locking: Ia::lock guards every object of the Ia, and of the Ias that it is joined to (joined.h):
// theirs stands for the same mutex. API functions take it with enter() (object.h);
// functions of classes expect it held unless they say otherwise. It is given up only while a thread
// sleeps (Evd::wait, Cno::wait), while an ioctl or mmap that can take long runs (pinning,
// connecting: marked so where it happens), and around an agent of the consumer's: always with
// UnlockedScope, and whatever was found before must be looked up again afterwards.
// The engine's thread takes it like everybody else. There is no other lock above or below it but
// those inside malloc, the handle cells, the list of asynchronous EVDs and the thread pools.
#pragma once

#include "engine/core/async_evds.h"
#include "engine/core/error.h"
#include "engine/core/limit_set.h"
#include "engine/core/lock_pool.h"
#include "engine/core/object.h"
#include "engine/event/futex.h"

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace rsmdat {

class Engine;
class Evd;
class Transport;
struct Arrival;

// The special EVDs of dat.h, which has casts of C for them.
inline const DAT_EVD_HANDLE ASYNC_EXISTS = reinterpret_cast<DAT_EVD_HANDLE>(std::uintptr_t{1});
inline const DAT_EVD_HANDLE OUT_OF_SCOPE = reinterpret_cast<DAT_EVD_HANDLE>(std::uintptr_t{2});

class Ia final : public Object {
  public:
    static constexpr DAT_HANDLE_TYPE KIND = DAT_HANDLE_TYPE_IA;

    // Starts the engine and the transport. Throws std::bad_alloc, and Unavailable (transport.h).
    Ia(DAT_PROVIDER &of, std::string as, std::unique_ptr<Transport> over);
    // Ia::lock not held. Wakes waiters, waits for threads that hold an UnlockedScope and destroys
    // what is left, in the order of udapl-functions.md section 3.
    ~Ia() override;

    // Takes over a new object; a reference to it. Throws std::bad_alloc.
    template <class T>
    T &adopt(std::unique_ptr<T> object) {
        T &result = *object;
        take(std::move(object));
        return result;
    }
    // Ends an object; its handle is dead when this returns.
    void destroy(Object &object) noexcept;
    // Objects that the consumer made or has been given; the async EVD of open is not one.
    [[nodiscard]] std::size_t consumer_objects() const noexcept;
    [[nodiscard]] DAT_COUNT count(DAT_HANDLE_TYPE kind) const noexcept { return counts_[kind]; }
    [[nodiscard]] const std::vector<std::unique_ptr<Object>> &objects() const noexcept {
        return objects_;
    }

    // Where async events go from now on: an EVD of this Ia's own, or one of another Ia's, which may
    // disappear. The second takes the other's lock, and wants no other held; false if it is none.
    void use_async_evd(Evd &own) noexcept;
    [[nodiscard]] bool use_foreign_async_evd(DAT_EVD_HANDLE handle) noexcept;
    // Puts an event there, and on the asynchronous EVDs of the adapter's other opens.
    void report(DAT_EVENT_NUMBER number, DAT_HANDLE about, DAT_COUNT reason) noexcept;

    // No handle of this Ia or its objects is a live one any more: ~Ia may follow.
    void close() noexcept;

    // The locks of both are held. From then on they have one mutex, as those have that either was
    // joined to before.
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

    DAT_PROVIDER &provider;

  private:
    const PooledLock pooled_lock_;

  public:
    Lock &lock;
    const std::string name;
    const std::unique_ptr<Transport> transport; // transport.h
    const LimitSet limits;
    std::unique_ptr<Engine> engine;             // loop/engine.h
    Evd *async_evd = nullptr;                   // made by dat_ia_open
    DAT_EVD_HANDLE async_handle = OUT_OF_SCOPE; // what dat_ia_query answers
    bool closing = false;
    Futex agent_returned; // rings when an agent of a Cno has

  private:
    friend class UnlockedScope;
    void take(std::unique_ptr<Object> object);
    void leave_foreign_async_evd() const noexcept;
    void report_to_others(const Arrival &arrival) const noexcept;
    [[nodiscard]] AsyncEvd used_async_evd() const noexcept;
    void release_waiters() noexcept;
    void await_unlocked(Guard &guard) noexcept;
    [[nodiscard]] std::vector<DAT_OS_WAIT_PROXY_AGENT> agents() const noexcept;
    void destroy_all() noexcept;
    void destroy_all(DAT_HANDLE_TYPE kind) noexcept;
    void leave_joined() noexcept;

    std::vector<std::unique_ptr<Object>> objects_;
    std::array<DAT_COUNT, DAT_HANDLE_TYPE_SRQ + 1> counts_{};
    std::uint32_t async_generation_ = 0; // of the async EVD
    AsyncListener async_listener_{name};
    Ia *next_joined_ = this; // a ring
    int unlocked_ = 0;       // threads that have given up the lock for a while
    Futex came_back_;
};

// Gives up Ia::lock for the time it exists. The Ia stays until the thread has come back, its
// objects may not.
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

// An argument that has to belong to a given Ia, whose lock is held. EVDs may belong to another one:
// find_evd() (joined.h).
template <class T>
T *find(DAT_HANDLE handle, const Ia &ia) noexcept {
    Object *object = find_object(handle, ia.lock);
    return object && object->kind() == T::KIND ? static_cast<T *>(object) : nullptr;
}

} // namespace rsmdat
