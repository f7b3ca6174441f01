// SPDX-License-Identifier: GPL-2.0
#include "netlink/support/tracing.hpp"

#include "support/system.hpp"

#include <algorithm>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <sys/mount.h>
#include <unistd.h>

namespace rsmtest {

namespace {

const std::string tracefs = "/sys/kernel/tracing/";

bool has_all(const std::string &line, const std::vector<std::string> &words)
{
    return std::ranges::all_of(
        words, [&](const std::string &word) { return line.find(word) != std::string::npos; });
}

} // namespace

Tracing::Tracing()
{
    if (access((tracefs + "events").c_str(), F_OK) != 0) {
        EXPECT_EQ(mount("tracefs", tracefs.c_str(), "tracefs", 0, nullptr), 0);
    }
    EXPECT_TRUE(write("trace", ""));
    EXPECT_TRUE(write("events/rsm/enable", "1"));
}

Tracing::~Tracing()
{
    write("events/rsm/enable", "0");
}

std::string Tracing::contents(const std::string &name)
{
    const std::ifstream file(tracefs + name);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

bool Tracing::write(const std::string &name, const std::string &text)
{
    return write_text(tracefs + name, text);
}

void Tracing::expect(const std::string &event, const std::vector<std::string> &words) const
{
    const std::string all = contents("trace");
    std::istringstream lines(all);
    for (std::string line; std::getline(lines, line);)
        if (line.find(" " + event + ": ") != std::string::npos && has_all(line, words))
            return;
    ADD_FAILURE() << "no " << event << " in\n" << all;
}

} // namespace rsmtest
