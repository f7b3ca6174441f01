// SPDX-License-Identifier: GPL-2.0
#include "net/stranger/line.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <system_error>

namespace rsmtest::stranger {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char *port = "18600";
constexpr int patience_ms = 60000; // for address and route

void check(int result, const char *what) {
    if (result != 0)
        throw std::system_error(errno, std::generic_category(), what);
}

template <class T>
T *check(T *result, const char *what) {
    check(result ? 0 : -1, what);
    return result;
}

} // namespace

Mac mac_of(const std::optional<Secret> &secret, Role role, const Transcript &said) {
    const struct {
        Role role;
        Transcript said;
    } all{role, said};
    Mac mac{};
    if (secret)
        std::ranges::copy_n(hmac(*secret, std::as_bytes(std::span(&all, 1))).begin(), mac.size(),
                            mac.begin());
    return mac;
}

Line::Line(const char *address, bool privileged)
    : channel_(check(rdma_create_event_channel(), "rdma_create_event_channel")) {
    check(rdma_create_id(channel_.get(), &id_, nullptr, RDMA_PS_TCP), "rdma_create_id");
    check(fcntl(channel_->fd, F_SETFL, O_NONBLOCK), "fcntl");
    addrinfo *found = nullptr;
    if (getaddrinfo(address, port, nullptr, &found) != 0)
        throw std::system_error(EINVAL, std::generic_category(), address);
    // The kernel's own take ports from 1023 down to 512.
    sockaddr_in from{};
    from.sin_family = AF_INET;
    from.sin_port = htons(500);
    auto *source = privileged ? reinterpret_cast<sockaddr *>(&from) : nullptr;
    const int result = rdma_resolve_addr(id_, source, found->ai_addr, patience_ms);
    freeaddrinfo(found);
    check(result, "rdma_resolve_addr");
    if (!expect(RDMA_CM_EVENT_ADDR_RESOLVED))
        throw std::system_error(EHOSTUNREACH, std::generic_category(), address);
    check(rdma_resolve_route(id_, patience_ms), "rdma_resolve_route");
    if (!expect(RDMA_CM_EVENT_ROUTE_RESOLVED))
        throw std::system_error(EHOSTUNREACH, std::generic_category(), address);
}

Line::~Line() {
    if (id_->qp) {
        rdma_disconnect(id_);
        rdma_destroy_qp(id_);
    }
    if (mr_)
        ibv_dereg_mr(mr_);
    if (receives_)
        ibv_destroy_cq(receives_);
    if (sends_)
        ibv_destroy_cq(sends_);
    rdma_destroy_id(id_);
}

std::optional<rdma_cm_event_type> Line::next_event(int milliseconds) {
    pollfd waiting{channel_->fd, POLLIN, 0};
    poll(&waiting, 1, milliseconds);
    rdma_cm_event *event = nullptr;
    if (rdma_get_cm_event(channel_.get(), &event) != 0)
        return std::nullopt;
    const rdma_cm_event_type type = event->event;
    const auto &told = event->param.conn;
    if (type == RDMA_CM_EVENT_ESTABLISHED && told.private_data_len >= sizeof(said_.reply)) {
        std::memcpy(&said_.reply, told.private_data, sizeof(said_.reply));
        said_.reply_qp = told.qp_num;
    }
    rdma_ack_cm_event(event);
    return type;
}

bool Line::expect(rdma_cm_event_type type) {
    return next_event() == type;
}

ibv_sge Line::piece(std::uint64_t slot, std::size_t size) const {
    return {reinterpret_cast<std::uintptr_t>(memory_.data() + slot * frame_size),
            static_cast<std::uint32_t>(size), mr_->lkey};
}

void Line::post_receive(std::uint64_t slot) {
    ibv_sge sge = piece(slot, frame_size);
    ibv_recv_wr request{};
    request.wr_id = slot;
    request.sg_list = &sge;
    request.num_sge = 1;
    ibv_recv_wr *bad = nullptr;
    ibv_post_recv(id_->qp, &request, &bad);
}

void Line::equip(unsigned receives) {
    ibv_context *device = id_->verbs;
    sends_ = check(ibv_create_cq(device, 16, nullptr, nullptr, 0), "ibv_create_cq");
    receives_ = check(ibv_create_cq(device, 2 * depth, nullptr, nullptr, 0), "ibv_create_cq");
    ibv_qp_init_attr attributes{};
    attributes.send_cq = sends_;
    attributes.recv_cq = receives_;
    attributes.cap = {16, depth, 1, 1, 0};
    attributes.qp_type = IBV_QPT_RC;
    check(rdma_create_qp(id_, nullptr, &attributes), "rdma_create_qp");
    constexpr int access = IBV_ACCESS_LOCAL_WRITE;
    mr_ = check(ibv_reg_mr(id_->pd, memory_.data(), memory_.size(), access), "ibv_reg_mr");
    for (unsigned slot = 0; slot < receives; slot++)
        post_receive(slot);
}

bool Line::connect(const Request &request) {
    equip(request.receives);
    said_.request = request.greeting;
    said_.request.mac = {};
    said_.request_qp = id_->qp->qp_num + request.relayed;
    said_.request.mac = mac_of(request.secret, Role::request, said_);
    rdma_conn_param param{};
    param.private_data = request.greeting_size ? &said_.request : nullptr;
    param.private_data_len = request.greeting_size;
    param.responder_resources = request.reads;
    param.initiator_depth = 1;
    param.retry_count = 7;
    param.rnr_retry_count = request.holds_up ? 7 : 0;
    check(rdma_connect(id_, &param), "rdma_connect");
    return expect(RDMA_CM_EVENT_ESTABLISHED);
}

void Line::await_end() {
    while (!ends_within(-1))
        continue;
}

bool Line::ends_within(int milliseconds) {
    const auto event = ended_ ? std::nullopt : next_event(milliseconds);
    // The latter if the node did not know yet that we are connected.
    ended_ = ended_ || event == RDMA_CM_EVENT_DISCONNECTED || event == RDMA_CM_EVENT_REJECTED;
    return ended_;
}

// Or until the node has ended the connection, which may leave a frame without an answer: the transport would repeat it
// for nine seconds, if rdma_rxe does not forget to give up.
bool Line::completes() {
    const auto end = Clock::now() + std::chrono::seconds(20);
    ibv_wc completion{};
    int count = 0;
    while ((count = ibv_poll_cq(sends_, 1, &completion)) == 0 && Clock::now() < end && !ends_within(1))
        continue;
    return count > 0 && completion.status == IBV_WC_SUCCESS;
}

bool Line::send(std::span<const std::byte> bytes) {
    std::memcpy(memory_.data() + depth * frame_size, bytes.data(), bytes.size());
    ibv_sge sge = piece(depth, bytes.size());
    ibv_send_wr request{};
    request.sg_list = &sge;
    request.num_sge = bytes.empty() ? 0 : 1;
    request.opcode = IBV_WR_SEND;
    request.send_flags = IBV_SEND_SIGNALED;
    ibv_send_wr *bad = nullptr;
    return ibv_post_send(id_->qp, &request, &bad) == 0 && completes();
}

bool Line::prove(const Mac &mac) {
    Bytes bytes(sizeof(FrameHeader) + mac.size());
    const FrameHeader header{3, 0, 0};
    std::memcpy(bytes.data(), &header, sizeof(header));
    std::memcpy(bytes.data() + sizeof(header), mac.data(), mac.size());
    return send(bytes);
}

std::optional<Bytes> Line::receive() {
    ibv_wc completion{};
    if (ibv_poll_cq(receives_, 1, &completion) != 1 || completion.status != IBV_WC_SUCCESS)
        return std::nullopt;
    const auto start = memory_.begin() + static_cast<std::ptrdiff_t>(completion.wr_id * frame_size);
    Bytes bytes(start, start + completion.byte_len);
    post_receive(completion.wr_id);
    return bytes;
}

bool Line::read(std::uint64_t address, std::uint32_t key) {
    ibv_sge sge = piece(depth, 64);
    ibv_send_wr request{};
    request.sg_list = &sge;
    request.num_sge = 1;
    request.opcode = IBV_WR_RDMA_READ;
    request.send_flags = IBV_SEND_SIGNALED;
    request.wr.rdma.remote_addr = address;
    request.wr.rdma.rkey = key;
    ibv_send_wr *bad = nullptr;
    return ibv_post_send(id_->qp, &request, &bad) == 0 && completes();
}

} // namespace rsmtest::stranger
