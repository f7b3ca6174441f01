// SPDX-License-Identifier: MIT
#include "wire/device_events.h"

#include "connect/connector.h"
#include "connect/manager.h"
#include "core/transport.h"
#include "transfer/srq.h"
#include "wire/completion_queue.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <utility>
#include <vector>

namespace rsmengine {
namespace {

constexpr int DEVICE_EVENTS_PER_LOOK = 64;

void make_nonblocking(int fd) {
    const int flags = ::fcntl(fd, F_GETFL);
    if (flags < 0 || ::fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0)
        throw Unavailable("the device's events can't be polled");
}

// Null if the queue pair, or the queue, is about to be destroyed.
Ep *ep_of(const ibv_qp &qp) noexcept {
    return static_cast<Ep *>(qp.qp_context);
}

VerbsSrq *srq_of(const ibv_srq &srq) noexcept {
    return static_cast<VerbsSrq *>(srq.srq_context);
}

} // namespace

DeviceEvents::DeviceEvents(const RdmaDevice &device)
    : device_(device), completions_(device.completions()), async_events_(device.context()) {
    make_nonblocking(device.completions().fd);
    make_nonblocking(device.context().async_fd);
}

void DeviceEvents::start(Ia &ia) {
    async_events_.ia = &ia;
    sentinel_ = transport_of(ia).manager->create();
    sockaddr_storage address = ia.transport->address();
    if (sentinel_ && ::rdma_bind_addr(sentinel_.get(), reinterpret_cast<sockaddr *>(&address)) == 0)
        sentinel_.set_listener(&async_events_);
    ia.engine->watch(device_.completions().fd, EPOLLIN, completions_);
    ia.engine->watch(device_.context().async_fd, EPOLLIN, async_events_);
}

void DeviceEvents::CompletionChannel::ready(std::uint32_t /*events*/) noexcept {
    for (int i = 0; i < DEVICE_EVENTS_PER_LOOK && take(); ++i) {
    }
}

// Acknowledge the event before using it: ibv_destroy_cq() waits for the acknowledgement.
bool DeviceEvents::CompletionChannel::take() noexcept {
    ibv_cq *queue = nullptr;
    void *context = nullptr;
    if (::ibv_get_cq_event(&from_, &queue, &context) != 0)
        return false;
    ::ibv_ack_cq_events(queue, 1);
    static_cast<CompletionQueue *>(context)->woken();
    return true;
}

// Acknowledge an event after using it: until then another thread that destroys the queue pair
// waits.
void DeviceEvents::AsyncEventHandler::ready(std::uint32_t /*events*/) noexcept {
    for (int i = 0; i < DEVICE_EVENTS_PER_LOOK; ++i) {
        ibv_async_event event{};
        if (::ibv_get_async_event(&from_, &event) != 0)
            return;
        take(event);
        ::ibv_ack_async_event(&event);
    }
}

void DeviceEvents::AsyncEventHandler::on_cm_event(CmEvent &event) noexcept {
    if (event.type == RDMA_CM_EVENT_DEVICE_REMOVAL)
        device_gone();
}

void DeviceEvents::AsyncEventHandler::take(ibv_event_type type, Ep &ep) noexcept {
    if (type == IBV_EVENT_COMM_EST)
        connector_of(ep).communication_established();
    else
        ep.broken();
}

void DeviceEvents::AsyncEventHandler::take(ibv_event_type type, VerbsSrq &srq) const noexcept {
    if (type == IBV_EVENT_SRQ_LIMIT_REACHED)
        srq.limit_reached();
    else
        ia->report(EventKind::INTERNAL_ERROR, srq.handle(), Reason::FAILURE);
}

void DeviceEvents::AsyncEventHandler::take(const ibv_async_event &event) noexcept {
    switch (event.event_type) {
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_PATH_MIG_ERR:
    case IBV_EVENT_COMM_EST:
        if (Ep *ep = ep_of(*event.element.qp))
            take(event.event_type, *ep);
        return;
    case IBV_EVENT_SRQ_LIMIT_REACHED:
    case IBV_EVENT_SRQ_ERR:
        if (VerbsSrq *srq = srq_of(*event.element.srq))
            take(event.event_type, *srq);
        return;
    case IBV_EVENT_CQ_ERR:
        return static_cast<CompletionQueue *>(event.element.cq->cq_context)->failed();
    case IBV_EVENT_DEVICE_FATAL:
        return device_gone();
    default:
        return; // ports, addresses: connections over them fail by themselves
    }
}

// Iterate over handles, because an Ep that ends may destroy others. If memory is short, Eps end by
// the errors of their queue pairs.
void DeviceEvents::AsyncEventHandler::device_gone() noexcept {
    if (std::exchange(gone_, true))
        return;
    ia->engine->forget(from_.async_fd);
    ia->report(EventKind::IA_FAILED, ia->handle(), Reason::FAILURE);
    try {
        std::vector<Handle> handles;
        for (const auto &object : ia->objects())
            if (object->kind() == Ep::KIND)
                handles.push_back(object->handle());
        for (Handle handle : handles)
            if (Ep *ep = find<Ep>(handle, *ia))
                ep->broken();
    } catch (const std::bad_alloc &) {
        return;
    }
}

} // namespace rsmengine
