// SPDX-License-Identifier: GPL-2.0
// Other users of the node and a service point: what they can read, what they can take, what they
// can hold up.
#include "dat/support/attack.hpp"
#include "dat/support/doomed.hpp"

#include "connect/listener.h"
#include "netlink/support/tracing.hpp"
#include "wire/own_segment.h"

#include <array>
#include <cstring>
#include <sstream>

using namespace rsmtest;
using namespace rsmtest::dat;

namespace {

using rsmengine::Channel;
using rsmengine::Device;
using rsmengine::Import;
using rsmengine::Label;
using rsmengine::SegmentAddress;

constexpr std::uint64_t contested = 4711;

class RsmAttackListeners : public testing::Test {
protected:
    static Label label_of(const Device &device, std::uint64_t qualifier)
    {
        Import import;
        Label label{};
        EXPECT_EQ(Import::connect(device, "loopback", device.node(), rsmengine::label_id(qualifier),
                                  RSM_PERM_READ, import),
                  RSM_SUCCESS);
        EXPECT_EQ(import.get(0, std::as_writable_bytes(std::span(&label, 1))), RSM_SUCCESS);
        EXPECT_EQ(label.qualifier, qualifier);
        return label;
    }
    static rsmengine::Ticket ticket_in(const Label &label)
    {
        return {label.ticket[0], label.ticket[1]};
    }
};

} // namespace

// Whatever the squatter puts there, and lets others do with it: the server learns of it.
TEST_F(RsmAttackListeners, place_that_is_taken_beforehand)
{
    for (const std::uint32_t mode : {0666U, 0444U, 0U}) {
        Child squatter(alice(), [&](Link &link) {
            const Pages pages(1);
            const Fd handle = raw::open_segment();
            std::uint32_t id = rsmengine::label_id(contested);
            const rsm_acl_entry everybody{raw::local_node(), mode};
            EXPECT_EQ(raw::bind(handle.get(), pages.data(), pages.size()), raw::success);
            EXPECT_EQ(raw::publish(handle.get(), id, {&everybody, 1}), raw::success);
            link.send();
            link.receive();
        });
        squatter.receive();
        {
            const Side server;
            DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
            EXPECT_DAT(error(DAT_CONN_QUAL_IN_USE),
                       dat_psp_create(server.adapter, contested, server.arrivals,
                                      DAT_PSP_CONSUMER_FLAG, &psp));
        }
        squatter.send();
        squatter.expect_success();
    }
}

// There is one place, and it is the server's.
TEST_F(RsmAttackListeners, place_that_is_the_servers)
{
    const Side server;
    DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
    ASSERT_OK(dat_psp_create(server.adapter, contested, server.arrivals, DAT_PSP_CONSUMER_FLAG,
                             &psp));
    Child squatter(alice(), [&](Link &) {
        const Pages pages(1);
        const Fd handle = raw::open_segment();
        std::uint32_t id = rsmengine::label_id(contested);
        EXPECT_EQ(raw::bind(handle.get(), pages.data(), pages.size()), raw::success);
        EXPECT_EQ(raw::publish(handle.get(), id), raw::status(RSMERR_SEGID_IN_USE));
    });
    squatter.expect_success();
    EXPECT_OK(dat_psp_free(psp));
}

// The spy has what every client has: the label. Requests that wait there are not for it.
TEST_F(RsmAttackListeners, spy_reads_no_request)
{
    Child spy(alice(), [](Link &link) {
        const Device device;
        const Label label = label_of(device, link.receive());
        const Fd handle = raw::open_segment();
        ASSERT_EQ(raw::redeem(handle.get(), {{label.ticket[0], label.ticket[1]}}), raw::success);
        for (const int protection : {PROT_NONE, PROT_READ, PROT_WRITE, PROT_READ | PROT_WRITE})
            EXPECT_EQ(raw::map(handle.get(), page_size(), protection), nullptr) << protection;
        Pages local(1);
        const rsm_transfer_entry entry = raw::entry(local.data(), 0, 64);
        EXPECT_NE(raw::transfer(handle.get(), RSM_IOC_GETV, {&entry, 1}), raw::success);
        EXPECT_NE(raw::transfer(handle.get(), RSM_IOC_PUTV, {&entry, 1}), raw::success);
        rsm_message message{};
        EXPECT_NE(raw::call(handle.get(), RSM_IOC_RECEIVE, message), raw::success);
    });
    const Side server;
    const ServicePoint service(server);
    spy.send(service.qualifier);
    spy.expect_success();
}

// A thief that has learned a request's ticket comes second, or is noticed.
TEST_F(RsmAttackListeners, ticket_of_a_request_is_good_for_one)
{
    const Device device;
    std::unique_ptr<Channel> channel;
    ASSERT_EQ(Channel::create(device, "loopback", device.node(), 16384, channel), RSM_SUCCESS);
    const SegmentAddress address = channel->address();
    Import server, thief;
    EXPECT_EQ(Import::redeem(device, address.ticket, server), RSM_SUCCESS);
    EXPECT_EQ(Import::redeem(device, address.ticket, thief), RSMERR_SEG_NOT_PUBLISHED);
}

namespace {

// Segments that a process has made while rsm's tracepoints are on.
int segments_made_by(pid_t process)
{
    const std::string who = "pid=" + std::to_string(process) + " ";
    std::istringstream lines(Tracing::contents("trace"));
    int made = 0;
    for (std::string line; std::getline(lines, line);)
        made += line.find("segment_bind: ") != std::string::npos &&
                line.find(who) != std::string::npos;
    return made;
}

// A request whose ticket is good for many, and which waits.
class PatientRequest {
public:
    PatientRequest(const Device &device, std::uint64_t qualifier)
    {
        EXPECT_EQ(Channel::create(device, "loopback", device.node(), 16384, channel_),
                  RSM_SUCCESS);
        channel_->ours().offer.qualifier = qualifier;
        EXPECT_EQ(rsmengine::OwnSegment::create(device, {}, size, segment_), RSM_SUCCESS);
        std::memcpy(segment_.bytes().data(), &channel_->ours(), size);
        rsmengine::Ticket ticket{};
        EXPECT_EQ(segment_.handle().grant(0, size, RSM_PERM_RDWR, rsmengine::TicketUse::MANY, ticket),
                  RSM_SUCCESS);
        SegmentAddress address = channel_->address();
        address.ticket = ticket;
        request_.qualifier = qualifier;
        request_.from = rsmengine::credentials_of(address);
        request_.check = rsmengine::check_of(request_);
    }
    void send(const Import &listener) const
    {
        rsmengine::Letter letter{};
        std::memcpy(letter.data(), &request_, sizeof(request_));
        EXPECT_EQ(listener.send(letter), RSM_SUCCESS);
    }

private:
    static constexpr std::size_t size = rsmengine::RINGS + 16384 + rsmengine::MIN_RING;

    std::unique_ptr<Channel> channel_; // whose front is copied
    rsmengine::OwnSegment segment_;
    rsmengine::ListenerSlot request_{};
};

} // namespace

// A requester repeats a request until it is answered: that costs the listener one channel.
TEST_F(RsmAttackListeners, repeated_request_costs_one_channel)
{
    Child requester(alice(), [](Link &link) {
        const Device device;
        const std::uint64_t qualifier = link.receive();
        const PatientRequest first(device, qualifier);
        const PatientRequest last(device, qualifier);
        const rsmengine::Ticket ticket = ticket_in(label_of(device, qualifier));
        std::array<Import, 20> listeners; // a handle has one letter under way
        for (Import &listener : listeners) {
            ASSERT_EQ(Import::redeem(device, ticket, listener), RSM_SUCCESS);
            (&listener == &listeners.back() ? last : first).send(listener);
        }
        link.receive();
    });
    const Side server;
    const ServicePoint service(server);
    const Tracing tracing;
    requester.send(service.qualifier);
    EXPECT_NE(service.request(), service.request()); // the last letter has been read
    DAT_EVENT event{};
    EXPECT_TYPE(DAT_QUEUE_EMPTY, dat_evd_dequeue(server.arrivals, &event));
    EXPECT_EQ(segments_made_by(getpid()), 2);
    requester.send();
    requester.expect_success();
}

// A hundred requests of another user that lead nowhere are always waiting; each of ours is served.
TEST_F(RsmAttackListeners, flood_of_requests_starves_nobody)
{
    Child flooder(alice(), [](Link &link) {
        const Device device;
        const std::uint64_t qualifier = link.receive();
        const rsmengine::Ticket ticket = ticket_in(label_of(device, qualifier));
        std::array<Import, 100> handles;
        rsmengine::ListenerSlot request{};
        request.qualifier = qualifier;
        request.from.node = device.node();
        rsmengine::Letter letter{};
        std::memcpy(letter.data(), &request, sizeof(request));
        for (Import &handle : handles) {
            ASSERT_EQ(Import::redeem(device, ticket, handle), RSM_SUCCESS);
            EXPECT_EQ(handle.send(letter), RSM_SUCCESS);
        }
        link.send();
        while (!link.is_readable())
            for (Import &handle : handles)
                (void)handle.send(letter);
    });
    Side server, client;
    const ServicePoint service(server);
    flooder.send(service.qualifier);
    flooder.receive();
    for (int i = 0; i < 10; i++) {
        ASSERT_OK(connect(client, service.qualifier));
        service.accept();
        expect_event(client.connections, DAT_CONNECTION_EVENT_ESTABLISHED);
        EXPECT_OK(dat_ep_disconnect(client.ep, DAT_CLOSE_ABRUPT_FLAG));
        expect_event(client.connections, DAT_CONNECTION_EVENT_DISCONNECTED);
        expect_event(server.connections, DAT_CONNECTION_EVENT_DISCONNECTED);
        EXPECT_OK(dat_ep_reset(client.ep));
        EXPECT_OK(dat_ep_reset(server.ep));
    }
    flooder.send();
    flooder.expect_success();
}
