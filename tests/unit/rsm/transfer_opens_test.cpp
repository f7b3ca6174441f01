// SPDX-License-Identifier: MIT
// Endpoints with EVDs of another open of the adapter.
#include "transfer_fake.h"

#include "engine/core/joined.h"
#include "libdat/api/attributes.h"

namespace {

using namespace rsmengine;

// `one` has EVDs of the open `second`, `other` has its own.
class OpensTest : public fake::Pair {
  protected:
    void SetUp() override {
        Pair::SetUp();
        unlocked([this] { open_second(); });
        DAT_EP_PARAM param{};
        param.recv_evd_handle = evds[0];
        param.request_evd_handle = evds[1];
        param.connect_evd_handle = evds[2];
        const DAT_EP_HANDLE ep = one.ep->handle();
        unlocked([&] { EXPECT_EQ(rsmdat::ep_modify(ep, ALL_EVDS, &param), DAT_SUCCESS); });
        one.recv = find_evd(evds[0], *ia);
        one.request = find_evd(evds[1], *ia);
        one.connection = find_evd(evds[2], *ia);
        ASSERT_NE(one.recv, nullptr);
    }
    void TearDown() override {
        if (second != nullptr)
            unlocked([this] { close_second(); });
        Pair::TearDown();
    }

    template <class What>
    void unlocked(What what) {
        guard.unlock();
        what();
        guard.lock();
    }
    void open_second() {
        ASSERT_EQ(rsmdat::ia_open(*record(), "fake0", 8, &async2, &second), DAT_SUCCESS);
        for (DAT_EVD_HANDLE &evd : evds)
            ASSERT_EQ(rsmdat::evd_create(second, 64, nullptr, DAT_EVD_DEFAULT_FLAG, &evd),
                      DAT_SUCCESS);
    }
    void close_second() {
        EXPECT_EQ(rsmdat::ia_close(std::exchange(second, nullptr), DAT_CLOSE_ABRUPT_FLAG),
                  DAT_SUCCESS);
    }
    // The record of the IA that there is.
    rsmdat::Record *record() const {
        return static_cast<rsmdat::Record *>(static_cast<DAT_PROVIDER *>(ia->face)->extension);
    }

    static constexpr auto ALL_EVDS = static_cast<DAT_EP_PARAM_MASK>(
        DAT_EP_FIELD_RECV_EVD_HANDLE | DAT_EP_FIELD_REQUEST_EVD_HANDLE |
        DAT_EP_FIELD_CONNECT_EVD_HANDLE);
    DAT_IA_HANDLE second = nullptr;
    DAT_EVD_HANDLE async2 = nullptr;
    DAT_EVD_HANDLE evds[3]{};
};

TEST_F(OpensTest, TransfersCompleteOnTheOthersEvds) {
    connect(one, other);
    EXPECT_NE(&one.recv->ia(), ia);
    ASSERT_EQ(other.receive({to.at(0, 64)}, 1), Status::OK);
    ASSERT_EQ(one.receive({to.at(64, 64)}, 2), Status::OK);
    ASSERT_EQ(one.send({from.at(0, 64)}, 3), Status::OK);
    ASSERT_EQ(other.send({from.at(64, 64)}, 4), Status::OK);
    run(one, other);
    expect(*other.recv, 1, CompletionStatus::OK, 64);
    expect(*one.recv, 2, CompletionStatus::OK, 64);
    expect(*one.request, 3, CompletionStatus::OK, 64);
    expect(*other.request, 4, CompletionStatus::OK, 64);
    expect_same(128);
}

// Polling an EVD drives the connections of the endpoints that feed it, whoever opened them.
TEST_F(OpensTest, PollOfTheOthersEvdDrivesTheConnection) {
    connect(one, other);
    one.ep->feed();
    ASSERT_EQ(one.receive({to.at(0, 64)}, 1), Status::OK);
    ASSERT_EQ(other.send({from.at(0, 64)}, 2), Status::OK);
    DAT_EVENT event{};
    const DAT_EVD_HANDLE evd = one.recv->handle();
    unlocked([&] { EXPECT_EQ(rsmdat::evd_dequeue(evd, &event), DAT_SUCCESS); });
    EXPECT_EQ(event.event_data.dto_completion_event_data.user_cookie.as_64, 1U);
}

TEST_F(OpensTest, CloseOfTheEvdsBreaksTheConnection) {
    connect(one, other);
    ASSERT_EQ(one.receive({to.at(0, 64)}, 1), Status::OK);
    unlocked([this] { close_second(); });
    EXPECT_EQ(one.ep->state, EpState::DISCONNECTED);
    EXPECT_EQ(one.ep->recv_evd, nullptr);
    EXPECT_EQ(one.ep->request_evd, nullptr);
    EXPECT_EQ(one.ep->connect_evd, nullptr);
    run(other, other);
    EXPECT_EQ(other.ep->state, EpState::DISCONNECTED);
    expect_event(*other.connection, EventKind::BROKEN);
}

TEST_F(OpensTest, CloseOfTheEndpointLeavesTheEvds) {
    connect(one, other);
    ASSERT_EQ(one.receive({to.at(0, 64)}, 1), Status::OK);
    unlocked([this] {
        for (DAT_EVD_HANDLE evd : evds)
            EXPECT_EQ(rsmdat::evd_free(evd), rsmdat::invalid_state(DAT_INVALID_STATE_EVD_IN_USE));
    });
    ia->destroy(*one.ep);
    unlocked([this] {
        for (DAT_EVD_HANDLE evd : evds)
            EXPECT_EQ(rsmdat::evd_free(evd), DAT_SUCCESS);
        EXPECT_EQ(rsmdat::ia_close(std::exchange(second, nullptr), DAT_CLOSE_GRACEFUL_FLAG),
                  DAT_SUCCESS);
    });
}

// An adapter of another name has nothing in common with this one.
TEST_F(OpensTest, EvdsOfAnotherAdapterAreRefused) {
    static rsmdat::Record elsewhere;
    std::strcpy(elsewhere.info.ia_name, "fake1");
    elsewhere.table.device_name = elsewhere.info.ia_name;
    elsewhere.table.extension = &elsewhere;
    elsewhere.options = "";
    const DAT_EP_HANDLE ep = other.ep->handle();
    unlocked([&] {
        DAT_IA_HANDLE third = nullptr;
        DAT_EVD_HANDLE async3 = nullptr;
        ASSERT_EQ(rsmdat::ia_open(elsewhere, "fake1", 8, &async3, &third), DAT_SUCCESS);
        DAT_EP_PARAM param{};
        ASSERT_EQ(rsmdat::evd_create(third, 8, nullptr, DAT_EVD_DEFAULT_FLAG, &param.recv_evd_handle),
                  DAT_SUCCESS);
        EXPECT_EQ(rsmdat::ep_modify(ep, DAT_EP_FIELD_RECV_EVD_HANDLE, &param),
                  rsmdat::invalid_parameter(3));
        EXPECT_EQ(rsmdat::ia_close(third, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS);
    });
    EXPECT_FALSE(find_evd(evds[0], *ia) == nullptr);
}

// Streams that exclude each other do so across opens.
TEST_F(OpensTest, StreamsOfAllOpensCount) {
    DAT_EP_ATTR solicited = rsmdat::to_attr(attributes());
    solicited.recv_completion_flags = DAT_COMPLETION_SOLICITED_WAIT_FLAG;
    DAT_PZ_HANDLE pz2 = nullptr;
    DAT_EP_HANDLE ep = nullptr;
    unlocked([&] {
        ASSERT_EQ(rsmdat::pz_create(second, &pz2), DAT_SUCCESS);
        EXPECT_EQ(rsmdat::ep_create(second, pz2, evds[0], evds[1], evds[2], &solicited, &ep),
                  rsmdat::invalid_parameter(6));
    });
}

} // namespace
