// SPDX-License-Identifier: MIT
#include "transfer_fake.h"

#include "connect/link.h"

namespace fake {

using namespace rsmengine;

namespace {

// Good as long as `iov`.
Post post_of(const std::vector<Segment> &iov, std::uint64_t cookie,
             CompletionFlags flags) {
    return {static_cast<Count>(iov.size()), iov.empty() ? nullptr : iov.data(),
            Cookie{cookie}, flags};
}

} // namespace

Status Side::send(std::vector<Segment> iov, std::uint64_t cookie,
                  CompletionFlags flags) const {
    return ep->transfer->post_send(post_of(iov, cookie, flags));
}

Status Side::receive(std::vector<Segment> iov, std::uint64_t cookie,
                     CompletionFlags flags) const {
    return ep->transfer->post_recv(post_of(iov, cookie, flags));
}

Status Side::write(std::vector<Segment> iov, RemoteSegment remote, std::uint64_t cookie,
                   CompletionFlags flags) const {
    return ep->transfer->post_write(post_of(iov, cookie, flags), &remote);
}

Status Side::read(std::vector<Segment> iov, RemoteSegment remote, std::uint64_t cookie,
                  CompletionFlags flags) const {
    return ep->transfer->post_read(post_of(iov, cookie, flags), &remote);
}

void Transfers::SetUp() {
    ASSERT_NO_FATAL_FAILURE(IaTest::SetUp());
    pz = &make_pz();
    pinned_ = std::make_shared<RsmPinned>(0, 0, false);
    bells = 0;
    grants = true;
    maps = false;
    writes = 0;
}

Pz &Transfers::make_pz() {
    return ia->adopt(std::make_unique<Pz>(*ia));
}

Evd &Transfers::make_evd(Count length) {
    return ia->adopt(std::make_unique<Evd>(*ia, length, DAT_EVD_DEFAULT_FLAG, nullptr));
}

Srq &Transfers::make_srq(Count entries) {
    return ia->adopt(ia->transport->make_srq(*pz, SrqAttributes{entries, 4, 0}));
}

EpAttributes Transfers::attributes() {
    EpAttributes attr{};
    attr.max_message_size = 1 << 24;
    attr.max_rdma_size = 1 << 24;
    attr.recv_completion_flags = CompletionFlags::THRESHOLD;
    attr.request_completion_flags = CompletionFlags::THRESHOLD;
    attr.max_recv_dtos = attr.max_request_dtos = 16;
    attr.max_recv_iov = attr.max_request_iov = 4;
    attr.max_rdma_read_in = attr.max_rdma_read_out = 2;
    attr.max_rdma_read_iov = attr.max_rdma_write_iov = 4;
    attr.srq_soft_hw = UNLIMITED;
    return attr;
}

Side Transfers::make_side(const EpAttributes &attr, Srq *srq) {
    Side side;
    side.ep = &ia->adopt(std::make_unique<Ep>(*ia, attr, srq));
    side.recv = &make_evd();
    side.request = &make_evd();
    side.connection = &make_evd();
    side.ep->set_pz(pz);
    side.ep->set_recv_evd(side.recv);
    side.ep->set_request_evd(side.request);
    side.ep->set_connect_evd(side.connection);
    return side;
}

Memory Transfers::make_memory(std::size_t size, unsigned privileges) {
    Memory memory{std::vector<std::byte>(size)};
    memory.region = contexts_of(*ia).create(*pz, pinned_, memory.address(), size, privileges, true);
    return memory;
}

void Transfers::forget(Memory &memory) {
    contexts_of(*ia).destroy(*memory.region);
    memory.region = nullptr;
}

std::unique_ptr<Channel> Transfers::link(const Side &side, std::uint32_t node) {
    std::unique_ptr<Channel> ours;
    std::unique_ptr<Channel> theirs;
    (void)Channel::create(*transport_of(*ia).device, "", node, RING, ours);
    (void)Channel::create(*transport_of(*ia).device, "", node, RING, theirs);
    (void)ours->attach(theirs->address());
    (void)theirs->attach(ours->address());
    auto link = std::make_unique<RsmLink>();
    link->channel = std::move(ours);
    link->active = true;
    link->max_rdma_read_in = static_cast<std::uint32_t>(side.ep->attributes.max_rdma_read_in);
    link->max_rdma_read_out = static_cast<std::uint32_t>(side.ep->attributes.max_rdma_read_out);
    link->channel->ours().state = static_cast<std::uint32_t>(LinkState::ACCEPTED);
    side.ep->link = std::move(link);
    return theirs;
}

std::unique_ptr<Channel> Transfers::connect(Side &side, std::uint32_t node) {
    auto peer = link(side, node);
    side.ep->state = EpState::CONNECTED;
    transfer_of(*side.ep).connected(*link_of(*side.ep).channel);
    return peer;
}

void Transfers::connect(Side &one, Side &other, std::uint32_t node) {
    auto channel = connect(one, node);
    (void)link(other, node);
    channel->ours().state = static_cast<std::uint32_t>(LinkState::ACCEPTED);
    link_of(*other.ep).channel = std::move(channel);
    other.ep->state = EpState::CONNECTED;
    transfer_of(*other.ep).connected(*link_of(*other.ep).channel);
}

void Transfers::run(const Side &one, const Side &other) {
    for (int before = -1; before != bells;) {
        before = bells;
        one.ep->connector->poll(false);
        other.ep->connector->poll(false);
    }
}

void Transfers::expect(Evd &evd, std::uint64_t cookie, CompletionStatus status,
                       std::uint64_t length) {
    const Event *event = nullptr;
    ASSERT_EQ(evd.dequeue(event), Status::OK);
    ASSERT_EQ(event->kind, EventKind::TRANSFER);
    const auto &end = event->transfer;
    EXPECT_EQ(end.cookie, Cookie{cookie});
    EXPECT_EQ(end.status, status);
    if (status == CompletionStatus::OK) {
        EXPECT_EQ(end.length, length);
    }
}

void Transfers::expect_event(Evd &evd, EventKind number) {
    const Event *event = nullptr;
    ASSERT_EQ(evd.dequeue(event), Status::OK);
    EXPECT_EQ(event->kind, number);
}

void Transfers::expect_nothing(Evd &evd) {
    const Event *event = nullptr;
    EXPECT_EQ(evd.dequeue(event), Status::QUEUE_EMPTY);
}

} // namespace fake
