// SPDX-License-Identifier: MIT
#include "transfer/queue_pair.h"

#include "core/transport.h"
#include "engine/connect/ep.h"
#include "engine/core/own.h"
#include "transfer/srq.h"

#include <algorithm>
#include <cerrno>

namespace rsmengine {

bool QueuePair::open(Ep &ep, ibv_cq &requests, ibv_cq &receives, const QueueSizes &sizes) noexcept {
    ibv_qp_init_attr wanted{};
    wanted.qp_context = &ep;
    wanted.send_cq = &requests;
    wanted.recv_cq = &receives;
    wanted.srq = ep.srq != nullptr ? &srq_of(ep)->queue() : nullptr;
    wanted.cap = {.max_send_wr = sizes.requests,
                  .max_recv_wr = sizes.receives,
                  .max_send_sge = sizes.request_pieces,
                  .max_recv_sge = sizes.receive_pieces,
                  .max_inline_data = transport_of(ep.ia()).inline_limit};
    wanted.qp_type = IBV_QPT_RC;
    domain_ = own<VerbsPz>(*ep.pz).domain;
    if (create(*domain_, wanted) && initialize(transport_of(ep.ia()).device->port()))
        return true;
    const int error = errno;
    close();
    errno = error;
    return false;
}

// Not every device has room for data in its work requests.
bool QueuePair::create(ibv_pd &domain, ibv_qp_init_attr &wanted) noexcept {
    const ibv_qp_cap asked = wanted.cap;
    pair_.reset(::ibv_create_qp(&domain, &wanted));
    if (!pair_ && errno == EINVAL) {
        wanted.cap = asked;
        wanted.cap.max_inline_data = 0;
        pair_.reset(::ibv_create_qp(&domain, &wanted));
    }
    inline_limit_ = std::min(asked.max_inline_data, wanted.cap.max_inline_data);
    return static_cast<bool>(pair_);
}

// The keys of memory say what peers may do.
bool QueuePair::initialize(std::uint8_t port) noexcept {
    ibv_qp_attr attributes{};
    attributes.qp_state = IBV_QPS_INIT;
    attributes.port_num = port;
    attributes.qp_access_flags =
        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
    const int error =
        ::ibv_modify_qp(pair_.get(), &attributes,
                        IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
    errno = error;
    return error == 0;
}

void QueuePair::stop() noexcept {
    ibv_qp_attr attributes{};
    attributes.qp_state = IBV_QPS_ERR;
    (void)::ibv_modify_qp(pair_.get(), &attributes, IBV_QP_STATE);
}

void QueuePair::close() noexcept {
    pair_.reset();
    domain_.reset();
}

} // namespace rsmengine
