// SPDX-License-Identifier: GPL-2.0
// The other process or the other machine dies: this side is told in time, gets everything back that
// it has posted, and may go on with others.
#include "datnet/support/dat_net_test.hpp"

#include <csignal>
#include <functional>
#include <thread>

using namespace rsmtest;
using namespace rsmtest::dat;
using namespace rsmtest::datnet;

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t large = 1U << 20;
constexpr unsigned posted = 4;

class DatNetFaults : public DatNetPair {
  protected:
    enum class Victim { process, machine };

    void kill(Victim victim) {
        victim == Victim::process ? session->kill() : net::Vm::kill(partner.node());
    }
    // Everything works again with a new process.
    void expect_service() {
        session.emplace(partner.node());
        make_side_there(bytes);
        connect_from_here();
        fill(part(0, 3000), 8);
        EXPECT_OK(here->write(0, there->part(10, 3000), 1));
        expect_completion(here->requests, 1);
        EXPECT_EQ(there->differ(10, 3000, 8), 0U);
    }
    // It is killed when we have these outstanding. The next event of here->connections has to be
    // that of the next attempt to connect.
    void kill_with(Victim victim, const std::function<void(unsigned)> &post);
    void expect_broken(Victim victim);
    void expect_flushed();
    void expect_nobody_there();
};

void DatNetFaults::expect_broken(Victim victim) {
    const auto began = Clock::now();
    expect_disorderly_end(here->connections);
    note_time(victim == Victim::process ? "the end of a process was noticed"
                                        : "the end of a node was noticed",
              began);
    EXPECT_EQ(state_of(here->ep), DAT_EP_STATE_DISCONNECTED);
}

namespace {

// Before what is flushed.
bool may_come_first(DAT_DTO_COMPLETION_STATUS status) {
    return status == DAT_DTO_SUCCESS ||
           (differences().hosts_die_in_silence && status == DAT_DTO_ERR_TRANSPORT);
}

void expect_refused_by_nobody(const Side &asking) {
    const DAT_EVENT failed = next_event(asking.connections);
    EXPECT_TRUE(failed.event_number == DAT_CONNECTION_EVENT_NON_PEER_REJECTED ||
                failed.event_number == DAT_CONNECTION_EVENT_UNREACHABLE)
        << std::hex << failed.event_number;
}

} // namespace

// A host that says nothing may still have its place among the neighbours, or not any more.
void DatNetFaults::expect_nobody_there() {
    const DAT_EVENT failed = next_event(here->connections);
    EXPECT_TRUE(failed.event_number == DAT_CONNECTION_EVENT_UNREACHABLE ||
                (failed.event_number == DAT_CONNECTION_EVENT_TIMED_OUT &&
                 differences().hosts_die_in_silence))
        << std::hex << failed.event_number;
    EXPECT_EQ(state_of(here->ep), DAT_EP_STATE_DISCONNECTED);
    EXPECT_OK(dat_ep_reset(here->ep));
}

// Some may have been carried out; behind the first that was not nothing was.
void DatNetFaults::expect_flushed() {
    for (unsigned i = 0; i < posted; i++)
        expect_completion(here->receives, i, DAT_DTO_ERR_FLUSHED);
    bool flushed = false;
    for (unsigned i = 0; i < posted; i++) {
        const DAT_EVENT event = expect_event(here->requests, DAT_DTO_COMPLETION_EVENT);
        const auto &data = event.event_data.dto_completion_event_data;
        EXPECT_EQ(data.user_cookie.as_64, i);
        EXPECT_TRUE(data.status == DAT_DTO_ERR_FLUSHED || (!flushed && may_come_first(data.status)))
            << data.status;
        flushed = data.status != DAT_DTO_SUCCESS;
    }
}

void DatNetFaults::kill_with(Victim victim, const std::function<void(unsigned)> &post) {
    make_sides(large);
    connect_from_here();
    for (unsigned i = 0; i < posted; i++) {
        EXPECT_OK(here->receive(0, 8, i));
        post(i);
    }
    kill(victim);
    expect_broken(victim);
    expect_flushed();
    EXPECT_OK(dat_ep_reset(here->ep));
}

} // namespace

TEST_F(DatNetFaults, process_killed_while_idle) {
    connect_from_there();
    EXPECT_OK(here->receive(0, 8, 1));
    kill(Victim::process);
    expect_broken(Victim::process);
    expect_completion(here->receives, 1, DAT_DTO_ERR_FLUSHED);
    EXPECT_OK(dat_ep_reset(here->ep));
    expect_service();
}

TEST_F(DatNetFaults, process_killed_with_sends_that_wait) {
    kill_with(Victim::process, [&](unsigned i) { EXPECT_OK(here->send(0, large, i)); });
    expect_service();
}

TEST_F(DatNetFaults, process_killed_in_the_middle_of_messages) {
    kill_with(Victim::process, [&](unsigned i) {
        there->receive(0, large, i);
        EXPECT_OK(here->send(0, large, i));
    });
    expect_service();
}

TEST_F(DatNetFaults, process_killed_in_the_middle_of_reads_and_writes) {
    kill_with(Victim::process, [&](unsigned i) {
        const DAT_RMR_TRIPLET all = there->part(0, large);
        EXPECT_OK(i % 2 ? here->read(0, all, i) : here->write(0, all, i));
    });
    expect_service();
}

// A stopped process is no dead one, however long it takes.
TEST_F(DatNetFaults, process_stopped_for_a_while) {
    connect_from_here();
    there->receive(0, 3000, 1);
    fill(part(0, 3000), 6);
    session->signal(SIGSTOP);
    EXPECT_OK(here->send(0, 3000, 2));
    EXPECT_OK(here->read(5000, there->part(0, 3000), 3));
    // Long enough for a provider to take it for dead. The verdict is the connection's next event.
    std::this_thread::sleep_for(scaled(1500));
    session->signal(SIGCONT);
    EXPECT_EQ(expect_completion(here->requests, 2), 3000U);
    EXPECT_EQ(expect_completion(here->requests, 3), 3000U);
    EXPECT_EQ(there->expect_received(1), 3000U);
    EXPECT_EQ(mismatches(part(5000, 3000), 6), 0U);
    // Nothing has ended the connection before.
    EXPECT_OK(dat_ep_disconnect(here->ep, DAT_CLOSE_ABRUPT_FLAG));
    expect_end(DAT_CONNECTION_EVENT_DISCONNECTED);
}

TEST_F(DatNetFaults, process_killed_before_it_answers) {
    ASSERT_OK(call(*here, there->address(), qualifier_there()));
    there->call("arrival");
    const auto began = Clock::now();
    kill(Victim::process);
    expect_failed(DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
    note_time("the end of a process was noticed", began);
    expect_service();
}

TEST_F(DatNetFaults, process_killed_before_it_is_answered) {
    there->call("connect", here->adapter.address().sin_addr.s_addr, qualifier_here(), 0);
    const Caller caller = next_caller(*here);
    kill(Victim::process);
    EXPECT_OK(accept(*here, caller.cr));
    expect_failed(DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR);
    expect_service();
}

// A machine takes long to start: everything that its death may hit is hit at once.
TEST_F(DatNetFaults, machine_killed) {
    Side idle(nullptr, 4096);
    Side asking(nullptr, 4096);
    const Remote other(*session, 4096, "other");
    const DAT_CONN_QUAL qualifier = other.call("listen").value();
    ASSERT_OK(call(idle, other.address(), qualifier));
    other.call("accept", 0);
    expect_event(idle.connections, DAT_CONNECTION_EVENT_ESTABLISHED);
    EXPECT_OK(idle.receive(0, 8, 9));
    ASSERT_OK(call(asking, other.address(), qualifier));
    other.call("arrival");

    kill_with(Victim::machine, [&](unsigned i) {
        if (i % 2) {
            EXPECT_OK(here->read(0, there->part(0, large), i));
        } else {
            there->receive(0, large, i);
            EXPECT_OK(here->send(0, large, i));
        }
    });
    expect_disorderly_end(idle.connections);
    expect_completion(idle.receives, 9, DAT_DTO_ERR_FLUSHED);
    if (differences().hosts_die_in_silence)
        EXPECT_OK(dat_ep_disconnect(asking.ep, DAT_CLOSE_ABRUPT_FLAG));
    else
        expect_refused_by_nobody(asking);
    ASSERT_OK(call(*here, there->address(), 4242, 0, time_for_nobody()));
    expect_nobody_there();
    ASSERT_NO_FATAL_FAILURE(restart());
    expect_service();
}

// For longer than the heartbeat allows: each side takes the other for dead.
TEST_F(DatNetFaults, machine_suspended_for_too_long) {
    connect_from_here();
    net::Vm::pause(partner.node());
    const auto began = Clock::now();
    expect_disorderly_end(here->connections);
    note_time("the silence of a node was noticed", began);
    net::Vm::resume(partner.node());
    there->expect_connection(DAT_CONNECTION_EVENT_BROKEN);
    EXPECT_OK(dat_ep_reset(here->ep));
}
