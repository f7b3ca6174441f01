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

class NamedController {
public:
    explicit NamedController(std::string name)
    {
        status_ = rsm_get_controller(name.data(), &handle_);
    }
    ~NamedController()
    {
        if (status_ == RSM_SUCCESS)
            rsm_release_controller(handle_);
    }
    NamedController(const NamedController &) = delete;
    NamedController &operator=(const NamedController &) = delete;
    operator rsmapi_controller_handle_t() const { return handle_; }
    int status() const { return status_; }

private:
    rsmapi_controller_handle_t handle_ = nullptr;
    int status_;
};

} // namespace rsmtest
