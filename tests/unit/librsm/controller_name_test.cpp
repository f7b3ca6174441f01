// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <string>

#include "controller_name.h"

namespace {

// The canonical name, or "-".
std::string canonical(const char *name) {
    rsm::ControllerName result;
    return rsm::canonical_controller_name(name, result) ? result.data() : "-";
}

TEST(ControllerName, LoopbackHasManySpellings) {
    for (const auto *name : {"loopback", "loopback0", "loopback7", "LOOPBACK", "LoopBack00"})
        EXPECT_EQ(canonical(name), "loopback") << name;
    EXPECT_EQ(canonical(nullptr), "loopback");
    EXPECT_EQ(canonical("loopback99999999999999999999"), "loopback");
}

TEST(ControllerName, TypeIsLowerCaseAndUnitIsANumber) {
    EXPECT_EQ(canonical("sci0"), "sci0");
    EXPECT_EQ(canonical("SCI"), "sci0");
    EXPECT_EQ(canonical("Sci007"), "sci7");
    EXPECT_EQ(canonical("a1b2"), "a1b2");
    EXPECT_EQ(canonical("x4294967295"), "x4294967295");
}

TEST(ControllerName, WithoutATypeThereIsNone) {
    EXPECT_EQ(canonical(""), "-");
    EXPECT_EQ(canonical("7"), "-");
    EXPECT_EQ(canonical("42"), "-");
}

TEST(ControllerName, LengthIsLimited) {
    EXPECT_EQ(canonical(std::string(30, 'a').c_str()), std::string(30, 'a') + "0");
    EXPECT_EQ(canonical(std::string(31, 'a').c_str()), "-");
    EXPECT_EQ(canonical(std::string(32, 'a').c_str()), "-");
    EXPECT_EQ(canonical(std::string(100000, 'a').c_str()), "-");
    EXPECT_EQ(canonical(("a" + std::string(255, '0')).c_str()), "-");
    EXPECT_EQ(canonical("x4294967296"), "-");
}

} // namespace
