// SPDX-License-Identifier: GPL-2.0
// The controllers of tests/controllers: one with a window of its own, one that
// can't be mapped, one with a link. Their rules hold for interconnects to come.
#pragma once

#include "support/loopback.hpp"
#include "support/waiting.hpp"

#include <cstdlib>
#include <string>
#include <unistd.h>

namespace rsmtest {

// The first two list a path to this node, and it is down; the third has a link to it.
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

// A parameter of rsm_testctl.ko.
inline bool set_parameter(const char *name, const std::string &value)
{
    return write_text(std::string("/sys/module/rsm_testctl/parameters/") + name, value);
}

// How many callers the module holds at one of its points.
inline int held()
{
    return std::stoi(read_line("/sys/module/rsm_testctl/parameters/held").value_or("0"));
}

// Until somebody has come to a point where the module holds the caller.
inline void await_held(const Place &place = Place::here())
{
    const Waiting waiting("somebody whom rsm_testctl.ko holds", place);
    while (held() == 0)
        usleep(1000);
}

// A test with four pages exported through window0.
class WindowTest : public testing::Test {
protected:
    static constexpr std::size_t page_count = 4;

    void SetUp() override
    {
        ASSERT_TRUE(module.loaded());
        ASSERT_EQ(ctl.status(), RSM_SUCCESS);
        for (std::size_t i = 0; i < page_count; i++)
            memory.at(i * page_size()) = i + 1;
    }
    // Whether the four pages still hold what SetUp() put there.
    static bool holds_pattern(const Pages &pages)
    {
        for (std::size_t i = 0; i < page_count; i++) {
            if (pages.at(i * page_size()) != i + 1)
                return false;
        }
        return true;
    }
    TestControllers module;
    Controller ctl{"window0"};
    Pages memory{page_count};
};

} // namespace rsmtest
