// SPDX-License-Identifier: MIT
// CNOs: waiting, triggers, agents.
#include "event_fake.h"
#include "engine/event/cno.h"

#include <atomic>
#include <csignal>
#include <future>
#include <set>

namespace {

using namespace rsmengine;
using fake::error;

using Found = std::pair<DAT_RETURN, DAT_EVD_HANDLE>;

class CnoTest : public fake::Adapter {
  protected:
    void SetUp() override {
        Adapter::SetUp();
        cno = make_cno();
    }
    static Found wait_cno(DAT_CNO_HANDLE cno, DAT_TIMEOUT timeout) {
        int nothing = 0;
        Found found{0, &nothing};
        found.first = rsmdat::cno_wait(cno, timeout, &found.second);
        return found;
    }
    static unsigned waiters(DAT_CNO_HANDLE cno) { return enter<Cno>(cno)->waiters(); }
    // Waits already.
    static std::future<Found> start(DAT_CNO_HANDLE cno) {
        const unsigned before = waiters(cno);
        auto result =
            std::async(std::launch::async, [=] { return wait_cno(cno, DAT_TIMEOUT_INFINITE); });
        while (waiters(cno) == before)
            std::this_thread::yield();
        return result;
    }
    // Waits already, for more events than come.
    static std::future<DAT_RETURN> start_for_three(DAT_EVD_HANDLE evd) {
        auto result =
            std::async(std::launch::async, [=] { return wait(evd, DAT_TIMEOUT_INFINITE, 3); });
        await_waiter(evd);
        return result;
    }
    static void expect_to_leave(DAT_EVD_HANDLE evd, std::future<DAT_RETURN> &waiter) {
        EXPECT_EQ(rsmdat::evd_set_unwaitable(evd), DAT_SUCCESS);
        EXPECT_EQ(waiter.get(), rsmdat::invalid_state(DAT_INVALID_STATE_EVD_UNWAITABLE));
    }
    static bool is_over(const std::future<Found> &result) {
        return result.wait_for(std::chrono::milliseconds(20)) == std::future_status::ready;
    }

    DAT_CNO_HANDLE cno = nullptr;
    const Found nothing{error(DAT_QUEUE_EMPTY), nullptr};
};

TEST_F(CnoTest, ChecksItsArguments) {
    EXPECT_EQ(rsmdat::cno_create(ia, {}, nullptr), rsmdat::invalid_parameter(3));
    EXPECT_EQ(rsmdat::cno_wait(cno, 0, nullptr), rsmdat::invalid_parameter(3));
    EXPECT_EQ(wait_cno(async_evd, 0).first, error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CNO));
    DAT_CNO_PARAM param{};
    EXPECT_EQ(rsmdat::cno_query(cno, static_cast<DAT_CNO_PARAM_MASK>(4), &param),
              rsmdat::invalid_parameter(2));
    EXPECT_EQ(rsmdat::cno_query(cno, DAT_CNO_FIELD_ALL, nullptr), rsmdat::invalid_parameter(3));
    EXPECT_EQ(rsmdat::cno_query(cno, DAT_CNO_FIELD_ALL, &param), DAT_SUCCESS);
    EXPECT_EQ(param.ia_handle, ia);
    EXPECT_EQ(param.agent.proxy_agent_func, nullptr);
}

TEST_F(CnoTest, TimesOut) {
    EXPECT_EQ(wait_cno(cno, 0), nothing);
    EXPECT_EQ(wait_cno(cno, 10'000), nothing);
    make_evd(4, cno);
    EXPECT_EQ(wait_cno(cno, 10'000), nothing);
}

TEST_F(CnoTest, RemembersATrigger) {
    const auto evd = make_evd(4, cno);
    post(evd);
    EXPECT_EQ(dequeue(evd), DAT_SUCCESS);
    EXPECT_EQ(wait_cno(cno, DAT_TIMEOUT_INFINITE), Found(DAT_SUCCESS, evd));
    EXPECT_EQ(wait_cno(cno, 0), nothing);
}

TEST_F(CnoTest, SeesWhatIsStillQueued) {
    const auto a = make_evd(4, cno);
    const auto b = make_evd(4, cno);
    post(a);
    post(b);
    EXPECT_EQ(wait_cno(cno, 0).first, DAT_SUCCESS);
    std::set<DAT_EVD_HANDLE> seen;
    for (int i = 0; i < 4; ++i)
        seen.insert(wait_cno(cno, 0).second);
    EXPECT_EQ(seen, (std::set{a, b}));
    dequeue(a);
    dequeue(b);
    EXPECT_EQ(wait_cno(cno, 0), nothing);
}

TEST_F(CnoTest, IgnoresWhatDoesNotNotify) {
    const auto evd = make_evd(4, cno);
    deliver(evd, false);
    EXPECT_EQ(wait_cno(cno, 1000), nothing);
}

TEST_F(CnoTest, WakesOneWaiterForEachTrigger) {
    const auto evd = make_evd(4, cno);
    auto first = start(cno);
    auto second = start(cno);
    EXPECT_EQ(rsmdat::cno_free(cno), rsmdat::invalid_state(DAT_INVALID_STATE_CNO_IN_USE));
    post(evd);
    int over = 0;
    while (over == 0)
        over = int{is_over(first)} + int{is_over(second)};
    EXPECT_EQ(over, 1);
    post(evd);
    EXPECT_EQ(first.get(), Found(DAT_SUCCESS, evd));
    EXPECT_EQ(second.get(), Found(DAT_SUCCESS, evd));
}

TEST_F(CnoTest, IsNotTriggeredByADisabledEvd) {
    const auto evd = make_evd(4, cno);
    EXPECT_EQ(rsmdat::evd_disable(evd), DAT_SUCCESS);
    post(evd);
    EXPECT_EQ(wait_cno(cno, 0), nothing);
    auto waiter = start(cno);
    EXPECT_EQ(rsmdat::evd_enable(evd), DAT_SUCCESS);
    EXPECT_EQ(waiter.get(), Found(DAT_SUCCESS, evd));
}

TEST_F(CnoTest, IsNotTriggeredForAWaiterOfTheEvd) {
    const auto evd = make_evd(4, cno);
    auto waiter = std::async(std::launch::async, [=] { return wait(evd, DAT_TIMEOUT_INFINITE); });
    await_waiter(evd);
    post(evd);
    EXPECT_EQ(waiter.get(), DAT_SUCCESS);
    EXPECT_EQ(wait_cno(cno, 0), nothing);
}

// One of three events has come when the waiter of the EVD has to leave, and another thread waits for the CNO.
TEST_F(CnoTest, IsToldOfWhatAWaiterOfTheEvdLeaves) {
    const auto evd = make_evd(4, cno);
    auto other = start(cno);
    auto waiter = start_for_three(evd);
    post(evd);
    expect_to_leave(evd, waiter);
    EXPECT_EQ(other.get(), Found(DAT_SUCCESS, evd));
}

TEST_F(CnoTest, IsToldOfWhatAWaiterLeavesOfAnEvdThatIsEnabledMeanwhile) {
    const auto evd = make_evd(4, cno);
    EXPECT_EQ(rsmdat::evd_disable(evd), DAT_SUCCESS);
    post(evd);
    auto other = start(cno);
    auto waiter = start_for_three(evd);
    EXPECT_EQ(rsmdat::evd_enable(evd), DAT_SUCCESS);
    expect_to_leave(evd, waiter);
    EXPECT_EQ(other.get(), Found(DAT_SUCCESS, evd));
}

TEST_F(CnoTest, IsToldOfWhatAWaiterLeavesOfAnEvdThatComesMeanwhile) {
    const auto evd = make_evd();
    post(evd);
    auto other = start(cno);
    auto waiter = start_for_three(evd);
    EXPECT_EQ(rsmdat::evd_modify_cno(evd, cno), DAT_SUCCESS);
    expect_to_leave(evd, waiter);
    EXPECT_EQ(other.get(), Found(DAT_SUCCESS, evd));
}

// The CNO has reported the event once, and finds it hidden when a thread waits for the CNO again.
TEST_F(CnoTest, IsToldOfWhatItHasPassedOverForAWaiterOfTheEvd) {
    const auto evd = make_evd(4, cno);
    post(evd);
    EXPECT_EQ(wait_cno(cno, 0), Found(DAT_SUCCESS, evd));
    auto waiter = start_for_three(evd);
    auto other = start(cno);
    expect_to_leave(evd, waiter);
    EXPECT_EQ(other.get(), Found(DAT_SUCCESS, evd));
}

// A waiter hides nothing of an EVD that is disabled when the waiter leaves.
TEST_F(CnoTest, IsNotToldOfWhatAWaiterLeavesOfADisabledEvd) {
    const auto evd = make_evd(4, cno);
    auto waiter = start_for_three(evd);
    post(evd);
    EXPECT_EQ(wait_cno(cno, 0), nothing);
    EXPECT_EQ(rsmdat::evd_disable(evd), DAT_SUCCESS);
    expect_to_leave(evd, waiter);
    EXPECT_EQ(wait_cno(cno, 0), nothing);
}

TEST_F(CnoTest, IsToldWhatIsQueuedWhenAnEvdComes) {
    const auto evd = make_evd();
    post(evd);
    auto waiter = start(cno);
    EXPECT_EQ(rsmdat::evd_modify_cno(evd, cno), DAT_SUCCESS);
    EXPECT_EQ(waiter.get(), Found(DAT_SUCCESS, evd));
    EXPECT_EQ(rsmdat::cno_free(cno), rsmdat::invalid_state(DAT_INVALID_STATE_CNO_IN_USE));
    EXPECT_EQ(rsmdat::evd_modify_cno(evd, nullptr), DAT_SUCCESS);
    EXPECT_EQ(rsmdat::cno_free(cno), DAT_SUCCESS);
}

TEST_F(CnoTest, LetsWaitersGoWithTheLastEvd) {
    const auto a = make_evd(4, cno);
    const auto b = make_evd(4, cno);
    auto waiter = start(cno);
    EXPECT_EQ(rsmdat::evd_free(a), DAT_SUCCESS);
    EXPECT_FALSE(is_over(waiter));
    EXPECT_EQ(rsmdat::evd_free(b), DAT_SUCCESS);
    EXPECT_EQ(waiter.get(), Found(DAT_SUCCESS, nullptr));
}

// The documented way to get a waiter out.
TEST_F(CnoTest, IsReleasedByASoftwareEvent) {
    auto waiter = start(cno);
    const auto evd = make_evd();
    EXPECT_EQ(rsmdat::evd_modify_cno(evd, cno), DAT_SUCCESS);
    EXPECT_EQ(post(evd), DAT_SUCCESS);
    EXPECT_EQ(rsmdat::evd_free(evd), DAT_SUCCESS);
    EXPECT_EQ(waiter.get().first, DAT_SUCCESS);
    EXPECT_EQ(rsmdat::cno_free(cno), DAT_SUCCESS);
}

TEST_F(CnoTest, WaitEndsWithASignal) {
    struct sigaction action {};
    action.sa_handler = [](int) {};
    action.sa_flags = SA_RESTART;
    ASSERT_EQ(::sigaction(SIGUSR1, &action, nullptr), 0);
    Found found;
    std::atomic<bool> over = false;
    std::thread waiter([&] {
        found = wait_cno(cno, DAT_TIMEOUT_INFINITE);
        over = true;
    });
    // One that comes before the wait ends nothing.
    while (!over) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        ::pthread_kill(waiter.native_handle(), SIGUSR1);
    }
    waiter.join();
    EXPECT_EQ(found, Found(error(DAT_INTERRUPTED_CALL), nullptr));
}

TEST_F(CnoTest, CloseLetsWaitersGo) {
    make_evd(4, cno);
    auto waiter = start(cno);
    close();
    EXPECT_EQ(waiter.get(), Found(DAT_SUCCESS, nullptr));
}

// Messages to an agent.
struct Calls {
    std::atomic<int> count{0};
    std::atomic<int> ended{0};
    std::atomic<DAT_EVD_HANDLE> last{nullptr};
    std::function<void()> then = [] {};

    DAT_OS_WAIT_PROXY_AGENT agent() {
        return {this, [](DAT_PVOID self, DAT_EVD_HANDLE evd) {
                    auto &calls = *static_cast<Calls *>(self);
                    calls.last = evd;
                    ++calls.count;
                    if (evd)
                        calls.then();
                    ++calls.ended;
                }};
    }
    // Is it called that often?
    bool reaches(int times) const {
        while (ended < times)
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        return ended == times;
    }
};

class AgentTest : public CnoTest {
  protected:
    Calls calls, others; // outlive the IA
    void SetUp() override {
        CnoTest::SetUp();
        ASSERT_EQ(rsmdat::cno_modify_agent(cno, calls.agent()), DAT_SUCCESS);
        evd = make_evd(64, cno);
    }
    DAT_EVD_HANDLE evd = nullptr;
};

TEST_F(AgentTest, IsCalledForEachTrigger) {
    for (int i = 0; i < 10; ++i)
        post(evd);
    EXPECT_TRUE(calls.reaches(10));
    EXPECT_EQ(calls.last, evd);
    EXPECT_EQ(wait_cno(cno, 0).first, DAT_SUCCESS);
}

TEST_F(AgentTest, IsNotCalledAgainByAWaiterThatLeavesAnEvent) {
    post(evd);
    EXPECT_TRUE(calls.reaches(1));
    EXPECT_EQ(wait(evd, 0, 2), error(DAT_TIMEOUT_EXPIRED));
    post(evd);
    EXPECT_TRUE(calls.reaches(2));
}

TEST_F(AgentTest, MayUseTheEvd) {
    calls.then = [&] { EXPECT_EQ(dequeue(evd), DAT_SUCCESS); };
    for (int i = 0; i < 10; ++i)
        post(evd);
    EXPECT_TRUE(calls.reaches(10));
    EXPECT_EQ(dequeue(evd), error(DAT_QUEUE_EMPTY));
}

// Its objects may be destroyed once it has been replaced.
TEST_F(AgentTest, IsNotReplacedWhileItRuns) {
    calls.then = [] { std::this_thread::sleep_for(std::chrono::milliseconds(50)); };
    post(evd);
    while (calls.count == 0)
        std::this_thread::yield();
    EXPECT_EQ(rsmdat::cno_modify_agent(cno, {}), DAT_SUCCESS);
    EXPECT_EQ(calls.ended, 1);
    post(evd);
    EXPECT_EQ(wait(evd, 0), DAT_SUCCESS);
    // The thread that calls agents has nothing for the former one when it calls another.
    EXPECT_EQ(rsmdat::cno_modify_agent(cno, others.agent()), DAT_SUCCESS);
    post(evd);
    EXPECT_TRUE(others.reaches(1));
    EXPECT_EQ(calls.count, 1);
}

TEST_F(AgentTest, MayFreeItsCno) {
    calls.then = [&] {
        EXPECT_EQ(rsmdat::evd_free(evd), DAT_SUCCESS);
        EXPECT_EQ(rsmdat::cno_free(cno), DAT_SUCCESS);
    };
    post(evd);
    EXPECT_TRUE(calls.reaches(1));
}

TEST_F(AgentTest, IsToldOfTheEnd) {
    post(evd);
    EXPECT_TRUE(calls.reaches(1));
    close();
    EXPECT_EQ(calls.count, 2);
    EXPECT_EQ(calls.last, nullptr);
}

TEST_F(AgentTest, CloseWaitsForIt) {
    calls.then = [] { std::this_thread::sleep_for(std::chrono::milliseconds(50)); };
    post(evd);
    while (calls.count == 0)
        std::this_thread::yield();
    close();
    EXPECT_EQ(calls.ended, 2);
}

TEST_F(AgentTest, MayCloseTheIa) {
    calls.then = [&] { EXPECT_EQ(rsmdat::ia_close(ia, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS); };
    post(evd);
    EXPECT_TRUE(calls.reaches(2));
    ia = nullptr;
}

} // namespace
