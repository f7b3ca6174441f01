// SPDX-License-Identifier: GPL-2.0
#include "native.hpp"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include <unistd.h>

namespace rsmperf {

namespace {

namespace fs = std::filesystem;

// Set in a process that rsm-fake runs.
constexpr const char *MARK = "RSMPERF_ON_FAKE";

// In a build tree, and where rsm-fake is installed.
fs::path fake_of(const fs::path &program) {
    const std::array places{program.parent_path() / "../../lib/device/fake/rsm-fake",
                            fs::path(RSMPERF_FAKE)};
    for (const auto &place : places) {
        if (fs::exists(place)) {
            return place;
        }
    }
    throw std::runtime_error("--native needs " RSMPERF_FAKE ", which is not installed");
}

} // namespace

void use_fake(char **argv) {
    if (std::getenv(MARK) != nullptr) {
        return;
    }
    std::string program = fs::read_symlink("/proc/self/exe");
    std::string fake = fake_of(program);
    std::vector<char *> arguments{fake.data(), program.data()};
    for (char **argument = argv + 1; *argument != nullptr; argument++) {
        arguments.push_back(*argument);
    }
    arguments.push_back(nullptr);
    (void)setenv(MARK, "1", 1);
    (void)execv(fake.c_str(), arguments.data());
    throw std::system_error(errno, std::generic_category(), fake);
}

} // namespace rsmperf
