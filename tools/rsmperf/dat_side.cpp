// SPDX-License-Identifier: GPL-2.0
#include "dat_side.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace rsmperf {

namespace {

constexpr DAT_TIMEOUT patience_us = 60 * 1000 * 1000;
constexpr DAT_COUNT queue_length = 256;
constexpr DAT_COUNT most_requests = 64;
constexpr DAT_COUNT most_receives = 64;

[[noreturn, gnu::cold]] void fail_transfer(const DAT_EVENT &event) {
    if (event.event_number != DAT_DTO_COMPLETION_EVENT) {
        throw ConnectionEnded();
    }
    const auto status = event.event_data.dto_completion_event_data.status;
    if (status == DAT_DTO_ERR_FLUSHED) {
        throw ConnectionEnded();
    }
    throw std::runtime_error("a transfer failed with status " + std::to_string(status));
}

inline void check_done(const DAT_EVENT &event) {
    if (event.event_number != DAT_DTO_COMPLETION_EVENT ||
        event.event_data.dto_completion_event_data.status != DAT_DTO_SUCCESS) {
        fail_transfer(event);
    }
}

} // namespace

void fail_dat(DAT_RETURN status, const char *call) {
    const char *major = "?";
    const char *minor = "";
    (void)dat_strerror(status, &major, &minor);
    throw std::runtime_error(std::string(call) + ": " + major + " " + minor);
}

DatAdapter::DatAdapter(std::string name) {
    DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
    const DAT_RETURN status = dat_ia_open(name.data(), 8, &async, &ia_);
    if (DAT_GET_TYPE(status) == DAT_PROVIDER_NOT_FOUND) {
        throw std::runtime_error("no usable adapter " + name +
                                 " in /etc/dat/dat.conf (or the file that DAT_OVERRIDE names)");
    }
    check_dat(status, "dat_ia_open");
    check_dat(dat_pz_create(ia_, &pz_), "dat_pz_create");
}

DatAdapter::~DatAdapter() {
    (void)dat_ia_close(ia_, DAT_CLOSE_ABRUPT_FLAG);
}

void DatAdapter::register_and_free(char *start, std::size_t size) const {
    DAT_REGION_DESCRIPTION region{};
    DAT_LMR_HANDLE lmr = nullptr;
    region.for_va = start;
    check_dat(dat_lmr_create(ia_, DAT_MEM_TYPE_VIRTUAL, region, size, pz_, DAT_MEM_PRIV_ALL_FLAG,
                             &lmr, nullptr, nullptr, nullptr, nullptr),
              "dat_lmr_create");
    check_dat(dat_lmr_free(lmr), "dat_lmr_free");
}

DatSide::DatSide(std::size_t size, const std::string &adapter, std::size_t endpoints)
    : adapter_(adapter), memory_(size) {
    const auto length = std::max(queue_length, static_cast<DAT_COUNT>(2 * endpoints));
    DAT_REGION_DESCRIPTION region{};
    region.for_va = memory_.data();
    check_dat(dat_evd_create(adapter_.ia(), length, DAT_HANDLE_NULL,
                             static_cast<DAT_EVD_FLAGS>(DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG),
                             &evd_),
              "dat_evd_create");
    check_dat(dat_evd_create(adapter_.ia(), length, DAT_HANDLE_NULL, DAT_EVD_CR_FLAG, &requests_),
              "dat_evd_create");
    for (std::size_t made = 0; made < endpoints; made++) {
        add_endpoint();
    }
    check_dat(dat_lmr_create(adapter_.ia(), DAT_MEM_TYPE_VIRTUAL, region, size, adapter_.pz(),
                             DAT_MEM_PRIV_ALL_FLAG, &lmr_, &lmr_context_, &rmr_context_, nullptr,
                             nullptr),
              "dat_lmr_create");
}

void DatSide::add_endpoint() {
    DAT_EP_HANDLE ep = nullptr;
    check_dat(dat_ep_create(adapter_.ia(), adapter_.pz(), evd_, evd_, evd_, nullptr, &ep),
              "dat_ep_create");
    eps_.push_back(ep);
    DAT_EP_PARAM wanted{};
    wanted.ep_attr.max_request_dtos = most_requests;
    wanted.ep_attr.max_recv_dtos = most_receives;
    constexpr auto fields = static_cast<DAT_EP_PARAM_MASK>(DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_DTOS |
                                                           DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS);
    check_dat(dat_ep_modify(ep, fields, &wanted), "dat_ep_modify");
}

DatMemory DatSide::add_region(const DatRegion &region) {
    auto &memory = others_.emplace_back(region.offset + region.size);
    DAT_REGION_DESCRIPTION start{};
    start.for_va = memory.data() + region.offset;
    DAT_LMR_HANDLE lmr = nullptr;
    DatMemory result{0, reinterpret_cast<DAT_VADDR>(start.for_va)};
    check_dat(dat_lmr_create(adapter_.ia(), DAT_MEM_TYPE_VIRTUAL, start, region.size, adapter_.pz(),
                             region.rights, &lmr, nullptr, &result.context, nullptr, nullptr),
              "dat_lmr_create");
    return result;
}

void DatSide::listen() {
    check_dat(
        dat_psp_create_any(adapter_.ia(), &qualifier_, requests_, DAT_PSP_CONSUMER_FLAG, &psp_),
        "dat_psp_create_any");
}

DAT_EVENT DatSide::next(DAT_EVENT_NUMBER number) const {
    auto *const evd = number == DAT_CONNECTION_REQUEST_EVENT ? requests_ : evd_;
    DAT_EVENT event{};
    DAT_COUNT more = 0;
    do {
        check_dat(dat_evd_wait(evd, patience_us, 1, &event, &more), "dat_evd_wait");
    } while (event.event_number == DAT_DTO_COMPLETION_EVENT && number != event.event_number);
    if (event.event_number != number) {
        throw std::runtime_error("an unexpected event of a connection");
    }
    return event;
}

void DatSide::accept(std::size_t endpoint) {
    const auto request = next(DAT_CONNECTION_REQUEST_EVENT);
    check_dat(dat_cr_accept(request.event_data.cr_arrival_event_data.cr_handle, eps_[endpoint], 0,
                            nullptr),
              "dat_cr_accept");
    next(DAT_CONNECTION_EVENT_ESTABLISHED);
}

void DatSide::connect(DAT_CONN_QUAL qualifier, std::size_t endpoint) {
    DAT_IA_ATTR attributes{};
    check_dat(
        dat_ia_query(adapter_.ia(), nullptr, DAT_IA_FIELD_IA_ADDRESS_PTR, &attributes, 0, nullptr),
        "dat_ia_query");
    connect(*attributes.ia_address_ptr, qualifier, endpoint);
}

void DatSide::connect(sockaddr &address, DAT_CONN_QUAL qualifier, std::size_t endpoint) {
    check_dat(dat_ep_connect(eps_[endpoint], &address, qualifier, patience_us, 0, nullptr,
                             DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
              "dat_ep_connect");
    next(DAT_CONNECTION_EVENT_ESTABLISHED);
}

void DatSide::hang_up() {
    check_dat(dat_ep_disconnect(eps_[0], DAT_CLOSE_ABRUPT_FLAG), "dat_ep_disconnect");
    wait_for_hang_up();
}

void DatSide::wait_for_hang_up() {
    next(DAT_CONNECTION_EVENT_DISCONNECTED);
    check_dat(dat_ep_reset(eps_[0]), "dat_ep_reset");
}

DAT_LMR_TRIPLET DatSide::piece(std::size_t size) const {
    return {.lmr_context = lmr_context_,
            .pad = 0,
            .virtual_address = reinterpret_cast<DAT_VADDR>(memory_.data()),
            .segment_length = size};
}

DatMemory DatSide::memory() const {
    return {rmr_context_, reinterpret_cast<DAT_VADDR>(memory_.data())};
}

void DatSide::post_write(const DatMemory &to, std::size_t size, DAT_COMPLETION_FLAGS flags) {
    auto local = piece(size);
    const DAT_RMR_TRIPLET remote{to.context, 0, to.address, size};
    check_dat(dat_ep_post_rdma_write(eps_[0], 1, &local, {}, &remote, flags),
              "dat_ep_post_rdma_write");
}

void DatSide::write(const DatMemory &to, std::size_t size) {
    post_write(to, size);
    reap();
}

template <typename Post>
void DatSide::post_many(std::size_t count, std::size_t window, Post post) {
    for (std::size_t posted = 0; posted < count; posted++) {
        if (posted >= window) {
            reap();
        }
        post();
    }
    for (std::size_t left = std::min(count, window); left > 0; left--) {
        reap();
    }
}

void DatSide::write_many(const DatMemory &to, std::size_t size, std::size_t count,
                         std::size_t window) {
    post_many(count, window, [&] { post_write(to, size); });
}

void DatSide::send_many(std::size_t size, std::size_t count, std::size_t window) {
    post_many(count, window, [&] { post_send(size, DAT_COMPLETION_DEFAULT_FLAG); });
}

void DatSide::write_quietly(const DatMemory &to, std::size_t size, std::size_t count,
                            std::size_t window) {
    for (std::size_t posted = 1; posted <= count; posted++) {
        const bool last = posted % window == 0 || posted == count;
        post_write(to, size, last ? DAT_COMPLETION_DEFAULT_FLAG : DAT_COMPLETION_SUPPRESS_FLAG);
        if (last) {
            reap();
        }
    }
}

void DatSide::read(const DatMemory &from, std::size_t size) {
    auto local = piece(size);
    const DAT_RMR_TRIPLET remote{from.context, 0, from.address, size};
    check_dat(dat_ep_post_rdma_read(eps_[0], 1, &local, {}, &remote, DAT_COMPLETION_DEFAULT_FLAG),
              "dat_ep_post_rdma_read");
    reap();
}

void DatSide::post_send(std::size_t size, DAT_COMPLETION_FLAGS flags) {
    auto local = piece(size);
    check_dat(dat_ep_post_send(eps_[0], 1, &local, {}, flags), "dat_ep_post_send");
}

void DatSide::send(std::size_t size) {
    post_send(size, DAT_COMPLETION_SUPPRESS_FLAG);
}

void DatSide::post_receive(std::size_t size) {
    auto local = piece(size);
    check_dat(dat_ep_post_recv(eps_[0], 1, &local, {}, DAT_COMPLETION_DEFAULT_FLAG),
              "dat_ep_post_recv");
}

void DatSide::sleep_until_done() {
    DAT_EVENT event{};
    DAT_COUNT more = 0;
    check_dat(dat_evd_wait(evd_, patience_us, 1, &event, &more), "dat_evd_wait");
    check_done(event);
}

bool DatSide::poll() const {
    DAT_EVENT event;
    return DAT_GET_TYPE(dat_evd_dequeue(evd_, &event)) != DAT_QUEUE_EMPTY;
}

void DatSide::reap() {
    DAT_EVENT event;
    DAT_RETURN status = dat_evd_dequeue(evd_, &event);
    while (DAT_GET_TYPE(status) == DAT_QUEUE_EMPTY) {
        status = dat_evd_dequeue(evd_, &event);
    }
    check_dat(status, "dat_evd_dequeue");
    check_done(event);
}

} // namespace rsmperf
