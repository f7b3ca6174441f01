// SPDX-License-Identifier: GPL-2.0
// rsmctl doctor on a machine with rsm.ko; tests/unit has it on machines that lack something.
#include "rsmctl/program.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

using namespace rsmtest;

namespace {

// /dev/rsm for root only, for a while.
class ClosedDevice {
public:
    ClosedDevice() { EXPECT_EQ(chmod("/dev/rsm", 0600), 0); }
    ~ClosedDevice() { chmod("/dev/rsm", 0660); }
    ClosedDevice(const ClosedDevice &) = delete;
    ClosedDevice &operator=(const ClosedDevice &) = delete;
};

std::string verdict(const Json &findings, const std::string &check)
{
    return find(findings, "check", check).value("verdict", "missing");
}

} // namespace

TEST(RsmctlDoctor, finds_no_fault_where_there_is_none)
{
    for (const auto &user : {std::optional<User>(), std::optional<User>(alice())}) {
        const auto findings = rsmctl_json({"doctor"}, user);
        for (const char *check : {"module", "secure-boot", "device", "group", "login", "controllers"})
            EXPECT_EQ(verdict(findings, check), "ok") << findings.dump(1);
    }
}

TEST(RsmctlDoctor, names_the_controllers)
{
    const auto found = find(rsmctl_json({"doctor"}), "check", "controllers").value("found", "");
    EXPECT_NE(found.find("loopback"), std::string::npos) << found;
}

TEST(RsmctlDoctor, finds_a_device_that_a_member_of_the_group_can_not_open)
{
    const ClosedDevice closed;
    const auto outcome = rsmctl({"doctor"}, alice());
    EXPECT_EQ(outcome.status, 1);
    EXPECT_NE(outcome.out.find("fail  device       /dev/rsm: Permission denied"), std::string::npos)
        << outcome.out;
    EXPECT_NE(outcome.out.find("udevadm trigger"), std::string::npos) << outcome.out;
}
