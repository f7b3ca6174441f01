// SPDX-License-Identifier: MIT
#include "engine/connect/attributes.h"

#include "engine/connect/service.h"

#include <algorithm>

namespace rsmdat {
namespace {

constexpr DAT_VLEN DEFAULT_SIZE = 0x80000000;
constexpr DAT_COUNT DEFAULT_DTOS = 16;
constexpr DAT_COUNT DEFAULT_IOV = 4;
constexpr DAT_COUNT DEFAULT_READS = 4;
constexpr unsigned QOS_BITS = 0x0f;

bool within(DAT_COUNT value, DAT_COUNT least, DAT_COUNT most) noexcept {
    return value >= least && value <= most;
}

bool good_flags(const DAT_EP_ATTR &attributes) noexcept {
    const auto either = [](DAT_COMPLETION_FLAGS flags) {
        return flags == DAT_COMPLETION_DEFAULT_FLAG || flags == DAT_COMPLETION_UNSIGNALLED_FLAG ||
               flags == DAT_COMPLETION_EVD_THRESHOLD_FLAG;
    };
    return either(attributes.request_completion_flags) &&
           (either(attributes.recv_completion_flags) ||
            attributes.recv_completion_flags == DAT_COMPLETION_SOLICITED_WAIT_FLAG);
}

bool good_sizes(const LimitSet &limits, const DAT_EP_ATTR &attributes) noexcept {
    return attributes.max_message_size <= limits.message &&
           attributes.max_rdma_size <= limits.rdma &&
           within(attributes.max_rdma_read_in, 0, limits.rdma_reads_per_ep) &&
           within(attributes.max_rdma_read_out, 0, limits.rdma_reads_per_ep) &&
           within(attributes.max_rdma_read_iov, 0, limits.iov) &&
           within(attributes.max_rdma_write_iov, 0, limits.iov);
}

bool good_queues(const LimitSet &limits, const DAT_EP_ATTR &attributes, bool with_srq) noexcept {
    const bool receives =
        with_srq ? is_watermark(attributes.max_recv_dtos) && is_watermark(attributes.srq_soft_hw)
                 : within(attributes.max_recv_dtos, 0, limits.dtos_per_ep) &&
                       within(attributes.max_recv_iov, 1, limits.iov);
    return receives && within(attributes.max_request_dtos, 0, limits.dtos_per_ep) &&
           within(attributes.max_request_iov, 1, limits.iov);
}

bool good_names(DAT_COUNT count, const DAT_NAMED_ATTR *names) noexcept {
    return count == 0 || (count > 0 && names != nullptr);
}

// The streams of an EVD: how many receive and request streams, how many are special. Signalled
// and unsignalled streams mix: each completion notifies or does not by its own flags.
struct Census {
    int receives = 0;
    int solicited = 0;
    int requests = 0;
    int unsignalled = 0;
    bool threshold_wanted = false; // by an SRQ EP's receives
    bool thorough = true;          // all DTO streams but those of SRQ EPs are EVD_THRESHOLD
    bool others = false;           // connections, requests for them, asynchronous errors

    void dto(DAT_COMPLETION_FLAGS flags, bool receive, bool srq) noexcept {
        const bool threshold =
            flags == DAT_COMPLETION_DEFAULT_FLAG || flags == DAT_COMPLETION_EVD_THRESHOLD_FLAG;
        ++(receive ? receives : requests);
        solicited += flags == DAT_COMPLETION_SOLICITED_WAIT_FLAG ? 1 : 0;
        unsignalled += flags == DAT_COMPLETION_UNSIGNALLED_FLAG ? 1 : 0;
        thorough = thorough && (threshold || srq);
        threshold_wanted =
            threshold_wanted || (srq && receive && flags == DAT_COMPLETION_EVD_THRESHOLD_FLAG);
    }
    void add(const Evd &evd, const Streams &streams) noexcept {
        if (streams.recv == &evd)
            dto(streams.recv_flags, true, streams.srq);
        if (streams.request == &evd)
            dto(streams.request_flags, false, streams.srq);
        others = others || streams.connect == &evd;
    }
    [[nodiscard]] bool allowed() const noexcept {
        const bool alone = solicited == receives && requests == 0 && !others;
        const bool below = solicited > 0 || unsignalled > 0;
        return (!others || thorough) && (solicited == 0 || alone) && (!threshold_wanted || !below);
    }
};

Streams streams_of(const Ep &ep) noexcept {
    return {ep.recv_evd,
            ep.request_evd,
            ep.connect_evd,
            ep.attributes.recv_completion_flags,
            ep.attributes.request_completion_flags,
            ep.srq != nullptr};
}

// Also the streams that are not an EP's.
void count_object(const Object &object, const Evd &evd, Census &census) noexcept {
    if (const auto *ep = dynamic_cast<const Ep *>(&object))
        census.add(evd, streams_of(*ep));
    else if (const auto *sp = dynamic_cast<const Sp *>(&object))
        census.others = census.others || sp->evd == &evd;
}

bool is_special(DAT_COMPLETION_FLAGS flags) noexcept {
    return flags == DAT_COMPLETION_UNSIGNALLED_FLAG || flags == DAT_COMPLETION_SOLICITED_WAIT_FLAG;
}

// Without a special stream every combination is allowed; most programs have none.
bool may_go_to(const Ia &ia, const Ep *self, const Streams &streams, const Evd *evd) noexcept {
    if (evd == nullptr)
        return true;
    const bool special = is_special(streams.recv_flags) || is_special(streams.request_flags);
    if (!special && evd->notify_streams == 0 && evd->solicited_streams == 0)
        return true;
    Census census;
    census.add(*evd, streams);
    census.others = census.others || evd->ia().async_evd == evd;
    ia.for_each_joined([&](const Ia &one) {
        for (const auto &object : one.objects())
            if (object.get() != self)
                count_object(*object, *evd, census);
    });
    return census.allowed();
}

} // namespace

DAT_EP_ATTR default_attributes(const LimitSet &limits, bool receives, bool requests) noexcept {
    DAT_EP_ATTR result{};
    result.service_type = DAT_SERVICE_TYPE_RC;
    result.max_message_size = std::min(DEFAULT_SIZE, limits.message);
    result.max_rdma_size = std::min(DEFAULT_SIZE, limits.rdma);
    result.qos = DAT_QOS_BEST_EFFORT;
    result.recv_completion_flags = DAT_COMPLETION_EVD_THRESHOLD_FLAG;
    result.request_completion_flags = DAT_COMPLETION_EVD_THRESHOLD_FLAG;
    result.max_recv_dtos = receives ? DEFAULT_DTOS : 0;
    result.max_request_dtos = requests ? DEFAULT_DTOS : 0;
    result.max_recv_iov = result.max_request_iov = std::min(DEFAULT_IOV, limits.iov);
    result.max_rdma_read_in = result.max_rdma_read_out =
        std::min(DEFAULT_READS, limits.rdma_reads_per_ep);
    result.srq_soft_hw = DAT_HW_DEFAULT;
    result.max_rdma_read_iov = result.max_rdma_write_iov = result.max_recv_iov;
    return result;
}

DAT_RETURN check_attributes(const LimitSet &limits, const DAT_EP_ATTR &attributes, bool with_srq,
                            int position) noexcept {
    const bool named =
        good_names(attributes.ep_transport_specific_count, attributes.ep_transport_specific) &&
        good_names(attributes.ep_provider_specific_count, attributes.ep_provider_specific);
    if (attributes.service_type != DAT_SERVICE_TYPE_RC || !good_flags(attributes) ||
        !good_sizes(limits, attributes) || !good_queues(limits, attributes, with_srq) || !named ||
        (static_cast<unsigned>(attributes.qos) & ~QOS_BITS) != 0)
        return invalid_parameter(position);
    const bool asks_more = attributes.qos != DAT_QOS_BEST_EFFORT ||
                           attributes.ep_transport_specific_count > 0 ||
                           attributes.ep_provider_specific_count > 0;
    return asks_more ? failure(DAT_MODEL_NOT_SUPPORTED) : DAT_RETURN{DAT_SUCCESS};
}

DAT_EP_ATTR kept_attributes(const DAT_EP_ATTR &asked) noexcept {
    DAT_EP_ATTR kept = asked;
    if (kept.max_rdma_read_iov == 0)
        kept.max_rdma_read_iov = kept.max_request_iov;
    if (kept.max_rdma_write_iov == 0)
        kept.max_rdma_write_iov = kept.max_request_iov;
    kept.ep_transport_specific = nullptr;
    kept.ep_provider_specific = nullptr;
    return kept;
}

bool may_share(const Ia &ia, const Ep *self, const Streams &streams) noexcept {
    return may_go_to(ia, self, streams, streams.recv) &&
           may_go_to(ia, self, streams, streams.request) &&
           may_go_to(ia, self, streams, streams.connect);
}

} // namespace rsmdat
