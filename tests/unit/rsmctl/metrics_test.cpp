// SPDX-License-Identifier: GPL-2.0
// The text of rsmctl metrics, made of a snapshot.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>

#include <sys/stat.h>
#include <unistd.h>

#include "metrics.hpp"
#include "openmetrics.hpp"
#include "output.hpp"

namespace rsmctl::test {

namespace {

namespace fs = std::filesystem;

using testing::HasSubstr;
using testing::Not;

// As the kernel says it: numbers without a sign.
Json parsed(const char *text) {
    return Json::parse(text);
}

Snapshot small() {
    return {
        .controllers = {parsed(R"({"name": "loopback", "node_id": 1, "mappable": true, "segments": 2,
                                   "imports": 1, "links": 0})"),
                        parsed(R"({"name": "ivshmem0", "node_id": 1, "mappable": false,
                                   "window_bytes": 1048576, "segments": 1, "imports": 0,
                                   "links": 1})")},
        .nodes = {parsed(R"({"node_id": 2, "controller": "ivshmem0", "state": "active",
                             "segments": 3, "importers": 4})")},
        .stats = parsed(R"({"handles": 5, "max_segments": 1024, "segments": 3, "published": 2,
                            "imports": 1, "grants": 0, "pinned_bytes": 8192,
                            "max_pinned_bytes": 18446744073709551615, "denials": 4,
                            "limit": [{"kind": "memlock", "hits": 7},
                                      {"kind": "slots", "hits": 0}]})"),
        .segments = {},
        .imports = {},
    };
}

const std::string all_of_small = R"(# TYPE rsm_up gauge
# HELP rsm_up 1 if rsm.ko is loaded, else 0.
rsm_up 1
# TYPE rsm_handles gauge
# HELP rsm_handles Open segment handles.
rsm_handles 5
# TYPE rsm_max_handles gauge
# HELP rsm_max_handles Most segment handles that may be open.
rsm_max_handles 1024
# TYPE rsm_segments gauge
# HELP rsm_segments Exported segments.
rsm_segments 3
# TYPE rsm_published_segments gauge
# HELP rsm_published_segments Exported segments that have an id.
rsm_published_segments 2
# TYPE rsm_imports gauge
# HELP rsm_imports Imported segments.
rsm_imports 1
# TYPE rsm_grants gauge
# HELP rsm_grants Tickets that are live.
rsm_grants 0
# TYPE rsm_pinned_bytes gauge
# UNIT rsm_pinned_bytes bytes
# HELP rsm_pinned_bytes Memory pinned for exported segments.
rsm_pinned_bytes 8192
# TYPE rsm_max_pinned_bytes gauge
# UNIT rsm_max_pinned_bytes bytes
# HELP rsm_max_pinned_bytes Most memory that may be pinned.
rsm_max_pinned_bytes 18446744073709551615
# TYPE rsm_denials counter
# HELP rsm_denials Connects that this node has denied.
rsm_denials_total 4
# TYPE rsm_limit_refusals counter
# HELP rsm_limit_refusals Requests that a limit has refused.
rsm_limit_refusals_total{limit="memlock"} 7
rsm_limit_refusals_total{limit="slots"} 0
# TYPE rsm_controller_segments gauge
# HELP rsm_controller_segments Exported segments of the controller.
rsm_controller_segments{controller="loopback"} 2
rsm_controller_segments{controller="ivshmem0"} 1
# TYPE rsm_controller_imports gauge
# HELP rsm_controller_imports Imported segments of the controller.
rsm_controller_imports{controller="loopback"} 1
rsm_controller_imports{controller="ivshmem0"} 0
# TYPE rsm_controller_links gauge
# HELP rsm_controller_links Nodes that the controller knows.
rsm_controller_links{controller="loopback"} 0
rsm_controller_links{controller="ivshmem0"} 1
# TYPE rsm_controller_mappable gauge
# HELP rsm_controller_mappable 1 if segments can be mapped, else 0.
rsm_controller_mappable{controller="loopback"} 1
rsm_controller_mappable{controller="ivshmem0"} 0
# TYPE rsm_controller_window_bytes gauge
# UNIT rsm_controller_window_bytes bytes
# HELP rsm_controller_window_bytes Memory of the controller that segments share.
rsm_controller_window_bytes{controller="ivshmem0"} 1048576
# TYPE rsm_node_state gauge
# HELP rsm_node_state 1 for the state of the node, else 0.
rsm_node_state{controller="ivshmem0",node="2",state="down"} 0
rsm_node_state{controller="ivshmem0",node="2",state="greeting"} 0
rsm_node_state{controller="ivshmem0",node="2",state="active"} 1
rsm_node_state{controller="ivshmem0",node="2",state="ending"} 0
# TYPE rsm_node_segments gauge
# HELP rsm_node_segments Segments of the node that are imported here.
rsm_node_segments{controller="ivshmem0",node="2"} 3
# TYPE rsm_node_importers gauge
# HELP rsm_node_importers Segments of this node that the node imports.
rsm_node_importers{controller="ivshmem0",node="2"} 4
# EOF
)";

std::string family(const std::string &name, const std::string &type, const std::string &help,
                   const std::string &samples) {
    return "# TYPE " + name + " " + type + "\n# HELP " + name + " " + help + "\n" + samples;
}

} // namespace

TEST(RsmctlMetrics, AreOpenMetrics) {
    EXPECT_EQ(metrics_text(small()), all_of_small);
}

TEST(RsmctlMetrics, SayThatTheModuleIsNotLoaded) {
    EXPECT_EQ(metrics_text(std::nullopt),
              family("rsm_up", "gauge", "1 if rsm.ko is loaded, else 0.", "rsm_up 0\n") +
                  "# EOF\n");
}

TEST(RsmctlMetrics, HaveSegmentsAndImportsWhereTheseAreInTheSnapshot) {
    EXPECT_THAT(metrics_text(small()), Not(HasSubstr("rsm_segment_")));
    auto snapshot = small();
    snapshot.segments = {
        parsed(R"({"id": 6291456, "number": 7, "controller": "loopback", "length": 4096,
                   "importers": 1, "remote_importers": 0, "pinned_bytes": 4096, "events": 9,
                   "put_bytes": 100, "get_bytes": 0})"),
        // Another user's, which is not published: no counters, no id.
        parsed(R"({"number": 8, "controller": "loopback", "length": 8192})")};
    snapshot.imports = {parsed(R"({"number": 11, "id": 6291456, "controller": "loopback",
                                   "node_id": 1, "length": 4096, "events": 2, "put_bytes": 100,
                                   "get_bytes": 0, "aborted": false})")};
    const auto text = metrics_text(snapshot);
    const std::string one = R"({controller="loopback",id="0x600000",number="7"} )";
    EXPECT_THAT(text, HasSubstr("# TYPE rsm_segment_length_bytes gauge\n"
                                "# UNIT rsm_segment_length_bytes bytes\n"
                                "# HELP rsm_segment_length_bytes Length of the segment.\n"
                                "rsm_segment_length_bytes" +
                                one +
                                "4096\n"
                                "rsm_segment_length_bytes"
                                R"({controller="loopback",id="",number="8"} )"
                                "8192\n# TYPE"));
    EXPECT_THAT(text, HasSubstr("\nrsm_segment_put_bytes_total" + one + "100\n# TYPE"));
    EXPECT_THAT(text, HasSubstr("\nrsm_segment_events_total" + one + "9\n# TYPE"));
    const std::string import = R"({controller="loopback",node="1",id="0x600000",number="11"} )";
    EXPECT_THAT(text, HasSubstr("\nrsm_import_aborted" + import + "0\n"));
    EXPECT_THAT(text, HasSubstr("\nrsm_import_get_bytes_total" + import + "0\n# EOF\n"));
}

// Two samples with the same labels would make the whole text invalid.
TEST(RsmctlMetrics, HaveEachNodeOfAControllerOnce) {
    auto snapshot = small();
    const auto node = [](unsigned id, const char *state) {
        return Json{{"node_id", id}, {"controller", "ivshmem0"}, {"state", state}, {"segments", 0U}};
    };
    snapshot.nodes = {node(0, "greeting"), node(2, "ending"), node(3, "active"), node(2, "active"),
                      node(3, "down")};
    const auto text = metrics_text(snapshot);
    const auto sample = [](const char *id, const char *state, const char *value) {
        return std::string("rsm_node_state{controller=\"ivshmem0\",node=\"") + id + "\",state=\"" +
               state + "\"} " + value + "\n";
    };
    std::string samples;
    for (const auto *id : {"2", "3"}) {
        samples += sample(id, "down", "0") + sample(id, "greeting", "0") +
                   sample(id, "active", "1") + sample(id, "ending", "0");
    }
    EXPECT_THAT(text, HasSubstr(family("rsm_node_state", "gauge",
                                       "1 for the state of the node, else 0.", samples) +
                                "# TYPE"));
}

TEST(RsmctlMetrics, HaveTheSecretWhereThereIsSuchAThing) {
    auto snapshot = small();
    EXPECT_THAT(metrics_text(snapshot), Not(HasSubstr("rsm_node_secret")));
    snapshot.nodes.front()["secret"] = false;
    EXPECT_THAT(metrics_text(snapshot),
                HasSubstr(R"(rsm_node_secret{controller="ivshmem0",node="2"} 0)"));
}

TEST(RsmctlOpenMetrics, EscapesLabelsAndHelp) {
    MetricFamily metric({"a_seconds", MetricType::counter, "seconds", "A \"b\"\n\\ c."});
    metric.add({{"l", "\"x\"\ny\\z"}, {"m", "\xff\x01 \xc3\xa9"}}, 5);
    EXPECT_EQ(openmetrics_text({metric}),
              "# TYPE a_seconds counter\n"
              "# UNIT a_seconds seconds\n"
              "# HELP a_seconds A \\\"b\\\"\\n\\\\ c.\n"
              "a_seconds_total{l=\"\\\"x\\\"\\ny\\\\z\",m=\"?? ??\"} 5\n"
              "# EOF\n");
}

TEST(RsmctlOpenMetrics, PassesOverFamiliesWithoutSamples) {
    EXPECT_EQ(openmetrics_text({MetricFamily({"a", MetricType::gauge, "", "A."})}), "# EOF\n");
}

namespace {

class RsmctlReplaceFile : public testing::Test {
  protected:
    void SetUp() override {
        std::string name = testing::TempDir() + "rsmctl-file-XXXXXX";
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        directory = name;
        file = directory / "rsm.prom";
    }
    void TearDown() override { fs::remove_all(directory); }

    static std::string content(const fs::path &path) {
        std::ostringstream text;
        text << std::ifstream(path).rdbuf();
        return text.str();
    }
    std::ptrdiff_t files() const {
        return std::distance(fs::directory_iterator(directory), fs::directory_iterator());
    }

    fs::path directory;
    fs::path file;
};

} // namespace

TEST_F(RsmctlReplaceFile, MakesAFileThatOthersMayRead) {
    const auto mask = umask(022);
    replace_file(file, "one\n");
    umask(mask);
    EXPECT_EQ(content(file), "one\n");
    EXPECT_EQ(fs::status(file).permissions(), fs::perms(0644));
    EXPECT_EQ(files(), 1);
}

TEST_F(RsmctlReplaceFile, LeavesTheOldFileToWhomHasItOpen) {
    replace_file(file, "one\n");
    std::ifstream reader(file);
    replace_file(file, "two\n");
    std::string line;
    std::getline(reader, line);
    EXPECT_EQ(line, "one");
    EXPECT_EQ(content(file), "two\n");
    EXPECT_EQ(files(), 1);
}

TEST_F(RsmctlReplaceFile, RefusesWhatIsNoRegularFile) {
    for (const auto *target : {"/dev/null", "nowhere"}) {
        fs::create_symlink(target, file);
        EXPECT_THROW(replace_file(file, "one\n"), std::runtime_error);
        EXPECT_EQ(fs::read_symlink(file), target);
        fs::remove(file);
    }
    EXPECT_THROW(replace_file(directory, "one\n"), std::runtime_error);
    EXPECT_EQ(files(), 0);
}

TEST_F(RsmctlReplaceFile, SaysWhichFileCanNotBeMade) {
    try {
        replace_file(directory / "missing" / "rsm.prom", "one\n");
        ADD_FAILURE();
    } catch (const std::runtime_error &error) {
        EXPECT_THAT(error.what(), HasSubstr("missing/rsm.prom: No such file or directory"));
    }
}

} // namespace rsmctl::test
