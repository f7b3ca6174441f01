// SPDX-License-Identifier: GPL-2.0
// Virtual time: events, tasks that sleep, and the owners of both. One simulation at a time, all of it
// in one thread, and a function of its seed.
#pragma once

#include "sim_kernel.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <setjmp.h>
#include <span>
#include <string>
#include <ucontext.h>
#include <unordered_map>
#include <vector>

namespace sim {

using Time = std::uint64_t; // microseconds since the start

inline constexpr Time ms = 1000;
inline constexpr Time second = 1000 * ms;

// SplitMix64.
class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed) {}
    std::uint64_t next();
    // 0 to n-1.
    std::uint64_t below(std::uint64_t n) { return n ? next() % n : 0; }
    std::uint64_t between(std::uint64_t least, std::uint64_t most)
    {
        return least + below(most - least + 1);
    }
    bool one_in(std::uint64_t n) { return below(n) == 0; }

private:
    std::uint64_t state_;
};

class Owner;
class Runtime;

// The header of allocated memory.
struct Allocation {
    Owner *owner;
    std::size_t size;
};

// A machine: what it has allocated, its tasks, timers and work. It can stand still, and it can die,
// after which nothing of its former life happens any more.
class Owner {
public:
    virtual ~Owner() = default;
    bool stalled() const { return stalled_; }
    std::uint64_t life() const { return life_; }
    std::size_t allocations() const { return allocations_.size(); }
    std::size_t bytes() const { return bytes_; }
    unsigned int heartbeat_ms = 1000;
    std::uint64_t expired = 0; // timers
    // How much later than promised its work begins, at most.
    Time lag = 0;

private:
    friend class Runtime;
    bool stalled_ = false;
    std::uint64_t life_ = 0;
    std::set<Allocation *> allocations_;
    std::size_t bytes_ = 0;
    std::vector<std::function<void()>> held_;
};

// Where a task, or the loop of events, goes on.
class Place {
public:
    // Goes on here at `begin`, which does not return, with this stack.
    void prepare(std::span<char> stack, void (*begin)());
    // Leaves for another place, until somebody comes back to this one.
    void leave_for(Place &other);

private:
    ucontext_t context_ = {};
    jmp_buf point_ = {};
    bool begun_ = true;
};

// A task: it may sleep.
struct Fiber {
    Place place;
    std::unique_ptr<char[]> stack;
    std::function<void()> body;
    Owner *owner = nullptr;
    std::uint64_t number = 0;
    const void *queue = nullptr;
    std::uint64_t sleep = 0;
    bool killed = false;
    bool done = false;
    int locks = 0;
    task_struct task = {};
};

class Runtime {
public:
    explicit Runtime(std::uint64_t seed);
    ~Runtime();
    Runtime(const Runtime &) = delete;
    Runtime &operator=(const Runtime &) = delete;
    static Runtime &now_running();

    Time time() const { return now_; }
    unsigned long jiffies() const;
    // The end of a jiffy that the agent knows by this number.
    Time time_of(unsigned long jiffies) const;
    // Runs events until nothing is left to happen before that time, or until a fault.
    void run_until(Time end);
    // Whatever happens to the owner meanwhile: it comes after a stall, and not after a death.
    void at(Time when, Owner *owner, std::function<void()> what);
    std::uint64_t spawn(Owner *owner, std::function<void()> body, unsigned int flags = 0);
    void kill_task(std::uint64_t number);
    bool task_lives(std::uint64_t number) const { return fibers_.contains(number); }
    std::size_t tasks(const Owner &owner) const;
    std::size_t timers(const Owner &owner) const;

    void stall(Owner &owner) { owner.stalled_ = true; }
    void resume(Owner &owner);
    void die(Owner &owner);

    // For the running task.
    Owner *owner() const { return owner_; }
    Fiber *fiber() const { return fiber_; }
    void sleep(Time time);
    void yield();

    // The first thing that is wrong ends the simulation.
    void fault(const std::string &what);
    const std::optional<std::string> &found() const { return found_; }
    void log(const std::string &text);
    bool verbose = false;
    std::function<void(Owner *)> after_step;
    Random random;
    std::uint64_t steps = 0;

    // The kernel's (kernel.cpp).
    long wait(const void *queue, long left);
    void wake(const void *queue);
    void take(sim_lock *lock);
    void drop(sim_lock *lock);
    void *allocate(std::size_t size);
    void release(const void *memory);
    void set_timer(timer_list *timer, unsigned long expires);
    void stop_timer(timer_list *timer) { timers_.erase(timer); }
    bool queue(work_struct *work);
    bool is_busy(work_struct *work) const { return works_.contains(work); }
    void unqueue(work_struct *work);

    struct Tree {
        Owner *owner = nullptr;
        std::map<unsigned long, std::pair<void *, bool>> entries;
    };
    Tree &tree(xarray *array);
    void forget_tree(xarray *array);

private:
    struct Event {
        Owner *owner;
        std::uint64_t life;
        std::function<void()> what;
    };
    // Its event stays where it is while the queue is sorted.
    struct Turn {
        Time when;
        std::uint64_t number;
        std::size_t event;
    };
    struct Later {
        bool operator()(const Turn &a, const Turn &b) const
        {
            return a.when != b.when ? a.when > b.when : a.number > b.number;
        }
    };
    struct Timer {
        std::uint64_t number;
        Owner *owner;
    };
    struct Work {
        std::uint64_t number;
        Owner *owner;
        bool queued;
        bool running;
    };
    void happen(Event event);
    void enter(Owner *owner);
    void switch_to(Fiber &fiber);
    void block(const void *queue);
    void wake_at(Time when, Fiber &fiber);
    void start_work(work_struct *work, std::uint64_t number);
    void run_work(work_struct *work);
    static void begin_fiber();

    Time now_ = 0;
    std::uint64_t last_number_ = 0;
    std::priority_queue<Turn, std::vector<Turn>, Later> turns_;
    std::vector<Event> events_;
    std::vector<std::size_t> free_events_;
    std::map<std::uint64_t, std::unique_ptr<Fiber>> fibers_;
    std::vector<std::unique_ptr<char[]>> stacks_;
    std::unordered_map<timer_list *, Timer> timers_;
    std::map<work_struct *, Work> works_;
    std::map<const xarray *, Tree> trees_;
    Place main_;
    Owner *owner_ = nullptr;
    Fiber *fiber_ = nullptr;
    int main_locks_ = 0;
    std::optional<std::string> found_;
};

} // namespace sim
