// SPDX-License-Identifier: GPL-2.0
#include <gtest/gtest.h>

#include "options.hpp"
#include "status.hpp"

namespace rsmctl::test {

namespace {

// Its output goes where this can see it.
struct Said {
    CommandLine line;
    std::string out;
    std::string err;
};

Said say(std::vector<std::string> words) {
    words.insert(words.begin(), "rsmctl");
    std::vector<char *> pointers;
    for (auto &word : words) {
        pointers.push_back(word.data());
    }
    pointers.push_back(nullptr);
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const auto line = parse(static_cast<int>(words.size()), pointers.data());
    return {line, testing::internal::GetCapturedStdout(), testing::internal::GetCapturedStderr()};
}

Options options_of(const std::vector<std::string> &words) {
    const auto said = say(words);
    EXPECT_TRUE(said.line.options) << said.err;
    return said.line.options.value_or(Options());
}

} // namespace

TEST(RsmctlOptions, ListsWithoutACommand) {
    for (const auto *object : {"controller", "node", "segment", "import", "process", "stats"}) {
        for (const auto &words : {std::vector<std::string>{object}, {object, "list"}}) {
            const auto options = options_of(words);
            EXPECT_EQ(options.object, object);
            EXPECT_EQ(options.verb, Verb::list);
            EXPECT_FALSE(options.json || options.human);
        }
    }
}

TEST(RsmctlOptions, TakeFlagsAnywhere) {
    for (const auto &words : {std::vector<std::string>{"-jh", "segment", "list"},
                              {"segment", "--json", "list", "--human"},
                              {"segment", "list", "-j", "-h"}}) {
        const auto options = options_of(words);
        EXPECT_TRUE(options.json && options.human);
        EXPECT_EQ(options.object, "segment");
    }
}

TEST(RsmctlOptions, SortLists) {
    EXPECT_EQ(options_of({"segment"}).sort, "");
    EXPECT_EQ(options_of({"--sort", "length", "segment"}).sort, "length");
    EXPECT_EQ(options_of({"process", "list", "--sort=PINNED"}).sort, "pinned_bytes");
    EXPECT_EQ(options_of({"--columns", "length,PINNED", "segment"}).columns,
              (std::vector<std::string>{"length", "pinned_bytes"}));
    const auto options = options_of({"seg", "--sort=-put_bytes", "-j"});
    EXPECT_EQ(options.sort, "put_bytes");
    EXPECT_EQ(options.direction, Direction::descending);
}

TEST(RsmctlOptions, WatchLists) {
    using namespace std::chrono_literals;
    EXPECT_FALSE(options_of({"segment"}).watch);
    EXPECT_EQ(options_of({"segment", "--watch"}).watch, 2s);
    EXPECT_EQ(options_of({"--watch", "segment", "list"}).watch, 2s);
    EXPECT_EQ(options_of({"stats", "--watch=0.5"}).watch, 500ms);
}

TEST(RsmctlOptions, ShowTheTop) {
    using namespace std::chrono_literals;
    EXPECT_EQ(options_of({"top"}).verb, Verb::top);
    EXPECT_EQ(options_of({"top"}).watch, 2s);
    EXPECT_EQ(options_of({"top", "--watch=5"}).watch, 5s);
}

TEST(RsmctlOptions, UseColours) {
    EXPECT_EQ(options_of({"segment"}).colour, ColourWhen::automatic);
    EXPECT_EQ(options_of({"--color", "controller", "show", "x"}).colour, ColourWhen::always);
    EXPECT_EQ(options_of({"segment", "--color=always"}).colour, ColourWhen::always);
    EXPECT_EQ(options_of({"doctor", "--color=never"}).colour, ColourWhen::never);
    EXPECT_EQ(options_of({"--color=auto", "doctor"}).colour, ColourWhen::automatic);
}

TEST(RsmctlOptions, ShowOne) {
    EXPECT_EQ(options_of({"controller", "show", "rdma0"}).name, "rdma0");
    EXPECT_EQ(options_of({"import", "show", "17"}).number, 17);
    EXPECT_EQ(options_of({"process", "show", "4194304"}).number, 4194304);
    const auto node = options_of({"node", "show", "2", "-c", "rdma0"});
    EXPECT_EQ(node.number, 2);
    EXPECT_EQ(node.controller, "rdma0");
    const auto segment = options_of({"segment", "show", "0x600000"});
    EXPECT_EQ(segment.verb, Verb::show);
    EXPECT_EQ(segment.number, 0x600000);
    EXPECT_FALSE(segment.handle || segment.imports);
}

TEST(RsmctlOptions, ShowASegmentAndWhoImportsIt) {
    const auto options = options_of({"show", "0xFFFFFFFF", "--number"});
    EXPECT_EQ(options.object, "segment");
    EXPECT_EQ(options.verb, Verb::show);
    EXPECT_EQ(options.number, 0xffffffff);
    EXPECT_TRUE(options.handle && options.imports);
}

TEST(RsmctlOptions, ChangeNodes) {
    const auto add = options_of({"node", "add", "3", "fd00::3"});
    EXPECT_EQ(add.verb, Verb::add);
    EXPECT_EQ(add.object, "node");
    EXPECT_EQ(add.number, 3);
    EXPECT_EQ(add.address, "fd00::3");
    EXPECT_EQ(options_of({"node", "set", "3", "10.0.0.3"}).verb, Verb::set);
    EXPECT_EQ(options_of({"node", "del", "3", "--controller", "rdma0"}).controller, "rdma0");
    EXPECT_EQ(options_of({"segment", "revoke", "5"}).verb, Verb::revoke);
}

TEST(RsmctlOptions, MonitorSomeEvents) {
    EXPECT_TRUE(options_of({"monitor"}).events.empty());
    const auto options = options_of({"monitor", "publish", "limit-hit", "-j"});
    EXPECT_EQ(options.verb, Verb::monitor);
    EXPECT_EQ(options.events, (std::vector<std::string>{"publish", "limit-hit"}));
    EXPECT_TRUE(options.json);
}

TEST(RsmctlOptions, WriteMetrics) {
    const auto options = options_of({"metrics"});
    EXPECT_EQ(options.verb, Verb::metrics);
    EXPECT_EQ(options.output, "");
    EXPECT_FALSE(options.segments);
    EXPECT_EQ(options_of({"metrics", "-o", "/a/b.prom"}).output, "/a/b.prom");
    EXPECT_TRUE(options_of({"met", "--segments", "--output=b.prom"}).segments);
}

TEST(RsmctlOptions, HelpAndVersionSucceed) {
    for (const auto &words : {std::vector<std::string>{"--help"},
                              {"segment", "--help"},
                              {"node", "add", "--help"},
                              {"--version"}}) {
        const auto said = say(words);
        EXPECT_FALSE(said.line.options);
        EXPECT_EQ(said.line.status, 0);
        EXPECT_FALSE(said.out.empty());
        EXPECT_EQ(said.err, "");
    }
    EXPECT_EQ(say({"--version"}).out, "rsmctl " RSMCTL_VERSION "\n");
}

TEST(RsmctlOptions, FlagsHaveNoValues) {
    for (const auto &words : {std::vector<std::string>{"segment", "--json=1"},
                              {"--json=true", "segment"},
                              {"segment", "--human=false"},
                              {"show", "1", "--number=1"},
                              {"metrics", "--segments=1"},
                              {"node", "secret", "--none=1"}}) {
        EXPECT_EQ(say(words).line.status, 2);
    }
}

TEST(RsmctlOptions, HelpInOtherWords) {
    for (const auto &words : {std::vector<std::string>{"help"},
                              {"-h"},
                              {"help", "segment"},
                              {"segment", "help"},
                              {"segment", "revoke", "--help"},
                              {"doctor", "help"},
                              {"doctor", "-j", "help"},
                              {"metrics", "--output=f", "help"},
                              {"metrics", "-o", "f", "help"},
                              {"monitor", "help"},
                              {"node", "add", "help"},
                              {"segment", "list", "help"},
                              {"help", "node", "add"}}) {
        const auto said = say(words);
        EXPECT_FALSE(said.line.options);
        EXPECT_EQ(said.line.status, 0) << said.err;
        EXPECT_NE(said.out.find("Usage"), std::string::npos);
    }
    EXPECT_EQ(say({"segment", "help"}).out, say({"help", "segment"}).out);
    EXPECT_EQ(say({"segment", "help"}).out, say({"segment", "--help"}).out);
}

TEST(RsmctlOptions, CommandsMayBeAbbreviated) {
    EXPECT_EQ(options_of({"seg"}).object, "segment");
    EXPECT_EQ(options_of({"c", "l"}).object, "controller");
    EXPECT_EQ(options_of({"-j", "seg", "rev", "5"}).verb, Verb::revoke);
    EXPECT_EQ(options_of({"node", "ad", "3", "10.0.0.3", "-c", "rdma0"}).address, "10.0.0.3");
    EXPECT_EQ(options_of({"mon"}).verb, Verb::monitor);
    EXPECT_EQ(options_of({"doc"}).verb, Verb::doctor);
    // Words that are no command are left alone.
    EXPECT_EQ(options_of({"contr", "show", "list"}).name, "list");
    EXPECT_EQ(options_of({"contr", "show", "help"}).name, "help");
    EXPECT_EQ(options_of({"node", "secret", "help"}).file, "help");
}

TEST(RsmctlOptions, NamesNearMisses) {
    const auto err = [](const std::vector<std::string> &words) { return say(words).err; };
    const std::string see = " (see rsmctl help)\n";
    EXPECT_EQ(err({"segmnt"}), "rsmctl: \"segmnt\" is no command: did you mean segment?" + see);
    EXPECT_EQ(err({"segment", "lsit"}), "rsmctl: \"lsit\" is no command: did you mean list?" + see);
    EXPECT_EQ(err({"segment", "nothing"}),
              "rsmctl: \"nothing\" is no command: there are list, show and revoke" + see);
    EXPECT_EQ(err({"s"}), "rsmctl: \"s\" may mean segment, stats or show" + see);
    EXPECT_EQ(err({"monitor", "pubish"}),
              "rsmctl: EVENT: \"pubish\" is no event: did you mean publish?" + see);
    EXPECT_EQ(err({"segment", "--sort", "lenght"}),
              "rsmctl: \"lenght\" is no column: did you mean length?" + see);
    EXPECT_EQ(err({"--jsn", "segment"}),
              "rsmctl: \"--jsn\" is no option: did you mean --json?" + see);
    EXPECT_EQ(err({"segment", "list", "--srot=length"}),
              "rsmctl: \"--srot\" is no option: did you mean --sort?" + see);
    EXPECT_EQ(options_of({"node", "add", "3", "--", "10.0.0.3"}).address, "10.0.0.3");
    EXPECT_EQ(err({"metrics", "--segmnets"}),
              "rsmctl: \"--segmnets\" is no option: did you mean --segments?" + see);
    EXPECT_EQ(err({"segment", "show", "5x"}),
              "rsmctl: \"5x\" is not a number from 0 to 4294967295" + see);
    EXPECT_EQ(err({}), "rsmctl: no command is given, such as rsmctl segment" + see);
}

TEST(RsmctlOptions, RefuseWhatMakesNoSense) {
    const std::vector<std::vector<std::string>> lines = {
        {},
        {"nothing"},
        {"segment", "nothing"},
        {"segment", "list", "5"},
        {"segment", "list", "show", "5"},
        {"segment", "show"},
        {"segment", "show", "0x"},
        {"segment", "show", ""},
        {"segment", "show", "-5"},
        {"segment", "show", "5", "6"},
        {"segment", "show", "4294967296"},
        {"segment", "show", "0x1g"},
        {"segment", "revoke"},
        {"segment", "add", "5"},
        {"controller", "show", ""},
        {"controller", "show", std::string(32, 'x')},
        {"import", "show", "1", "--number"},
        {"node", "add", "1"},
        {"node", "add", "1", ""},
        {"node", "add", "1", std::string(64, '1')},
        {"node", "del", "one"},
        {"node", "del", "1", "10.0.0.1"},
        {"stats", "show"},
        {"show"},
        {"monitor", "nothing"},
        {"metrics", "nothing"},
        {"metrics", "-o"},
        {"metrics", "-o", ""},
        {"--nothing"},
        {"segment", "--sort"},
        {"segment", "--sort", ""},
        {"segment", "--sort", "nothing"},
        {"segment", "--columns", ""},
        {"segment", "--columns", "id,"},
        {"segment", "--columns", "id,,length"},
        {"segment", "--columns", "id", "--json"},
        {"segment", "show", "5", "--columns", "id"},
        {"stats", "--columns", "handles"},
        {"segment", "show", "5", "--sort", "id"},
        {"stats", "--sort", "handles"},
        {"doctor", "--sort", "check"},
        {"segment", "--watch=0"},
        {"segment", "--watch=2s"},
        {"segment", "--watch=nan"},
        {"segment", "--watch=1e9"},
        {"segment", "--watch="},
        {"segment", "show", "5", "--watch"},
        {"monitor", "--watch"},
        {"segment", "--color=maybe"},
        {"--color", "always", "segment"},
        {"-j", "metrics"},
        {"-j", "top"},
        {"top", "--sort", "pinned"},
    };
    for (const auto &words : lines) {
        const auto said = say(words);
        const auto text = testing::PrintToString(words);
        EXPECT_FALSE(said.line.options) << text;
        EXPECT_EQ(said.line.status, usage_status) << text;
        EXPECT_TRUE(said.err.starts_with("rsmctl: ")) << text;
        EXPECT_EQ(std::ranges::count(said.err, '\n'), 1) << text << said.err;
        EXPECT_EQ(said.out, "") << text;
    }
}

TEST(RsmctlOptions, SecretComesFromAFileOrGoes) {
    const auto set = options_of({"node", "secret", "/etc/rsm/rdma-secret", "-c", "rdma0"});
    EXPECT_EQ(set.verb, Verb::secret);
    EXPECT_EQ(set.file, "/etc/rsm/rdma-secret");
    EXPECT_EQ(set.controller, "rdma0");
    EXPECT_EQ(options_of({"node", "secret", "--none"}).verb, Verb::no_secret);
    for (const auto &words : {std::vector<std::string>{"node", "secret"},
                              {"node", "secret", "/a", "--none"},
                              {"node", "secret", ""}}) {
        EXPECT_EQ(say(words).line.status, usage_status);
    }
}

} // namespace rsmctl::test
