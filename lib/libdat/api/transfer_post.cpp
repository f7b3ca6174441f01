// SPDX-License-Identifier: MIT
// dat_ep_post_send, dat_ep_post_recv, dat_ep_post_rdma_read, dat_ep_post_rdma_write.
#include "libdat/api/functions.h"

#include "engine/connect/ep.h"

namespace rsmdat::api {
namespace {

template <class Body>
DAT_RETURN with_ep(DAT_EP_HANDLE handle, Body &&body) noexcept {
    return guarded([&] {
        const auto ep = enter<Ep>(handle);
        return ep ? body(*ep) : invalid_handle(DAT_INVALID_HANDLE_EP);
    });
}

} // namespace

DAT_RETURN ep_post_send(DAT_EP_HANDLE handle, DAT_COUNT segments, DAT_LMR_TRIPLET *iov,
                        DAT_DTO_COOKIE cookie, DAT_COMPLETION_FLAGS flags) noexcept {
    return with_ep(handle, [&](Ep &ep) {
        return ep.transfer->post_send({segments, iov, cookie, flags});
    });
}

DAT_RETURN ep_post_recv(DAT_EP_HANDLE handle, DAT_COUNT segments, DAT_LMR_TRIPLET *iov,
                        DAT_DTO_COOKIE cookie, DAT_COMPLETION_FLAGS flags) noexcept {
    return with_ep(handle, [&](Ep &ep) {
        return ep.transfer->post_recv({segments, iov, cookie, flags});
    });
}

DAT_RETURN ep_post_rdma_read(DAT_EP_HANDLE handle, DAT_COUNT segments, DAT_LMR_TRIPLET *iov,
                             DAT_DTO_COOKIE cookie, const DAT_RMR_TRIPLET *remote,
                             DAT_COMPLETION_FLAGS flags) noexcept {
    return with_ep(handle, [&](Ep &ep) {
        return ep.transfer->post_read({segments, iov, cookie, flags}, remote);
    });
}

DAT_RETURN ep_post_rdma_write(DAT_EP_HANDLE handle, DAT_COUNT segments, DAT_LMR_TRIPLET *iov,
                              DAT_DTO_COOKIE cookie, const DAT_RMR_TRIPLET *remote,
                              DAT_COMPLETION_FLAGS flags) noexcept {
    return with_ep(handle, [&](Ep &ep) {
        return ep.transfer->post_write({segments, iov, cookie, flags}, remote);
    });
}

} // namespace rsmdat::api
