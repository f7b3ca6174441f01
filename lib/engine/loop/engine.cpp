// SPDX-License-Identifier: MIT
#include "engine/loop/engine.h"

#include "engine/event/evd.h"
#include "engine/loop/alarms.h"
#include "engine/loop/blocking.h"
#include "engine/loop/doorbell.h"
#include "engine/loop/thread_pool.h"
#include "engine/loop/watches.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <vector>

namespace rsmengine {
namespace {

using Clock = Engine::Clock;
using Milliseconds = std::chrono::milliseconds;

constexpr Milliseconds SWEEP(4);
constexpr Milliseconds LONGEST_WAIT(1'000'000'000); // epoll takes an int

// Rounds the time up for epoll, so that the wait never ends early.
int milliseconds_until(Clock::time_point when) noexcept {
    if (when == Clock::time_point::max())
        return -1;
    const auto now = Clock::now();
    if (when <= now)
        return 0;
    return static_cast<int>(std::min(std::chrono::ceil<Milliseconds>(when - now), LONGEST_WAIT).count());
}

// Connects that wait for different nodes.
constexpr std::size_t MOST_HELPERS = 8;
// Ends that wait for different nodes. One thread is there from the start.
constexpr std::size_t MOST_ENDERS = 8;

thread_local bool is_engine = false;

std::unique_ptr<ThreadPool> make_enders(Lock &lock) {
    auto made = std::make_unique<ThreadPool>(MOST_ENDERS, [&lock] { const Guard once(lock); });
    made->start();
    return made;
}

} // namespace

class Engine::Inside {
  public:
    explicit Inside(Lock &lock) : lock_(lock) {} // throws std::bad_alloc

    void run() noexcept;
    void stop() noexcept;
    // The engine's thread sleeps until that time at the latest.
    void wake_by(Clock::time_point when) noexcept;
    void look_after(Doorbell &bell, Feeder &feeder) noexcept;
    void leave(Doorbell &bell) noexcept;
    void arm_all() noexcept;

    Watches watches;
    Alarms alarms;

  private:
    struct Disarmed {
        Doorbell *bell;
        Feeder *feeder;
    };
    using Events = std::array<epoll_event, 64>;

    [[nodiscard]] Clock::time_point plan() const noexcept;
    void dispatch(std::span<const epoll_event> events) const noexcept;
    void run_alarms() noexcept;
    void sweep() noexcept;
    void arm(std::size_t place) noexcept;
    void drop(std::size_t place) noexcept;

    Lock &lock_; // must not be used once stopped_
    std::atomic<bool> stopped_ = false;
    // The time until which the thread sleeps; in the past while it is awake, because it computes
    // the next one before it sleeps.
    Clock::time_point sleeps_until_ = Clock::time_point::min();
    std::vector<Disarmed> disarmed_;
    bool sweeping_ = false; // a thread or an agent may wait on some of them
    Clock::time_point next_sweep_{};
};

void Engine::Inside::run() noexcept {
    Events events;
    is_engine = true;
    Guard guard(lock_);
    for (;;) {
        sleeps_until_ = plan();
        const Clock::time_point until = sleeps_until_;
        guard.unlock();
        const int found = watches.wait(events, milliseconds_until(until));
        if (found < 0 || stopped_.load(std::memory_order_acquire))
            return;
        guard.lock();
        sleeps_until_ = Clock::time_point::min();
        dispatch({events.data(), static_cast<std::size_t>(found)});
        run_alarms();
        sweep();
    }
}

void Engine::Inside::stop() noexcept {
    stopped_.store(true, std::memory_order_release);
    watches.wake();
}

void Engine::Inside::wake_by(Clock::time_point when) noexcept {
    if (when >= sleeps_until_)
        return;
    sleeps_until_ = when;
    watches.wake();
}

Clock::time_point Engine::Inside::plan() const noexcept {
    const auto alarm = alarms.next().value_or(Clock::time_point::max());
    return sweeping_ ? std::min(alarm, next_sweep_) : alarm;
}

void Engine::Inside::dispatch(std::span<const epoll_event> events) const noexcept {
    for (const auto &event : events)
        if (Source *source = watches.source_of(event))
            source->ready(event.events);
}

void Engine::Inside::run_alarms() noexcept {
    const auto now = Clock::now();
    while (const auto what = alarms.take_due(now))
        what();
}

void Engine::Inside::look_after(Doorbell &bell, Feeder &feeder) noexcept {
    if (bell.looked_after)
        return;
    try {
        disarmed_.push_back({&bell, &feeder});
    } catch (const std::bad_alloc &) {
        bell.arm();
        return;
    }
    bell.looked_after = true;
    if (std::exchange(sweeping_, true))
        return;
    next_sweep_ = Clock::now() + SWEEP;
    wake_by(next_sweep_);
}

void Engine::Inside::drop(std::size_t place) noexcept {
    disarmed_[place].bell->looked_after = false;
    disarmed_[place] = disarmed_.back();
    disarmed_.pop_back();
}

void Engine::Inside::leave(Doorbell &bell) noexcept {
    if (!bell.looked_after)
        return;
    const auto found = std::ranges::find(disarmed_, &bell, &Disarmed::bell);
    drop(static_cast<std::size_t>(found - disarmed_.begin()));
}

// Polls once more for messages that arrived before the peer could see that this side sleeps.
void Engine::Inside::arm(std::size_t place) noexcept {
    const Disarmed entry = disarmed_[place];
    drop(place);
    entry.bell->arm();
    entry.feeder->poll(false);
}

void Engine::Inside::arm_all() noexcept {
    while (!disarmed_.empty())
        arm(disarmed_.size() - 1);
}

// Iterate from the end, because polling may end connections, whose doorbells leave the list. Skip
// feeders nobody waits on: a program that only polls should not compete with this thread for a CPU.
void Engine::Inside::sweep() noexcept {
    const auto now = Clock::now();
    if (!sweeping_ || now < next_sweep_)
        return;
    next_sweep_ = now + SWEEP;
    sweeping_ = false;
    for (std::size_t place = disarmed_.size(); place-- > 0;) {
        if (place >= disarmed_.size() || !disarmed_[place].feeder->has_listeners())
            continue;
        if (std::exchange(disarmed_[place].bell->recently_polled, false))
            sweeping_ = true;
        else
            arm(place);
    }
}

Engine::Engine(Ia &ia) : Engine(ia.lock) {}

Engine::Engine(Lock &lock)
    : inside_(std::make_shared<Inside>(lock)), helpers_(std::make_unique<ThreadPool>(MOST_HELPERS)),
      caller_(std::make_unique<ThreadPool>(1)), enders_(make_enders(lock)),
      thread_(make_thread([inside = inside_] { inside->run(); })) {}

Engine::~Engine() {
    stop();
}

void Engine::stop() noexcept {
    if (!thread_.joinable())
        return;
    inside_->stop();
    about_to_block("end of the engine");
    thread_.join();
    helpers_->stop();
    caller_->stop();
    enders_->stop();
}

void Engine::watch(int fd, std::uint32_t events, Source &source) {
    inside_->watches.add(fd, events, source);
}

void Engine::forget(int fd) noexcept {
    inside_->watches.remove(fd);
}

Engine::Alarm Engine::at(Clock::time_point when, std::function<void()> what) {
    const Alarm alarm = inside_->alarms.add(when, std::move(what));
    inside_->wake_by(when);
    return alarm;
}

void Engine::cancel(Alarm alarm) noexcept {
    inside_->alarms.cancel(alarm);
}

void Engine::later(std::function<void()> what) {
    caller_->run(std::move(what));
}

void Engine::aside(std::function<void()> what) {
    helpers_->run(std::move(what));
}

void Engine::end_aside(std::unique_ptr<Job> last) noexcept {
    enders_->run(std::move(last));
}

bool Engine::is_this_thread() noexcept {
    return is_engine;
}

void Engine::disarmed(Doorbell &bell, Feeder &feeder) noexcept {
    inside_->look_after(bell, feeder);
}

void Engine::gone(Doorbell &bell) noexcept {
    inside_->leave(bell);
}

void Engine::arm_all() noexcept {
    inside_->arm_all();
}

} // namespace rsmengine
