// SPDX-License-Identifier: MIT
#include "engine/transfer/srq.h"

#include "engine/transport.h"

#include <utility>

namespace rsmdat {

Srq::Srq(Pz &its, const DAT_SRQ_ATTR &asked) : Object(KIND, its.ia()), pz(&its), attributes(asked) {
    buffers.resize(attributes.max_recv_dtos, attributes.max_recv_iov);
    ++pz->users;
}

void Srq::report_low_watermark() noexcept {
    if (std::exchange(low_armed_, false))
        ia().report(DAT_ASYNC_ERROR_PROVIDER_INTERNAL_ERROR, handle(), DAT_SRQ_LOW_WATERMARK_EVENT);
}

DAT_RETURN Srq::post(DAT_COUNT segments, const DAT_LMR_TRIPLET *iov,
                     DAT_DTO_COOKIE cookie) noexcept {
    if (segments < 0 || segments > attributes.max_recv_iov)
        return invalid_parameter(2);
    if (segments > 0 && !iov)
        return invalid_parameter(3);
    Buffer buffer{.cookie = cookie, .flags = DAT_COMPLETION_DEFAULT_FLAG, .pieces = 0, .length = 0};
    const DAT_RETURN result =
        ia().transport->contexts.gather(pz, segments, iov, DAT_MEM_PRIV_LOCAL_WRITE_FLAG,
                                        buffers.room(), buffer.pieces, buffer.length);
    if (result != DAT_SUCCESS)
        return result;
    if (outstanding >= attributes.max_recv_dtos)
        return no_resource(DAT_RESOURCE_MEMORY);
    buffers.post(buffer);
    ++outstanding;
    return posted();
}

DAT_RETURN Srq::set_low_watermark(DAT_COUNT count) noexcept {
    if (count < 0 || count > attributes.max_recv_dtos)
        return invalid_parameter(2);
    attributes.low_watermark = count;
    low_armed_ = true;
    check_low_watermark();
    return DAT_SUCCESS;
}

} // namespace rsmdat
