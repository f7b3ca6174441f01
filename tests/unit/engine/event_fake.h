// SPDX-License-Identifier: MIT
// An IA without /dev/rsm, for tests of what does not go over the wire.
#pragma once

#include "engine/event/evd.h"
#include "libdat/api/functions.h"
#include "libdat/api/provider.h"

#include <cstring>
#include <gtest/gtest.h>
#include <thread>

namespace fake {

// A table whose name is "fake0".
inline rsmdat::Record &record() {
    static rsmdat::Record instance;
    [[maybe_unused]] static const bool filled = [] {
        std::strcpy(instance.info.ia_name, "fake0");
        instance.info.dapl_version_major = 1;
        instance.info.dapl_version_minor = 2;
        instance.info.is_thread_safe = DAT_TRUE;
        instance.table.device_name = instance.info.ia_name;
        instance.table.extension = &instance;
        instance.options = "";
        return true;
    }();
    return instance;
}

// The value of an error, as the specification writes it.
inline DAT_RETURN error(DAT_RETURN_TYPE type, DAT_RETURN_SUBTYPE subtype = DAT_NO_SUBTYPE) {
    return rsmdat::failure(type, subtype);
}

class Adapter : public testing::Test {
  protected:
    void SetUp() override { ia = open(async_evd); }
    void TearDown() override {
        if (ia) {
            EXPECT_EQ(rsmdat::ia_close(ia, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS);
        }
    }

    static DAT_IA_HANDLE open(DAT_EVD_HANDLE &async) {
        DAT_IA_HANDLE handle = nullptr;
        EXPECT_EQ(rsmdat::ia_open(record(), "fake0", 4, &async, &handle), DAT_SUCCESS);
        return handle;
    }
    void close() {
        EXPECT_EQ(rsmdat::ia_close(ia, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS);
        ia = nullptr;
    }

    DAT_EVD_HANDLE make_evd(DAT_COUNT length = 8, DAT_CNO_HANDLE cno = nullptr) {
        const auto flags = static_cast<DAT_EVD_FLAGS>(DAT_EVD_DEFAULT_FLAG | DAT_EVD_SOFTWARE_FLAG);
        DAT_EVD_HANDLE evd = nullptr;
        EXPECT_EQ(rsmdat::evd_create(ia, length, cno, flags, &evd), DAT_SUCCESS);
        return evd;
    }
    DAT_CNO_HANDLE make_cno(DAT_OS_WAIT_PROXY_AGENT agent = {}) {
        DAT_CNO_HANDLE cno = nullptr;
        EXPECT_EQ(rsmdat::cno_create(ia, agent, &cno), DAT_SUCCESS);
        return cno;
    }

    static DAT_RETURN post(DAT_EVD_HANDLE evd, std::uintptr_t number = 0) {
        DAT_EVENT event{};
        event.event_number = DAT_SOFTWARE_EVENT;
        event.event_data.software_event_data.pointer = reinterpret_cast<DAT_PVOID>(number);
        return rsmdat::evd_post_se(evd, &event);
    }
    // As the provider does it. `about` tells events apart.
    static void deliver(DAT_EVD_HANDLE evd, bool notifies = true, int *credit = nullptr,
                        DAT_HANDLE owner = nullptr) {
        rsmengine::Arrival arrival;
        arrival.event.kind = rsmengine::EventKind::TRANSFER;
        arrival.notifies = notifies;
        arrival.credit = credit;
        arrival.owner = owner;
        const auto locked = rsmengine::enter<rsmengine::Evd>(evd);
        ASSERT_TRUE(locked);
        locked->deliver(arrival);
    }
    static DAT_RETURN wait(DAT_EVD_HANDLE evd, DAT_TIMEOUT timeout, DAT_COUNT threshold = 1) {
        DAT_EVENT event;
        DAT_COUNT more = -1;
        return rsmdat::evd_wait(evd, timeout, threshold, &event, &more);
    }
    static DAT_RETURN dequeue(DAT_EVD_HANDLE evd) {
        DAT_EVENT event;
        return rsmdat::evd_dequeue(evd, &event);
    }
    // Until another thread is in evd_wait, and asleep.
    static void await_waiter(DAT_EVD_HANDLE evd) {
        while (!rsmengine::enter<rsmengine::Evd>(evd)->waited)
            std::this_thread::yield();
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }

    DAT_IA_HANDLE ia = nullptr;
    DAT_EVD_HANDLE async_evd = nullptr;
};

} // namespace fake
