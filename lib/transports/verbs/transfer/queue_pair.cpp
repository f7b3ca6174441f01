// SPDX-License-Identifier: MIT
#include "transfer/queue_pair.h"

#include "core/transport.h"
#include "engine/connect/ep.h"
#include "engine/core/own.h"
#include "engine/loop/blocking.h"
#include "engine/loop/engine.h"
#include "memory/pz.h"
#include "transfer/srq.h"

#include <algorithm>
#include <cerrno>

namespace rsmengine {

// Allocated before the queue pair is created, because the end of a queue pair must not need memory.
// The destructor frees the SRQ's queue and the protection domain after the queue pair.
class QueuePair::Inside final : public Job {
  public:
    explicit Inside(const Ep &ep)
        : lock_(ep.ia().lock), domain_(own<VerbsPz>(*ep.pz).domain),
          shared_(ep.srq != nullptr ? srq_of(ep)->queue() : nullptr) {}
    ~Inside() override;
    Inside(const Inside &) = delete;
    Inside &operator=(const Inside &) = delete;
    Inside(Inside &&) = delete;
    Inside &operator=(Inside &&) = delete;

    [[nodiscard]] bool create(ibv_qp_init_attr &wanted) noexcept;
    [[nodiscard]] bool initialize(std::uint8_t port) const noexcept;
    [[nodiscard]] int move_to(ibv_qp_state state) const noexcept;

    Owned<ibv_qp, ibv_destroy_qp> pair;
    CompletionPlaces places;

  private:
    Lock &lock_;
    const std::shared_ptr<ibv_pd> domain_;
    const std::shared_ptr<ibv_srq> shared_;
};

// The device may reuse the number afterwards: no completion with that number may be left.
QueuePair::Inside::~Inside() {
    if (!pair)
        return;
    about_to_block("end of a queue pair");
    pair.reset();
    const Guard guard(lock_);
    if (places.requests)
        places.take_all();
    places = {};
}

// Not every device has room for data in its work requests.
bool QueuePair::Inside::create(ibv_qp_init_attr &wanted) noexcept {
    const ibv_qp_cap asked = wanted.cap;
    wanted.srq = shared_.get();
    pair.reset(::ibv_create_qp(domain_.get(), &wanted));
    if (!pair && errno == EINVAL) {
        wanted.cap = asked;
        wanted.cap.max_inline_data = 0;
        pair.reset(::ibv_create_qp(domain_.get(), &wanted));
    }
    return static_cast<bool>(pair);
}

// Allows all accesses: the keys of memory regions limit the peers.
bool QueuePair::Inside::initialize(std::uint8_t port) const noexcept {
    ibv_qp_attr attributes{};
    attributes.qp_state = IBV_QPS_INIT;
    attributes.port_num = port;
    attributes.qp_access_flags =
        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
    const int error =
        ::ibv_modify_qp(pair.get(), &attributes,
                        IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
    errno = error;
    return error == 0;
}

int QueuePair::Inside::move_to(ibv_qp_state state) const noexcept {
    ibv_qp_attr attributes{};
    attributes.qp_state = state;
    return ::ibv_modify_qp(pair.get(), &attributes, IBV_QP_STATE);
}

QueuePair::QueuePair() noexcept = default;
QueuePair::~QueuePair() = default;

ibv_qp &QueuePair::operator*() const noexcept {
    return *inside_->pair;
}

bool QueuePair::open(Ep &ep, const CompletionPlaces &places, const QueueSizes &sizes) {
    ibv_qp_init_attr wanted{};
    wanted.qp_context = &ep;
    wanted.send_cq = &places.request_queue();
    wanted.recv_cq = &places.receive_queue();
    wanted.cap = {.max_send_wr = sizes.requests,
                  .max_recv_wr = sizes.receives,
                  .max_send_sge = sizes.request_pieces,
                  .max_recv_sge = sizes.receive_pieces,
                  .max_inline_data = transport_of(ep.ia()).inline_limit};
    wanted.qp_type = IBV_QPT_RC;
    const std::uint32_t asked = wanted.cap.max_inline_data;
    auto made = std::make_unique<Inside>(ep);
    if (!made->create(wanted))
        return false;
    inline_limit_ = std::min(asked, wanted.cap.max_inline_data);
    if (made->initialize(transport_of(ep.ia()).device->port())) {
        inside_ = std::move(made);
        return true;
    }
    const int error = errno;
    ep.ia().engine->end_aside(std::move(made));
    errno = error;
    return false;
}

void QueuePair::stop() noexcept {
    (void)inside_->move_to(IBV_QPS_ERR);
}

// In state RESET a device does nothing. iWARP has no such state: there ERR is enough.
bool QueuePair::reset() noexcept {
    return inside_->move_to(IBV_QPS_RESET) == 0;
}

// Events of the queue pair may still arrive: their context must not point to the Ep.
void QueuePair::close(Engine &engine, CompletionPlaces places) noexcept {
    inside_->pair->qp_context = nullptr;
    inside_->places = std::move(places);
    engine.end_aside(std::move(inside_));
}

} // namespace rsmengine
