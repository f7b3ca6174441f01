// SPDX-License-Identifier: MIT
#include "engine/connect/attributes.h"

#include "engine/connect/service.h"

#include <algorithm>

namespace rsmengine {
namespace {

constexpr std::uint64_t DEFAULT_SIZE = 0x80000000;
constexpr Count DEFAULT_DTOS = 16;
constexpr Count DEFAULT_IOV = 4;
constexpr Count DEFAULT_READS = 4;

bool within(Count value, Count least, Count most) noexcept {
    return value >= least && value <= most;
}

bool good_flags(const EpAttributes &attributes) noexcept {
    const auto either = [](CompletionFlags flags) {
        return flags == CompletionFlags::DEFAULT || flags == CompletionFlags::UNSIGNALLED ||
               flags == CompletionFlags::THRESHOLD;
    };
    return either(attributes.request_completion_flags) &&
           (either(attributes.recv_completion_flags) ||
            attributes.recv_completion_flags == CompletionFlags::SOLICITED);
}

bool good_sizes(const LimitSet &limits, const EpAttributes &attributes) noexcept {
    return attributes.max_message_size <= limits.message &&
           attributes.max_rdma_size <= limits.rdma &&
           within(attributes.max_rdma_read_in, 0, limits.rdma_reads_per_ep) &&
           within(attributes.max_rdma_read_out, 0, limits.rdma_reads_per_ep) &&
           within(attributes.max_rdma_read_iov, 0, limits.iov) &&
           within(attributes.max_rdma_write_iov, 0, limits.iov);
}

bool good_queues(const LimitSet &limits, const EpAttributes &attributes, bool with_srq) noexcept {
    const bool receives =
        with_srq ? is_watermark(attributes.max_recv_dtos) && is_watermark(attributes.srq_soft_hw)
                 : within(attributes.max_recv_dtos, 0, limits.dtos_per_ep) &&
                       within(attributes.max_recv_iov, 1, limits.iov);
    return receives && within(attributes.max_request_dtos, 0, limits.dtos_per_ep) &&
           within(attributes.max_request_iov, 1, limits.iov);
}

// Counts the receive and request streams of an EVD, and how many of them are special. An EVD may
// have signalled and unsignalled streams: the flags of each completion say whether it notifies.
struct Census {
    int receives = 0;
    int solicited = 0;
    int requests = 0;
    int unsignalled = 0;
    bool threshold_wanted = false; // by an SRQ EP's receives
    bool thorough = true;          // all DTO streams but those of SRQ EPs are EVD_THRESHOLD
    bool others = false;           // connections, requests for them, asynchronous errors

    void dto(CompletionFlags flags, bool receive, bool srq) noexcept {
        const bool threshold =
            flags == CompletionFlags::DEFAULT || flags == CompletionFlags::THRESHOLD;
        ++(receive ? receives : requests);
        solicited += flags == CompletionFlags::SOLICITED ? 1 : 0;
        unsignalled += flags == CompletionFlags::UNSIGNALLED ? 1 : 0;
        thorough = thorough && (threshold || srq);
        threshold_wanted =
            threshold_wanted || (srq && receive && flags == CompletionFlags::THRESHOLD);
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

// Adds the streams that an object sends to the EVD. Only endpoints and service points have any.
void count_object(const Object &object, const Evd &evd, Census &census) noexcept {
    if (const auto *ep = dynamic_cast<const Ep *>(&object))
        census.add(evd, streams_of(*ep));
    else if (const auto *sp = dynamic_cast<const Sp *>(&object))
        census.others = census.others || sp->evd == &evd;
}

bool is_special(CompletionFlags flags) noexcept {
    return flags == CompletionFlags::UNSIGNALLED || flags == CompletionFlags::SOLICITED;
}

// An EVD without a special stream takes every combination. Most programs have no special stream.
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

EpAttributes default_attributes(const LimitSet &limits, bool receives, bool requests) noexcept {
    EpAttributes result{};
    result.max_message_size = std::min(DEFAULT_SIZE, limits.message);
    result.max_rdma_size = std::min(DEFAULT_SIZE, limits.rdma);
    result.recv_completion_flags = CompletionFlags::THRESHOLD;
    result.request_completion_flags = CompletionFlags::THRESHOLD;
    result.max_recv_dtos = receives ? DEFAULT_DTOS : 0;
    result.max_request_dtos = requests ? DEFAULT_DTOS : 0;
    result.max_recv_iov = result.max_request_iov = std::min(DEFAULT_IOV, limits.iov);
    result.max_rdma_read_in = result.max_rdma_read_out =
        std::min(DEFAULT_READS, limits.rdma_reads_per_ep);
    result.srq_soft_hw = UNLIMITED;
    result.max_rdma_read_iov = result.max_rdma_write_iov = result.max_recv_iov;
    return result;
}

bool are_possible(const LimitSet &limits, const EpAttributes &attributes, bool with_srq) noexcept {
    return good_flags(attributes) && good_sizes(limits, attributes) &&
           good_queues(limits, attributes, with_srq);
}

EpAttributes kept_attributes(const EpAttributes &asked) noexcept {
    EpAttributes kept = asked;
    if (kept.max_rdma_read_iov == 0)
        kept.max_rdma_read_iov = kept.max_request_iov;
    if (kept.max_rdma_write_iov == 0)
        kept.max_rdma_write_iov = kept.max_request_iov;
    return kept;
}

bool may_share(const Ia &ia, const Ep *self, const Streams &streams) noexcept {
    return may_go_to(ia, self, streams, streams.recv) &&
           may_go_to(ia, self, streams, streams.request) &&
           may_go_to(ia, self, streams, streams.connect);
}

} // namespace rsmengine
