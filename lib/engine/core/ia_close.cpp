// SPDX-License-Identifier: MIT
// How an IA ends.
#include "engine/core/ia.h"
#include "engine/core/joined.h"
#include "engine/event/cno.h"
#include "engine/event/evd.h"
#include "engine/loop/engine.h"

#include <algorithm>
#include <array>

namespace rsmdat {

namespace {

// Users before what they use. Requests go first: they hold endpoints of the provider's.
constexpr std::array CASCADE{DAT_HANDLE_TYPE_CR,  DAT_HANDLE_TYPE_RMR, DAT_HANDLE_TYPE_RSP,
                             DAT_HANDLE_TYPE_EP,  DAT_HANDLE_TYPE_LMR, DAT_HANDLE_TYPE_PSP,
                             DAT_HANDLE_TYPE_SRQ, DAT_HANDLE_TYPE_PZ,  DAT_HANDLE_TYPE_EVD,
                             DAT_HANDLE_TYPE_CNO};

template <class T>
T *as(const std::unique_ptr<Object> &object) noexcept {
    return object->kind() == T::KIND ? static_cast<T *>(object.get()) : nullptr;
}

} // namespace

// The engine's threads must be gone before what they work on; they want the lock, so that is free
// then.
Ia::~Ia() {
    std::vector<DAT_OS_WAIT_PROXY_AGENT> orphans;
    {
        Guard guard(lock);
        close();
        release_waiters();
        await_outside(guard);
        orphans = agents();
        take_evds_from_others(*this);
        drop_requests_from_others(*this);
        destroy_all();
        leave_joined();
    }
    engine->stop();
    leave_foreign_async_evd();
    for (const auto &agent : orphans)
        agent.proxy_agent_func(agent.instance_data, nullptr);
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

void Ia::await_outside(Guard &guard) noexcept {
    while (outside_ > 0) {
        const auto ticket = came_back_.ticket();
        guard.unlock();
        came_back_.sleep(ticket, {});
        guard.lock();
    }
}

// They are told that nothing will come any more. Those for whom there is no memory are not.
std::vector<DAT_OS_WAIT_PROXY_AGENT> Ia::agents() const noexcept {
    std::vector<DAT_OS_WAIT_PROXY_AGENT> found;
    try {
        for (const auto &object : objects_)
            if (const auto *cno = as<Cno>(object); cno && cno->agent.proxy_agent_func)
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

// From the end: what takes the place of a destroyed object, or of one that went with it, has been
// looked at.
void Ia::destroy_all(DAT_HANDLE_TYPE kind) noexcept {
    for (auto place = objects_.size(); place > 0; place = std::min(place - 1, objects_.size())) {
        Object &object = *objects_[place - 1];
        if (object.kind() == kind && &object != async_evd)
            destroy(object);
    }
}

} // namespace rsmdat
