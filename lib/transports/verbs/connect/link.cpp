// SPDX-License-Identifier: MIT
#include "connect/link.h"

#include "connect/connector.h"
#include "connect/greeting.h"
#include "engine/connect/address.h"
#include "engine/connect/ep.h"

#include <netinet/in.h>
#include <utility>

namespace rsmengine {
namespace {

// 5 ms, after which a peer repeats a message that found no receive; the default of rdma_cm would be
// 0.7 s.
constexpr std::uint8_t NO_RECEIVE_TIMER = 18;

} // namespace

VerbsLink::VerbsLink(Manager &manager, Identifier its_id) noexcept
    : id(std::move(its_id)), manager_(manager) {
    id.set_listener(this);
}

void VerbsLink::replace(Identifier fresh) noexcept {
    fresh.set_listener(this);
    manager_.release(std::exchange(id, std::move(fresh)), false);
}

// The kernel tells the peer of an attempt when its identifier ends, and answers for us when the
// peer was the first to end a connection.
VerbsLink::~VerbsLink() {
    const bool tells = established && !over && ::rdma_disconnect(id.get()) == 0;
    manager_.release(std::move(id), tells);
}

void VerbsLink::on_cm_event(CmEvent &event) noexcept {
    if (ep != nullptr)
        connector_of(*ep).on_cm_event(event);
    else
        over = true;
}

void refuse(const VerbsLink &link, Refusal how) noexcept {
    const Rejection words = rejection(how);
    (void)::rdma_reject(link.id.get(), words.data(), static_cast<std::uint8_t>(words.size()));
}

sockaddr_storage with_port(const sockaddr_storage &address, std::uint16_t port) noexcept {
    if (address.ss_family == AF_INET6) {
        auto v6 = view<sockaddr_in6>(address);
        v6.sin6_port = htons(port);
        return store(v6);
    }
    auto v4 = view<sockaddr_in>(address);
    v4.sin_port = htons(port);
    return store(v4);
}

bool bring(ibv_qp &qp, ibv_qp_state state, const VerbsLink &link) noexcept {
    ibv_qp_attr attributes{};
    int mask = 0;
    attributes.qp_state = state;
    if (::rdma_init_qp_attr(link.id.get(), &attributes, &mask) != 0)
        return false;
    attributes.max_dest_rd_atomic = static_cast<std::uint8_t>(link.max_rdma_read_in);
    attributes.max_rd_atomic = static_cast<std::uint8_t>(link.max_rdma_read_out);
    attributes.min_rnr_timer = NO_RECEIVE_TIMER;
    return ::ibv_modify_qp(&qp, &attributes, mask) == 0;
}

} // namespace rsmengine
