// SPDX-License-Identifier: GPL-2.0
// Which dat.conf is read, and what there is to say of the one that is installed.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <sys/stat.h>
#include <vector>

#include "conf.h"

namespace {

const std::string good = "a0 u1.2 threadsafe default lib.so acme.1.2 \"\" \"\"";
const std::string other = "b0 u1.2 threadsafe default lib.so acme.1.2 \"\" \"\"";

class DatConfFile : public testing::Test {
  protected:
    void SetUp() override {
        std::string name = std::filesystem::temp_directory_path() / "dat-conf.XXXXXX";
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        directory_ = name;
    }

    void TearDown() override { std::filesystem::remove_all(directory_); }

    std::string file(const std::string &name, const std::string &text) {
        std::ofstream(directory_ / name) << text;
        return path(name);
    }

    std::string path(const std::string &name) const { return directory_ / name; }

    static std::size_t read(const char *from_environment, const std::vector<std::string> &usual) {
        std::vector<const char *> paths;
        for (const auto &name : usual)
            paths.push_back(name.c_str());
        return dat::read_conf(from_environment, paths).size();
    }

  private:
    std::filesystem::path directory_;
};

TEST_F(DatConfFile, TheEnvironmentDecides) {
    const auto one = file("one", good);
    const auto two = file("two", good + "\n" + other);
    EXPECT_EQ(read(two.c_str(), {one}), 2U);
    EXPECT_EQ(read(nullptr, {one}), 1U);
}

TEST_F(DatConfFile, NoFallbackFromTheEnvironment) {
    const auto one = file("one", good);
    EXPECT_EQ(read(path("absent").c_str(), {one}), 0U);
    EXPECT_EQ(read(path("").c_str(), {one}), 0U); // a directory
    EXPECT_EQ(read("", {one}), 0U);
}

TEST_F(DatConfFile, WhatIsNoFileIsNotWaitedFor) {
    ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
    EXPECT_EQ(read(path("fifo").c_str(), {}), 0U);
    EXPECT_EQ(read("/dev/zero", {}), 0U);
}

TEST_F(DatConfFile, TheFirstThatExists) {
    const auto one = file("one", good);
    const auto two = file("two", good + "\n" + other);
    const auto empty = file("empty", "");
    EXPECT_EQ(read(nullptr, {one, two}), 1U);
    EXPECT_EQ(read(nullptr, {path("absent"), two}), 2U);
    EXPECT_EQ(read(nullptr, {path("one/below"), two}), 2U);
    EXPECT_EQ(read(nullptr, {empty, two}), 0U);
    EXPECT_EQ(read(nullptr, {path(""), two}), 0U);
    EXPECT_EQ(read(nullptr, {path("absent"), path("absent too")}), 0U);
}

TEST_F(DatConfFile, TheOneThatIsInstalled) {
    const auto records = dat::read_conf(PACKAGED_DAT_CONF, {});
    ASSERT_EQ(records.size(), 2U);
    EXPECT_EQ(records[0].key, (dat::Key{"rsm0", 1, 2, true}));
    EXPECT_EQ(records[0].parameters, "controller=loopback");
    EXPECT_EQ(records[1].key, (dat::Key{"rsm1", 1, 2, true}));
    EXPECT_EQ(records[1].parameters, "controller=ivshmem0 nodes=/etc/rsm/nodes");
    EXPECT_EQ(records[1].library, "libdaplrsm.so.1");
}

TEST_F(DatConfFile, NeverEndingFile) {
    EXPECT_EQ(read("/dev/zero", {}), 0U);
}

} // namespace
