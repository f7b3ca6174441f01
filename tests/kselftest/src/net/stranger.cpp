// SPDX-License-Identifier: GPL-2.0
// Somebody else connects from a node's address to another's rsm_rdma.ko and misbehaves: the
// connection is refused or ends, nothing is left of it, and the nodes find each other again.
#include "net/peer/shell.hpp"
#include "net/support/net_test.hpp"

#include <unistd.h>

using namespace rsmtest;
using namespace rsmtest::net;

namespace {

constexpr const char *stranger = "/ksft/ksft-stranger";

struct Attack {
    const char *name;
    const char *outcome; // what ksft-stranger says
    const char *reason;  // what the log of the node says, if it is sure to
};

class NetStranger : public NetTest {
  protected:
    void SetUp() override {
        NetTest::SetUp();
        if (HasFatalFailure() || IsSkipped())
            return;
        if (!has_machines() || !has_network() || access(stranger, X_OK) != 0)
            GTEST_SKIP() << "needs rdma_cm to another machine";
        ASSERT_LT(self.node(), first.node()) << "who connects has the lower id";
        // The real one would come in between.
        ASSERT_EQ(shell_here("rmmod rsm_rdma").status, 0);
    }
    void TearDown() override {
        if (!IsSkipped()) {
            EXPECT_EQ(shell_here("modprobe rsm_rdma").status, 0);
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
    void attack(const Attack &attack);
    void carry_out(const std::string &name, const std::string &outcome) const;

    std::string secret_; // that the stranger knows
};

// The node has a secret, and the stranger knows it and does not use it well.
class NetStrangerWithSecret : public NetStranger {
  protected:
    void SetUp() override {
        NetStranger::SetUp();
        if (HasFatalFailure() || IsSkipped())
            return;
        secret_ = std::string(64, '7');
        const Answer answer =
            shell_there("umask 077; echo " + secret_ + " >/tmp/secret; rsmctl node secret /tmp/secret");
        ASSERT_EQ(answer.status, 0) << answer.text;
    }
    // This node has none.
    void TearDown() override {
        if (!IsSkipped()) {
            EXPECT_EQ(shell_there("rsmctl node secret --none").status, 0);
        }
        NetStranger::TearDown();
    }
};

// The stranger attacks again until the node has told the reason: the log of the node tells at most ten in five seconds,
// those of other tests included.
void NetStranger::attack(const Attack &attack) {
    SCOPED_TRACE(attack.name);
    shell_there("dmesg -c >/dev/null");
    const std::string look =
        std::string("{ dmesg; rsmctl node; } | grep -q '") + (attack.reason ? attack.reason : "") + "'";
    EXPECT_TRUE(eventually([&] {
        carry_out(attack.name, attack.outcome);
        return HasFailure() || !attack.reason || shell_there(look).status == 0;
    }));
}

void NetStranger::carry_out(const std::string &name, const std::string &outcome) const {
    const Answer answer =
        shell_here(std::string(stranger) + " 10.77.1." + std::to_string(first.node()) + ' ' +
                   std::to_string(self.node()) + ' ' + std::to_string(first.node()) + ' ' + name +
                   ' ' + secret_);
    EXPECT_EQ(answer.status, 0) << answer.text << shell_there("dmesg").text;
    EXPECT_EQ(answer.text.rfind(outcome, 0), 0U) << answer.text;
}

} // namespace

TEST_F(NetStranger, greets_wrongly) {
    for (const Attack &each : {
             Attack{"port", "refused", "its port is not privileged"},
             {"no-greeting", "refused", "sends no greeting of RSM"},
             {"short-greeting", "refused", "its greeting makes no sense"},
             {"magic", "refused", nullptr},
             {"version", "refused", "another version of the protocol"},
             {"to", "refused", "greeting is for another node"},
             {"unknown-node", "refused", "no such node is configured"},
             {"huge-node", "refused", nullptr},
             {"another-node", "refused", nullptr},
             {"itself", "refused", nullptr},
             {"no-depth", "refused", nullptr},
             {"huge-depth", "refused", nullptr},
             {"reserved", "refused", nullptr},
             {"no-incarnation", "refused", nullptr},
             {"no-reads", "refused", nullptr},
         })
        attack(each);
}

TEST_F(NetStranger, proves_nothing) {
    for (const Attack &each : {
             Attack{"no-proof", "ended", "does not prove who it is"},
             {"wrong-proof", "ended", nullptr},
             {"two-proofs", "ended", nullptr},
             {"early-message", "ended", "sends frames before it proves who it is"},
         })
        attack(each);
}

// A downgrade, a guess, somebody between two nodes with queue pairs of their own, a recording of
// another connection, and what the node has said itself.
TEST_F(NetStrangerWithSecret, is_none_of_the_cluster) {
    for (const Attack &each : {
             Attack{"no-secret", "refused", "it has no secret"},
             {"other-secret", "refused", "it does not know the secret"},
             {"relayed", "refused", "it does not know the secret"},
             {"no-proof", "ended", "does not prove who it is"},
             {"wrong-proof", "ended", nullptr},
             {"replayed-proof", "ended", nullptr},
             {"reflected-proof", "ended", nullptr},
             {"early-message", "ended", "sends frames before it proves who it is"},
         })
        attack(each);
}

// The node accepts sound words, so it refused the others for their fault.
TEST_F(NetStrangerWithSecret, proves_who_it_is) {
    attack({"unknown-frame", "ended", "sends frames of an unknown type"});
}

TEST_F(NetStranger, has_a_secret_that_the_node_does_not_know) {
    secret_ = std::string(64, '7');
    attack({"silence", "refused", "it has a secret, and this node has none"});
}

// The end of a connection that is not in use yet is logged once for each reason.
TEST_F(NetStranger, sends_frames_that_make_no_sense) {
    for (const Attack &each : {
             Attack{"empty-frame", "ended", "sends frames that make no sense"},
             {"short-frame", "ended", nullptr},
             {"long-frame", "ended", nullptr},
             {"reserved-frame", "ended", nullptr},
             {"unknown-frame", "ended", "sends frames of an unknown type"},
             {"no-message", "ended", "sends frames without a message"},
             {"no-credits", "ended", "sends credits that make no sense"},
             {"credits-and-more", "ended", nullptr},
             {"too-many-credits", "ended", "gives credits that it doesn.t have"},
         })
        attack(each);
}

TEST_F(NetStranger, sends_messages_that_make_no_sense) {
    for (const char *name : {"empty-message", "zero-message"})
        attack({name, "ended", nullptr});
    const int rounds = slow_factor() > 1 ? 1 : 3;
    for (int i = 0; i < rounds; i++)
        attack({"babble", "ended", nullptr});
}

// The limits of exports bound the cost of a message.
TEST_F(NetStranger, exports_more_than_there_can_be) {
    const std::string node = std::to_string(first.node());
    shell_here(std::string(stranger) + " 10.77.1." + node + ' ' + std::to_string(self.node()) +
               ' ' + node + " huge-segment >/tmp/stranger 2>&1 &");
    Session importer(first.node());
    int status = RSMERR_REMOTE_NODE_UNREACHABLE;
    EXPECT_TRUE(eventually(
        [&] {
            const RemoteImport imported(importer, self.node(), 0x600000);
            status = imported.status();
            return status != RSMERR_REMOTE_NODE_UNREACHABLE;
        }));
    EXPECT_EQ(status, RSMERR_CONN_ABORTED);
    EXPECT_TRUE(eventually(
        [&] { return shell_here("grep -q ended /tmp/stranger").status == 0; }))
        << shell_here("cat /tmp/stranger").text << shell_there("dmesg").text;
}

TEST_F(NetStranger, says_nothing) {
    attack({"silence", "ended", "no answer"});
}

// The node is to wait without end for a receive.
TEST_F(NetStranger, hears_nothing) {
    attack({"deaf", "ended", "takes no messages"});
}

// Keys have to be made behind frames that it does not take: the end of the link must not wait for them. Some versions of
// rdma_rxe end the connection by themselves.
TEST_F(NetStranger, hears_nothing_while_keys_are_made) {
    Session exporter(first.node());
    RemoteExport exported(exporter, 2);
    ASSERT_EQ(exported.publish(0x600001, {{self.node(), 0666}}), RSM_SUCCESS);
    attack({"deaf-import", "ended", nullptr});
    EXPECT_EQ(exported.unpublish(), RSM_SUCCESS);
}

TEST_F(NetStranger, sends_without_end) {
    attack({"flood", "ended", nullptr});
}

TEST_F(NetStranger, reads_what_it_was_not_given) {
    attack({"wrong-key", "ended", nullptr});
}
