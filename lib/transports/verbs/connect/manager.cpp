// SPDX-License-Identifier: MIT
#include "connect/manager.h"

#include "device/uncancelled.h"

#include "wire/rdma_device.h"

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <sys/epoll.h>

namespace rsmengine {
namespace {

constexpr int CM_EVENTS_PER_LOOK = 64;

rdma_event_channel *open_channel() {
    rdma_event_channel *channel = ::rdma_create_event_channel();
    if (channel == nullptr)
        throw Unavailable("rdma_cm has no channel for us");
    return channel;
}

void copy(const rdma_cm_event &from, CmEvent &to) noexcept {
    const rdma_conn_param &said = from.param.conn;
    to.type = from.event;
    to.status = from.status;
    to.responder_resources = said.responder_resources;
    to.initiator_depth = said.initiator_depth;
    if (said.private_data == nullptr)
        return;
    to.size = std::min<std::size_t>(said.private_data_len, to.data.size());
    std::memcpy(to.data.data(), said.private_data, to.size);
}

} // namespace

Manager::Manager() : events_(open_channel(), ::rdma_destroy_event_channel) {
    const int flags = ::fcntl(events_->fd, F_GETFL);
    if (flags < 0 || ::fcntl(events_->fd, F_SETFL, flags | O_NONBLOCK) != 0)
        throw Unavailable("rdma_cm's channel can't be polled");
}

void Manager::start(Engine &engine) {
    engine_ = &engine;
    engine.watch(events_->fd, EPOLLIN, *this);
}

void Manager::ready(std::uint32_t /*events*/) noexcept {
    look();
}

void Manager::look() noexcept {
    const rsmdev::Uncancelled uncancelled;
    for (int i = 0; i < CM_EVENTS_PER_LOOK && take(); ++i) {
    }
}

// Acknowledge the event before dispatching it: rdma_destroy_id() waits for the acknowledgement. The
// identifier of a request that nobody wants is left.
bool Manager::take() noexcept {
    rdma_cm_event *event = nullptr;
    if (::rdma_get_cm_event(events_.get(), &event) != 0)
        return false;
    const bool request = event->event == RDMA_CM_EVENT_CONNECT_REQUEST;
    auto *listener = static_cast<CmListener *>(event->id->context);
    rdma_cm_id *id = event->id;
    CmEvent cm_event;
    copy(*event, cm_event);
    (void)::rdma_ack_cm_event(event);
    if (request)
        cm_event.request = Identifier::adopt(events_, id);
    dispatch(listener, id, cm_event);
    drop(std::move(cm_event.request));
    return true;
}

// An identifier without listener is being released, or is a request for a listener that has gone.
void Manager::dispatch(CmListener *listener, const rdma_cm_id *id, CmEvent &event) noexcept {
    if (listener != nullptr)
        return listener->on_cm_event(event);
    const auto found = leaving_.find(id);
    if (found == leaving_.end())
        return;
    drop(std::move(found->second));
    leaving_.erase(found);
}

void Manager::release(Identifier id, bool answer_expected) noexcept {
    if (!id)
        return;
    id.set_listener(nullptr);
    if (!answer_expected)
        return drop(std::move(id));
    try {
        leaving_.try_emplace(id.get(), std::move(id));
    } catch (const std::bad_alloc &) {
        drop(std::move(id)); // the peer may then learn of the end late
    }
}

void Manager::drop(Identifier id) noexcept {
    if (id)
        engine_->end_aside(std::move(id).take_end());
}

} // namespace rsmengine
