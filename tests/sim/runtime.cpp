// SPDX-License-Identifier: GPL-2.0
#include "runtime.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED
#endif
#endif

extern "C" unsigned int *const sim_parameter_heartbeat_ms;

namespace sim {

namespace {

constexpr std::size_t stack_size = 64 * 1024;
// Jiffies wrap soon after the start.
constexpr unsigned long first_jiffy = -3000UL;

Runtime *running;

} // namespace

std::uint64_t Random::next()
{
    state_ += 0x9e3779b97f4a7c15;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

Runtime::Runtime(std::uint64_t seed) : random(seed)
{
    running = this;
}

Runtime::~Runtime()
{
    running = nullptr;
}

Runtime &Runtime::now_running()
{
    return *running;
}

unsigned long Runtime::jiffies() const
{
    return first_jiffy + now_ / ms;
}

Time Runtime::time_of(unsigned long jiffies) const
{
    const long ahead = static_cast<long>(jiffies - this->jiffies());
    return ahead <= 0 ? now_ : (now_ / ms + static_cast<Time>(ahead)) * ms;
}

void Runtime::at(Time when, Owner *owner, std::function<void()> what)
{
    if (free_events_.empty()) {
        free_events_.push_back(events_.size());
        events_.emplace_back();
    }
    const std::size_t place = free_events_.back();
    free_events_.pop_back();
    events_[place] = {owner, owner ? owner->life_ : 0, std::move(what)};
    turns_.push({std::max(when, now_), ++last_number_, place});
}

void Runtime::enter(Owner *owner)
{
    owner_ = owner;
    if (owner)
        *sim_parameter_heartbeat_ms = owner->heartbeat_ms;
}

void Runtime::happen(Event event)
{
    if (event.owner && event.owner->life_ != event.life)
        return;
    if (event.owner && event.owner->stalled_) {
        event.owner->held_.push_back(std::move(event.what));
        return;
    }
    steps++;
    enter(event.owner);
    event.what();
    if (after_step)
        after_step(event.owner);
    enter(nullptr);
}

void Runtime::run_until(Time end)
{
    while (!found_ && !turns_.empty() && turns_.top().when <= end) {
        const Turn turn = turns_.top();
        turns_.pop();
        now_ = turn.when;
        free_events_.push_back(turn.event);
        happen(std::move(events_[turn.event]));
    }
    if (!found_)
        now_ = std::max(now_, end);
}

void Runtime::resume(Owner &owner)
{
    owner.stalled_ = false;
    std::vector<std::function<void()>> held;
    held.swap(owner.held_);
    for (auto &what : held)
        at(now_, &owner, std::move(what));
}

void Runtime::die(Owner &owner)
{
    owner.life_++;
    owner.stalled_ = false;
    owner.held_.clear();
    std::erase_if(fibers_, [&](auto &entry) {
        if (entry.second->owner != &owner)
            return false;
        stacks_.push_back(std::move(entry.second->stack));
        return true;
    });
    std::erase_if(timers_, [&](const auto &entry) { return entry.second.owner == &owner; });
    std::erase_if(works_, [&](const auto &entry) { return entry.second.owner == &owner; });
    std::erase_if(trees_, [&](const auto &entry) { return entry.second.owner == &owner; });
    while (!owner.allocations_.empty())
        release(*owner.allocations_.begin() + 1);
}

void Runtime::fault(const std::string &what)
{
    if (found_)
        return;
    found_ = what;
    log("FAULT: " + what);
}

void Runtime::log(const std::string &text)
{
    if (verbose)
        std::printf("%10.4f %s\n", static_cast<double>(now_) / second, text.c_str());
}

// --- Tasks

void Place::prepare(std::span<char> stack, void (*begin)())
{
    getcontext(&context_);
    context_.uc_stack.ss_sp = stack.data();
    context_.uc_stack.ss_size = stack.size();
    makecontext(&context_, begin, 0);
    begun_ = false;
}

// The C library changes a context by system calls, for the mask of signals, and these took a sixth of a simulation. A
// jump takes none, but sanitizers do not follow a jump to another stack.
void Place::leave_for(Place &other)
{
#ifdef SANITIZED
    other.begun_ = true;
    swapcontext(&context_, &other.context_);
#else
    if (_setjmp(point_) != 0)
        return;
    if (!std::exchange(other.begun_, true))
        setcontext(&other.context_);
    _longjmp(other.point_, 1);
#endif
}

std::uint64_t Runtime::spawn(Owner *owner, std::function<void()> body, unsigned int flags)
{
    auto fiber = std::make_unique<Fiber>();
    fiber->number = ++last_number_;
    fiber->owner = owner;
    fiber->body = std::move(body);
    fiber->task.flags = flags;
    if (stacks_.empty())
        stacks_.push_back(std::make_unique<char[]>(stack_size));
    fiber->stack = std::move(stacks_.back());
    stacks_.pop_back();
    fiber->place.prepare({fiber->stack.get(), stack_size}, begin_fiber);
    const std::uint64_t number = fiber->number;
    Fiber &made = *fiber;
    fibers_.emplace(number, std::move(fiber));
    wake_at(now_ + random.below(20), made);
    return number;
}

void Runtime::begin_fiber()
{
    Runtime &runtime = now_running();
    Fiber &fiber = *runtime.fiber_;
    fiber.body();
    fiber.done = true;
    fiber.place.leave_for(runtime.main_);
}

void Runtime::switch_to(Fiber &fiber)
{
    fiber_ = &fiber;
    fiber.queue = nullptr;
    main_.leave_for(fiber.place);
    fiber_ = nullptr;
    if (!fiber.done)
        return;
    if (fiber.locks)
        fault("a task has ended with a lock");
    stacks_.push_back(std::move(fiber.stack));
    fibers_.erase(fiber.number);
}

void Runtime::wake_at(Time when, Fiber &fiber)
{
    at(when, fiber.owner, [this, number = fiber.number, sleep = fiber.sleep] {
        const auto found = fibers_.find(number);
        if (found == fibers_.end() || found->second->sleep != sleep)
            return;
        found->second->sleep++;
        switch_to(*found->second);
    });
}

void Runtime::block(const void *queue)
{
    Fiber &fiber = *fiber_;
    if (fiber.locks)
        fault("a task sleeps with a lock");
    fiber.queue = queue;
    Owner *const owner = owner_;
    fiber.place.leave_for(main_);
    enter(owner);
}

void Runtime::kill_task(std::uint64_t number)
{
    const auto found = fibers_.find(number);
    if (found == fibers_.end())
        return;
    found->second->killed = true;
    if (found->second->queue)
        wake_at(now_, *found->second);
}

std::size_t Runtime::tasks(const Owner &owner) const
{
    return std::count_if(fibers_.begin(), fibers_.end(),
                         [&](const auto &entry) { return entry.second->owner == &owner; });
}

std::size_t Runtime::timers(const Owner &owner) const
{
    return std::count_if(timers_.begin(), timers_.end(),
                         [&](const auto &entry) { return entry.second.owner == &owner; });
}

void Runtime::sleep(Time time)
{
    wake_at(now_ + time, *fiber_);
    block(nullptr);
}

// Others may run in between; they do where it costs nothing to try.
void Runtime::yield()
{
    if (fiber_ && !fiber_->locks && random.one_in(8))
        sleep(random.below(100));
}

} // namespace sim
