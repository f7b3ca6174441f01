// SPDX-License-Identifier: MIT
// Tests with an IA of the transport, open and locked.
#pragma once

#include "core/transport.h"
#include "libdat/api/functions.h"
#include "libdat/api/provider.h"

#include <cstring>
#include <gtest/gtest.h>
#include <utility>

namespace fake {

class IaTest : public testing::Test {
  protected:
    // The options are those of an adapter's line in dat.conf.
    explicit IaTest(const char *options) {
        std::strcpy(record_.info.ia_name, "fake0");
        record_.table.device_name = record_.info.ia_name;
        record_.table.extension = &record_;
        record_.options = options;
    }
    void SetUp() override {
        DAT_IA_HANDLE handle = nullptr;
        DAT_EVD_HANDLE evd = nullptr;
        ASSERT_EQ(rsmdat::ia_open(record_, "fake0", 64, &evd, &handle), DAT_SUCCESS);
        auto locked = rsmengine::enter<rsmengine::Ia>(handle);
        ia = locked.get();
        guard = std::move(locked.guard);
        async = rsmengine::find<rsmengine::Evd>(evd);
    }
    void TearDown() override {
        const DAT_IA_HANDLE handle = ia->handle();
        guard.unlock();
        EXPECT_EQ(rsmdat::ia_close(handle, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS);
    }

  private:
    rsmdat::Record record_;

  protected:
    rsmengine::Guard guard;
    rsmengine::Ia *ia = nullptr;
    rsmengine::Evd *async = nullptr;
};

} // namespace fake
