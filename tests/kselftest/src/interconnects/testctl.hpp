// SPDX-License-Identifier: GPL-2.0
// The controllers of tests/controllers: one with a window of its own, one that
// can't be mapped. What holds for them holds for interconnects to come.
#pragma once

#include "support/loopback.hpp"

#include <cstdlib>

namespace rsmtest {

// Both controllers list a path to this node, and it is down.
inline constexpr rsm_node_id_t listed_node = 7;

// rsm_testctl.ko, for the duration of a test.
class TestControllers {
public:
    TestControllers() : loaded_(std::system("modprobe rsm_testctl") == 0) {}
    ~TestControllers()
    {
        if (loaded_) {
            EXPECT_EQ(std::system("rmmod rsm_testctl"), 0);
        }
    }
    TestControllers(const TestControllers &) = delete;
    TestControllers &operator=(const TestControllers &) = delete;
    bool loaded() const { return loaded_; }

private:
    bool loaded_;
};

} // namespace rsmtest
