// SPDX-License-Identifier: MIT
// An endpoint while it is connected, and how that ends.
#include "engine/connect/ep.h"

#include <algorithm>
#include <array>
#include <chrono>

namespace rsmdat {
namespace {

using namespace std::chrono_literals;

constexpr unsigned POLLS_PER_LOOK = 256;
// A host that has died says nothing, so it is asked from time to time.
constexpr auto QUESTIONS = 2s;

// Nothing else matters of a connection that is there, or is about to be.
bool is_end(rdma_cm_event_type type) noexcept {
    switch (type) {
    case RDMA_CM_EVENT_DISCONNECTED:
    case RDMA_CM_EVENT_REJECTED:
    case RDMA_CM_EVENT_CONNECT_ERROR:
    case RDMA_CM_EVENT_UNREACHABLE:
    case RDMA_CM_EVENT_DEVICE_REMOVAL:
        return true;
    default:
        return false;
    }
}

} // namespace

void Connector::happened(const Happening &event) noexcept {
    if (ep_.state == DAT_EP_STATE_ACTIVE_CONNECTION_PENDING)
        set_up_active(event);
    else if (ep_.state == DAT_EP_STATE_COMPLETION_PENDING)
        set_up_passive(event);
    if (ep_.transferring() && is_end(event.type))
        carry_on(event);
}

// Completions that had come before the end are taken first.
void Connector::carry_on(const Happening &event) noexcept {
    const bool orderly = event.type == RDMA_CM_EVENT_DISCONNECTED;
    ep_.link->over = true;
    ep_.transfer.progress();
    if (!ep_.transferring())
        return;
    if (orderly)
        ep_.end(DAT_CONNECTION_EVENT_DISCONNECTED, Ending::CLOSED);
    else
        ep_.end(DAT_CONNECTION_EVENT_BROKEN, Ending::BROKEN);
}

void Connector::communication_established() const noexcept {
    if (ep_.state == DAT_EP_STATE_COMPLETION_PENDING)
        (void)::rdma_notify(ep_.link->id.get(), IBV_EVENT_COMM_EST);
}

// A program that polls may keep the engine from the lock: so connections come and end here, too,
// but the latter is not looked for each time.
void Connector::poll(bool again) noexcept {
    if (again && ep_.transferring())
        ep_.transfer.disarm();
    if (!ep_.transferring() || ++polls_ % POLLS_PER_LOOK == 0)
        ep_.ia().manager->look();
    if (ep_.transferring())
        ep_.transfer.progress();
}

// Buffers that were taken from an SRQ may bring an asynchronous event, what was outstanding when
// the program disconnected is what its peer waits for, and a device that has done something may get
// what it had no room for.
bool Connector::has_listeners() const noexcept {
    if (ep_.srq != nullptr || ep_.state == DAT_EP_STATE_DISCONNECT_PENDING ||
        ep_.transfer.has_backlog())
        return true;
    return std::ranges::any_of(
        std::array{ep_.recv_evd, ep_.request_evd, ep_.connect_evd},
        [](const Evd *evd) { return evd != nullptr && (evd->waited || evd->cno != nullptr); });
}

// For want of memory it is not: then the next transfer tells.
void Connector::ask_soon() noexcept {
    try {
        question_ = ep_.ia().engine->at(Engine::Clock::now() + QUESTIONS, [this] {
            ep_.transfer.ping();
            if (ep_.transferring())
                ask_soon();
        });
    } catch (const std::bad_alloc &) {
        question_ = 0;
    }
}

// rdma_cm has no words for how.
void Connector::hang_up(Ending /*ending*/) noexcept {
    drop_link();
}

void Connector::give_up() noexcept {
    drop_link();
}

void Connector::drop_link() noexcept {
    ep_.unlimit();
    ep_.ia().engine->cancel(std::exchange(question_, 0));
    ep_.unfeed();
    ep_.link.reset();
}

} // namespace rsmdat
