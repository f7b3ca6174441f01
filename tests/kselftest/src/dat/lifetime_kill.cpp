// SPDX-License-Identifier: GPL-2.0
// kill -9 of either side at any point: the other one hears BROKEN, or the error of the set-up,
// soon; everything outstanding is flushed. The runner sees that nothing stays behind.
#include "dat/support/doomed.hpp"
#include "support/traced.hpp"

#include <cstdio>
#include <functional>
#include <gtest/gtest.h>
#include <list>
#include <string>
#include <string_view>
#include <thread>

using namespace rsmtest;
using namespace rsmtest::dat;

namespace {

constexpr Role roles[] = {Role::ACTIVE, Role::PASSIVE};
constexpr std::size_t large = 8U << 20;
constexpr int messages = 4; // of that size; a process is killed when 0, 1, ... of them have come

// A doomed process of each role, twice.
std::list<Doomed> doomed_ones(const Doomed::Body &body, std::size_t bytes)
{
    std::list<Doomed> all;
    for (int i = 0; i < messages; i++)
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
    int arrived = 0; // before the sender dies
    for (Doomed &doomed : all) {
        doomed.handshake(survivor);
        // One more than are sent: that one is flushed whenever the sender dies.
        for (unsigned i = 0; i < messages + 1; i++)
            EXPECT_OK(survivor.receive(0, large, i));
        doomed.receive();
        for (int i = 0; i < arrived; i++)
            expect_completion(survivor.receives, i);
        doomed.kill();
        EXPECT_LE(expect_receives_flushed(survivor, messages + 1, arrived), messages - arrived);
        expect_broken(survivor);
        arrived++;
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
    int sent = 0; // before the receiver dies
    for (Doomed &doomed : all) {
        doomed.handshake(survivor);
        doomed.receive();
        // One more than are received: that one is flushed whenever the receiver dies.
        for (unsigned i = 0; i < messages + 1; i++)
            EXPECT_OK(survivor.send(0, large, i));
        for (int i = 0; i < sent; i++)
            expect_completion(survivor.requests, i);
        doomed.kill();
        EXPECT_LE(expect_requests_flushed(survivor, messages + 1, sent), messages - sent);
        expect_broken(survivor);
        sent++;
    }
}

namespace {

// Reads and writes in turn until one of them fails; returns how. After `good` of them begins the end of the target.
DAT_DTO_COMPLETION_STATUS copy_until_it_fails(const Side &side, Doomed &target, unsigned good)
{
    const DAT_RMR_TRIPLET there = heard_where(target, large);
    std::thread killer;
    DAT_DTO_COMPLETION_STATUS status = DAT_DTO_SUCCESS;
    for (unsigned i = 0; status == DAT_DTO_SUCCESS; i++) {
        if (i == good)
            killer = std::thread([&] { target.kill(); });
        EXPECT_OK(i % 2 ? side.read(0, there, i) : side.write(0, there, i));
        const DAT_EVENT event = next_event(side.requests);
        if (event.event_number != DAT_DTO_COMPLETION_EVENT) {
            ADD_FAILURE() << std::hex << event.event_number;
            break;
        }
        status = event.event_data.dto_completion_event_data.status;
    }
    EXPECT_TRUE(killer.joinable()) << "a copy fails before the target is killed";
    if (killer.joinable())
        killer.join();
    target.kill();
    return status;
}

} // namespace

// Copies of the survivor into or out of pages of a process that goes away.
TEST(LifetimeKill, target_of_rdma)
{
    auto all = doomed_ones([](Side &side, Link &link) { say_where(side, link); }, large);
    Side survivor(nullptr, large);
    unsigned good = 0;
    for (Doomed &doomed : all) {
        doomed.handshake(survivor);
        EXPECT_EQ(copy_until_it_fails(survivor, doomed, good++), DAT_DTO_ERR_FLUSHED);
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
                link.send();
            }
        },
        large);
    Side survivor(nullptr, large), witness;
    constexpr std::byte own{0x77};
    std::byte &last = survivor.memory.start[large - 1];
    last = own;
    int good = 1; // operations before it dies
    for (Doomed &doomed : all) {
        doomed.handshake(survivor);
        EXPECT_EQ(last, own) << "a dead process has written";
        EXPECT_OK(survivor.receive(0, 64, 0));
        doomed.send(survivor.memory.rmr_context);
        doomed.send(reinterpret_cast<std::uintptr_t>(survivor.memory.start));
        for (int i = 0; i < good; i++)
            doomed.receive();
        doomed.kill();
        EXPECT_EQ(expect_receives_flushed(survivor, 1), 0);
        expect_broken(survivor);
        last = own;
        good++;
    }
    witness.accept_from(survivor);
    EXPECT_EQ(last, own) << "a dead process has written";
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

namespace {

// Rounds 1, 2, ... until one returns false, each in a process of its own: a doomed process is made before the first
// dat call.
void rounds(const std::function<bool(int)> &round)
{
    for (int n = 1; n <= most_stops; n++) {
        Child process([&](Link &link) { link.send(round(n)); });
        const auto reached = process.link().receive_unless_ended();
        process.expect_success();
        if (testing::Test::HasFailure() || !*reached) {
            std::printf("note: killed %d\n", n - 1);
            EXPECT_GT(n, 10) << "the doomed process made hardly a call";
            return;
        }
    }
    ADD_FAILURE() << "the doomed process made " << most_stops << " stops";
}

constexpr std::string_view marked = "marker";

bool is_marker(DAT_CR_HANDLE cr)
{
    DAT_CR_PARAM param{};
    EXPECT_OK(dat_cr_query(cr, DAT_CR_FIELD_ALL, &param));
    // A provider may add zeros.
    const auto size = static_cast<std::size_t>(param.private_data_size);
    return std::string_view(static_cast<const char *>(param.private_data), size).starts_with(marked);
}

// The connection ends, whether or not it has begun. A process that is not killed says when it has nothing left to do.
void expect_end_of_set_up(const Side &survivor, DAT_EVENT_NUMBER failure, Child &child, KillAtStop &killer)
{
    const DAT_EVENT event = next_event(survivor.connections);
    if (event.event_number != DAT_CONNECTION_EVENT_ESTABLISHED) {
        EXPECT_EQ(event.event_number, failure) << std::hex << event.event_number;
        killer.await_death();
        return;
    }
    (void)child.link().receive_unless_ended();
    killer.end();
    expect_disorderly_end(survivor.connections);
}

// In the end: was the process killed at its n-th stop?
bool is_killed(Child &child, KillAtStop &killer)
{
    const bool reached = killer.end();
    child.abandon(); // the tracer has waited for its end
    return reached;
}

// True: the process was killed at the n-th stop from the moment on when it was told to connect.
bool requester_dies(int n)
{
    Child child([](Link &link) {
        const DAT_CONN_QUAL qualifier = link.receive();
        Side side;
        link.send();
        link.receive();
        EXPECT_OK(connect(side, qualifier));
        expect_event(side.connections, DAT_CONNECTION_EVENT_ESTABLISHED);
        link.send();
        wait_for_the_end();
    });
    Side survivor, other;
    const ServicePoint service(survivor);
    child.send(service.qualifier);
    child.receive();
    KillAtStop killer(child.pid(), n, [&] { child.send(); });
    // The request behind which none of the dead process comes.
    std::thread marker([&] {
        killer.await_death();
        EXPECT_OK(connect(other, service.qualifier, std::string(marked)));
    });
    DAT_CR_HANDLE cr = service.request();
    if (!is_marker(cr)) {
        EXPECT_OK(dat_cr_accept(cr, survivor.ep, 0, nullptr));
        expect_end_of_set_up(survivor, DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR, child, killer);
        EXPECT_OK(dat_ep_reset(survivor.ep));
        cr = service.request();
        EXPECT_TRUE(is_marker(cr));
    }
    marker.join();
    EXPECT_OK(dat_cr_reject(cr));
    expect_event(other.connections, DAT_CONNECTION_EVENT_PEER_REJECTED);
    return is_killed(child, killer);
}

bool listener_dies(int n)
{
    Child child([](Link &link) {
        Side side;
        link.send();
        link.receive();
        const ServicePoint service(side);
        link.send(service.qualifier);
        service.accept();
        link.send();
        wait_for_the_end();
    });
    child.receive();
    Side survivor;
    KillAtStop killer(child.pid(), n, [&] { child.send(); });
    const auto qualifier = child.link().receive_unless_ended();
    if (qualifier) {
        EXPECT_OK(connect(survivor, *qualifier));
        expect_end_of_set_up(survivor, DAT_CONNECTION_EVENT_NON_PEER_REJECTED, child, killer);
        EXPECT_OK(dat_ep_reset(survivor.ep));
    }
    return is_killed(child, killer);
}

} // namespace

// Between the request and the first messages: whatever the survivor saw of it, it ends.
TEST(LifetimeKill, requester_at_each_call_of_the_set_up)
{
    rounds(requester_dies);
}

TEST(LifetimeKill, listener_at_each_call_of_the_set_up)
{
    rounds(listener_dies);
}
