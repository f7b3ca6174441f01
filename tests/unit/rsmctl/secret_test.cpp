// SPDX-License-Identifier: GPL-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

#include "secret.hpp"

namespace rsmctl::test {

namespace {

const std::string first = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
const std::string second = "ffFEfdfcfbfaf9f8f7f6f5f4f3f2f1f0efeeedecebeae9e8e7e6e5e4e3e2e1e0";

// The complaint about a text.
std::string complaint(const std::string &text) {
    try {
        secrets_in(text);
    } catch (const std::runtime_error &error) {
        return error.what();
    }
    return {};
}

class RsmctlSecretFile : public testing::Test {
  protected:
    void SetUp() override {
        char name[] = "/tmp/rsmctl-secret-XXXXXX";
        const int fd = mkstemp(name);
        ASSERT_GE(fd, 0);
        close(fd);
        path_ = name;
        std::ofstream(path_) << first << '\n';
    }
    void TearDown() override { unlink(path_.c_str()); }
    std::string refusal_with(mode_t mode) const {
        chmod(path_.c_str(), mode);
        try {
            read_secrets(path_);
        } catch (const std::runtime_error &error) {
            return error.what();
        }
        return {};
    }
    std::string path_;
};

} // namespace

TEST(RsmctlSecret, IsReadFromHexadecimalDigits) {
    const auto secrets = secrets_in(first + '\n');
    ASSERT_EQ(secrets.size(), 1U);
    for (unsigned i = 0; i < RSM_SECRET_SIZE; i++) {
        EXPECT_EQ(secrets[0][i], i);
    }
}

TEST(RsmctlSecret, SecondOneIsAcceptedToo) {
    const auto secrets = secrets_in("# new\n\t" + first + " # since Monday\r\n\n" + second);
    ASSERT_EQ(secrets.size(), 2U);
    EXPECT_EQ(secrets[0][1], 0x01);
    EXPECT_EQ(secrets[1][1], 0xfe);
}

TEST(RsmctlSecret, AnythingElseIsRefusedWithoutBeingQuoted) {
    for (const auto &bad : {first.substr(1), first + "0", "x" + first.substr(1), first + " " + second,
                            "-" + first.substr(1), "0x" + first, first.substr(0, 62) + "0 "}) {
        EXPECT_THAT(complaint("#\n" + bad), testing::StartsWith("line 2 is not 64 hexadecimal"));
        EXPECT_THAT(complaint(bad), testing::Not(testing::HasSubstr(first.substr(4, 20))));
    }
    EXPECT_THAT(complaint(""), testing::HasSubstr("has 0 secrets"));
    EXPECT_THAT(complaint("# " + first), testing::HasSubstr("has 0 secrets"));
    EXPECT_THAT(complaint(first + '\n' + second + '\n' + first), testing::HasSubstr("has 3"));
}

TEST_F(RsmctlSecretFile, OnlyItsOwnerMayReadIt) {
    EXPECT_EQ(refusal_with(0600), "");
    EXPECT_EQ(refusal_with(0400), "");
    for (const mode_t mode : {0640, 0604, 0620, 0602, 0644}) {
        EXPECT_THAT(refusal_with(mode), testing::AllOf(testing::StartsWith(path_ + ": "),
                                                       testing::HasSubstr("chmod 600")));
    }
}

TEST_F(RsmctlSecretFile, IsAFileThatIsThere) {
    EXPECT_THROW(read_secrets(path_ + ".not"), std::runtime_error);
    EXPECT_THROW(read_secrets("/dev/zero"), std::runtime_error);
    EXPECT_THROW(read_secrets("/"), std::runtime_error);
}

} // namespace rsmctl::test
