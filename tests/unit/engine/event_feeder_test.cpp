// SPDX-License-Identifier: MIT
// EVDs look for events where they come from.
#include "event_fake.h"

#include <functional>

namespace {

using namespace rsmengine;
using fake::error;

// Brings an event at the nth poll.
struct Source final : Feeder {
    Evd *evd = nullptr;
    int polls = 0;
    int agains = 0;
    int when = 1;
    std::function<void()> then = [] {};

    void poll(bool again) noexcept override {
        agains += again;
        if (++polls != when)
            return;
        evd->deliver(Arrival{});
        then();
    }
    bool has_listeners() const noexcept override { return true; }
};

class FeederTest : public fake::Adapter {
  protected:
    void SetUp() override {
        Adapter::SetUp();
        evd = make_evd();
        source.evd = enter<Evd>(evd).get();
    }
    void add() { enter<Evd>(evd)->add_feeder(source); }
    void remove() { enter<Evd>(evd)->remove_feeder(source); }

    DAT_EVD_HANDLE evd = nullptr;
    Source source;
};

TEST_F(FeederTest, IsPolledWhenTheQueueIsEmpty) {
    add();
    post(evd);
    EXPECT_EQ(dequeue(evd), DAT_SUCCESS);
    EXPECT_EQ(source.polls, 0);
    EXPECT_EQ(dequeue(evd), DAT_SUCCESS);
    EXPECT_EQ(source.polls, 1);
    EXPECT_EQ(source.agains, 1);
    remove();
    EXPECT_EQ(dequeue(evd), error(DAT_QUEUE_EMPTY));
    EXPECT_EQ(source.polls, 1);
}

// Events since the first look are there, however short the time.
TEST_F(FeederTest, IsPolledOnceMoreBeforeTimeIsOver) {
    source.when = 2;
    add();
    DAT_EVENT event{};
    DAT_COUNT more = 0;
    EXPECT_EQ(rsmdat::evd_wait(evd, 0, 1, &event, &more), DAT_SUCCESS);
    EXPECT_EQ(rsmdat::evd_wait(evd, 0, 1, &event, &more), error(DAT_TIMEOUT_EXPIRED));
    remove();
}

TEST_F(FeederTest, CountsItsRoles) {
    add();
    add();
    remove();
    EXPECT_EQ(dequeue(evd), DAT_SUCCESS);
    EXPECT_EQ(source.polls, 1);
    remove();
    EXPECT_EQ(dequeue(evd), error(DAT_QUEUE_EMPTY));
}

TEST_F(FeederTest, IsPolledByAWaiter) {
    add();
    EXPECT_EQ(wait(evd, 0), DAT_SUCCESS);
    source.when = source.polls + 2; // once at the start, and before it sleeps
    EXPECT_EQ(wait(evd, DAT_TIMEOUT_INFINITE), DAT_SUCCESS);
}

TEST_F(FeederTest, IsPolledForACno) {
    add();
    const auto cno = make_cno();
    ASSERT_EQ(rsmdat::evd_modify_cno(evd, cno), DAT_SUCCESS);
    DAT_EVD_HANDLE found = nullptr;
    EXPECT_EQ(rsmdat::cno_wait(cno, 0, &found), DAT_SUCCESS);
    EXPECT_EQ(found, evd);
}

// A connection that ends while it is polled; another one that begins.
TEST_F(FeederTest, MayGoWhilePolled) {
    Source second;
    second.evd = source.evd;
    source.then = [&] {
        source.evd->remove_feeder(source);
        source.evd->add_feeder(second);
    };
    add();
    EXPECT_EQ(dequeue(evd), DAT_SUCCESS);
    EXPECT_EQ(second.polls, 1);
    EXPECT_EQ(dequeue(evd), DAT_SUCCESS);
    EXPECT_EQ(dequeue(evd), error(DAT_QUEUE_EMPTY));
    EXPECT_EQ(source.polls, 1);
    EXPECT_EQ(second.polls, 2);
}

} // namespace
