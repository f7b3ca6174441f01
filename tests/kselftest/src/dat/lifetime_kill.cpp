// SPDX-License-Identifier: GPL-2.0
// kill -9 of either side at any point: the other one hears BROKEN, or the error of the set-up,
// soon; everything outstanding is flushed. That nothing stays behind is seen by whoever runs the
// test.
#include "dat/support/doomed.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <list>
#include <thread>
#include <vector>

using namespace rsmtest;
using namespace rsmtest::dat;

namespace {

constexpr Role roles[] = {Role::ACTIVE, Role::PASSIVE};
constexpr std::size_t large = 8U << 20;
constexpr int messages = 4; // of that size, on their way when a process is killed

void sleep_for(int milliseconds)
{
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

// In the middle of something: after so many milliseconds.
const std::vector<int> moments = {0, 5, 30, 120};

// A doomed process for each role and moment.
std::list<Doomed> doomed_ones(const Doomed::Body &body, std::size_t bytes)
{
    std::list<Doomed> all;
    for (std::size_t i = 0; i < moments.size(); i++)
        all.emplace_back(roles[i % 2], body, bytes);
    return all;
}

void say_where(const Side &side, Link &link)
{
    link.send(side.memory.rmr_context);
    link.send(reinterpret_cast<std::uintptr_t>(side.memory.start));
}

DAT_RMR_TRIPLET heard_where(Doomed &doomed, std::size_t size)
{
    DAT_RMR_TRIPLET there{};
    there.rmr_context = static_cast<DAT_RMR_CONTEXT>(doomed.receive());
    there.target_address = doomed.receive();
    there.segment_length = size;
    return there;
}

} // namespace

TEST(LifetimeKill, idle)
{
    std::list<Doomed> all;
    for (const Role role : roles)
        all.emplace_back(role, [](Side &, Link &) {});
    Side survivor;
    for (Doomed &doomed : all) {
        doomed.handshake(survivor);
        for (unsigned i = 0; i < 3; i++) {
            EXPECT_OK(survivor.receive(0, 64, i));
            EXPECT_OK(survivor.send(0, 64, i)); // nobody receives
        }
        doomed.kill();
        EXPECT_EQ(expect_receives_flushed(survivor, 3), 0);
        EXPECT_EQ(expect_requests_flushed(survivor, 3), 0);
        expect_broken(survivor);
    }
}

TEST(LifetimeKill, noticed)
{
    using Clock = std::chrono::steady_clock;
    std::list<Doomed> all;
    for (int i = 0; i < 5; i++)
        all.emplace_back(roles[i % 2], [](Side &, Link &) {});
    Side survivor;
    for (Doomed &doomed : all) {
        doomed.handshake(survivor);
        const auto start = Clock::now();
        doomed.kill();
        expect_disorderly_end(survivor.connections);
        note_time("the end of a process was noticed", start);
        EXPECT_OK(dat_ep_reset(survivor.ep));
    }
}

// Nobody waits in the library.
TEST(LifetimeKill, while_polled)
{
    Doomed doomed(Role::ACTIVE, [](Side &, Link &) {});
    Side survivor;
    doomed.handshake(survivor);
    EXPECT_OK(survivor.receive(0, 64, 1));
    doomed.kill();
    DAT_EVENT event{};
    EXPECT_TRUE(
        eventually([&] { return dat_evd_dequeue(survivor.receives, &event) == DAT_SUCCESS; }));
    EXPECT_EQ(event.event_data.dto_completion_event_data.status, DAT_DTO_ERR_FLUSHED);
    EXPECT_TRUE(
        eventually([&] { return dat_evd_dequeue(survivor.connections, &event) == DAT_SUCCESS; }));
    EXPECT_TRUE(is_disorderly_end(event.event_number)) << std::hex << event.event_number;
}

TEST(LifetimeKill, sender_of_large_messages)
{
    auto all = doomed_ones(
        [](Side &side, Link &link) {
            for (unsigned i = 0; i < messages; i++)
                EXPECT_OK(side.send(0, large, i));
            link.send();
        },
        large);
    Side survivor(nullptr, large);
    auto moment = moments.begin();
    for (Doomed &doomed : all) {
        doomed.handshake(survivor);
        // One more than are sent: that one is flushed whenever the sender dies.
        for (unsigned i = 0; i < messages + 1; i++)
            EXPECT_OK(survivor.receive(0, large, i));
        doomed.receive();
        sleep_for(*moment++);
        doomed.kill();
        EXPECT_LE(expect_receives_flushed(survivor, messages + 1), messages);
        expect_broken(survivor);
    }
}

TEST(LifetimeKill, receiver_of_large_messages)
{
    auto all = doomed_ones(
        [](Side &side, Link &link) {
            for (unsigned i = 0; i < messages; i++)
                EXPECT_OK(side.receive(0, large, i));
            link.send();
        },
        large);
    Side survivor(nullptr, large);
    auto moment = moments.begin();
    for (Doomed &doomed : all) {
        doomed.handshake(survivor);
        doomed.receive();
        // One more than are received: that one is flushed whenever the receiver dies.
        for (unsigned i = 0; i < messages + 1; i++)
            EXPECT_OK(survivor.send(0, large, i));
        sleep_for(*moment++);
        doomed.kill();
        EXPECT_LE(expect_requests_flushed(survivor, messages + 1), messages);
        expect_broken(survivor);
    }
}

// Copies of the survivor into or out of pages of a process that goes away.
TEST(LifetimeKill, target_of_rdma)
{
    auto all = doomed_ones([](Side &side, Link &link) { say_where(side, link); }, large);
    Side survivor(nullptr, large);
    auto moment = moments.begin();
    for (Doomed &doomed : all) {
        doomed.handshake(survivor);
        const DAT_RMR_TRIPLET there = heard_where(doomed, large);
        std::thread killer([&] {
            sleep_for(*moment);
            doomed.kill();
        });
        DAT_DTO_COMPLETION_STATUS status = DAT_DTO_SUCCESS;
        for (unsigned i = 0; status == DAT_DTO_SUCCESS; i++) {
            EXPECT_OK(i % 2 ? survivor.read(0, there, i) : survivor.write(0, there, i));
            const DAT_EVENT event = next_event(survivor.requests);
            ASSERT_EQ(event.event_number, DAT_DTO_COMPLETION_EVENT);
            status = event.event_data.dto_completion_event_data.status;
        }
        killer.join();
        EXPECT_EQ(status, DAT_DTO_ERR_FLUSHED);
        moment++;
        expect_broken(survivor);
    }
}

// The doomed one writes and reads all the time; what it was let into is the survivor's alone then.
TEST(LifetimeKill, initiator_of_rdma)
{
    auto all = doomed_ones(
        [](Side &side, Link &link) {
            DAT_RMR_TRIPLET there{};
            there.rmr_context = static_cast<DAT_RMR_CONTEXT>(link.receive());
            there.target_address = link.receive();
            there.segment_length = large;
            for (unsigned i = 0;; i++) {
                EXPECT_OK(i % 2 ? side.read(0, there, i) : side.write(0, there, i));
                expect_completion(side.requests, i);
                if (i == 0)
                    link.send();
            }
        },
        large);
    Side survivor(nullptr, large);
    auto moment = moments.begin();
    for (Doomed &doomed : all) {
        doomed.handshake(survivor);
        EXPECT_OK(survivor.receive(0, 64, 0));
        doomed.send(survivor.memory.rmr_context);
        doomed.send(reinterpret_cast<std::uintptr_t>(survivor.memory.start));
        doomed.receive();
        sleep_for(*moment++);
        doomed.kill();
        EXPECT_EQ(expect_receives_flushed(survivor, 1), 0);
        expect_broken(survivor);
        survivor.memory.start[large - 1] = std::byte{0x77};
        sleep_for(1);
        EXPECT_EQ(survivor.memory.start[large - 1], std::byte{0x77});
    }
}

TEST(LifetimeKill, requester_before_the_answer)
{
    const auto ask = [](Link &link) {
        Side side;
        EXPECT_OK(connect(side, link.receive()));
        wait_for_the_end();
    };
    Child accepted(ask), rejected(ask);
    Side survivor;
    const ServicePoint service(survivor);
    accepted.send(service.qualifier);
    DAT_CR_HANDLE cr = service.request();
    accepted.kill();
    EXPECT_OK(survivor.receive(0, 64, 0));
    EXPECT_OK(dat_cr_accept(cr, survivor.ep, 0, nullptr));
    expect_event(survivor.connections, DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR);
    EXPECT_EQ(expect_receives_flushed(survivor, 1), 0);
    EXPECT_EQ(state_of(survivor.ep), DAT_EP_STATE_DISCONNECTED);
    rejected.send(service.qualifier);
    cr = service.request();
    rejected.kill();
    EXPECT_OK(dat_cr_reject(cr));
    // The next events are those of a request that the survivor makes to itself.
    EXPECT_OK(dat_ep_reset(survivor.ep));
    EXPECT_OK(connect(survivor, service.qualifier));
    EXPECT_OK(dat_cr_reject(service.request()));
    expect_event(survivor.connections, DAT_CONNECTION_EVENT_PEER_REJECTED);
}

TEST(LifetimeKill, listener_before_the_answer)
{
    Child listener([](Link &link) {
        link.receive();
        Side side;
        const ServicePoint service(side);
        link.send(service.qualifier);
        (void)service.request();
        link.send();
        wait_for_the_end();
    });
    Side survivor;
    listener.send();
    const DAT_CONN_QUAL qualifier = listener.receive();
    EXPECT_OK(survivor.receive(0, 64, 0));
    EXPECT_OK(connect(survivor, qualifier));
    listener.receive();
    listener.kill();
    expect_event(survivor.connections, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
    EXPECT_EQ(expect_receives_flushed(survivor, 1), 0);
    EXPECT_OK(dat_ep_reset(survivor.ep));
    // Nobody is there any more, so the qualifier is free.
    EXPECT_OK(connect(survivor, qualifier));
    expect_event(survivor.connections, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
    DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
    EXPECT_OK(dat_psp_create(survivor.adapter, qualifier, survivor.arrivals, DAT_PSP_CONSUMER_FLAG,
                             &psp));
    EXPECT_OK(dat_psp_free(psp));
}

// Somewhere between the request and the first messages: whatever the survivor saw of it, it ends.
TEST(LifetimeKill, requester_at_any_moment_of_the_set_up)
{
    std::list<Child> all;
    for (int i = 0; i < 8; i++)
        all.emplace_back([](Link &link) {
            const DAT_CONN_QUAL qualifier = link.receive();
            Side side;
            link.send();
            EXPECT_OK(connect(side, qualifier));
            wait_for_the_end();
        });
    Side survivor;
    const ServicePoint service(survivor);
    int moment = 0;
    for (Child &child : all) {
        child.send(service.qualifier);
        child.receive();
        std::thread killer([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(moment * 4));
            child.kill();
        });
        DAT_EVENT event{};
        DAT_COUNT more = 0;
        if (dat_evd_wait(survivor.arrivals, after(500), 1, &event, &more) == DAT_SUCCESS) {
            EXPECT_OK(dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, survivor.ep,
                                    0, nullptr));
            event = next_event(survivor.connections);
            if (event.event_number == DAT_CONNECTION_EVENT_ESTABLISHED)
                event = next_event(survivor.connections);
            EXPECT_TRUE(is_disorderly_end(event.event_number) ||
                        event.event_number == DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR)
                << std::hex << event.event_number;
            EXPECT_OK(dat_ep_reset(survivor.ep));
        }
        killer.join();
        moment++;
    }
}

TEST(LifetimeKill, listener_at_any_moment_of_the_set_up)
{
    std::list<Child> all;
    for (int i = 0; i < 8; i++)
        all.emplace_back([](Link &link) {
            link.receive();
            Side side;
            const ServicePoint service(side);
            link.send(service.qualifier);
            service.accept();
            wait_for_the_end();
        });
    Side survivor;
    int moment = 0;
    for (Child &child : all) {
        child.send();
        const DAT_CONN_QUAL qualifier = child.receive();
        std::thread killer([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(moment * 4));
            child.kill();
        });
        EXPECT_OK(connect(survivor, qualifier));
        DAT_EVENT event = next_event(survivor.connections);
        if (event.event_number == DAT_CONNECTION_EVENT_ESTABLISHED) {
            event = next_event(survivor.connections);
            EXPECT_TRUE(is_disorderly_end(event.event_number)) << std::hex << event.event_number;
        } else {
            EXPECT_EQ(event.event_number, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
        }
        EXPECT_OK(dat_ep_reset(survivor.ep));
        killer.join();
        moment++;
    }
}
