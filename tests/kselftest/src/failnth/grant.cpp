// SPDX-License-Identifier: GPL-2.0
// Error sweeps over grants.
#include "support/fault.hpp"
#include "support/raw.hpp"

#include <gtest/gtest.h>
#include <memory>

using namespace rsmtest;
using raw::Outcome;
using raw::success;
using raw::Ticket;

namespace {

// The objects of one round, made without faults.
struct Scene {
    Pages memory{4};
    Pages read_only{4, PROT_READ};
    Fd control = raw::open_control();
    Fd exported = raw::open_segment();
    Fd blank = raw::open_segment();
    Ticket ticket;

    Scene()
    {
        EXPECT_EQ(raw::bind(exported.get(), memory.data(), memory.size(), RSM_BIND_LOCAL), success);
        EXPECT_EQ(raw::grant(exported.get(), ticket, 3, memory.size() - 3), success);
    }
};

class FailNthGrant : public testing::Test {
protected:
    using Action = std::function<Outcome(Scene &)>;

    void SetUp() override
    {
        if (!faults.available())
            GTEST_SKIP() << "this kernel has no fault injection";
    }

    // One round; true if a fault was injected.
    bool round(int n, const Action &action, Outcome &outcome)
    {
        Scene scene;
        const bool hit = faults.nth(n, [&] { outcome = action(scene); });
        // The export goes on.
        Ticket ticket;
        EXPECT_EQ(raw::grant(scene.exported.get(), ticket, 0, 1), success) << "after fault " << n;
        return hit;
    }

    void sweep(const Action &action)
    {
        const Counters before = kernel_counters();
        for (int n = 1; n < 5000 && !HasFailure(); n++) {
            Outcome outcome{EIO, 0};
            const bool hit = round(n, action, outcome);
            ASSERT_TRUE(eventually([&] { return kernel_counters() == before; }))
                << "fault " << n << " leaves something behind";
            if (!hit) {
                EXPECT_EQ(outcome, success) << "without a fault";
                FaultInjection::tell(n - 1);
                return;
            }
        }
        ADD_FAILURE() << "faults have no end";
    }

    FaultInjection faults;
};

} // namespace

TEST_F(FailNthGrant, grant)
{
    sweep([](Scene &scene) {
        Ticket ticket;
        return raw::grant(scene.exported.get(), ticket, 1, 2);
    });
}

TEST_F(FailNthGrant, redeem)
{
    sweep([](Scene &scene) { return raw::redeem(scene.blank.get(), scene.ticket); });
    sweep([](Scene &scene) {
        rsm_redeem argument = raw::redeem_argument(scene.ticket, scene.control.get());
        return raw::call(scene.blank.get(), RSM_IOC_REDEEM, argument);
    });
}

TEST_F(FailNthGrant, revoke)
{
    sweep([](Scene &scene) {
        const Outcome redeemed = raw::redeem(scene.blank.get(), scene.ticket);
        return redeemed == success ? raw::revoke(scene.exported.get(), scene.ticket) : redeemed;
    });
}

TEST_F(FailNthGrant, send_and_receive)
{
    sweep([](Scene &scene) {
        rsm_grant to_send{};
        to_send.flags = RSM_GRANT_SEND;
        Outcome outcome = raw::call(scene.exported.get(), RSM_IOC_GRANT, to_send);
        if (outcome == success)
            outcome = raw::redeem(scene.blank.get(), {{to_send.ticket[0], to_send.ticket[1]}});
        rsm_message message{};
        if (outcome == success)
            outcome = raw::call(scene.blank.get(), RSM_IOC_SEND, message);
        if (outcome == success)
            outcome = raw::call(scene.exported.get(), RSM_IOC_RECEIVE, message);
        return outcome;
    });
}

TEST_F(FailNthGrant, bind_to_read)
{
    sweep([](Scene &scene) {
        return raw::bind(scene.blank.get(), scene.read_only.data(), scene.read_only.size(),
                         RSM_BIND_LOCAL | RSM_BIND_READ);
    });
}
