// SPDX-License-Identifier: MIT
#include "engine/transfer/srq.h"

#include "engine/transport.h"

#include <utility>

namespace rsmengine {

Srq::Srq(Pz &its, const SrqAttributes &asked)
    : Object(KIND, its.ia()), pz(&its), attributes(asked) {
    buffers.resize(attributes.max_recv_dtos, attributes.max_recv_iov);
    ++pz->users;
}

void Srq::report_low_watermark() noexcept {
    if (std::exchange(low_armed_, false))
        ia().report(EventKind::INTERNAL_ERROR, handle(), Reason::WATERMARK);
}

Status Srq::post(Count segments, View<Segment> iov, Cookie its_cookie) noexcept {
    if (segments < 0 || segments > attributes.max_recv_iov)
        return Status::BAD_SEGMENT_COUNT;
    if (segments > 0 && !iov)
        return Status::BAD_SEGMENT;
    Buffer buffer{
        .cookie = its_cookie, .flags = CompletionFlags::DEFAULT, .pieces = 0, .length = 0};
    const Status result = ia().transport->contexts.gather(
        pz, segments, iov, rights::LOCAL_WRITE, buffers.room(), buffer.pieces, buffer.length);
    if (result != Status::OK)
        return result;
    if (outstanding >= attributes.max_recv_dtos)
        return Status::NO_MEMORY;
    buffers.post(buffer);
    ++outstanding;
    return posted();
}

Status Srq::set_low_watermark(Count count) noexcept {
    if (count < 0 || count > attributes.max_recv_dtos)
        return Status::BAD_WATERMARK;
    attributes.low_watermark = count;
    low_armed_ = true;
    check_low_watermark();
    return Status::OK;
}

} // namespace rsmengine
