// SPDX-License-Identifier: GPL-2.0
// iWARP devices report a put as done before the data has arrived: rdma0 makes and accepts no
// connection over such a device, and says why.
#include "net/peer/shell.hpp"
#include "net/support/net_test.hpp"

#include <unistd.h>

using namespace rsmtest;
using namespace rsmtest::net;

namespace {

constexpr const char *stranger = "/ksft/ksft-stranger";
constexpr const char *reason = "iWARP devices are not supported";

// Soft-iWARP takes the place of soft RoCE on this node and the first peer.
class NetSoftIwarp : public NetTest {
  protected:
    void SetUp() override {
        NetTest::SetUp();
        if (HasFatalFailure() || IsSkipped())
            return;
        if (!has_machines() || !has_network())
            GTEST_SKIP() << "needs a network device on each machine";
        if (const auto why = read_line("/etc/rsm-vm/no-siw"))
            GTEST_SKIP() << "no siw.ko: " << *why;
        ASSERT_TRUE(on_both("modprobe crc32c_generic; modprobe siw"));
        ASSERT_LT(self.node(), first.node()) << "the one that connects has the lower id";
    }
    void TearDown() override {
        if (!IsSkipped()) {
            EXPECT_TRUE(on_both("rdma link delete siw0; rdma link add rxe0 type rxe netdev eth0"));
            connect_anew();
            EXPECT_TRUE(eventually([&] { return all_connected(); })) << "does not come back";
        }
        NetTest::TearDown();
    }
    // A session would want the controller.
    static Answer shell_here(const std::string &command) {
        Args args(command);
        return run_shell(args);
    }
    Answer shell_there(const std::string &command) const {
        return Session(first.node()).call("sh " + command);
    }
    bool on_both(const std::string &command) const {
        return shell_here(command).status == 0 && shell_there(command).status == 0;
    }
    // Without the pause that attempts over the other device have made longer and longer.
    void connect_anew() const {
        EXPECT_EQ(shell_here("rmmod rsm_rdma 2>/dev/null; modprobe rsm_rdma").status, 0);
        const std::string node = std::to_string(second.node());
        EXPECT_EQ(shell_there("rsmctl node del " + node + " && rsmctl node add " + node +
                              " 10.77.1." + node)
                      .status,
                  0);
    }
    void replace_devices() const {
        ASSERT_TRUE(on_both("dmesg -c >/dev/null; rdma link delete rxe0 && "
                            "rdma link add siw0 type siw netdev eth0"));
    }
};

} // namespace

TEST_F(NetSoftIwarp, carries_no_connection_to_another_node) {
    Session exporter(first.node());
    Session importer(self.node());
    RemoteExport exported(exporter, 1);
    ASSERT_EQ(exported.publish(), RSM_SUCCESS);
    RemoteImport imported(importer, exported);
    replace_devices();
    EXPECT_TRUE(imported.hung_up());
    const std::string refusal =
        "no connection to node " + std::to_string(first.node()) + ": " + reason;
    const auto refused = [&] {
        return shell_here("dmesg | grep -q '" + refusal + "'").status == 0;
    };
    EXPECT_TRUE(eventually([&] { return refused() || connected(self, first); }));
    EXPECT_TRUE(refused()) << shell_here("dmesg").text;
    EXPECT_FALSE(connected(self, first));
    EXPECT_PRED1(is_disconnect, static_cast<std::uint64_t>(imported.put(0, page, 5)));
    EXPECT_EQ(RemoteImport(importer, exported.node(), exported.id()).status(),
              RSMERR_REMOTE_NODE_UNREACHABLE);
}

// A node whose kernel does not refuse such a device.
TEST_F(NetSoftIwarp, carries_no_connection_from_another_node) {
    if (access(stranger, X_OK) != 0)
        GTEST_SKIP() << "needs rdma_cm to another machine";
    ASSERT_EQ(shell_here("rmmod rsm_rdma").status, 0);
    replace_devices();
    const std::string node = std::to_string(first.node());
    const Answer answer = shell_here(std::string(stranger) + " 10.77.1." + node + ' ' +
                                     std::to_string(self.node()) + ' ' + node + " silence");
    EXPECT_EQ(answer.status, 0) << answer.text;
    EXPECT_EQ(answer.text.rfind("refused", 0), 0U) << answer.text;
    EXPECT_EQ(shell_there("dmesg | grep 'refused: " + std::string(reason) + "'").status, 0)
        << shell_there("dmesg").text;
}
