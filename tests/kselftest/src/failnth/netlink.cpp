// SPDX-License-Identifier: GPL-2.0
// Error sweeps over the commands of netlink family `rsm`.
#include "netlink/support/client.hpp"
#include "support/fault.hpp"
#include "support/raw.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <gtest/gtest.h>
#include <optional>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

using namespace rsmtest;
using netlink::Client;
using netlink::Request;
using raw::success;

namespace {

using Bytes = std::vector<std::uint8_t>;

// A segment with an importer, for the lists to have something in them.
struct Scene {
    raw::Published published{2};
    Fd imported = raw::open_segment();

    Scene()
    {
        EXPECT_TRUE(published.ok);
        EXPECT_EQ(raw::connect(imported.get(), published.id), success);
    }
};

// The kernel's verdict on what is in the room, or nothing if there is more to come.
std::optional<int> verdict(std::uint8_t *room, int left)
{
    for (auto *header = reinterpret_cast<nlmsghdr *>(room); nlmsg_ok(header, left);
         header = nlmsg_next(header, &left)) {
        if (header->nlmsg_type != NLMSG_ERROR && header->nlmsg_type != NLMSG_DONE)
            continue;
        int error = 0;
        std::memcpy(&error, nlmsg_data(header), sizeof(error));
        return -error;
    }
    return std::nullopt;
}

class FailNthNetlink : public testing::Test {
protected:
    using Make = std::function<Request(const Scene &)>;

    void SetUp() override
    {
        if (!faults.available())
            GTEST_SKIP() << "this kernel has no fault injection";
    }

    // Sends a request, and takes the answer, by system calls alone: a fault is the kernel's. Where the
    // kernel can't allocate an answer the socket has an error.
    int exchange(int socket, const Bytes &request)
    {
        if (write(socket, request.data(), request.size()) != static_cast<ssize_t>(request.size()))
            return errno;
        for (;;) {
            const ssize_t got = recv(socket, room.data(), room.size(), 0);
            if (got < 0)
                return errno;
            if (const auto error = verdict(room.data(), static_cast<int>(got)))
                return *error;
        }
    }

    // One round; true if a fault was injected.
    bool round(int n, const Make &make, int flags, int &error)
    {
        const Scene scene;
        Client client;
        const Bytes request = client.encoded(make(scene), NLM_F_REQUEST | flags);
        return faults.nth(n, [&] { error = exchange(client.descriptor(), request); });
    }

    // Until no fault is injected any more; the answer is then what it was before the sweep.
    void sweep(const Make &make, int flags, bool succeeds = true)
    {
        const Counters before = kernel_counters();
        int expected = 0;
        ASSERT_FALSE(round(100000, make, flags, expected));
        EXPECT_EQ(expected == 0, succeeds) << expected;
        for (int n = 1; n < 5000 && !HasFailure(); n++) {
            int error = -1;
            const bool hit = round(n, make, flags, error);
            EXPECT_TRUE(eventually([&] { return kernel_counters() == before; }))
                << "fault " << n << " leaves something behind";
            if (!hit) {
                EXPECT_EQ(error, expected);
                FaultInjection::tell(n - 1);
                return;
            }
        }
        ADD_FAILURE() << "faults have no end";
    }

    FaultInjection faults;
    std::array<std::uint8_t, 65536> room{};
};

Request node_of_loopback(int command)
{
    return Request(command)
        .put(RSM_A_NODE_CONTROLLER, "loopback")
        .put(RSM_A_NODE_NODE_ID, 2)
        .put(RSM_A_NODE_ADDRESS, "10.0.0.2");
}

Request secret_of_loopback(int command)
{
    const std::array<std::uint8_t, RSM_SECRET_SIZE> secret{1, 2, 3};
    Request request = Request(command).put(RSM_A_SECRET_CONTROLLER, "loopback");
    return command == RSM_CMD_SECRET_SET ? request.raw(RSM_A_SECRET_USE, secret) : request;
}

} // namespace

TEST_F(FailNthNetlink, dumps)
{
    for (const int command : {RSM_CMD_CONTROLLER_GET, RSM_CMD_NODE_GET, RSM_CMD_SEGMENT_GET,
                              RSM_CMD_IMPORT_GET, RSM_CMD_PROCESS_GET})
        sweep([&](const Scene &) { return Request(command); }, NLM_F_DUMP);
}

TEST_F(FailNthNetlink, stats)
{
    sweep([](const Scene &) { return Request(RSM_CMD_STATS_GET); }, NLM_F_ACK);
}

TEST_F(FailNthNetlink, one_segment)
{
    sweep(
        [](const Scene &scene) {
            return Request(RSM_CMD_SEGMENT_GET).put(RSM_A_SEGMENT_ID, scene.published.id);
        },
        NLM_F_ACK);
}

TEST_F(FailNthNetlink, revoke)
{
    sweep(
        [](const Scene &scene) {
            return Request(RSM_CMD_SEGMENT_REVOKE).put(RSM_A_SEGMENT_ID, scene.published.id);
        },
        NLM_F_ACK);
}

// Loopback has no other nodes and no secret: the agent says so.
TEST_F(FailNthNetlink, nodes_and_secrets)
{
    for (const int command : {RSM_CMD_NODE_ADD, RSM_CMD_NODE_SET, RSM_CMD_NODE_DEL})
        sweep([&](const Scene &) { return node_of_loopback(command); }, NLM_F_ACK, false);
    for (const int command : {RSM_CMD_SECRET_SET, RSM_CMD_SECRET_DEL})
        sweep([&](const Scene &) { return secret_of_loopback(command); }, NLM_F_ACK, false);
}
