// SPDX-License-Identifier: GPL-2.0
// An interconnect with a link, and messages that come at an awkward moment.
#include "interconnects/testctl.hpp"
#include "support/system.hpp"

using namespace rsmtest;

namespace {

class Linked : public testing::Test {
protected:
    void SetUp() override
    {
        ASSERT_TRUE(module.loaded());
        ASSERT_EQ(seg.status(), RSM_SUCCESS);
        ASSERT_EQ(seg.publish(0, {{listed_node, 0600}}), RSM_SUCCESS);
    }
    TestControllers module;
    Controller ctl{"linked0"};
    Pages memory{4};
    ExportSegment seg{ctl, memory};
};

} // namespace

// It used to be handled when the link was down: an importer that nothing takes away, for which
// unpublish waits.
TEST_F(Linked, connect_that_comes_as_the_link_ends)
{
    for (int round = 0; round < 3; round++) {
        // A link that hears nothing for two heartbeats, since the machine is busy, ends before.
        ASSERT_TRUE(eventually([&] {
            return write_text("/sys/module/rsm_testctl/parameters/late_connect",
                              std::to_string(seg.id()));
        }));
        ASSERT_EQ(seg.unpublish(), RSM_SUCCESS);
        ASSERT_EQ(seg.publish(0, {{listed_node, 0600}}), RSM_SUCCESS);
    }
}
