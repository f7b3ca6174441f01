// SPDX-License-Identifier: MIT
// EVDs: making, posting, dequeuing, overflow, resizing.
#include "event_fake.h"

namespace {

using namespace rsmengine;
using fake::error;

class EvdTest : public fake::Adapter {
  protected:
    DAT_RETURN create(DAT_COUNT length, DAT_CNO_HANDLE cno, int flags, DAT_EVD_HANDLE *evd) {
        return rsmdat::evd_create(ia, length, cno, static_cast<DAT_EVD_FLAGS>(flags), evd);
    }
    static DAT_EVD_PARAM query(DAT_EVD_HANDLE evd) {
        DAT_EVD_PARAM param{};
        EXPECT_EQ(rsmdat::evd_query(evd, DAT_EVD_FIELD_ALL, &param), DAT_SUCCESS);
        return param;
    }
};

TEST_F(EvdTest, CreateChecksItsArguments) {
    DAT_EVD_HANDLE evd = &evd;
    EXPECT_EQ(create(0, nullptr, DAT_EVD_DTO_FLAG, &evd), rsmdat::invalid_parameter(2));
    EXPECT_EQ(evd, nullptr);
    EXPECT_EQ(create(1 << 30, nullptr, DAT_EVD_DTO_FLAG, &evd),
              rsmdat::no_resource(DAT_RESOURCE_TEVD));
    EXPECT_EQ(create(1, ia, DAT_EVD_DTO_FLAG, &evd),
              error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CNO));
    EXPECT_EQ(create(1, nullptr, 0, &evd), rsmdat::invalid_parameter(4));
    EXPECT_EQ(create(1, nullptr, 0x200, &evd), rsmdat::invalid_parameter(4));
    EXPECT_EQ(create(1, nullptr, 0x2, &evd), rsmdat::invalid_parameter(4));
    EXPECT_EQ(create(1, nullptr, DAT_EVD_DTO_FLAG, nullptr), rsmdat::invalid_parameter(5));
    EXPECT_EQ(create(1, nullptr, DAT_EVD_DEFAULT_FLAG, &evd), DAT_SUCCESS);
    EXPECT_EQ(rsmdat::evd_free(evd), DAT_SUCCESS);
}

TEST_F(EvdTest, Query) {
    const auto cno = make_cno();
    const auto evd = make_evd(5, cno);
    const auto param = query(evd);
    EXPECT_EQ(param.ia_handle, ia);
    EXPECT_EQ(param.evd_qlen, 5);
    EXPECT_EQ(param.cno_handle, cno);
    EXPECT_EQ(param.evd_flags, DAT_EVD_DEFAULT_FLAG | DAT_EVD_SOFTWARE_FLAG);
    EXPECT_EQ(param.evd_state,
              DAT_EVD_STATE_ENABLED | DAT_EVD_STATE_WAITABLE | DAT_EVD_STATE_CONFIG_THRESHOLD);
    DAT_EVD_PARAM other;
    const auto beyond = static_cast<DAT_EVD_PARAM_MASK>(DAT_EVD_FIELD_ALL + 1);
    EXPECT_EQ(rsmdat::evd_query(evd, beyond, &other), rsmdat::invalid_parameter(2));
    EXPECT_EQ(rsmdat::evd_query(evd, DAT_EVD_FIELD_CNO, nullptr), rsmdat::invalid_parameter(3));
}

TEST_F(EvdTest, StateFollowsItsStreams) {
    const auto evd = make_evd();
    const auto config = [&] { return query(evd).evd_state & DAT_EVD_STATE_CONFIG_THRESHOLD; };
    enter<Evd>(evd)->solicited_streams = 1;
    EXPECT_EQ(config(), DAT_EVD_STATE_CONFIG_SOLICITED);
    enter<Evd>(evd)->notify_streams = 1;
    EXPECT_EQ(config(), DAT_EVD_STATE_CONFIG_NOTIFY);
    EXPECT_EQ(wait(evd, 0, 2), rsmdat::invalid_state(DAT_INVALID_STATE_EVD_CONFIG_NOTIFY));
    enter<Evd>(evd)->notify_streams = 0;
    EXPECT_EQ(wait(evd, 0, 2), rsmdat::invalid_state(DAT_INVALID_STATE_EVD_CONFIG_SOLICITED));
    enter<Evd>(evd)->solicited_streams = 0;
    EXPECT_EQ(config(), DAT_EVD_STATE_CONFIG_THRESHOLD);
}

TEST_F(EvdTest, SoftwareEventsComeBackInOrder) {
    const auto evd = make_evd(2);
    EXPECT_EQ(post(evd, 1), DAT_SUCCESS);
    EXPECT_EQ(post(evd, 2), DAT_SUCCESS);
    EXPECT_EQ(post(evd, 3), error(DAT_QUEUE_FULL));
    for (std::uintptr_t i = 1; i <= 2; ++i) {
        DAT_EVENT event;
        ASSERT_EQ(rsmdat::evd_dequeue(evd, &event), DAT_SUCCESS);
        EXPECT_EQ(event.event_number, DAT_SOFTWARE_EVENT);
        EXPECT_EQ(event.evd_handle, evd);
        EXPECT_EQ(event.event_data.software_event_data.pointer, reinterpret_cast<DAT_PVOID>(i));
    }
    EXPECT_EQ(dequeue(evd), error(DAT_QUEUE_EMPTY));
    EXPECT_EQ(rsmdat::evd_dequeue(evd, nullptr), rsmdat::invalid_parameter(2));
}

TEST_F(EvdTest, PostChecksItsArguments) {
    DAT_EVD_HANDLE evd = nullptr;
    DAT_EVENT event{};
    event.event_number = DAT_SOFTWARE_EVENT;
    ASSERT_EQ(create(1, nullptr, DAT_EVD_DTO_FLAG, &evd), DAT_SUCCESS);
    EXPECT_EQ(rsmdat::evd_post_se(evd, &event), rsmdat::invalid_parameter(1));
    const auto soft = make_evd();
    EXPECT_EQ(rsmdat::evd_post_se(soft, nullptr), rsmdat::invalid_parameter(2));
    event.event_number = DAT_DTO_COMPLETION_EVENT;
    EXPECT_EQ(rsmdat::evd_post_se(soft, &event), rsmdat::invalid_parameter(2));
}

// Events that fit are still there; then the EVD says that something is missing, for ever.
TEST_F(EvdTest, OverflowIsReportedOnce) {
    const auto evd = make_evd(1);
    int credits = 3;
    for (int i = 0; i < 3; ++i)
        deliver(evd, true, &credits);
    EXPECT_EQ(credits, 1);
    DAT_EVENT event;
    ASSERT_EQ(rsmdat::evd_dequeue(async_evd, &event), DAT_SUCCESS);
    EXPECT_EQ(event.event_number, DAT_ASYNC_ERROR_EVD_OVERFLOW);
    EXPECT_EQ(event.event_data.asynch_error_event_data.dat_handle, evd);
    EXPECT_EQ(event.event_data.asynch_error_event_data.reason, DAT_EVD_OVERFLOW_ERROR);
    EXPECT_EQ(dequeue(async_evd), error(DAT_QUEUE_EMPTY));
    EXPECT_EQ(dequeue(evd), DAT_SUCCESS);
    EXPECT_EQ(credits, 0);
    EXPECT_EQ(dequeue(evd), rsmdat::invalid_state());
    EXPECT_EQ(wait(evd, 0), rsmdat::invalid_state());
    EXPECT_EQ(post(evd), error(DAT_QUEUE_FULL));
}

TEST_F(EvdTest, OverflowOfTheAsyncEvdIsNotReported) {
    for (int i = 0; i < 6; ++i)
        deliver(async_evd);
    for (int i = 0; i < 4; ++i)
        EXPECT_EQ(dequeue(async_evd), DAT_SUCCESS);
    EXPECT_EQ(dequeue(async_evd), rsmdat::invalid_state());
}

// To an async EVD of another IA of the adapter, until that one goes.
TEST_F(EvdTest, ReportsToAForeignAsyncEvd) {
    DAT_EVD_HANDLE shared = async_evd;
    DAT_IA_HANDLE second = open(shared);
    EXPECT_EQ(shared, async_evd);
    enter<Ia>(second)->report(EventKind::IA_FAILED, second, Reason::FAILURE);
    EXPECT_EQ(wait(async_evd, DAT_TIMEOUT_INFINITE), DAT_SUCCESS);
    EXPECT_EQ(enter<Evd>(async_evd)->users, 2);
    EXPECT_EQ(rsmdat::ia_close(second, DAT_CLOSE_GRACEFUL_FLAG), DAT_SUCCESS);
    EXPECT_EQ(enter<Evd>(async_evd)->users, 1);
    second = open(shared);
    close();
    enter<Ia>(second)->report(EventKind::IA_FAILED, second, Reason::FAILURE);
    EXPECT_EQ(rsmdat::ia_close(second, DAT_CLOSE_GRACEFUL_FLAG), DAT_SUCCESS);
}

// Whichever open of the adapter has something to report: the one with an EVD of its own, the one
// that shares another's, the one without.
TEST_F(EvdTest, EachAsyncEvdOfAnAdapterGetsEachEventOnce) {
    DAT_EVD_HANDLE other_evd = nullptr;
    DAT_EVD_HANDLE shared = async_evd;
    DAT_EVD_HANDLE none = DAT_EVD_ASYNC_EXISTS;
    const DAT_IA_HANDLE other = open(other_evd);
    const DAT_IA_HANDLE sharing = open(shared);
    const DAT_IA_HANDLE without = open(none);
    for (const DAT_IA_HANDLE from : {other, sharing, without, ia}) {
        enter<Ia>(from)->report(EventKind::IA_FAILED, from, Reason::FAILURE);
        for (const DAT_EVD_HANDLE evd : {async_evd, other_evd}) {
            DAT_EVENT event;
            DAT_COUNT more = 0;
            ASSERT_EQ(rsmdat::evd_wait(evd, DAT_TIMEOUT_INFINITE, 1, &event, &more), DAT_SUCCESS);
            EXPECT_EQ(event.event_data.asynch_error_event_data.dat_handle, from);
            EXPECT_EQ(more, 0);
        }
    }
    for (const DAT_IA_HANDLE one : {without, sharing, other})
        EXPECT_EQ(rsmdat::ia_close(one, DAT_CLOSE_GRACEFUL_FLAG), DAT_SUCCESS);
}

TEST_F(EvdTest, ResizeKeepsTheEvents) {
    const auto evd = make_evd(2);
    post(evd, 1);
    post(evd, 2);
    EXPECT_EQ(rsmdat::evd_resize(evd, 0), rsmdat::invalid_parameter(2));
    EXPECT_EQ(rsmdat::evd_resize(evd, 1 << 30), rsmdat::invalid_parameter(2));
    EXPECT_EQ(rsmdat::evd_resize(evd, 1), rsmdat::invalid_state());
    EXPECT_EQ(rsmdat::evd_resize(evd, 2), DAT_SUCCESS);
    EXPECT_EQ(rsmdat::evd_resize(evd, 3), DAT_SUCCESS);
    EXPECT_EQ(query(evd).evd_qlen, 3);
    EXPECT_EQ(post(evd, 3), DAT_SUCCESS);
    EXPECT_EQ(post(evd, 4), error(DAT_QUEUE_FULL));
    for (int i = 0; i < 3; ++i)
        EXPECT_EQ(dequeue(evd), DAT_SUCCESS);
}

TEST_F(EvdTest, InUseIsNotFreed) {
    EXPECT_EQ(rsmdat::evd_free(async_evd), rsmdat::invalid_state(DAT_INVALID_STATE_EVD_IN_USE));
    const auto evd = make_evd();
    enter<Evd>(evd)->users = 1;
    EXPECT_EQ(rsmdat::evd_free(evd), rsmdat::invalid_state(DAT_INVALID_STATE_EVD_IN_USE));
    enter<Evd>(evd)->users = 0;
    EXPECT_EQ(rsmdat::evd_free(evd), DAT_SUCCESS);
    EXPECT_EQ(dequeue(evd), error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1));
}

} // namespace
