// SPDX-License-Identifier: MIT
#include "engine/core/ia.h"

#include "engine/core/joined.h"
#include "engine/event/cno.h"
#include "engine/event/evd.h"
#include "engine/loop/engine.h"
#include "engine/transport.h"

#include <algorithm>
#include <array>
#include <utility>

namespace rsmengine {

void Ia::take(std::unique_ptr<Object> object) {
    object->index_ = objects_.size();
    objects_.push_back(std::move(object));
    ++counts_[static_cast<std::size_t>(objects_.back()->kind())];
}

// Fill the gap with the last object.
void Ia::destroy(Object &object) noexcept {
    const auto place = object.index_;
    --counts_[static_cast<std::size_t>(object.kind())];
    const auto last = std::move(objects_[place]);
    if (place + 1 < objects_.size()) {
        objects_[place] = std::move(objects_.back());
        objects_[place]->index_ = place;
    }
    objects_.pop_back();
}

std::size_t Ia::consumer_objects() const noexcept {
    return objects_.size() - (async_evd ? 1 : 0);
}

void Ia::use_async_evd(Evd &own) noexcept {
    ++own.users;
    async_evd = &own;
    async_handle = own.handle();
    async_generation_ = own.generation();
    async_listener_.use(used_async_evd());
}

bool Ia::use_foreign_async_evd(Handle handle) noexcept {
    const auto evd = enter<Evd>(handle);
    if (!evd || !evd->accepts(Stream::ASYNC) || evd->ia().name != name)
        return false;
    ++evd->users;
    async_handle = handle;
    async_generation_ = evd->generation();
    async_listener_.use(used_async_evd());
    return true;
}

// The two rings become one when their successors are exchanged.
void Ia::join(Ia &other) noexcept {
    if (lock.same_mutex(other.lock))
        return;
    for_each_joined([&other](const Ia &one) { one.lock.take_mutex_of(other.lock); });
    std::swap(next_joined_, other.next_joined_);
}

void Ia::leave_joined() noexcept {
    Ia *before = this;
    while (before->next_joined_ != this)
        before = before->next_joined_;
    before->next_joined_ = next_joined_;
    next_joined_ = this;
}

void Ia::arm_all() const noexcept {
    for_each_joined([](const Ia &one) { one.engine->arm_all(); });
}

AsyncEvd Ia::used_async_evd() const noexcept {
    return {async_handle, async_generation_};
}

void Ia::leave_foreign_async_evd() const noexcept {
    if (async_evd)
        return;
    const auto evd = enter<Evd>(async_handle);
    if (evd && evd->generation() == async_generation_)
        --evd->users;
}

void Ia::report(EventKind number, Handle about, Reason reason) noexcept {
    Arrival arrival;
    arrival.event.kind = number;
    arrival.event.error.about = about;
    arrival.event.error.reason = reason;
    if (async_evd)
        async_evd->deliver(arrival);
    report_to_others(arrival);
}

// Called without this Ia's lock, because it takes the locks of other Ias. The event is lost if
// memory is short, as it is if a queue is full.
void Ia::report_to_others(const Arrival &arrival) const noexcept {
    try {
        auto others = async_listener_.others(async_evd ? used_async_evd() : AsyncEvd{});
        if (others.empty())
            return;
        engine->later([arrival, to = std::move(others)] {
            for (const AsyncEvd &one : to) {
                const auto evd = enter<Evd>(one.handle);
                if (evd && evd->generation() == one.generation)
                    evd->deliver(arrival);
            }
        });
    } catch (const std::bad_alloc &) {
        return;
    }
}

namespace {

// Destroy users before the objects they use. Requests are first: they hold endpoints that the
// engine has made.
constexpr std::array CASCADE{ObjectKind::CR,  ObjectKind::RMR, ObjectKind::RSP, ObjectKind::EP,
                             ObjectKind::LMR, ObjectKind::PSP, ObjectKind::SRQ, ObjectKind::PZ,
                             ObjectKind::EVD, ObjectKind::CNO};

template <class T>
T *as(const std::unique_ptr<Object> &object) noexcept {
    return object->kind() == T::KIND ? static_cast<T *>(object.get()) : nullptr;
}

} // namespace

Ia::Ia(void *its_face, std::string as, std::unique_ptr<Transport> over)
    : Object(its_face, KIND, *this), face(its_face), lock(*pooled_lock_), name(std::move(as)),
      transport(std::move(over)), limits(transport->limits()),
      engine(std::make_unique<Engine>(*this)) {
    const Guard guard(lock);
    transport->start(*this);
    publish(lock);
}

// Stop the engine's threads before destroying the objects they use, without the lock, which they
// take.
Ia::~Ia() {
    std::vector<Agent> orphans;
    {
        Guard guard(lock);
        close();
        release_waiters();
        await_unlocked(guard);
        orphans = agents();
        take_evds_from_others(*this);
        drop_requests_from_others(*this);
        destroy_all();
        leave_joined();
    }
    engine->stop();
    leave_foreign_async_evd();
    for (const auto &agent : orphans)
        agent.call(agent.data, nullptr);
}

void Ia::close() noexcept {
    closing = true;
    hide();
    for (const auto &object : objects_)
        object->hide();
}

void Ia::release_waiters() noexcept {
    for (const auto &object : objects_) {
        if (auto *evd = as<Evd>(object))
            evd->abort_waiter();
        else if (auto *cno = as<Cno>(object))
            cno->release();
    }
    agent_returned.wake();
}

void Ia::await_unlocked(Guard &guard) noexcept {
    while (unlocked_ > 0) {
        const auto ticket = came_back_.ticket();
        guard.unlock();
        came_back_.sleep(ticket, {});
        guard.lock();
    }
}

// The agents to be called once more because no event will come; fewer if memory is short.
std::vector<Agent> Ia::agents() const noexcept {
    std::vector<Agent> found;
    try {
        for (const auto &object : objects_)
            if (const auto *cno = as<Cno>(object); cno && cno->agent.call)
                found.push_back(cno->agent);
    } catch (const std::bad_alloc &) {
        return found;
    }
    return found;
}

void Ia::destroy_all() noexcept {
    for (const auto kind : CASCADE)
        destroy_all(kind);
    if (Evd *last = std::exchange(async_evd, nullptr))
        destroy(*last);
}

// Iterate from the end: the object that fills a gap has been visited already.
void Ia::destroy_all(ObjectKind kind) noexcept {
    for (auto place = objects_.size(); place > 0; place = std::min(place - 1, objects_.size())) {
        Object &object = *objects_[place - 1];
        if (object.kind() == kind && &object != async_evd)
            destroy(object);
    }
}

} // namespace rsmengine
