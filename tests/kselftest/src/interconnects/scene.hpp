// SPDX-License-Identifier: GPL-2.0
// Scenes with nodes that the test plays, which live and leave a request unanswered for a while.
#pragma once

#include "interconnects/node.hpp"

#include <algorithm>
#include <deque>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>
#include <iostream>

namespace rsmtest {

// Whether the node's link goes on. Takes all messages for the node.
inline bool goes_on(TestNode &node)
{
    constexpr std::uint32_t marker = 0x7f01;
    if (!node.send_connection(RSM_MSG_UNPUBLISH, marker, marker))
        return false;
    while (const auto message = node.next())
        if (message->type() == RSM_MSG_DISCONNECT && message->as<rsm_msg_connection>().cookie == marker)
            return true;
    return false;
}

// Keeps the results of a scene, of all threads, and tells failures at once: the scene may not come to its end.
class SceneResults : private testing::ScopedFakeTestPartResultReporter {
public:
    explicit SceneResults(testing::TestPartResultArray &results)
        : ScopedFakeTestPartResultReporter(INTERCEPT_ALL_THREADS, &results)
    {
    }

private:
    void ReportTestPartResult(const testing::TestPartResult &result) override
    {
        if (result.failed())
            std::cerr << "in a scene: " << result << std::endl;
        ScopedFakeTestPartResultReporter::ReportTestPartResult(result);
    }
};

inline void repeat_results(const testing::TestPartResultArray &results)
{
    for (int i = 0; i < results.size(); i++) {
        const auto &each = results.GetTestPartResult(i);
        if (each.failed())
            ADD_FAILURE_AT(each.file_name(), each.line_number()) << each.message();
    }
}

inline bool any_failed(const testing::TestPartResultArray &results)
{
    for (int i = 0; i < results.size(); i++)
        if (results.GetTestPartResult(i).failed())
            return true;
    return false;
}

// Plays the scene with so many nodes, which are new. The agent ends the link of a node that leaves a request
// unanswered for two intervals, rightly: where that happens because the machine has no time for the test, the scene
// shows nothing, and is played again. A link that ends four times ends for another reason.
template <class Scene> void play(std::deque<TestNode> &nodes, unsigned count, Scene scene)
{
    for (int left = 3;; left--) {
        nodes.clear();
        for (unsigned i = 0; i < count; i++)
            ASSERT_TRUE(nodes.emplace_back(i).valid()) << i;
        testing::TestPartResultArray results;
        {
            const SceneResults reporter(results);
            scene();
        }
        if (!any_failed(results))
            return;
        if (left == 0 || std::all_of(nodes.begin(), nodes.end(), goes_on)) {
            repeat_results(results);
            return;
        }
    }
}

} // namespace rsmtest
