// SPDX-License-Identifier: MIT
#include "transfer/transfer.h"
#include "engine/core/own.h"

#include "core/transport.h"

namespace rsmengine {

// The queue may be full only because no thread has polled the peer's progress.
template <class What>
Status RsmTransfer::post(What what) noexcept(noexcept(what())) {
    Status result = what();
    if (result == Status::NO_MEMORY) [[unlikely]] {
        progress();
        result = what();
    }
    if (result == Status::OK)
        posted();
    return result;
}

// There is a request in the queue.
void RsmTransfer::posted() noexcept {
    if (!channel_)
        return flush();
    out_.go_on();
    channel_.notify_peer();
    if (out_.budget_exhausted())
        reschedule();
    update_state();
}

void RsmTransfer::progress() noexcept {
    if (!channel_)
        return;
    budget_exhausted_ = false;
    if (channel_.has_message(NotifyingChannel::Ring::RESPONSE))
        take_responses();
    if (!out_.failed())
        in_.take_requests();
    in_.answer();
    out_.acknowledge();
    out_.go_on();
    channel_.notify_peer();
    if (budget_exhausted_ || in_.budget_exhausted() || out_.budget_exhausted())
        reschedule();
    update_state();
}

bool RsmTransfer::has_work() const noexcept {
    return channel_ && (channel_.has_unread() || in_.has_answers() || out_.has_unstarted() ||
                        ep_.state == EpState::DISCONNECT_PENDING);
}

void RsmTransfer::take_responses() noexcept {
    int turns = TURNS;
    for (Message message{}; turns > 0 && !out_.failed(); --turns) {
        const Arrived arrived = channel_.receive(NotifyingChannel::Ring::RESPONSE, message);
        if (arrived == Arrived::NOTHING)
            break;
        if (arrived == Arrived::NONSENSE || !take_response(message))
            out_.bad_response();
        channel_.consume(NotifyingChannel::Ring::RESPONSE);
    }
    budget_exhausted_ = turns == 0;
}

bool RsmTransfer::take_response(const Message &message) noexcept {
    return message.header.kind == MessageKind::ASK ? in_.take_ask(message.header)
                                                   : out_.take(message);
}

// Calls progress() again soon, without a bell of the peer.
void RsmTransfer::reschedule() noexcept {
    if (again_ != 0)
        return;
    try {
        again_ = ep_.ia().engine->at(Engine::Clock::now(), [this] {
            again_ = 0;
            progress();
        });
    } catch (const std::bad_alloc &) {
        again_ = 0; // the next poll of the channel continues
    }
}

void RsmTransfer::update_state() noexcept {
    if (out_.failed() || in_.failed() || ep_.lost_event)
        ep_.broken();
    else if (ep_.state == EpState::DISCONNECT_PENDING && out_.idle())
        ep_.drained();
}

void RsmTransfer::flush() noexcept {
    out_.flush();
    in_.flush();
}

RsmTransfer::RsmTransfer(Ep &ep) : ep_(ep), out_(ep, channel_), in_(ep, channel_) {
    resize();
    if (ep_.srq)
        in_.set_watermarks(ep_.attributes.srq_soft_hw, ep_.attributes.max_recv_dtos);
}

RsmTransfer::~RsmTransfer() {
    if (again_ != 0)
        ep_.ia().engine->cancel(again_);
}

void RsmTransfer::resize() {
    in_.resize();
    out_.resize();
}

void RsmTransfer::resized() {
    resize();
}

Status RsmTransfer::post_send(const Post &what) {
    if (!out_.send_at_once(what)) [[unlikely]]
        return post([&] { return out_.send(what); });
    channel_.notify_peer();
    return Status::OK;
}

Status RsmTransfer::post_write(const Post &what, View<RemoteSegment> remote) {
    if (out_.write_at_once(what, remote)) [[likely]]
        return Status::OK;
    return post([&] { return out_.rdma(true, what, remote); });
}

Status RsmTransfer::post_read(const Post &what, View<RemoteSegment> remote) {
    return post([&] { return out_.rdma(false, what, remote); });
}

Status RsmTransfer::post_bind(Rmr &rmr, const Segment &triplet, unsigned privileges,
                              const Post &what, RemoteKey *context) {
    return post([&] { return out_.bind(own<RsmRmr>(rmr), triplet, privileges, what, context); });
}

Status RsmTransfer::post_recv(const Post &what) {
    const Status result = in_.post(what);
    if (result != Status::OK)
        return result;
    if (ep_.state == EpState::DISCONNECTED)
        flush();
    else if (in_.starving() || in_.failed())
        progress();
    return result;
}

void RsmTransfer::connected(Channel &channel) noexcept {
    channel_.open(channel);
    out_.connected();
    in_.connected();
}

void RsmTransfer::disconnected() noexcept {
    if (channel_) {
        take_responses();
        out_.acknowledge();
        in_.last_words();
        channel_.close();
    }
    if (again_ != 0)
        ep_.ia().engine->cancel(std::exchange(again_, 0));
    contexts_of(ep_.ia()).tickets.revoke(ep_);
    flush();
}

void RsmTransfer::reset() noexcept {
    for (Evd *evd : {ep_.recv_evd, ep_.request_evd})
        if (evd)
            evd->drop_completions(ep_.handle());
}

bool RsmTransfer::recv_idle() const noexcept {
    return in_.idle();
}

bool RsmTransfer::request_idle() const noexcept {
    return out_.idle();
}

bool RsmTransfer::receives_were_posted() const noexcept {
    return in_.ever_posted();
}

// Messages come in order, and each takes its buffer when its turn has come: so no message before
// the last one that holds a buffer is without one.
void RsmTransfer::recv_counts(Count &allocated, Count &span) const noexcept {
    allocated = span = in_.held();
}

void RsmTransfer::set_watermarks(Count soft, Count hard) noexcept {
    in_.set_watermarks(soft, hard);
    if (in_.failed())
        progress();
}

} // namespace rsmengine
