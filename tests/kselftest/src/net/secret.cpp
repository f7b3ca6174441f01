// SPDX-License-Identifier: GPL-2.0
// Which nodes are believed to be what they say: those that know the secret; without one, those whose
// kernel speaks for them.
#include "net/peer/shell.hpp"
#include "net/support/net_test.hpp"
#include "rsmctl/program.hpp"

#include <unistd.h>

using namespace rsmtest;
using namespace rsmtest::net;

namespace {

constexpr const char *stranger = "/ksft/ksft-stranger";
const std::string old_secret(64, '1');
const std::string new_secret(64, '2');

class NetSecret : public NetTest {
  protected:
    void SetUp() override {
        NetTest::SetUp();
        if (HasFatalFailure() || IsSkipped())
            return;
        if (!has_machines() || !has_network())
            GTEST_SKIP() << "this controller needs no secret";
        ASSERT_LT(self.node(), first.node()) << "the one that connects has the lower id";
    }
    // The ones that accept have it first, so that none waits to try again.
    void TearDown() override {
        for (const Peer &peer : {second, first, self})
            if (!IsSkipped()) {
                EXPECT_EQ(shell(peer, "rsmctl node secret --none").status, 0);
            }
        NetTest::TearDown();
    }

    static Answer shell(const Peer &at, const std::string &command) {
        return Session(at.node()).call("sh " + command);
    }
    static void set(const Peer &at, const std::string &use, const std::string &accept = {}) {
        const Answer answer =
            shell(at, "umask 077; printf '%s\\n' '" + use + "' '" + accept +
                          "' >/tmp/secret; rsmctl node secret /tmp/secret; s=$?; "
                          "rm /tmp/secret; exit $s");
        EXPECT_EQ(answer.status, 0) << answer.text;
    }
    void set_everywhere(const std::string &use) const {
        for (const Peer &peer : {second, first, self})
            set(peer, use);
    }
    static Json shown(const Peer &peer) {
        return find(rsmctl_json({"node"}), "node_id", peer.node());
    }
    // The incarnation of the connection; empty without one.
    static std::string incarnation(const Peer &peer) {
        return shown(peer).value("incarnation", "");
    }
    // The two end their connection, and this node tries to make another one.
    void connect_anew() const {
        const std::string id = std::to_string(first.node());
        for (const std::string &command : {"del " + id, "add " + id + " 10.77.1." + id}) {
            const Answer answer = shell(self, "rsmctl node " + command);
            EXPECT_EQ(answer.status, 0) << answer.text;
        }
    }
    void await_all() {
        ASSERT_TRUE(eventually([&] { return all_connected(); })) << "no connection";
    }
    static void await_log(const Peer &at, const std::string &words) {
        EXPECT_TRUE(eventually(
            [&] { return shell(at, "dmesg | grep -q '" + words + "'").status == 0; }))
            << shell(at, "dmesg").text;
    }
    static void clear_log(const Peer &at) { shell(at, "dmesg -c >/dev/null"); }
};

// A user of this node, which is connected, says to be this node.
class NetImpostor : public NetSecret {
  protected:
    void SetUp() override {
        NetSecret::SetUp();
        if (!HasFatalFailure() && !IsSkipped() && access(stranger, X_OK) != 0)
            GTEST_SKIP() << "needs librdmacm";
    }
    // As somebody without any right, with what they can know.
    void expect_refusal(const std::string &attack) const {
        const std::string node = std::to_string(first.node());
        const Answer answer =
            shell(self, "chmod a+rw /dev/infiniband/*; su -s /bin/sh nobody -c '" +
                            std::string(stranger) + " 10.77.1." + node + ' ' +
                            std::to_string(self.node()) + ' ' + node + ' ' + attack + "'");
        EXPECT_EQ(answer.status, 0) << answer.text;
        EXPECT_EQ(answer.text.rfind("refused", 0), 0U) << answer.text;
    }
    // The connection of the real node goes on meanwhile.
    void attack(const std::string &attack, const std::string &reason);
};

void NetImpostor::attack(const std::string &attack, const std::string &reason) {
    Session exporter(first.node());
    Session importer(self.node());
    RemoteExport exported(exporter, 1);
    ASSERT_EQ(exported.publish(), RSM_SUCCESS);
    RemoteImport imported(importer, exported);
    const auto before = incarnation(first);
    clear_log(first);
    for (int i = 0; i < 3; i++)
        expect_refusal(attack);
    await_log(first, reason);
    EXPECT_EQ(imported.put(0, page, 5), RSM_SUCCESS);
    EXPECT_EQ(exported.memory().differ(0, page, 5), 0u);
    EXPECT_EQ(incarnation(first), before) << "the real node was cut off";
}

} // namespace

TEST_F(NetImpostor, has_no_privileged_port) {
    attack("port", "its port is not privileged");
}

TEST_F(NetImpostor, does_not_know_the_secret) {
    set_everywhere(old_secret);
    await_all();
    attack("port", "it has no secret");
}

// One that another test has made with a secret would stay.
TEST_F(NetSecret, ends_connections_that_were_made_without_it) {
    connect_anew();
    await_all();
    const auto before = incarnation(first);
    EXPECT_EQ(shown(first)["secret"], false);
    EXPECT_NE(rsmctl({"node"}).err.find("there is no secret"), std::string::npos);
    set_everywhere(old_secret);
    await_all();
    EXPECT_NE(incarnation(first), before);
    EXPECT_EQ(shown(first)["secret"], true);
    EXPECT_EQ(rsmctl({"node"}).err, "");
    Session exporter(first.node());
    Session importer(self.node());
    RemoteExport exported(exporter, 1);
    ASSERT_EQ(exported.publish(), RSM_SUCCESS);
    RemoteImport imported(importer, exported);
    EXPECT_EQ(imported.put(0, page, 3), RSM_SUCCESS);
    EXPECT_EQ(exported.memory().differ(0, page, 3), 0u);
}

TEST_F(NetSecret, keeps_out_a_node_without_it) {
    connect_anew();
    await_all();
    clear_log(self);
    set(first, old_secret);
    await_log(self, "no connection to node " + std::to_string(first.node()) +
                        ": refused: this node has no secret");
    EXPECT_FALSE(connected(self, first));
    set(self, old_secret);
    set(second, old_secret);
    await_all();
}

TEST_F(NetSecret, keeps_out_a_node_with_another_one) {
    set_everywhere(old_secret);
    await_all();
    clear_log(self);
    set(first, new_secret);
    connect_anew();
    await_log(self, "refused: that node has another secret");
    EXPECT_FALSE(connected(self, first));
    set(first, old_secret);
    connect_anew();
    await_all();
}

// Accepted everywhere first, then used, then alone: connections stay, and can be made at any time.
TEST_F(NetSecret, changes_while_everything_goes_on) {
    set_everywhere(old_secret);
    await_all();
    const auto before = incarnation(first);
    set(first, new_secret, old_secret);
    EXPECT_EQ(incarnation(first), before) << "connections stay";
    connect_anew();
    await_all();
    set(first, old_secret);
    set(self, new_secret, old_secret);
    connect_anew();
    await_all();
    set_everywhere(new_secret);
    EXPECT_TRUE(connected(self, first)) << "connections stay";
    connect_anew();
    await_all();
}

TEST_F(NetSecret, of_bad_form_changes_nothing) {
    const auto before = incarnation(first);
    for (const char *text : {"", "12", "xyz"})
        EXPECT_NE(shell(self, "umask 077; echo '" + std::string(text) +
                                  "' >/tmp/secret; rsmctl node secret /tmp/secret")
                      .status,
                  0);
    EXPECT_NE(shell(self, "echo " + old_secret +
                              " >/tmp/secret; chmod 644 /tmp/secret; rsmctl node secret /tmp/secret")
                  .status,
              0);
    EXPECT_EQ(shown(first)["secret"], false);
    EXPECT_EQ(incarnation(first), before);
}
