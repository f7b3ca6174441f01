// SPDX-License-Identifier: MIT
#include "connect/service_point_listener.h"

#include "connect/greeting.h"
#include "core/transport.h"
#include "engine/connect/address.h"
#include "engine/connect/service.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <netinet/in.h>

namespace rsmengine {
namespace {

constexpr int BACKLOG = 1024; // requests that the kernel keeps; the EVD has a limit, too

Status why_not(int error) noexcept {
    switch (error) {
    case EADDRINUSE:
        return Status::QUALIFIER_IN_USE;
    case EACCES:
    case EPERM:
        return Status::NO_QUALIFIER;
    case ENOMEM:
        return Status::NO_MEMORY;
    default:
        return Status::NO_DEVICE;
    }
}

std::unique_ptr<VerbsLink> link_from(Ia &ia, CmEvent &event, Qualifier qualifier) {
    Identifier &id = event.request;
    auto link = std::make_unique<VerbsLink>(*transport_of(ia).manager, std::move(id));
    link->qualifier = qualifier;
    link->local_port = qualifier;
    link->remote_port = ntohs(::rdma_get_dst_port(link->id.get()));
    link->remote = bare(*::rdma_get_peer_addr(link->id.get())).value_or(internet(INADDR_ANY));
    link->max_rdma_read_in = event.responder_resources;
    link->max_rdma_read_out = event.initiator_depth;
    return link;
}

} // namespace

Status VerbsServicePointListener::listen(const Ia &ia, Qualifier qualifier) noexcept {
    if (port_of(qualifier) == 0)
        return Status::BAD_QUALIFIER;
    Manager &manager = *transport_of(ia).manager;
    id_ = manager.create();
    sockaddr_storage address = with_port(ia.transport->address(), port_of(qualifier));
    if (id_ && ::rdma_bind_addr(id_.get(), reinterpret_cast<sockaddr *>(&address)) == 0 &&
        ::rdma_listen(id_.get(), BACKLOG) == 0)
        return Status::OK;
    const Status result = why_not(errno);
    manager.release(std::move(id_), false);
    return result;
}

void VerbsServicePointListener::serve(Sp &sp) {
    sp_ = &sp;
    id_.set_listener(this);
}

void VerbsServicePointListener::stop() noexcept {
    id_.set_listener(nullptr);
}

// A reserved service point, which takes one request, stops its listener.
void VerbsServicePointListener::on_cm_event(CmEvent &event) noexcept {
    if (event.type != RDMA_CM_EVENT_CONNECT_REQUEST || !event.request)
        return;
    try {
        auto link = link_from(sp_->ia(), event, sp_->qualifier);
        if (const auto data = Greeting::data_of(event.private_data()))
            sp_->take(std::move(link), *data);
        else
            refuse(*link, Refusal::BY_PROVIDER);
    } catch (const std::bad_alloc &) {
        // The request ends with the event.
    }
}

} // namespace rsmengine
