// SPDX-License-Identifier: MIT
// An endpoint's way from UNCONNECTED to CONNECTED, and how that, or a connection, ends.
#include "connect/connector.h"

#include "core/transport.h"
#include "engine/connect/address.h"
#include "transfer/transfer.h"
#include "wire/rdma_device.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <netinet/in.h>

namespace rsmengine {
namespace {

constexpr int RESOLVE = 2000; // milliseconds: for an address, and for a route
// The active side completes an accept by itself; the passive side fails if that takes longer.
constexpr std::chrono::seconds COMPLETION{20};
// 4.096 us * 2^16, 7 times: the connection ends about 3 s after its peer has died, and survives a
// link that is down for a second. (Not 7 retries: soft RoCE takes that for retries without end.)
constexpr std::uint8_t ACK_TIMEOUT = 16;
constexpr std::uint8_t RETRIES = 6;
constexpr std::uint8_t RETRY_FOREVER = 7; // while the peer has posted no receive
// The connection manager's reason for a rejection: nobody listens at the port.
constexpr int NOBODY_LISTENS = 8;

std::uint32_t lesser(unsigned theirs, Count ours) noexcept {
    return std::min(theirs, static_cast<std::uint32_t>(ours));
}

rdma_conn_param terms_of(const Ep &ep, Count read_in, Count read_out,
                         const Greeting &greeting) noexcept {
    rdma_conn_param terms{};
    terms.private_data = greeting.bytes().data();
    terms.private_data_len = static_cast<std::uint8_t>(greeting.bytes().size());
    terms.responder_resources = static_cast<std::uint8_t>(read_in);
    terms.initiator_depth = static_cast<std::uint8_t>(read_out);
    terms.retry_count = RETRIES;
    terms.rnr_retry_count = RETRY_FOREVER;
    terms.srq = ep.srq != nullptr ? 1 : 0;
    terms.qp_num = transfer_of(ep).qp().qp_num;
    return terms;
}

// Each side of a connection computes the same result.
void limit_silence(const Identifier &id) noexcept {
    std::uint8_t timeout = ACK_TIMEOUT;
    (void)::rdma_set_option(id.get(), RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout,
                            sizeof timeout);
}

// The address may be another device's, too.
bool is_ours(const Identifier &id, const RdmaDevice &device) noexcept {
    return id->verbs != nullptr && std::strcmp(::ibv_get_device_name(id->verbs->device),
                                               ::ibv_get_device_name(device.context().device)) == 0;
}

} // namespace

Status VerbsConnector::connect(const sockaddr_storage &remote, Qualifier qualifier, Timeout timeout,
                               std::span<const std::byte> private_data) {
    if (port_of(qualifier) == 0) {
        ep_.fail(EventKind::NON_PEER_REJECTED);
        return Status::OK;
    }
    auto fresh = make_link();
    if (!fresh)
        return Status::NO_CONNECTIONS;
    fresh->qualifier = qualifier;
    fresh->remote = remote;
    complete_scope(fresh->remote, ep_.ia().transport->address());
    greeting_ = Greeting(private_data);
    ep_.prepare();
    std::unique_ptr<Link> base = std::move(fresh);
    const Status result = start(base, timeout, EventKind::UNREACHABLE);
    if (result != Status::OK)
        return result;
    ep_.state = EpState::ACTIVE_PENDING;
    resolve();
    return Status::OK;
}

Status VerbsConnector::connect_like(const Link &model, Timeout timeout,
                                    std::span<const std::byte> private_data) {
    return connect(model.remote, model.qualifier, timeout, private_data);
}

// Binds the identifier, so that its port is known; empty if that fails.
Identifier VerbsConnector::make_identifier() const noexcept {
    Identifier id = transport_of(ep_.ia()).manager->create();
    sockaddr_storage address = with_port(ep_.ia().transport->address(), 0);
    if (!id)
        return {};
    if (::rdma_bind_addr(id.get(), reinterpret_cast<sockaddr *>(&address)) != 0) {
        transport_of(ep_.ia()).manager->release(std::move(id), false);
        return {};
    }
    limit_silence(id);
    return id;
}

// Null if there is no identifier.
std::unique_ptr<VerbsLink> VerbsConnector::make_link() const {
    Identifier id = make_identifier();
    if (!id)
        return nullptr;
    Manager &manager = *transport_of(ep_.ia()).manager;
    try {
        auto link = std::make_unique<VerbsLink>(manager, std::move(id));
        link->active = true;
        link->local_port = ntohs(::rdma_get_src_port(link->id.get()));
        return link;
    } catch (...) {
        manager.release(std::move(id), false);
        throw;
    }
}

// Set the terms before the accept that announces them to the requester.
Status VerbsConnector::accept(std::unique_ptr<Link> &from,
                              std::span<const std::byte> private_data) {
    const Status result = start(from, COMPLETION, EventKind::ACCEPT_FAILED);
    if (result != Status::OK)
        return result;
    ep_.state = EpState::COMPLETION_PENDING;
    VerbsLink &link = link_of(ep_);
    link.max_rdma_read_out = lesser(link.max_rdma_read_out, ep_.attributes.max_rdma_read_out);
    link.max_rdma_read_in = lesser(link.max_rdma_read_in, ep_.attributes.max_rdma_read_in);
    if (link.over || !answer(Greeting(private_data)))
        ep_.fail(EventKind::ACCEPT_FAILED);
    return Status::OK;
}

bool VerbsConnector::answer(const Greeting &greeting) const noexcept {
    const VerbsLink &link = link_of(ep_);
    limit_silence(link.id);
    rdma_conn_param terms = terms_of(ep_, static_cast<Count>(link.max_rdma_read_in),
                                     static_cast<Count>(link.max_rdma_read_out), greeting);
    return bring_up() && ::rdma_accept(link.id.get(), &terms) == 0;
}

bool VerbsConnector::bring_up() const noexcept {
    ibv_qp &qp = transfer_of(ep_).qp();
    return bring(qp, IBV_QPS_RTR, link()) && bring(qp, IBV_QPS_RTS, link());
}

// Takes over a link; leaves it where it was if something throws or it returns an error. After
// `timeout` the attempt has failed with the event `late`.
Status VerbsConnector::start(std::unique_ptr<Link> &from, Timeout timeout, EventKind late) {
    const Status result = transfer_of(ep_).prepare();
    if (result != Status::OK)
        return result;
    try {
        ep_.feed();
        ep_.limit(timeout, late);
    } catch (...) {
        ep_.unfeed();
        transfer_of(ep_).abandon();
        throw;
    }
    ep_.link = std::move(from);
    link().ep = &ep_;
    return Status::OK;
}

void VerbsConnector::resolve() noexcept {
    const VerbsLink &link = link_of(ep_);
    sockaddr_storage to = with_port(link.remote, port_of(link.qualifier));
    if (::rdma_resolve_addr(link.id.get(), nullptr, reinterpret_cast<sockaddr *>(&to), RESOLVE) !=
        0)
        ep_.fail(EventKind::UNREACHABLE);
}

void VerbsConnector::set_up_active(const CmEvent &event) noexcept {
    switch (event.type) {
    case RDMA_CM_EVENT_ADDR_RESOLVED:
        return find_route();
    case RDMA_CM_EVENT_ROUTE_RESOLVED:
        return request();
    case RDMA_CM_EVENT_CONNECT_RESPONSE:
        return answered(event);
    case RDMA_CM_EVENT_ADDR_ERROR:
    case RDMA_CM_EVENT_ROUTE_ERROR:
    case RDMA_CM_EVENT_UNREACHABLE:
        return ep_.fail(EventKind::UNREACHABLE);
    case RDMA_CM_EVENT_REJECTED:
        return refused(event);
    default:
        return ep_.fail(EventKind::NON_PEER_REJECTED);
    }
}

void VerbsConnector::find_route() noexcept {
    const Identifier &id = link().id;
    if (!is_ours(id, *transport_of(ep_.ia()).device) ||
        ::rdma_resolve_route(id.get(), RESOLVE) != 0)
        ep_.fail(EventKind::UNREACHABLE);
}

// The address has resolved: from now on a timeout means that the host is late.
void VerbsConnector::request() noexcept {
    ep_.blame(EventKind::TIMED_OUT);
    rdma_conn_param terms =
        terms_of(ep_, ep_.attributes.max_rdma_read_in, ep_.attributes.max_rdma_read_out, greeting_);
    if (::rdma_connect(link().id.get(), &terms) != 0)
        ep_.fail(EventKind::NON_PEER_REJECTED);
}

void VerbsConnector::refused(const CmEvent &event) noexcept {
    if (event.status == NOBODY_LISTENS && link().unheard++ < GRACE) {
        try {
            question_ =
                ep_.ia().engine->at(Engine::Clock::now() + GRACE_PAUSE, [this] { ask_again(); });
            return;
        } catch (const std::bad_alloc &) {
            question_ = 0;
        }
    }
    ep_.fail(refusal_of(event.private_data()) == Refusal::BY_CONSUMER
                 ? EventKind::PEER_REJECTED
                 : EventKind::NON_PEER_REJECTED);
}

void VerbsConnector::ask_again() noexcept {
    question_ = 0;
    Identifier id = make_identifier();
    if (!id)
        return ep_.fail(EventKind::NON_PEER_REJECTED);
    link().replace(std::move(id));
    link().local_port = ntohs(::rdma_get_src_port(link().id.get()));
    resolve();
}

void VerbsConnector::answered(const CmEvent &event) noexcept {
    VerbsLink &link = link_of(ep_);
    const auto data = Greeting::data_of(event.private_data());
    link.remote_port = link.qualifier;
    link.max_rdma_read_out = lesser(event.initiator_depth, ep_.attributes.max_rdma_read_out);
    link.max_rdma_read_in = lesser(event.responder_resources, ep_.attributes.max_rdma_read_in);
    if (!data || !bring_up() || ::rdma_establish(link.id.get()) != 0)
        return ep_.fail(EventKind::NON_PEER_REJECTED);
    establish(*data);
}

// The event of a peer that ends the connection at once may arrive before the established event.
void VerbsConnector::set_up_passive(const CmEvent &event) noexcept {
    const bool established =
        event.type == RDMA_CM_EVENT_ESTABLISHED || event.type == RDMA_CM_EVENT_DISCONNECTED;
    if (established)
        establish({});
    else
        ep_.fail(EventKind::ACCEPT_FAILED);
}

// Poll the queue only after the event is queued.
void VerbsConnector::establish(std::span<const std::byte> private_data) noexcept {
    link().established = true;
    ep_.establish(private_data);
    transfer_of(ep_).connected();
    ask_soon();
    transfer_of(ep_).progress();
}

namespace {

using namespace std::chrono_literals;

constexpr unsigned POLLS_PER_LOOK = 256;
// A host that has died sends nothing, so ping the peer from time to time.
constexpr auto QUESTIONS = 2s;

// All other events are ignored once the connection is established or being established.
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

void VerbsConnector::on_cm_event(const CmEvent &event) noexcept {
    if (ep_.state == EpState::ACTIVE_PENDING)
        set_up_active(event);
    else if (ep_.state == EpState::COMPLETION_PENDING)
        set_up_passive(event);
    if (ep_.transferring() && is_end(event.type))
        carry_on(event);
}

// Take the completions that came before the end first.
void VerbsConnector::carry_on(const CmEvent &event) noexcept {
    const bool orderly = event.type == RDMA_CM_EVENT_DISCONNECTED;
    link().over = true;
    transfer_of(ep_).progress();
    if (!ep_.transferring())
        return;
    if (orderly)
        ep_.end(EventKind::DISCONNECTED, Ending::CLOSED);
    else
        ep_.end(EventKind::BROKEN, Ending::BROKEN);
}

void VerbsConnector::communication_established() const noexcept {
    if (ep_.state == EpState::COMPLETION_PENDING)
        (void)::rdma_notify(link().id.get(), IBV_EVENT_COMM_EST);
}

// A program that polls may keep the engine's thread from getting the lock, so handle connection
// events here, too, but check for the end of a connection not on each poll.
void VerbsConnector::poll(bool again) noexcept {
    if (again && ep_.transferring())
        transfer_of(ep_).disarm();
    if (!ep_.transferring() || ++polls_ % POLLS_PER_LOOK == 0)
        transport_of(ep_.ia()).manager->look();
    if (ep_.transferring())
        transfer_of(ep_).progress();
}

// The engine polls for an endpoint with an SRQ (whose low watermark may cause an asynchronous
// event), for one that disconnects (its peer waits for the outstanding requests), and for one with
// requests that the device had no room for.
bool VerbsConnector::has_listeners() const noexcept {
    if (ep_.srq != nullptr || ep_.state == EpState::DISCONNECT_PENDING ||
        transfer_of(ep_).has_backlog())
        return true;
    return std::ranges::any_of(
        std::array{ep_.recv_evd, ep_.request_evd, ep_.connect_evd},
        [](const Evd *evd) { return evd != nullptr && (evd->waited || evd->cno != nullptr); });
}

// If memory is short there is no ping: the next transfer finds the dead peer.
void VerbsConnector::ask_soon() noexcept {
    try {
        question_ = ep_.ia().engine->at(Engine::Clock::now() + QUESTIONS, [this] {
            // Nobody may poll, or wait: then the last answer, or the end, is still in the queue.
            transfer_of(ep_).progress();
            if (!ep_.transferring())
                return;
            transfer_of(ep_).ping();
            ask_soon();
        });
    } catch (const std::bad_alloc &) {
        question_ = 0;
    }
}

// rdma_cm cannot tell the peer whether the end was graceful.
void VerbsConnector::hang_up(Ending /*ending*/) noexcept {
    drop_link();
}

void VerbsConnector::give_up() noexcept {
    drop_link();
}

void VerbsConnector::drop_link() noexcept {
    ep_.unlimit();
    ep_.ia().engine->cancel(std::exchange(question_, 0));
    ep_.unfeed();
    ep_.link.reset();
}

} // namespace rsmengine
