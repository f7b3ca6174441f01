// SPDX-License-Identifier: MIT
// dat_ep_recv_query, dat_ep_set_watermark.
#include "libdat/api/functions.h"

#include "engine/connect/attributes.h"
#include "engine/connect/ep.h"

namespace rsmdat {

DAT_RETURN ep_recv_query(DAT_EP_HANDLE handle, DAT_COUNT *allocated, DAT_COUNT *span) noexcept {
    const auto ep = enter<Ep>(handle);
    if (!ep)
        return invalid_handle(DAT_INVALID_HANDLE_EP);
    if (!allocated && !span)
        return invalid_parameter(2);
    DAT_COUNT held = 0;
    DAT_COUNT messages = 0;
    ep->transfer->recv_counts(held, messages);
    if (allocated)
        *allocated = held;
    if (span)
        *span = messages;
    return DAT_SUCCESS;
}

DAT_RETURN ep_set_watermark(DAT_EP_HANDLE handle, DAT_COUNT soft, DAT_COUNT hard) noexcept {
    const auto ep = enter<Ep>(handle);
    if (!ep)
        return invalid_handle(DAT_INVALID_HANDLE_EP);
    if (!is_watermark(soft))
        return invalid_parameter(2);
    if (!is_watermark(hard))
        return invalid_parameter(3);
    if (ep->srq) { // where these attributes are the watermarks
        ep->attributes.srq_soft_hw = soft;
        ep->attributes.max_recv_dtos = hard;
    }
    ep->transfer->set_watermarks(soft, hard);
    return DAT_SUCCESS;
}

} // namespace rsmdat
