// SPDX-License-Identifier: GPL-2.0
// Tracepoints rsm:*, as trace-cmd and bpftrace find them: in tracefs.
#include "netlink/support/tracing.hpp"
#include "support/child.hpp"
#include "support/raw.hpp"

#include <gtest/gtest.h>
#include <string>
#include <sys/resource.h>

using namespace rsmtest;
using raw::success;

namespace {

std::string field(const std::string &name, std::uint64_t value)
{
    return name + "=" + std::to_string(value) + " ";
}

} // namespace

TEST(NetlinkTrace, each_change_of_state)
{
    const Tracing tracing;
    const auto pid = static_cast<std::uint64_t>(getpid());
    {
        Pages other(2);
        const raw::Published segment(2, RSM_ALLOW_REBIND);
        ASSERT_EQ(raw::rebind(segment.handle.get(), other.data(), other.size()), success);
        const Fd handle = raw::open_segment();
        ASSERT_EQ(raw::connect(handle.get(), segment.id), success);
        ASSERT_EQ(raw::post(handle.get()), success);
        // From memory that is not there.
        const auto bad = raw::entry(reinterpret_cast<void *>(page_size()), 0, 8);
        ASSERT_EQ(raw::transfer(handle.get(), RSM_IOC_PUTV, {&bad, 1}),
                  raw::status(RSMERR_BAD_ADDR));
        ASSERT_EQ(raw::unpublish(segment.handle.get()), success);
    }
    const raw::Published hidden;
    const rsm_acl_entry owner_only{raw::local_node(), 0600};
    ASSERT_EQ(raw::republish(hidden.handle.get(), {&owner_only, 1}), success);
    in_child_as(alice(), [&] {
        const Fd handle = raw::open_segment();
        EXPECT_EQ(raw::connect(handle.get(), hidden.id), raw::status(RSMERR_PERM_DENIED));
    });
    in_child_as(alice(), [] {
        const rlimit limit{0, 0};
        ASSERT_EQ(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
        EXPECT_FALSE(raw::Published().ok);
    });
    tracing.expect("segment_bind", {field("pid", pid), "controller=loopback ", "length="});
    tracing.expect("segment_rebind", {field("pid", pid)});
    tracing.expect("segment_publish", {field("pid", pid)});
    tracing.expect("import_connect", {field("pid", pid), "rights=0600 "});
    tracing.expect("denied", {"kind=user ", "rights=0600"});
    tracing.expect("post", {"import=1 "});
    tracing.expect("transfer_error", {"put=1 ", "length=8 "});
    tracing.expect("import_disconnect", {"aborted=1 ", "reason=exporter"});
    tracing.expect("segment_unpublish", {field("pid", pid), "reason=asked"});
    tracing.expect("segment_end", {field("pid", pid), "reason=asked"});
    tracing.expect("limit_hit", {"kind=memlock "});
}

// Tools build their filters and programs from these.
TEST(NetlinkTrace, formats_and_filters)
{
    const Tracing tracing;
    for (const std::string name : {"segment_bind", "segment_rebind", "segment_publish",
                             "segment_unpublish", "segment_end", "import_connect",
                             "import_disconnect", "importer_connect", "importer_disconnect",
                             "node_up", "node_down", "limit_hit", "denied", "post",
                             "transfer_error"})
        EXPECT_NE(Tracing::contents("events/rsm/" + name + "/format").find("print fmt"),
                  std::string::npos)
            << name;
    const std::string filter = "events/rsm/segment_publish/filter";
    ASSERT_TRUE(Tracing::write(filter, "length > 1000000000"));
    const raw::Published segment;
    EXPECT_EQ(Tracing::contents("trace").find("segment_publish: "), std::string::npos);
    ASSERT_TRUE(Tracing::write(filter, "0"));
}
