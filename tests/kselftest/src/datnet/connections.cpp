// SPDX-License-Identifier: GPL-2.0
// Connections between two nodes: set-up, private data, refusals, ends.
#include "datnet/support/dat_net_test.hpp"

#include <array>
#include <vector>

using namespace rsmtest;
using namespace rsmtest::dat;
using namespace rsmtest::datnet;

namespace {

class DatNetConnections : public DatNetPair {
  protected:
    std::size_t most_private_data() {
        DAT_PROVIDER_ATTR attributes{};
        EXPECT_OK(
            dat_ia_query(here->adapter, nullptr, 0, nullptr, DAT_PROVIDER_FIELD_ALL, &attributes));
        return static_cast<std::size_t>(attributes.max_private_data_size);
    }
    void exchange_from_here(std::size_t size);
    void exchange_from_there(std::size_t size);
    // Data goes both ways.
    void expect_transfers(std::uint64_t seed);
    void end(bool from_here, DAT_CLOSE_FLAGS flags) {
        if (from_here) {
            EXPECT_OK(dat_ep_disconnect(here->ep, flags));
        } else {
            there->call("disconnect", static_cast<unsigned>(flags));
        }
        expect_end(DAT_CONNECTION_EVENT_DISCONNECTED);
    }
    in_addr_t own_address() { return here->adapter.address().sin_addr.s_addr; }
};

void DatNetConnections::exchange_from_here(std::size_t size) {
    ASSERT_OK(call(*here, there->address(), qualifier_there(), size));
    const Answer caller = there->call("accept", size);
    EXPECT_EQ(caller.value(0), size);
    EXPECT_EQ(caller.value(1), 0U);
    EXPECT_EQ(caller.value(2), own_address());
    const DAT_EVENT up = expect_event(here->connections, DAT_CONNECTION_EVENT_ESTABLISHED);
    const auto &data = up.event_data.connect_event_data;
    ASSERT_EQ(static_cast<std::size_t>(data.private_data_size), size);
    EXPECT_EQ(private_mismatches(data.private_data, size, passive_seed), 0U);
    EXPECT_EQ(there->expect_connection(DAT_CONNECTION_EVENT_ESTABLISHED).value(1), 0U);
}

void DatNetConnections::exchange_from_there(std::size_t size) {
    there->call("connect", own_address(), qualifier_here(), size);
    const Caller caller = next_caller(*here);
    EXPECT_EQ(caller.private_size, size);
    EXPECT_EQ(caller.mismatches, 0U);
    EXPECT_EQ(caller.address, there->address());
    ASSERT_OK(accept(*here, caller.cr, size));
    expect_event(here->connections, DAT_CONNECTION_EVENT_ESTABLISHED);
    const Answer up = there->expect_connection(DAT_CONNECTION_EVENT_ESTABLISHED);
    EXPECT_EQ(up.value(1), size);
    EXPECT_EQ(up.value(2), 0U);
}

void DatNetConnections::expect_transfers(std::uint64_t seed) {
    fill(part(0, 3000), seed);
    there->receive(100, 3000, 1);
    EXPECT_OK(here->send(0, 3000, 2));
    EXPECT_EQ(there->expect_received(1), 3000U);
    expect_completion(here->requests, 2);
    EXPECT_EQ(there->differ(100, 3000, seed), 0U);
    EXPECT_OK(here->read(5000, there->part(100, 3000), 3));
    EXPECT_EQ(expect_completion(here->requests, 3), 3000U);
    EXPECT_EQ(mismatches(part(5000, 3000), seed), 0U);
}

} // namespace

TEST_F(DatNetConnections, private_data_of_every_size) {
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, most_private_data()}) {
        exchange_from_here(size);
        end(true, DAT_CLOSE_ABRUPT_FLAG);
        exchange_from_there(size);
        end(false, DAT_CLOSE_ABRUPT_FLAG);
    }
}

TEST_F(DatNetConnections, rejected_there) {
    EXPECT_OK(here->receive(0, 8, 1));
    ASSERT_OK(call(*here, there->address(), qualifier_there(), 20));
    EXPECT_EQ(there->call("reject").value(), 20U);
    expect_completion(here->receives, 1, DAT_DTO_ERR_FLUSHED);
    expect_failed(DAT_CONNECTION_EVENT_PEER_REJECTED);
    connect_from_here();
}

TEST_F(DatNetConnections, rejected_here) {
    there->receive(0, 8, 1);
    there->call("connect", own_address(), qualifier_here(), 20);
    const Caller caller = next_caller(*here);
    EXPECT_EQ(caller.private_size, 20U);
    EXPECT_OK(dat_cr_reject(caller.cr));
    there->expect_received(1, DAT_DTO_ERR_FLUSHED);
    there->expect_connection(DAT_CONNECTION_EVENT_PEER_REJECTED);
    there->call("reset");
    connect_from_there();
}

TEST_F(DatNetConnections, nobody_listens) {
    ASSERT_OK(call(*here, there->address(), 4242));
    expect_failed(DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
    there->call("connect", own_address(), 4242, 0);
    there->expect_connection(DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
    there->call("reset");
    // Our own qualifier is no qualifier of the other node's.
    ASSERT_OK(call(*here, there->address(), qualifier_here()));
    expect_failed(DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
    connect_from_here();
}

// One node has an address but is not there, the other has none.
TEST_F(DatNetConnections, nobody_is_there) {
    for (const unsigned host : {4U, 99U}) {
        ASSERT_OK(call(*here, htonl(0x0a4d0000 | host), 4242, 0, time_for_nobody()));
        expect_failed(DAT_CONNECTION_EVENT_UNREACHABLE);
    }
    connect_from_here();
}

// On a slow machine the time may be over before the request is there; then the test connects again.
TEST_F(DatNetConnections, nobody_answers_in_time) {
    const auto qualifier = qualifier_there();
    net::Pending arrival = there->begin("arrival");
    unsigned requests = 0;
    do {
        const auto began = std::chrono::steady_clock::now();
        ASSERT_OK(call(*here, there->address(), qualifier, 0, after(5000)));
        expect_failed(DAT_CONNECTION_EVENT_TIMED_OUT);
        EXPECT_GE(std::chrono::steady_clock::now() - began, scaled(5000));
        ASSERT_FALSE(HasFailure());
        requests++;
    } while (!arrival.arrived(std::chrono::milliseconds(1)));
    EXPECT_EQ(arrival.get().status, 0);
    // The partner would accept the others first.
    if (requests > 1)
        make_sides(bytes);
    connect_from_here();
}

TEST_F(DatNetConnections, ended_by_either_side_and_made_again) {
    unsigned round = 0;
    for (const bool ours : {true, false})
        for (const bool from_here : {true, false})
            for (const auto flags : {DAT_CLOSE_ABRUPT_FLAG, DAT_CLOSE_GRACEFUL_FLAG}) {
                SCOPED_TRACE(testing::Message() << "round " << round);
                connect(ours);
                expect_transfers(++round);
                end(from_here, flags);
                ASSERT_FALSE(HasFailure());
            }
}

TEST_F(DatNetConnections, end_flushes_on_both_sides) {
    connect_from_here();
    for (unsigned i = 0; i < 3; i++) {
        EXPECT_OK(here->receive(0, 8, i));
        there->receive(0, 8, i);
    }
    EXPECT_OK(dat_ep_disconnect(here->ep, DAT_CLOSE_ABRUPT_FLAG));
    for (unsigned i = 0; i < 3; i++) {
        expect_completion(here->receives, i, DAT_DTO_ERR_FLUSHED);
        there->expect_received(i, DAT_DTO_ERR_FLUSHED);
    }
    expect_end(DAT_CONNECTION_EVENT_DISCONNECTED);
}

// One EVD: the end comes behind the completion.
TEST_F(DatNetConnections, graceful_end_carries_requests_through) {
    here->use_one_evd();
    connect_from_here();
    fill(part(0, 40000), 7);
    EXPECT_OK(here->send(0, 40000, 1)); // nobody receives
    EXPECT_OK(dat_ep_disconnect(here->ep, DAT_CLOSE_GRACEFUL_FLAG));
    EXPECT_EQ(state_of(here->ep), DAT_EP_STATE_DISCONNECT_PENDING);
    there->receive(0, 40000, 2);
    EXPECT_EQ(there->expect_received(2), 40000U);
    EXPECT_EQ(there->differ(0, 40000, 7), 0U);
    expect_completion(here->requests, 1);
    expect_end(DAT_CONNECTION_EVENT_DISCONNECTED);
}

TEST_F(DatNetConnections, the_other_closes_its_ia) {
    connect_from_here();
    EXPECT_OK(here->receive(0, 8, 1));
    there->call("drop");
    expect_completion(here->receives, 1, DAT_DTO_ERR_FLUSHED);
    expect_event(here->connections, DAT_CONNECTION_EVENT_DISCONNECTED);
}

TEST_F(DatNetConnections, several_at_once) {
    constexpr unsigned count = 6;
    std::array<std::optional<Side>, count> ours;
    std::vector<Remote> theirs;
    std::array<DAT_CONN_QUAL, count> qualifiers;
    for (unsigned i = 0; i < count; i++) {
        ours[i].emplace(nullptr, 4096);
        theirs.emplace_back(*session, 4096, "side" + std::to_string(i));
        qualifiers[i] = theirs[i].call("listen").value();
    }
    for (unsigned i = 0; i < count; i++)
        ASSERT_OK(call(*ours[i], theirs[i].address(), qualifiers[i], i));
    for (unsigned i = 0; i < count; i++)
        EXPECT_EQ(theirs[i].call("accept", 0).value(), i);
    for (unsigned i = 0; i < count; i++) {
        expect_event(ours[i]->connections, DAT_CONNECTION_EVENT_ESTABLISHED);
        theirs[i].expect_connection(DAT_CONNECTION_EVENT_ESTABLISHED);
        fill({ours[i]->memory.start, 4000}, i);
        EXPECT_OK(ours[i]->write(0, theirs[i].part(50, 4000), i));
    }
    for (unsigned i = 0; i < count; i++) {
        expect_completion(ours[i]->requests, i);
        EXPECT_EQ(theirs[i].differ(50, 4000, i), 0U) << i;
    }
}
