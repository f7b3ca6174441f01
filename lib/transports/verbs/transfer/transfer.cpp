// SPDX-License-Identifier: MIT
#include "transfer/transfer.h"
#include "engine/core/own.h"

#include "core/transport.h"
#include "device/uncancelled.h"
#include "transfer/queue_pair.h"
#include "transfer/receives.h"
#include "transfer/requests.h"
#include "transfer/srq.h"
#include "wire/completion_queue.h"

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

namespace rsmengine {

struct VerbsTransfer::Inside final : CompletionQueue::Owner, Feeder {
    explicit Inside(Ep &owner); // throws std::bad_alloc
    virtual ~Inside();
    Inside(const Inside &) = delete;
    Inside(Inside &&) = delete;
    Inside &operator=(const Inside &) = delete;
    Inside &operator=(Inside &&) = delete;

    // The SRQ asks what has been taken from it.
    void poll(bool /*again*/) noexcept override { progress(); }
    // As an owner of completions, and for the SRQ, which does not ask.
    [[nodiscard]] bool has_listeners() const noexcept override {
        return ep.connector->has_listeners();
    }
    [[nodiscard]] bool was_looked_at() noexcept override {
        bool looked_at = false;
        for (Evd *evd : {ep.recv_evd, ep.request_evd})
            looked_at = (evd != nullptr && std::exchange(evd->looked_at, false)) || looked_at;
        return looked_at;
    }
    void completed(const ibv_wc &completion) noexcept override;
    void failed() noexcept override { ep.broken(); }

    [[nodiscard]] QueueSizes sizes() const noexcept;
    [[nodiscard]] CompletionQueue::Room room_for_receives(const QueueSizes &wanted) const noexcept;
    bool find_channels(const QueueSizes &wanted);
    bool open();
    void abandon() noexcept;
    template <class Post>
    Status post(Post what);
    void posted() noexcept;
    [[nodiscard]] bool has_backlog() const noexcept;
    void hand_over() noexcept;
    void progress() noexcept;
    void take_all_of_evds() const noexcept;
    void take_early() noexcept;
    void take(const ibv_wc &completion) noexcept;
    void update_state() noexcept;
    void close() noexcept;
    void flush() noexcept;

    Ep &ep;
    VerbsRequests out;
    VerbsReceives in;
    CompletionPlaces places; // where both directions complete
    QueuePair pair;
    QueueSizes most{};         // the most that the device gets of each direction at a time
    std::vector<ibv_wc> early; // completions from before the Ep was CONNECTED
    bool live = false;
    bool pinged = false;     // a ping is outstanding
    bool unheard = false;    // a ping failed
    bool backlogged = false; // the engine has been told to poll
};

VerbsTransfer::Inside::Inside(Ep &owner) : ep(owner), out(owner), in(owner) {
    if (ep.srq != nullptr)
        srq_of(ep)->takers.add(*this);
}

VerbsTransfer::Inside::~Inside() {
    if (ep.srq != nullptr)
        srq_of(ep)->takers.remove(*this);
}

// With room for a ping. If an endpoint's queue is longer than the device's, the rest waits here.
QueueSizes VerbsTransfer::Inside::sizes() const noexcept {
    const EpAttributes &attributes = ep.attributes;
    const ibv_device_attr &has = transport_of(ep.ia()).device->attributes();
    const auto longest = static_cast<std::uint32_t>(std::min(has.max_qp_wr, has.max_cqe));
    const bool own = ep.srq == nullptr;
    return {.requests = std::min(at_least_one(attributes.max_request_dtos) + PINGS, longest),
            .receives = own ? std::min(at_least_one(attributes.max_recv_dtos), longest) : 0,
            .request_pieces = at_least_one(out.widest()),
            .receive_pieces = own ? at_least_one(attributes.max_recv_iov) : 0};
}

// An SRQ's receives may all be this endpoint's.
CompletionQueue::Room
VerbsTransfer::Inside::room_for_receives(const QueueSizes &wanted) const noexcept {
    const bool own = ep.srq == nullptr;
    return {.entries = static_cast<int>(wanted.receives),
            .srq = ep.srq,
            .shared = own ? 0 : static_cast<int>(at_least_one(ep.ia().limits.recvs_per_srq))};
}

// One for both directions if they have one EVD, or only one of them has any.
bool VerbsTransfer::Inside::find_channels(const QueueSizes &wanted) {
    CompletionQueues &queues = *transport_of(ep.ia()).queues;
    Engine &engine = *ep.ia().engine;
    const Evd *request_evd = ep.request_evd != nullptr ? ep.request_evd : ep.recv_evd;
    const Evd *recv_evd = ep.recv_evd != nullptr ? ep.recv_evd : ep.request_evd;
    const CompletionQueue::Room in_room = room_for_receives(wanted);
    CompletionQueue::Room room{
        .entries = static_cast<int>(wanted.requests), .srq = nullptr, .shared = 0};
    const int both = room.entries + in_room.entries + in_room.shared;
    const bool together =
        request_evd == recv_evd && both <= transport_of(ep.ia()).device->attributes().max_cqe;
    if (together)
        room = {.entries = room.entries + in_room.entries,
                .srq = in_room.srq,
                .shared = in_room.shared};
    places.requests = queues.get(engine, request_evd, room);
    if (!places.requests || together)
        return static_cast<bool>(places.requests);
    places.receives = queues.get(engine, recv_evd, in_room);
    return static_cast<bool>(places.receives);
}

bool VerbsTransfer::Inside::open() {
    const QueueSizes wanted = sizes();
    if (!find_channels(wanted) || !pair.open(ep, places, wanted))
        return false;
    places.requests->add((*pair).qp_num, *this);
    if (places.receives)
        places.receives->add((*pair).qp_num, *this);
    most = {wanted.requests - PINGS, wanted.receives, 0, 0};
    return in.start(*pair, most.receives);
}

// Destroys a queue pair that never had a connection.
void VerbsTransfer::Inside::abandon() noexcept {
    if (pair)
        close();
    places = {};
    in.withdraw();
}

// The queue may be full only because no thread has polled the completions.
template <class Post>
Status VerbsTransfer::Inside::post(Post what) {
    Status result = what();
    if (result == Status::NO_MEMORY) [[unlikely]] {
        progress();
        result = what();
    }
    if (result == Status::OK)
        posted();
    return result;
}

// A request or a receive was queued.
void VerbsTransfer::Inside::posted() noexcept {
    if (!live)
        return flush();
    hand_over();
    update_state();
}

bool VerbsTransfer::Inside::has_backlog() const noexcept {
    return live && (out.has_backlog() || in.has_backlog());
}

// Hands over as much as the device may have at a time. If the program does not poll, the engine
// hands over the rest: arm the channels so that the engine wakes up.
void VerbsTransfer::Inside::hand_over() noexcept {
    if (!ep.transferring())
        return;
    out.start(*pair, pair.inline_limit(), most.requests);
    if (!in.start(*pair, most.receives))
        return ep.broken();
    const bool before = std::exchange(backlogged, has_backlog());
    if (backlogged && !before)
        ep.ia().engine->arm_all();
}

void VerbsTransfer::Inside::progress() noexcept {
    if (!live)
        return;
    if (!early.empty()) [[unlikely]]
        take_early();
    places.take_all();
    update_state();
}

// Takes the completions of all endpoints of the EVDs: this one may have no place in the channels.
void VerbsTransfer::Inside::take_all_of_evds() const noexcept {
    CompletionQueues &queues = *transport_of(ep.ia()).queues;
    queues.take_all(ep.request_evd);
    if (ep.recv_evd != ep.request_evd)
        queues.take_all(ep.recv_evd);
}

// Another Ep's poll may find completions of an Ep that is not CONNECTED yet: these are kept.
void VerbsTransfer::Inside::completed(const ibv_wc &completion) noexcept {
    if (live) {
        take(completion);
        if (backlogged)
            hand_over();
        return update_state();
    }
    try {
        early.push_back(completion);
    } catch (const std::bad_alloc &) {
        unheard = true;
    }
}

void VerbsTransfer::Inside::take_early() noexcept {
    for (const ibv_wc &completion : std::exchange(early, {}))
        take(completion);
}

void VerbsTransfer::Inside::take(const ibv_wc &completion) noexcept {
    switch (kind_of(completion.wr_id)) {
    case Work::REQUEST:
        return out.completed(completion.status);
    case Work::RECEIVE:
        return in.completed(completion);
    case Work::PING:
        pinged = false;
        unheard |= completion.status != IBV_WC_SUCCESS;
    }
}

void VerbsTransfer::Inside::update_state() noexcept {
    if (out.failed() || in.failed() || ep.lost_event || unheard)
        ep.broken();
    else if (ep.state == EpState::DISCONNECT_PENDING && out.idle())
        ep.drained();
}

// The queue pair's last completions come until it has stopped. Buffers of an SRQ come back even if
// there never was a connection.
void VerbsTransfer::Inside::close() noexcept {
    const std::uint32_t number = (*pair).qp_num;
    pair.stop();
    places.take_all();
    if (pair.reset())
        places.vacate();
    places.take_all();
    places.requests->remove(number);
    if (places.receives)
        places.receives->remove(number);
    pair.close(*ep.ia().engine, std::move(places));
    for (ibv_wc completion : std::exchange(early, {}))
        if (kind_of(completion.wr_id) == Work::RECEIVE && ep.srq != nullptr) {
            completion.status = IBV_WC_WR_FLUSH_ERR;
            in.completed(completion);
        }
}

// Work that the device finished before it stopped completes normally. The rest is flushed, after
// the earlier events of other endpoints on the same EVDs.
void VerbsTransfer::Inside::flush() noexcept {
    if (pair) {
        close();
        live = false;
    } else {
        take_all_of_evds();
    }
    pinged = unheard = backlogged = false;
    out.flush();
    in.flush();
}

VerbsTransfer::VerbsTransfer(Ep &ep) : inside_(std::make_unique<Inside>(ep)) {
    inside_->in.resize();
    inside_->out.resize();
    if (ep.srq != nullptr)
        inside_->in.set_watermarks(ep.attributes.srq_soft_hw, ep.attributes.max_recv_dtos);
}

VerbsTransfer::~VerbsTransfer() = default;

void VerbsTransfer::resized() {
    inside_->in.resize();
    inside_->out.resize();
}

Status VerbsTransfer::prepare() {
    Inside &inside = *inside_;
    if (inside.ep.pz == nullptr)
        return inside.ep.wrong_state();
    try {
        if (inside.open())
            return Status::OK;
    } catch (...) {
        inside.abandon();
        throw;
    }
    const int error = errno;
    inside.abandon();
    return error == ENOMEM ? Status::NO_MEMORY : Status::NO_CONNECTIONS;
}

void VerbsTransfer::abandon() noexcept {
    inside_->abandon();
}

ibv_qp &VerbsTransfer::qp() const noexcept {
    return *inside_->pair;
}

Status VerbsTransfer::post_send(const Post &what) {
    return inside_->post([&] { return inside_->out.send(what); });
}

Status VerbsTransfer::post_write(const Post &what, View<RemoteSegment> remote) {
    return inside_->post([&] { return inside_->out.rdma(true, what, remote); });
}

Status VerbsTransfer::post_read(const Post &what, View<RemoteSegment> remote) {
    return inside_->post([&] { return inside_->out.rdma(false, what, remote); });
}

// The window has its key from the start of the bind on.
Status VerbsTransfer::post_bind(Rmr &rmr, const Segment &triplet, unsigned privileges,
                                const Post &what, RemoteKey *context) {
    std::shared_ptr<ibv_mw> window;
    const Status result = inside_->post(
        [&] { return inside_->out.bind(own<VerbsRmr>(rmr), triplet, privileges, what, window); });
    if (result == Status::OK && context != nullptr && window)
        *context = window->rkey;
    return result;
}

Status VerbsTransfer::post_recv(const Post &what) {
    Inside &inside = *inside_;
    const Status result = inside.in.post(what);
    if (result != Status::OK)
        return result;
    if (inside.ep.state == EpState::DISCONNECTED)
        inside.flush();
    else if (inside.live)
        inside.posted();
    else if (inside.pair && !inside.in.start(*inside.pair, inside.most.receives))
        inside.ep.broken();
    else if (inside.in.failed())
        inside.update_state();
    return result;
}

void VerbsTransfer::connected() noexcept {
    Inside &inside = *inside_;
    inside.live = true;
    inside.out.connected();
    inside.in.connected();
    inside.backlogged = inside.has_backlog();
    inside.places.requests->arm();
    if (inside.places.receives)
        inside.places.receives->arm();
}

bool VerbsTransfer::has_backlog() const noexcept {
    return inside_->has_backlog();
}

void VerbsTransfer::progress() noexcept {
    inside_->progress();
}

void VerbsTransfer::disconnected() noexcept {
    inside_->flush();
}

void VerbsTransfer::flush() noexcept {
    inside_->flush();
}

void VerbsTransfer::reset() noexcept {
    Ep &ep = inside_->ep;
    for (Evd *evd : {ep.recv_evd, ep.request_evd})
        if (evd != nullptr)
            evd->drop_completions(ep.handle());
}

// A ping is an RDMA write of length 0, which the peer acknowledges.
void VerbsTransfer::ping() noexcept {
    Inside &inside = *inside_;
    if (!inside.live || inside.pinged || !inside.out.idle())
        return;
    ibv_send_wr work{};
    work.wr_id = number_of(Work::PING);
    work.opcode = IBV_WR_RDMA_WRITE;
    work.send_flags = IBV_SEND_SIGNALED;
    ibv_send_wr *bad = nullptr;
    const rsmdev::Uncancelled uncancelled; // rxe: a system call
    inside.pinged = ::ibv_post_send(&*inside.pair, &work, &bad) == 0;
}

void VerbsTransfer::disarm() noexcept {
    inside_->places.requests->disarm();
    if (inside_->places.receives)
        inside_->places.receives->disarm();
}

bool VerbsTransfer::recv_idle() const noexcept {
    return inside_->in.idle();
}

bool VerbsTransfer::request_idle() const noexcept {
    return inside_->out.idle();
}

bool VerbsTransfer::receives_were_posted() const noexcept {
    return inside_->in.ever_posted();
}

// Messages arrive in order, and each takes its buffer in its turn. So both counts are the same: no
// message before the last one that holds a buffer lacks a buffer.
void VerbsTransfer::recv_counts(Count &allocated, Count &span) const noexcept {
    allocated = span = inside_->in.held();
}

void VerbsTransfer::set_watermarks(Count soft, Count hard) noexcept {
    inside_->in.set_watermarks(soft, hard);
    if (inside_->in.failed())
        inside_->update_state();
}

} // namespace rsmengine
