// SPDX-License-Identifier: GPL-2.0
#include <gtest/gtest.h>

#include "schema.hpp"
#include "table.hpp"

namespace rsmctl::test {

namespace {

const auto segments = kind_of("segment").fields;

const std::vector<Json> two = {
    {{"id", 0x600000},
     {"number", 7},
     {"controller", "loopback"},
     {"state", "published"},
     {"length", 65536},
     {"uid", 1001},
     {"gid", 900},
     {"mode", "0660"},
     {"pid", 345},
     {"importers", 2},
     {"remote_importers", 0},
     {"pinned_bytes", 65536}},
    {{"number", 12},
     {"controller", "rdma0"},
     {"state", "bound"},
     {"length", 4096},
     {"uid", 0},
     {"gid", 0}},
};

} // namespace

TEST(RsmctlTable, IsAligned) {
    EXPECT_EQ(table_of(segments, two, false),
              "      ID  NUMBER  CONTROLLER  STATE      LENGTH   UID  GID  MODE  PID  IMPORTERS"
              "  REMOTE  PINNED\n"
              "0x600000       7  loopback    published   65536  1001  900  0660  345          2"
              "       0   65536\n"
              "       -      12  rdma0       bound        4096     0    0  -       -          -"
              "       -       -\n");
}

TEST(RsmctlTable, HasHeadingsOnlyWithoutRecords) {
    EXPECT_EQ(table_of(kind_of("process").fields, {}, true),
              "PID  UID  PINNED  CHARGED  LIMIT  SEGMENTS  IMPORTS  COMMAND\n");
}

TEST(RsmctlTable, HasSuffixesForPeople) {
    const std::vector<Json> process = {
        {{"pid", 1}, {"pinned_bytes", 3 << 20}, {"limit_bytes", nullptr}, {"comm", "a b"}}};
    EXPECT_EQ(table_of(kind_of("process").fields, process, true),
              "PID  UID  PINNED  CHARGED      LIMIT  SEGMENTS  IMPORTS  COMMAND\n"
              "  1    -      3M        -  unlimited         -        -  a b\n");
}

TEST(RsmctlTable, ShowsAllOfOneThing) {
    const Json segment = {
        {"id", 0x600000},
        {"acl", {{{"node_id", 1}, {"mode", "0600"}}, {{"node_id", 2}, {"mode", "0"}}}},
        {"flags", {"local", "read"}},
        {"put_bytes", 2048}};
    EXPECT_EQ(lines_of(segments, segment, true), "id                0x600000\n"
                                                 "acl               1:0600 2:0\n"
                                                 "flags             local,read\n"
                                                 "put_bytes         2K\n");
    const Json import = {{"aborted", false}, {"rights", ""}};
    EXPECT_EQ(lines_of(kind_of("import").fields, import, false), "rights      -\n"
                                                                 "aborted     no\n");
}

} // namespace rsmctl::test
