// SPDX-License-Identifier: GPL-2.0
// Other users of the node and a service point: what they can read, what they can take, what they
// can hold up.
#include "dat/support/attack.hpp"
#include "dat/support/doomed.hpp"

#include "connect/listener.h"

#include <array>
#include <cstring>

using namespace rsmtest;
using namespace rsmtest::dat;

namespace {

using rsmdat::Channel;
using rsmdat::Device;
using rsmdat::Import;
using rsmdat::Label;
using rsmdat::SegmentAddress;

constexpr std::uint64_t contested = 4711;

class RsmAttackListeners : public testing::Test {
protected:
    static Label label_of(const Device &device, std::uint64_t qualifier)
    {
        Import import;
        Label label{};
        EXPECT_EQ(Import::connect(device, "loopback", device.node(), rsmdat::label_id(qualifier),
                                  RSM_PERM_READ, import),
                  RSM_SUCCESS);
        EXPECT_EQ(import.get(0, std::as_writable_bytes(std::span(&label, 1))), RSM_SUCCESS);
        EXPECT_EQ(label.qualifier, qualifier);
        return label;
    }
    static rsmdat::Ticket ticket_in(const Label &label)
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
            std::uint32_t id = rsmdat::label_id(contested);
            const rsm_acl_entry everybody{raw::local_node(), mode};
            EXPECT_EQ(raw::bind(handle.get(), pages.data(), pages.size()), raw::success);
            EXPECT_EQ(raw::publish(handle.get(), id, {&everybody, 1}), raw::success);
            link.tell();
            link.hear();
        });
        squatter.hear();
        {
            const Side server;
            DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
            EXPECT_DAT(error(DAT_CONN_QUAL_IN_USE),
                       dat_psp_create(server.adapter, contested, server.arrivals,
                                      DAT_PSP_CONSUMER_FLAG, &psp));
        }
        squatter.tell();
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
        std::uint32_t id = rsmdat::label_id(contested);
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
        const Label label = label_of(device, link.hear());
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
    spy.tell(service.qualifier);
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

// A hundred requests of another user that lead nowhere are always waiting; each of ours is served.
TEST_F(RsmAttackListeners, flood_of_requests_starves_nobody)
{
    Child flooder(alice(), [](Link &link) {
        const Device device;
        const std::uint64_t qualifier = link.hear();
        const rsmdat::Ticket ticket = ticket_in(label_of(device, qualifier));
        std::array<Import, 100> handles;
        rsmdat::ListenerSlot request{};
        request.qualifier = qualifier;
        request.from.node = device.node();
        rsmdat::Letter letter{};
        std::memcpy(letter.data(), &request, sizeof(request));
        for (Import &handle : handles) {
            ASSERT_EQ(Import::redeem(device, ticket, handle), RSM_SUCCESS);
            EXPECT_EQ(handle.send(letter), RSM_SUCCESS);
        }
        link.tell();
        while (!link.has_word())
            for (Import &handle : handles)
                (void)handle.send(letter);
    });
    Side server, client;
    const ServicePoint service(server);
    flooder.tell(service.qualifier);
    flooder.hear();
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
    flooder.tell();
    flooder.expect_success();
}
