// SPDX-License-Identifier: GPL-2.0
// The environment's meaning to a whole program (list.c), set-user-id or not.
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

namespace fs = std::filesystem;

struct Result {
    int status;
    std::string output;
};

class DatEnvironment : public testing::Test {
  protected:
    void SetUp() override {
        std::string name = fs::temp_directory_path() / "dat-environment.XXXXXX";
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        ASSERT_EQ(::chmod(name.c_str(), 0755), 0);
        directory_ = name;
        std::ofstream(directory_ / "dat.conf")
            << "over0 u1.2 threadsafe default /nowhere.so fake.1.0 \"\" \"\"\nbad line\n";
    }

    void TearDown() override { fs::remove_all(directory_); }

    // With DAT_OVERRIDE, both outputs in one.
    Result run(const std::string &program, const std::string &environment = "") const {
        const auto command = "DAT_OVERRIDE=" + (directory_ / "dat.conf").string() + " " +
                             environment + " " + program + " 2>&1";
        std::FILE *pipe = ::popen(command.c_str(), "r");
        std::string output;
        std::array<char, 512> block;
        while (const auto got = std::fread(block.data(), 1, block.size(), pipe))
            output.append(block.data(), got);
        const int status = ::pclose(pipe);
        return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, output};
    }

    fs::path directory_;
};

TEST_F(DatEnvironment, Override) {
    EXPECT_EQ(run(DAT_LIST).output, "over0\n");
}

TEST_F(DatEnvironment, Messages) {
    const auto everything = run(DAT_LIST, "DAT_DBG_TYPE=0xff").output;
    EXPECT_NE(everything.find("DAT: dat.conf: line 2: "), everything.npos) << everything;
    EXPECT_NE(everything.find("DAT: reading "), everything.npos) << everything;
    EXPECT_EQ(run(DAT_LIST, "DAT_DBG_TYPE=0xff DAT_DBG_DEST=2").output, "over0\n");
}

// Whether list.c was not set-user-id, nobody may execute it there, or the loader found no library that it may read.
bool cannot_be_tested(int status) {
    return status == 3 || status == 126 || status == 127;
}

TEST_F(DatEnvironment, SetUserId) {
    if (::geteuid() != 0)
        GTEST_SKIP() << "needs root";
    const auto program = directory_ / "dat-list";
    fs::copy_file(DAT_LIST, program);
    constexpr uid_t nobody = 65534;
    ASSERT_EQ(::chown(program.c_str(), nobody, nobody), 0);
    ASSERT_EQ(::chmod(program.c_str(), 04755), 0);
    const auto result = run(program, "DAT_DBG_TYPE=0xff");
    if (cannot_be_tested(result.status))
        GTEST_SKIP() << "no set-user-id here, or nobody can't read libdat: " << result.output;
    EXPECT_EQ(result.status, 0) << result.output;
    EXPECT_EQ(result.output.find("over0"), result.output.npos) << result.output;
    EXPECT_EQ(result.output.find("DAT:"), result.output.npos) << result.output;
}

} // namespace
