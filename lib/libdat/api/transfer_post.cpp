// SPDX-License-Identifier: MIT
// dat_ep_post_send, dat_ep_post_recv, dat_ep_post_rdma_read, dat_ep_post_rdma_write.
#include "libdat/api/functions.h"

#include "engine/connect/ep.h"
#include "libdat/api/types.h"

namespace rsmdat {
namespace {

template <class Body>
DAT_RETURN with_ep(DAT_EP_HANDLE handle, Body &&body) noexcept {
    return guarded([&] {
        const auto ep = enter<Ep>(handle);
        return ep ? to_return(body(*ep)) : invalid_handle(DAT_INVALID_HANDLE_EP);
    });
}

Post post_of(DAT_COUNT segments, const DAT_LMR_TRIPLET *iov, DAT_DTO_COOKIE cookie,
             DAT_COMPLETION_FLAGS flags) noexcept {
    return {segments, to_segments(iov), to_cookie(cookie), to_flags(flags)};
}

} // namespace

DAT_RETURN ep_post_send(DAT_EP_HANDLE handle, DAT_COUNT segments, DAT_LMR_TRIPLET *iov,
                        DAT_DTO_COOKIE cookie, DAT_COMPLETION_FLAGS flags) noexcept {
    return with_ep(handle, [&](Ep &ep) {
        return ep.transfer->post_send(post_of(segments, iov, cookie, flags));
    });
}

DAT_RETURN ep_post_recv(DAT_EP_HANDLE handle, DAT_COUNT segments, DAT_LMR_TRIPLET *iov,
                        DAT_DTO_COOKIE cookie, DAT_COMPLETION_FLAGS flags) noexcept {
    return with_ep(handle, [&](Ep &ep) {
        return ep.transfer->post_recv(post_of(segments, iov, cookie, flags));
    });
}

DAT_RETURN ep_post_rdma_read(DAT_EP_HANDLE handle, DAT_COUNT segments, DAT_LMR_TRIPLET *iov,
                             DAT_DTO_COOKIE cookie, const DAT_RMR_TRIPLET *remote,
                             DAT_COMPLETION_FLAGS flags) noexcept {
    return with_ep(handle, [&](Ep &ep) {
        return ep.transfer->post_read(post_of(segments, iov, cookie, flags), to_segments(remote));
    });
}

DAT_RETURN ep_post_rdma_write(DAT_EP_HANDLE handle, DAT_COUNT segments, DAT_LMR_TRIPLET *iov,
                              DAT_DTO_COOKIE cookie, const DAT_RMR_TRIPLET *remote,
                              DAT_COMPLETION_FLAGS flags) noexcept {
    return with_ep(handle, [&](Ep &ep) {
        return ep.transfer->post_write(post_of(segments, iov, cookie, flags), to_segments(remote));
    });
}

} // namespace rsmdat
