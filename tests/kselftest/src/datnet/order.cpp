// SPDX-License-Identifier: GPL-2.0
// Random programs of posts between two nodes keep the order that libdat promises
// (Documentation/libdat-order.md).
#include "dat/support/programs.hpp"
#include "datnet/support/dat_net_test.hpp"

using namespace rsmtest;
using namespace rsmtest::datnet;

namespace {

using DatNetOrder = DatNetPair;

} // namespace

TEST_F(DatNetOrder, two_nodes_keep_the_rules) {
    connect_from_here();
    const auto programs = dat::Programs::chosen(5);
    net::Pending joined = there->begin("order", programs.seed, programs.count, programs.repeats);
    dat::check_programs(*here, programs);
    if (HasFailure())
        return; // the partner may wait for ever
    const Answer answer = joined.get();
    EXPECT_EQ(answer.status, 0) << answer.text;
}
