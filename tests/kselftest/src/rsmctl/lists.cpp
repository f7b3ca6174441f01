// SPDX-License-Identifier: GPL-2.0
// Lists and details that rsmctl shows of the objects of a test.
#include "rsmctl/program.hpp"
#include "support/loopback.hpp"
#include "support/raw.hpp"

#include <fstream>
#include <sys/resource.h>
#include <unistd.h>

using namespace rsmtest;

namespace {

using RsmctlLists = PublishedTest;

std::string hexadecimal(std::uint64_t number)
{
    std::ostringstream text;
    text << "0x" << std::hex << number;
    return text.str();
}

} // namespace

TEST_F(RsmctlLists, have_segments)
{
    const auto segment = find(rsmctl_json({"segment"}), "id", seg.id());
    ASSERT_TRUE(segment.is_object());
    EXPECT_EQ(segment["controller"], "loopback");
    EXPECT_EQ(segment["state"], "published");
    EXPECT_EQ(segment["length"], memory.size());
    EXPECT_EQ(segment["pinned_bytes"], memory.size());
    EXPECT_EQ(segment["uid"], 0);
    EXPECT_EQ(segment["pid"], getpid());
    EXPECT_EQ(segment["importers"], 0);
    EXPECT_EQ(segment["flags"], Json::array({"allow-rebind"}));
    const Json acl = {{{"node_id", local_node()}, {"mode", "0666"}}};
    EXPECT_EQ(segment["acl"], acl);
    EXPECT_EQ(rsmctl_json({"segment", "show", std::to_string(seg.id())}), segment);
    EXPECT_EQ(
        rsmctl_json({"segment", "show", "--number", std::to_string(segment["number"].get<int>())}),
        segment);
}

TEST_F(RsmctlLists, have_imports_and_what_they_are_connected_to)
{
    const ImportSegment import(ctl, seg.id(), RSM_PERM_READ);
    ASSERT_EQ(import.status(), RSM_SUCCESS);
    const auto shown = rsmctl_json({"show", hexadecimal(seg.id())});
    EXPECT_EQ(shown["importers"], 1);
    ASSERT_EQ(shown["imports"].size(), 1U);
    const auto &found = shown["imports"][0];
    EXPECT_EQ(found["id"], seg.id());
    EXPECT_EQ(found["exporter"], shown["number"]);
    EXPECT_EQ(found["rights"], "r");
    EXPECT_EQ(found["aborted"], false);
    EXPECT_EQ(found["node_id"], local_node());
    EXPECT_EQ(found["length"], memory.size());
    EXPECT_EQ(find(rsmctl_json({"import", "list"}), "number", found["number"]), found);
    EXPECT_EQ(rsmctl_json({"import", "show", std::to_string(found["number"].get<int>())}), found);
}

TEST_F(RsmctlLists, have_put_and_got_bytes)
{
    // By the kernel: what goes through a mapping it does not see.
    const Fd handle = raw::open_segment();
    ASSERT_EQ(raw::connect(handle.get(), seg.id()), raw::success);
    std::uint64_t value = 7;
    const auto entry = raw::entry(&value, 0, sizeof(value));
    ASSERT_EQ(raw::transfer(handle.get(), RSM_IOC_PUTV, {&entry, 1}), raw::success);
    const auto shown = rsmctl_json({"show", hexadecimal(seg.id())});
    EXPECT_EQ(shown["put_bytes"], 8);
    EXPECT_EQ(shown["imports"][0]["put_bytes"], 8);
    EXPECT_EQ(shown["get_bytes"], 0);
}

TEST_F(RsmctlLists, have_controllers)
{
    const auto controller = find(rsmctl_json({"controller"}), "name", "loopback");
    ASSERT_TRUE(controller.is_object());
    EXPECT_EQ(controller["mappable"], true);
    EXPECT_EQ(controller["configurable"], false);
    EXPECT_EQ(controller["node_id"], local_node());
    EXPECT_GE(controller["segments"], 1);
    EXPECT_EQ(rsmctl_json({"controller", "show", "loopback"}), controller);
}

TEST_F(RsmctlLists, have_processes_and_their_limits)
{
    const rlimit limit{1 << 20, RLIM_INFINITY};
    ASSERT_EQ(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
    const auto process = find(rsmctl_json({"process"}), "pid", getpid());
    ASSERT_TRUE(process.is_object());
    EXPECT_EQ(process["pinned_bytes"], memory.size());
    EXPECT_EQ(process["limit_bytes"], 1 << 20);
    EXPECT_EQ(process["segments"], 1);
    EXPECT_EQ(process["imports"], 0);
    const rlimit none{RLIM_INFINITY, RLIM_INFINITY};
    ASSERT_EQ(setrlimit(RLIMIT_MEMLOCK, &none), 0);
    const auto unlimited = rsmctl_json({"process", "show", std::to_string(getpid())});
    EXPECT_TRUE(unlimited["limit_bytes"].is_null());
}

TEST_F(RsmctlLists, have_counters)
{
    const auto before = rsmctl_json({"stats"});
    Pages more(2);
    ExportSegment another(ctl, more);
    ASSERT_EQ(another.publish(), RSM_SUCCESS);
    const auto after = rsmctl_json({"stats", "list"});
    EXPECT_EQ(after["segments"].get<int>(), before["segments"].get<int>() + 1);
    EXPECT_EQ(after["published"].get<int>(), before["published"].get<int>() + 1);
    EXPECT_EQ(after["pinned_bytes"].get<std::size_t>(),
              before["pinned_bytes"].get<std::size_t>() + more.size());
    EXPECT_TRUE(find(after["limit"], "kind", "memlock").contains("hits"));
}

TEST_F(RsmctlLists, are_metrics_for_monitoring)
{
    const auto has = [](const std::string &text, const std::string &line) {
        return text.find("\n" + line + "\n") != std::string::npos;
    };
    const auto all = rsmctl({"metrics"}, alice());
    EXPECT_EQ(all.status, 0);
    EXPECT_EQ(all.err, "");
    EXPECT_TRUE(has(all.out, "rsm_up 1")) << all.out;
    EXPECT_TRUE(has(all.out, "rsm_pinned_bytes " + std::to_string(memory.size()))) << all.out;
    EXPECT_TRUE(has(all.out, "rsm_controller_segments{controller=\"loopback\"} 1")) << all.out;
    EXPECT_EQ(all.out.find("rsm_segment_"), std::string::npos) << all.out;

    const std::string file = "/tmp/rsmctl-metrics.prom";
    EXPECT_EQ(rsmctl({"metrics", "--segments", "-o", file}).out, "");
    std::ostringstream each;
    each << std::ifstream(file).rdbuf();
    unlink(file.c_str());
    const auto number = rsmctl_json({"segment", "show", std::to_string(seg.id())})["number"];
    EXPECT_TRUE(has(each.str(), "rsm_segment_length_bytes{controller=\"loopback\",id=\"" +
                                    hexadecimal(seg.id()) + "\",number=\"" + number.dump() +
                                    "\"} " + std::to_string(memory.size())))
        << each.str();
    EXPECT_EQ(each.str().rfind("# EOF\n"), each.str().size() - 6);
}

// Many more than a message holds.
TEST_F(RsmctlLists, have_each_of_many_once)
{
    constexpr std::size_t many = 500;
    Pages one(1);
    std::vector<std::unique_ptr<ExportSegment>> segments;
    for (std::size_t i = 0; i < many; i++) {
        segments.push_back(std::make_unique<ExportSegment>(ctl, one));
        ASSERT_EQ(segments.back()->publish(), RSM_SUCCESS);
    }
    const auto list = rsmctl_json({"segment"});
    for (const auto &segment : segments)
        EXPECT_TRUE(find(list, "id", segment->id()).is_object()) << segment->id();
}

TEST_F(RsmctlLists, are_tables_for_people)
{
    const auto table = rsmctl({"segment", "-h"});
    EXPECT_EQ(table.status, 0);
    EXPECT_NE(table.out.find("ID  NUMBER  CONTROLLER"), std::string::npos) << table.out;
    EXPECT_NE(table.out.find(hexadecimal(seg.id())), std::string::npos) << table.out;
    EXPECT_NE(table.out.find(" 16K "), std::string::npos) << table.out;
    for (const char *object : {"controller", "node", "import", "process", "stats"}) {
        const auto other = rsmctl({object});
        EXPECT_EQ(other.status, 0) << other.err;
        EXPECT_FALSE(other.out.empty()) << object;
    }
}

TEST_F(RsmctlLists, end_with_1_for_what_is_not_there)
{
    const auto segment = rsmctl({"segment", "show", "0x7ffffff0"});
    EXPECT_EQ(segment.status, 1);
    EXPECT_EQ(segment.err.find("rsmctl: segment 0x7ffffff0: "), 0U) << segment.err;
    EXPECT_EQ(segment.out, "");
    for (const auto &words : {Words{"controller", "show", "nothing"},
                              {"import", "show", "4000000000"},
                              {"process", "show", "4000000000"},
                              {"node", "show", "64"},
                              {"show", "1", "-j"}}) {
        const auto outcome = rsmctl(words);
        EXPECT_EQ(outcome.status, 1) << words[0];
        EXPECT_NE(outcome.err.find(" lists all (No such file or directory)"), std::string::npos) << outcome.err;
    }
}

TEST_F(RsmctlLists, end_with_2_for_bad_arguments)
{
    for (const auto &words : {Words{},
                              {"nothing"},
                              {"segment", "show"},
                              {"node", "add", "1"},
                              {"monitor", "nothing"},
                              {"segment", "revoke", "x"}})
        EXPECT_EQ(rsmctl(words).status, 2);
    EXPECT_EQ(rsmctl({"--help"}).status, 0);
    EXPECT_EQ(rsmctl({"--version"}).out.find("rsmctl "), 0U);
}
