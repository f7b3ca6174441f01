// SPDX-License-Identifier: GPL-2.0
// Networks under an IA that fail: links, devices, packets. A posted request is carried out or
// completes with an error in bounded time, the connection ends, and a new one works.
#include "datnet/support/dat_net_test.hpp"
#include "net/support/netem.hpp"

#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace rsmtest;
using namespace rsmtest::dat;
using namespace rsmtest::datnet;

namespace {

using std::chrono::milliseconds;

constexpr std::size_t large = 1U << 20;
constexpr unsigned posted = 8;
constexpr const char *add_device = "rdma link add rxe0 type rxe netdev eth0";
// It ends when nobody uses the device any more.
constexpr const char *delete_device = "setsid rdma link delete rxe0 >/dev/null 2>&1 &";

bool has_device() {
    return access("/sys/class/infiniband/rxe0", F_OK) == 0;
}

// A command on this node.
void run_here(const std::string &command) {
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
}

class DatNetNetwork : public DatNetPair {
  protected:
    void SetUp() override {
        if (!has_device())
            GTEST_SKIP() << "needs a network device under the IA";
        DatNetPair::SetUp();
    }
    // A command on the partner's. There is another way there than the network.
    void run_there(const std::string &command) const {
        const Answer answer = Session(partner.node()).call("sh " + command);
        EXPECT_EQ(answer.status, 0) << command << ": " << answer.text;
    }
    // For large sides: requests both ways, each for memory of its own.
    void post();
    // How many of them were carried out: each completes, and behind the first that was not they
    // are flushed.
    unsigned completed();
    void expect_broken();
    // A new process and a new connection.
    void expect_service();
    void close_all() {
        here.reset();
        there.reset();
        session.reset();
    }
    // One that lets us move `size` bytes there and back.
    bool survives(std::size_t size, std::uint64_t seed);
};

// Reads get what the partner has filled in, writes take what stands here.
void DatNetNetwork::post() {
    const std::size_t piece = large / posted;
    there->fill(0, large, 5);
    fill(part(0, large), 6);
    for (unsigned i = 0; i < posted; i++) {
        EXPECT_OK(here->receive(0, 8, i));
        const DAT_RMR_TRIPLET target = there->part(i * piece, piece);
        EXPECT_OK(i % 2 ? here->read(i * piece, target, i) : here->write(i * piece, target, i));
    }
}

unsigned DatNetNetwork::completed() {
    unsigned good = 0;
    bool broken = false;
    for (unsigned i = 0; i < posted; i++) {
        const DAT_EVENT event = next_event(here->requests);
        const auto &data = event.event_data.dto_completion_event_data;
        EXPECT_EQ(event.event_number, DAT_DTO_COMPLETION_EVENT) << "request " << i << " hangs";
        EXPECT_EQ(data.user_cookie.as_64, i);
        if (broken) {
            EXPECT_EQ(data.status, DAT_DTO_ERR_FLUSHED) << i;
        }
        broken = broken || data.status != DAT_DTO_SUCCESS;
        good += !broken;
    }
    return good;
}

void DatNetNetwork::expect_broken() {
    expect_disorderly_end(here->connections);
    EXPECT_EQ(state_of(here->ep), DAT_EP_STATE_DISCONNECTED);
    for (unsigned i = 0; i < posted; i++)
        expect_completion(here->receives, i, DAT_DTO_ERR_FLUSHED);
    EXPECT_OK(dat_ep_reset(here->ep));
}

void DatNetNetwork::expect_service() {
    close_all();
    EXPECT_TRUE(eventually([&] { return has_path(); })) << "no path";
    session.emplace(partner.node());
    make_sides(bytes);
    connect_from_here();
    EXPECT_TRUE(survives(bytes / 4, 8));
}

bool DatNetNetwork::survives(std::size_t size, std::uint64_t seed) {
    fill(part(0, size), seed);
    EXPECT_OK(here->write(0, there->part(0, size), 1));
    EXPECT_OK(here->read(size, there->part(0, size), 2));
    for (DAT_UINT64 id : {1, 2}) {
        const DAT_EVENT event = next_event(here->requests);
        EXPECT_EQ(event.event_number, DAT_DTO_COMPLETION_EVENT) << "request " << id << " hangs";
        if (event.event_data.dto_completion_event_data.status != DAT_DTO_SUCCESS)
            return false;
    }
    EXPECT_EQ(there->differ(0, size, seed), 0U) << "written";
    EXPECT_EQ(mismatches(part(size, size), seed), 0U) << "read";
    return true;
}

// A side that calls and is ended by itself, and a process that takes the calls.
class Lane {
  public:
    Lane(const net::Peer &partner, unsigned rounds)
        : process_(partner.node()), rounds_(rounds) {}

    // The other side does not wait for ever.
    void serve() { served_.emplace(other_.begin("serve", rounds_)); }
    void run() const {
        for (unsigned i = 0; i < rounds_ && !testing::Test::HasFailure(); i++) {
            EXPECT_OK(call(side_, other_.address(), qualifier_));
            expect_event(side_.connections, DAT_CONNECTION_EVENT_ESTABLISHED);
            EXPECT_OK(dat_ep_disconnect(side_.ep, DAT_CLOSE_ABRUPT_FLAG));
            expect_event(side_.connections, DAT_CONNECTION_EVENT_DISCONNECTED);
            EXPECT_OK(dat_ep_reset(side_.ep));
        }
    }
    void expect_end() {
        const Answer answer = served_->get();
        EXPECT_EQ(answer.status, 0) << answer.text;
    }

  private:
    Session process_;
    Side side_{nullptr, 4096};
    Remote other_{process_, 4096};
    DAT_CONN_QUAL qualifier_ = other_.call("listen").value();
    unsigned rounds_;
    std::optional<net::Pending> served_;
};

} // namespace

// Requests under way may outlast it. A datagram of the connection manager's that finds no route
// leaves rdma_rxe of Linux 6.1 deaf (Documentation/rdma.md): a new device is not.
TEST_F(DatNetNetwork, link_is_down_for_a_second) {
    make_sides(large);
    connect_from_here();
    run_there("ip link set eth0 down");
    post();
    std::this_thread::sleep_for(milliseconds(1000));
    run_there("ip link set eth0 up");
    if (completed() < posted)
        expect_broken();
    close_all();
    run_there("rdma link delete rxe0");
    run_there(add_device);
    expect_service();
}

// This process could not open the new one: librdmacm keeps devices open until the process ends, and
// soft RoCE waits for that.
TEST_F(DatNetNetwork, device_of_the_partner_goes_under_load) {
    make_sides(large);
    connect_from_here();
    for (unsigned i = 0; i < posted; i++)
        there->receive(0, 8, i);
    post();
    run_there(delete_device);
    EXPECT_EQ(there->call("alarm").value(), DAT_ASYNC_ERROR_IA_CATASTROPHIC);
    completed();
    expect_broken();
    for (unsigned i = 0; i < posted; i++)
        there->expect_received(i, DAT_DTO_ERR_FLUSHED);
    there->expect_connection(DAT_CONNECTION_EVENT_BROKEN);
    there->expect_state(DAT_EP_STATE_DISCONNECTED);
    close_all();
    run_there(std::string("until ") + add_device + " 2>/dev/null; do sleep 0.1; done");
    expect_service();
}

TEST_F(DatNetNetwork, one_percent_of_the_packets_is_lost) {
    const std::string lose = net::netem("loss 1%");
    const std::string lose_no_more = net::netem();
    const std::size_t size = bytes / 2;
    connect_from_here();
    run_there(lose);
    run_here(lose);
    unsigned good = 0;
    for (std::uint64_t seed = 1; seed <= 20 && survives(size, seed); seed++)
        good++;
    run_here(lose_no_more);
    run_there(lose_no_more);
    std::printf("note: %u of 20 connections lived\n", good);
    expect_service();
}

TEST_F(DatNetNetwork, thousand_connects) {
    constexpr unsigned width = 4;
    std::vector<std::unique_ptr<Lane>> lanes;
    for (unsigned i = 0; i < width; i++)
        lanes.push_back(std::make_unique<Lane>(partner, 1000 / width / slow_factor()));
    for (const auto &lane : lanes)
        lane->serve();
    std::vector<std::thread> callers;
    for (const auto &lane : lanes)
        callers.emplace_back([&] { lane->run(); });
    for (std::thread &caller : callers)
        caller.join();
    for (const auto &lane : lanes)
        lane->expect_end();
}
