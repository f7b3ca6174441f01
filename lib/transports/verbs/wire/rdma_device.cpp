// SPDX-License-Identifier: MIT
#include "wire/rdma_device.h"

#include "connect/greeting.h"
#include "core/verbs_options.h"
#include "engine/loop/handle_fd.h"
#include "wire/port_address.h"

#include <algorithm>
#include <cstdint>
#include <span>

namespace rsmengine {
namespace {

constexpr Count RDMA_READS = 255; // that rdma_cm can say

struct FreeList {
    void operator()(ibv_device **list) const noexcept { ::ibv_free_device_list(list); }
};

// With kernels that copy pinned pages on fork there is nothing to be done, and the library knows.
void survive_forks() {
    static const int status = ::ibv_fork_init();
    if (status != 0)
        throw Unavailable("libibverbs can't be made safe for fork");
}

// Devices say 0 for "none", and some more than a count can hold.
Count count_of(std::int64_t value, std::int64_t most) noexcept {
    return static_cast<Count>(std::clamp<std::int64_t>(value, 0, most));
}

} // namespace

RdmaDevice::RdmaDevice(const VerbsOptions &options) {
    survive_forks();
    choose(options);
    completions_.reset(::ibv_create_comp_channel(context_.get()));
    if (!completions_)
        throw Unavailable("the device has no completion channel for us");
    keep_room_above(completions_->fd);
}

void RdmaDevice::choose(const VerbsOptions &options) {
    int count = 0;
    const std::unique_ptr<ibv_device *, FreeList> list(::ibv_get_device_list(&count));
    const std::span devices(list.get(), list ? static_cast<std::size_t>(count) : 0);
    const bool any = options.device.empty();
    for (ibv_device *device : devices)
        if (any || options.device == ::ibv_get_device_name(device))
            if (open(*device) && take_port(options.port))
                return;
    throw Unavailable(any ? "no RDMA device with an active port that has a network address"
                          : "no RDMA device " + options.device +
                                ", or no active port of it has a network address");
}

bool RdmaDevice::open(ibv_device &device) noexcept {
    context_.reset(::ibv_open_device(&device));
    return context_ && ::ibv_query_device(context_.get(), &attributes_) == 0;
}

// 0: the first that will do.
bool RdmaDevice::take_port(std::uint8_t wanted) {
    const std::uint8_t first = wanted != 0 ? wanted : 1;
    const std::uint8_t last = wanted != 0 ? wanted : attributes_.phys_port_cnt;
    for (unsigned port = first; port <= last; ++port)
        if (use_port(static_cast<std::uint8_t>(port)))
            return true;
    return false;
}

bool RdmaDevice::use_port(std::uint8_t port) {
    if (port > attributes_.phys_port_cnt ||
        ::ibv_query_port(context_.get(), port, &port_attributes_) != 0 ||
        port_attributes_.state != IBV_PORT_ACTIVE)
        return false;
    const auto address = address_of_port(::ibv_get_device_name(context_->device), port);
    if (!address)
        return false;
    address_ = *address;
    port_ = port;
    return true;
}

bool RdmaDevice::has_immediates() const noexcept {
    return context_->device->transport_type == IBV_TRANSPORT_IB;
}

bool RdmaDevice::has_windows() const noexcept {
    return (attributes_.device_cap_flags & IBV_DEVICE_MEM_WINDOW) != 0;
}

// rxe's can't: when it repeats requests, the reads that these have started count as reads that a
// fence waits for, even the fenced request's own and those behind it. They wait for each other for
// ever.
bool RdmaDevice::has_fences() const noexcept {
    constexpr std::uint32_t RXE_VENDOR = 0xffffff;
    return attributes_.vendor_id != RXE_VENDOR;
}

// An endpoint whose directions do not fit into one completion queue gets two, and the device gets
// no more of a direction at a time than one completion queue holds (Transfer).
LimitSet RdmaDevice::limits() const noexcept {
    const ibv_device_attr &has = attributes_;
    LimitSet limits{};
    limits.eps = count_of(std::min(has.max_qp, has.max_cq), INT32_MAX);
    limits.dtos_per_ep = count_of(has.max_qp_wr, EVENT_QUEUE_LENGTH);
    limits.rdma_reads_per_ep =
        count_of(std::min(has.max_qp_rd_atom, has.max_qp_init_rd_atom), RDMA_READS);
    limits.rdma_reads = count_of(has.max_res_rd_atom, INT32_MAX);
    limits.evds = EVENT_QUEUES;
    limits.evd_length = EVENT_QUEUE_LENGTH;
    limits.iov = count_of(std::min(has.max_sge, has.max_sge_rd), limits::IOV);
    limits.lmrs = count_of(has.max_mr, INT32_MAX);
    limits.lmr_length = std::min<std::uint64_t>(has.max_mr_size, limits::LMR_LENGTH);
    limits.pzs = count_of(has.max_pd, INT32_MAX);
    limits.message = limits.rdma = port_attributes_.max_msg_sz;
    limits.rmrs = has_windows() ? count_of(has.max_mw, INT32_MAX) : 0;
    limits.srqs = count_of(has.max_srq, INT32_MAX);
    limits.recvs_per_srq = count_of(std::min(has.max_srq_wr, has.max_cqe), INT32_MAX);
    limits.private_data = GREETING_ROOM;
    limits.srq_ep_pz_difference = false; // some devices check receives against the queue pair's
    return limits;
}

} // namespace rsmengine
