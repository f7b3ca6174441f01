// SPDX-License-Identifier: MIT
#include "transfer/transfer.h"

#include "engine/connect/ep.h"
#include "transfer/inbound.h"
#include "transfer/outbound.h"

namespace rsmdat {
namespace {

constexpr int TURNS = 1024; // as Outbound's

} // namespace

struct Transfer::Inside {
    explicit Inside(Ep &owner) : ep(owner), out(owner, line), in(owner, line) {}
    ~Inside();
    Inside(const Inside &) = delete;
    Inside(Inside &&) = delete;
    Inside &operator=(const Inside &) = delete;
    Inside &operator=(Inside &&) = delete;

    template <class Post>
    DAT_RETURN post(Post what) noexcept(noexcept(what()));
    void posted() noexcept;
    void progress() noexcept;
    [[nodiscard]] bool has_work() const noexcept;
    void take_responses() noexcept;
    bool take_response(const Message &message) noexcept;
    void come_back() noexcept;
    void settle() noexcept;
    void flush() noexcept;

    Ep &ep;
    Line line;
    Outbound out;
    Inbound in;
    Engine::Alarm again = 0;
    bool tired = false; // of responses
};

Transfer::Inside::~Inside() {
    if (again != 0)
        ep.ia().engine->cancel(again);
}

// A queue that is full may be so only because nobody has looked how far the peer has come.
template <class Post>
DAT_RETURN Transfer::Inside::post(Post what) noexcept(noexcept(what())) {
    DAT_RETURN result = what();
    if (result == no_resource(DAT_RESOURCE_MEMORY)) [[unlikely]] {
        progress();
        result = what();
    }
    if (result == DAT_SUCCESS)
        posted();
    return result;
}

// There is a request in the queue.
void Transfer::Inside::posted() noexcept {
    if (!line)
        return flush();
    out.go_on();
    line.tell_peer();
    if (out.tired())
        come_back();
    settle();
}

void Transfer::Inside::progress() noexcept {
    if (!line)
        return;
    tired = false;
    if (line.has_message(Line::Ring::RESPONSE))
        take_responses();
    if (!out.failed())
        in.take_requests();
    in.answer();
    out.acknowledge();
    out.go_on();
    line.tell_peer();
    if (tired || in.tired() || out.tired())
        come_back();
    settle();
}

bool Transfer::Inside::has_work() const noexcept {
    return line && (line.has_news() || in.has_answers() || out.has_unstarted() ||
                    ep.state == DAT_EP_STATE_DISCONNECT_PENDING);
}

void Transfer::Inside::take_responses() noexcept {
    int turns = TURNS;
    for (Message message{}; turns > 0 && !out.failed(); --turns) {
        const Arrived arrived = line.receive(Line::Ring::RESPONSE, message);
        if (arrived == Arrived::NOTHING)
            break;
        if (arrived == Arrived::NONSENSE || !take_response(message))
            out.bad_response();
        line.consume(Line::Ring::RESPONSE);
    }
    tired = turns == 0;
}

bool Transfer::Inside::take_response(const Message &message) noexcept {
    return message.header.kind == MessageKind::ASK ? in.take_ask(message.header)
                                                   : out.take(message);
}

// Without a bell of the peer's.
void Transfer::Inside::come_back() noexcept {
    if (again != 0)
        return;
    try {
        again = ep.ia().engine->at(Engine::Clock::now(), [this] {
            again = 0;
            progress();
        });
    } catch (const std::bad_alloc &) {
        again = 0; // the next look at the channel does it
    }
}

void Transfer::Inside::settle() noexcept {
    if (out.failed() || in.failed() || ep.lost_event)
        ep.broken();
    else if (ep.state == DAT_EP_STATE_DISCONNECT_PENDING && out.idle())
        ep.drained();
}

void Transfer::Inside::flush() noexcept {
    out.flush();
    in.flush();
}

Transfer::Transfer(Ep &ep) : inside_(std::make_unique<Inside>(ep)) {
    resized();
    if (ep.srq)
        set_watermarks(ep.attributes.srq_soft_hw, ep.attributes.max_recv_dtos);
}

Transfer::~Transfer() = default;

void Transfer::resized() {
    inside_->in.resize();
    inside_->out.resize();
}

DAT_RETURN Transfer::post_send(DAT_COUNT segments, const DAT_LMR_TRIPLET *iov,
                               DAT_DTO_COOKIE cookie, DAT_COMPLETION_FLAGS flags) {
    const Post post{segments, iov, cookie, flags};
    Inside &inside = *inside_;
    if (!inside.out.send_at_once(post)) [[unlikely]]
        return inside.post([&] { return inside.out.send(post); });
    inside.line.tell_peer();
    return DAT_SUCCESS;
}

DAT_RETURN Transfer::post_rdma(bool write, DAT_COUNT segments, const DAT_LMR_TRIPLET *iov,
                               DAT_DTO_COOKIE cookie, const DAT_RMR_TRIPLET *remote,
                               DAT_COMPLETION_FLAGS flags) {
    const Post post{segments, iov, cookie, flags};
    if (write && inside_->out.write_at_once(post, remote)) [[likely]]
        return DAT_SUCCESS;
    return inside_->post([&] { return inside_->out.rdma(write, post, remote); });
}

DAT_RETURN Transfer::post_bind(Rmr &rmr, const DAT_LMR_TRIPLET &triplet,
                               DAT_MEM_PRIV_FLAGS privileges, DAT_RMR_COOKIE cookie,
                               DAT_COMPLETION_FLAGS flags, DAT_RMR_CONTEXT *context) {
    return inside_->post([&] {
        return inside_->out.bind(rmr, triplet, privileges, {0, nullptr, cookie, flags}, context);
    });
}

DAT_RETURN Transfer::post_recv(DAT_COUNT segments, const DAT_LMR_TRIPLET *iov,
                               DAT_DTO_COOKIE cookie, DAT_COMPLETION_FLAGS flags) {
    Inside &inside = *inside_;
    const DAT_RETURN result = inside.in.post({segments, iov, cookie, flags});
    if (result != DAT_SUCCESS)
        return result;
    if (inside.ep.state == DAT_EP_STATE_DISCONNECTED)
        inside.flush();
    else if (inside.in.starving() || inside.in.failed())
        inside.progress();
    return result;
}

void Transfer::connected(Channel &channel) noexcept {
    inside_->line.open(channel);
    inside_->out.connected();
    inside_->in.connected();
}

void Transfer::progress() noexcept {
    inside_->progress();
}

bool Transfer::has_work() const noexcept {
    return inside_->has_work();
}

void Transfer::disconnected() noexcept {
    Inside &inside = *inside_;
    if (inside.line) {
        inside.take_responses();
        inside.out.acknowledge();
        inside.in.last_words();
        inside.line.close();
    }
    if (inside.again != 0)
        inside.ep.ia().engine->cancel(std::exchange(inside.again, 0));
    inside.ep.ia().contexts->revoke(inside.ep);
    inside.flush();
}

void Transfer::flush() noexcept {
    inside_->flush();
}

void Transfer::reset() noexcept {
    Ep &ep = inside_->ep;
    for (Evd *evd : {ep.recv_evd, ep.request_evd})
        if (evd)
            evd->purge(ep.handle());
}

bool Transfer::recv_idle() const noexcept {
    return inside_->in.idle();
}

bool Transfer::request_idle() const noexcept {
    return inside_->out.idle();
}

bool Transfer::receives_were_posted() const noexcept {
    return inside_->in.ever_posted();
}

// Messages come in order, and each takes its buffer when its turn has come: so no message before
// the last one that holds a buffer is without one.
void Transfer::recv_counts(DAT_COUNT &allocated, DAT_COUNT &span) const noexcept {
    allocated = span = inside_->in.held();
}

void Transfer::set_watermarks(DAT_COUNT soft, DAT_COUNT hard) noexcept {
    inside_->in.set_watermarks(soft, hard);
    if (inside_->in.failed())
        inside_->progress();
}

} // namespace rsmdat
