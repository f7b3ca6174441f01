// SPDX-License-Identifier: MIT
// dat_ia_close.
#include "event_fake.h"

#include "engine/core/joined.h"
#include "engine/memory/pz.h"

#include <atomic>

namespace {

using namespace rsmengine;
using fake::error;

class CloseTest : public fake::Adapter {};

TEST_F(CloseTest, ChecksItsArguments) {
    EXPECT_EQ(rsmdat::ia_close(ia, static_cast<DAT_CLOSE_FLAGS>(2)), rsmdat::invalid_parameter(2));
    EXPECT_EQ(rsmdat::ia_close(async_evd, DAT_CLOSE_ABRUPT_FLAG),
              error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA));
}

TEST_F(CloseTest, GracefulWantsNothingLeft) {
    const auto evd = make_evd();
    const auto cno = make_cno();
    const auto busy = rsmdat::invalid_state(DAT_INVALID_STATE_IA_IN_USE);
    EXPECT_EQ(rsmdat::ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG), busy);
    EXPECT_EQ(rsmdat::evd_free(evd), DAT_SUCCESS);
    EXPECT_EQ(rsmdat::ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG), busy);
    EXPECT_EQ(rsmdat::cno_free(cno), DAT_SUCCESS);
    EXPECT_EQ(rsmdat::ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG), DAT_SUCCESS);
    EXPECT_EQ(rsmdat::ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG),
              error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA));
    ia = nullptr;
}

TEST_F(CloseTest, AbruptTakesAllAlong) {
    const auto cno = make_cno();
    const auto evd = make_evd(4, cno);
    DAT_PZ_HANDLE pz = nullptr;
    ASSERT_EQ(rsmdat::pz_create(ia, &pz), DAT_SUCCESS);
    enter<Pz>(pz)->users = 1;
    EXPECT_EQ(rsmdat::pz_free(pz), rsmdat::invalid_state(DAT_INVALID_STATE_PZ_IN_USE));
    ASSERT_EQ(rsmdat::evd_modify_cno(async_evd, cno), DAT_SUCCESS);
    post(evd);
    close();
    for (const DAT_HANDLE handle : {cno, evd, pz, async_evd})
        EXPECT_FALSE(enter_object(handle));
}

// Threads that wait, poll and post while the IA goes: all come back with an error.
TEST_F(CloseTest, UnderFire) {
    for (int round = 0; round < 30; ++round) {
        const auto evd = make_evd(16);
        std::atomic<int> busy{0};
        std::vector<std::jthread> threads;
        const auto start = [&](auto what) {
            threads.emplace_back([&busy, what] {
                ++busy;
                while (DAT_GET_TYPE(what()) != DAT_INVALID_HANDLE)
                    std::this_thread::yield();
            });
        };
        start([=] { return wait(evd, 1000); });
        start([=] { return wait(evd, DAT_TIMEOUT_INFINITE); });
        start([=] { return dequeue(evd); });
        start([=] { return post(evd); });
        while (busy < 4)
            std::this_thread::yield();
        close();
        threads.clear();
        async_evd = nullptr;
        ia = open(async_evd);
    }
}

// Opens are joined to one that stays, while threads use them all, and closed one by one.
TEST_F(CloseTest, JoinedOpensUnderFire) {
    constexpr int ROUNDS = 30;
    const auto shared = make_evd(16);
    std::atomic<bool> over = false;
    std::jthread waiter([&] {
        while (!over)
            wait(shared, 1000);
    });
    const auto work = [&] {
        for (int round = 0; round < ROUNDS; ++round) {
            DAT_EVD_HANDLE async = nullptr;
            DAT_EVD_HANDLE evd = nullptr;
            const DAT_IA_HANDLE own = open(async);
            ASSERT_EQ(rsmdat::evd_create(own, 4, nullptr, DAT_EVD_SOFTWARE_FLAG, &evd), DAT_SUCCESS);
            std::jthread user([evd] {
                while (DAT_GET_TYPE(post(evd)) != DAT_INVALID_HANDLE)
                    dequeue(evd);
            });
            join_for(own, shared, Stream::TRANSFERS);
            {
                const auto locked = enter<Ia>(own);
                EXPECT_NE(find_evd(shared, *locked), nullptr);
            }
            post(shared);
            EXPECT_EQ(rsmdat::ia_close(own, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS);
        }
    };
    {
        const std::jthread first(work);
        const std::jthread second(work);
    }
    over = true;
    post(shared);
    waiter.join();
}

} // namespace
