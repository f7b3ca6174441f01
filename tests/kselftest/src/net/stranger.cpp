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
            EXPECT_TRUE(eventually([&] { return all_connected(); }, 30000)) << "does not come back";
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
};

void NetStranger::attack(const Attack &attack) {
    SCOPED_TRACE(attack.name);
    const auto patience = 6 * heartbeat() + scaled(5000);
    shell_there("dmesg -c >/dev/null");
    const Answer answer =
        shell_here(std::string(stranger) + " 10.77.1." + std::to_string(first.node()) + ' ' +
                   std::to_string(self.node()) + ' ' + std::to_string(first.node()) + ' ' +
                   std::to_string(patience.count()) + ' ' + attack.name);
    EXPECT_EQ(answer.status, 0) << answer.text << shell_there("dmesg").text;
    EXPECT_EQ(answer.text.rfind(attack.outcome, 0), 0U) << answer.text;
    if (!attack.reason)
        return;
    const std::string look = std::string("dmesg | grep -q '") + attack.reason + "'";
    EXPECT_TRUE(eventually([&] { return shell_there(look).status == 0; }, 10000))
        << shell_there("dmesg").text;
}

} // namespace

// The log tells at most ten in five seconds.
TEST_F(NetStranger, greets_wrongly) {
    for (const Attack &each : {
             Attack{"no-greeting", "refused", "does not speak our language"},
             {"short-greeting", "refused", "its greeting makes no sense"},
             {"magic", "refused", nullptr},
             {"version", "refused", "another version of the protocol"},
             {"to", "refused", "takes us for another node"},
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

// What ends a connection before it is in use is logged once for each reason.
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

TEST_F(NetStranger, says_nothing) {
    attack({"silence", "ended", "no answer"});
}

// The node is to wait without end for a receive.
TEST_F(NetStranger, hears_nothing) {
    attack({"deaf", "ended", "takes no messages"});
}

TEST_F(NetStranger, sends_without_end) {
    attack({"flood", "ended", nullptr});
}

TEST_F(NetStranger, reads_what_it_was_not_given) {
    attack({"wrong-key", "ended", nullptr});
}
