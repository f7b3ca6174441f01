// SPDX-License-Identifier: MIT
// dat_srq_*.
#include "libdat/api/functions.h"

#include "engine/transfer/srq.h"
#include "engine/transport.h"
#include "libdat/api/types.h"

namespace rsmdat {
namespace {

// A low watermark would be passed at once: the queue starts empty.
bool is_possible(const LimitSet &limits, const DAT_SRQ_ATTR &attributes) noexcept {
    return attributes.max_recv_dtos > 0 && attributes.max_recv_dtos <= limits.recvs_per_srq &&
           attributes.max_recv_iov > 0 && attributes.max_recv_iov <= limits.iov &&
           attributes.low_watermark == DAT_SRQ_LW_DEFAULT;
}

DAT_SRQ_PARAM describe(Srq &srq) noexcept {
    DAT_SRQ_PARAM param{};
    param.ia_handle = srq.ia().handle();
    param.srq_state = DAT_SRQ_STATE_OPERATIONAL;
    param.pz_handle = srq.pz->handle();
    param.max_recv_dtos = srq.attributes.max_recv_dtos;
    param.max_recv_iov = srq.attributes.max_recv_iov;
    param.low_watermark = srq.attributes.low_watermark;
    param.available_dto_count = srq.available();
    param.outstanding_dto_count = srq.outstanding;
    return param;
}

} // namespace

DAT_RETURN srq_create(DAT_IA_HANDLE handle, DAT_PZ_HANDLE pz_handle, DAT_SRQ_ATTR *attr,
                      DAT_SRQ_HANDLE *srq) noexcept {
    return guarded([&] {
        const auto ia = enter<Ia>(handle);
        if (!ia)
            return invalid_handle(DAT_INVALID_HANDLE_IA);
        Pz *pz = find<Pz>(pz_handle, *ia);
        if (!pz)
            return invalid_handle(DAT_INVALID_HANDLE_PZ);
        if (!attr || !is_possible(ia->limits, *attr))
            return invalid_parameter(3);
        if (!srq)
            return invalid_parameter(4);
        if (ia->count(Srq::KIND) >= ia->limits.srqs)
            return no_resource(DAT_RESOURCE_SRQ);
        *srq = ia->adopt(ia->transport->make_srq(
                             *pz, {attr->max_recv_dtos, attr->max_recv_iov, attr->low_watermark}))
                   .handle();
        return DAT_RETURN{DAT_SUCCESS};
    });
}

DAT_RETURN srq_free(DAT_SRQ_HANDLE handle) noexcept {
    const auto srq = enter<Srq>(handle);
    if (!srq)
        return invalid_handle(DAT_INVALID_HANDLE_SRQ);
    if (srq->eps > 0)
        return invalid_state(DAT_INVALID_STATE_SRQ_IN_USE);
    srq->ia().destroy(*srq);
    return DAT_SUCCESS;
}

DAT_RETURN srq_post_recv(DAT_SRQ_HANDLE handle, DAT_COUNT segments, DAT_LMR_TRIPLET *iov,
                         DAT_DTO_COOKIE cookie) noexcept {
    const auto srq = enter<Srq>(handle);
    return srq ? to_return(srq->post(segments, to_segments(iov), to_cookie(cookie)))
               : invalid_handle(DAT_INVALID_HANDLE_SRQ);
}

DAT_RETURN srq_query(DAT_SRQ_HANDLE handle, DAT_SRQ_PARAM_MASK mask,
                     DAT_SRQ_PARAM *param) noexcept {
    const auto srq = enter<Srq>(handle);
    if (!srq)
        return invalid_handle(DAT_INVALID_HANDLE_SRQ);
    if ((static_cast<unsigned>(mask) & ~unsigned{DAT_SRQ_FIELD_ALL}) != 0)
        return invalid_parameter(2);
    if (!param)
        return invalid_parameter(3);
    *param = describe(*srq);
    return DAT_SUCCESS;
}

DAT_RETURN srq_resize(DAT_SRQ_HANDLE handle, DAT_COUNT max_recv_dtos) noexcept {
    return guarded([&] {
        const auto srq = enter<Srq>(handle);
        if (!srq)
            return invalid_handle(DAT_INVALID_HANDLE_SRQ);
        if (max_recv_dtos <= 0 || max_recv_dtos > srq->ia().limits.recvs_per_srq)
            return invalid_parameter(2);
        return to_return(srq->resize(max_recv_dtos));
    });
}

DAT_RETURN srq_set_lw(DAT_SRQ_HANDLE handle, DAT_COUNT low_watermark) noexcept {
    const auto srq = enter<Srq>(handle);
    return srq ? to_return(srq->set_low_watermark(low_watermark))
               : invalid_handle(DAT_INVALID_HANDLE_SRQ);
}

} // namespace rsmdat
