// SPDX-License-Identifier: GPL-2.0
// The findings of rsmctl doctor, with a directory in place of /.
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "doctor.hpp"

namespace rsmctl::test {

namespace {

namespace fs = std::filesystem;

constexpr gid_t group_rsm = 900;
constexpr std::uint64_t gibibyte = std::uint64_t{1} << 30;

// A machine on which everything is as it should be; each test breaks something.
class Doctor : public testing::Test {
  protected:
    void SetUp() override {
        std::string name = testing::TempDir() + "rsmctl-doctor-XXXXXX";
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        machine.root = name;
        machine.kernel = "6.1.0-test";
        machine.caller = {1000, "alice", {1000, group_rsm}, gibibyte, 1024};
        write("sys/module/rsm/version", "1.0.0\n");
        write("sys/module/rsm/parameters/node_id", "0\n");
        write("lib/modules/6.1.0-test/modules.dep", "updates/dkms/rsm.ko.xz:\n");
        write("dev/rsm", "");
        write("etc/group", "root:x:0:\nrsm:x:900:alice,bob\n");
        write("sys/kernel/security/lockdown", "[none] integrity confidentiality\n");
        machine.reported = Reported{{{{"name", "loopback"}}}, {}, Json::object()};
    }
    void TearDown() override { fs::remove_all(machine.root); }

    void write(const std::string &file, const std::string &text) const {
        const auto path = machine.root / file;
        fs::create_directories(path.parent_path());
        std::ofstream(path) << text;
    }
    void remove(const std::string &file) const { fs::remove_all(machine.root / file); }
    void unload() {
        remove("sys/module/rsm");
        remove("dev/rsm");
        machine.device_error = ENOENT;
        machine.reported.reset();
    }

    // The line of a check: "VERDICT: FOUND -> REMEDY".
    std::string said(const std::string &check) const {
        const auto findings = examine(machine);
        const auto found = std::ranges::find(findings, check, &Finding::check);
        if (found == findings.end())
            return "nothing";
        const std::array verdicts{"ok", "note", "fail"};
        return verdicts.at(static_cast<std::size_t>(found->verdict)) + (": " + found->found) +
               " -> " + found->remedy;
    }

    Machine machine;
};

} // namespace

using testing::HasSubstr;
using testing::StartsWith;

TEST_F(Doctor, FindsNothingWrong) {
    EXPECT_TRUE(usable(examine(machine)));
    for (const auto &finding : examine(machine)) {
        EXPECT_EQ(finding.verdict, Verdict::ok) << finding.check;
        EXPECT_EQ(finding.remedy, "") << finding.check;
    }
}

TEST_F(Doctor, KnowsAModuleThatIsNotLoadedFromOneThatIsNotThere) {
    unload();
    EXPECT_EQ(said("module"),
              "fail: rsm.ko is installed for this kernel, and not loaded -> modprobe rsm");
    EXPECT_THAT(said("device"), StartsWith("fail: /dev/rsm is missing -> "));
    EXPECT_FALSE(usable(examine(machine)));
    remove("lib/modules");
    EXPECT_THAT(said("module"), StartsWith("fail: rsm.ko is not installed for kernel 6.1.0-test"));
    EXPECT_THAT(said("module"), HasSubstr("linux-headers-6.1.0-test"));
    EXPECT_EQ(said("controllers"), "nothing");
}

TEST_F(Doctor, KnowsSecureBoot) {
    write("sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c",
          std::string("\6\0\0\0\1", 5));
    EXPECT_THAT(said("secure-boot"),
                StartsWith("ok: Secure Boot is on; the kernel loads unsigned"));
    write("sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
    EXPECT_THAT(said("secure-boot"), HasSubstr("has loaded rsm"));
    unload();
    EXPECT_THAT(said("secure-boot"),
                StartsWith("note: Secure Boot is on; the kernel loads signed"));
    EXPECT_THAT(said("secure-boot"), HasSubstr("mokutil --import"));
}

TEST_F(Doctor, KnowsASignatureThatIsEnforcedWithoutLockdown) {
    unload();
    write("sys/module/module/parameters/sig_enforce", "Y\n");
    EXPECT_THAT(said("secure-boot"),
                StartsWith("note: Secure Boot is off; the kernel loads signed"));
}

TEST_F(Doctor, SaysHowToJoinTheGroup) {
    machine.caller.name = "carol";
    machine.caller.groups = {1000};
    machine.device_error = EACCES;
    EXPECT_EQ(said("group"),
              "fail: carol is not in group rsm -> usermod -aG rsm carol, then log in again");
    EXPECT_THAT(said("login"), StartsWith("ok: "));
    EXPECT_THAT(said("device"), StartsWith("fail: /dev/rsm: Permission denied"));
    write("etc/group", "root:x:0:\n");
    EXPECT_EQ(said("group"), "fail: there is no group rsm -> groupadd --system rsm, usermod -aG rsm carol, "
                             "and udevadm trigger --name-match=rsm");
}

TEST_F(Doctor, SaysToLogInAgain) {
    machine.caller.groups = {1000};
    machine.device_error = EACCES;
    EXPECT_THAT(said("group"), StartsWith("ok: alice is in group rsm"));
    EXPECT_THAT(said("login"), StartsWith("fail: this session is older"));
    EXPECT_THAT(said("login"), HasSubstr("newgrp rsm"));
}

TEST_F(Doctor, RootNeedsNoGroup) {
    machine.caller = {0, "root", {0}, {}, 1024};
    EXPECT_TRUE(usable(examine(machine)));
    EXPECT_THAT(said("memory"), StartsWith("ok: no limit"));
}

TEST_F(Doctor, KnowsADeviceThatAContainerKeepsBack) {
    machine.device_error = EPERM;
    EXPECT_THAT(said("device"), HasSubstr("DeviceAllow=/dev/rsm"));
    remove("dev/rsm");
    EXPECT_THAT(said("device"), StartsWith("fail: /dev/rsm is missing although rsm is loaded"));
}

TEST_F(Doctor, NotesLimitsThatAreLow) {
    machine.caller.locked_memory = 8U << 20U;
    machine.caller.descriptors = 64;
    EXPECT_THAT(said("memory"), StartsWith("note: a process may export 8M"));
    EXPECT_THAT(said("descriptors"), StartsWith("note: a process may have 64 descriptors"));
    EXPECT_TRUE(usable(examine(machine))) << "notes are no faults";
    machine.caller.locked_memory = 0;
    EXPECT_THAT(said("memory"), StartsWith("fail: "));
}

TEST_F(Doctor, KnowsControllersNodesAndLimits) {
    machine.reported->controllers.push_back({{"name", "ivshmem0"}});
    machine.reported->nodes = {
        {{"node_id", 1}, {"controller", "ivshmem0"}, {"state", "active"}},
        {{"node_id", 2}, {"controller", "ivshmem0"}, {"state", "down"}, {"reason", "farewell"}}};
    machine.reported->stats = {
        {"limit", {{{"kind", "memlock"}, {"hits", 0}}, {{"kind", "slots"}, {"hits", 3}}}}};
    EXPECT_EQ(said("controllers"), "ok: loopback, ivshmem0 -> ");
    EXPECT_THAT(said("limits"), StartsWith("note: the limit slots (fixed, segments of a process) "
                                           "has refused 3 requests"));
    const auto findings = examine(machine);
    EXPECT_EQ(std::ranges::count(findings, "node", &Finding::check), 2);
    EXPECT_THAT(text_of(findings), HasSubstr("node 2 (ivshmem0) is down: farewell\n"));
}

TEST_F(Doctor, KnowsAControllerWithoutSecret) {
    const auto node = [](const char *controller, unsigned id) {
        return Json{{"node_id", id}, {"controller", controller}, {"state", "active"}};
    };
    machine.reported->nodes = {node("ivshmem0", 2)};
    EXPECT_EQ(said("secret"), "nothing") << "a controller that has no such thing";
    machine.reported->nodes = {node("rdma0", 2), node("rdma0", 3)};
    for (auto &known : machine.reported->nodes)
        known["secret"] = false;
    EXPECT_THAT(said("secret"),
                StartsWith("note: rdma0: there is no secret, nodes are not authenticated -> "));
    EXPECT_THAT(said("secret"), HasSubstr("-> rsmctl node secret FILE -c rdma0"));
    EXPECT_EQ(std::ranges::count(examine(machine), "secret", &Finding::check), 1);
    EXPECT_TRUE(usable(examine(machine)));
    for (auto &known : machine.reported->nodes)
        known["secret"] = true;
    EXPECT_EQ(said("secret"), "ok: rdma0: nodes have to know the secret -> ");
}

TEST_F(Doctor, KnowsAnInterconnectWithoutDriverOrNodeId) {
    write("sys/bus/pci/devices/0000:00:04.0/vendor", "0x1af4\n");
    write("sys/bus/pci/devices/0000:00:04.0/device", "0x1110\n");
    EXPECT_THAT(said("controllers"), HasSubstr("-> modprobe rsm_ivshmem"));
    write("sys/module/rsm_ivshmem/refcnt", "0\n");
    EXPECT_THAT(said("controllers"), StartsWith("fail: "));
    EXPECT_THAT(said("controllers"), HasSubstr("options rsm node_id=N"));
    write("sys/module/rsm/parameters/node_id", "7\n");
    EXPECT_THAT(said("controllers"), StartsWith("ok: "));
}

// A directory that leads to itself is like one that this user may not enter, for root, too.
TEST_F(Doctor, GivesItsFindingsWhereItMayNotLook) {
    fs::create_directories(machine.root / "etc");
    fs::create_symlink("rsm", machine.root / "etc/rsm");
    EXPECT_THAT(said("controllers"), StartsWith("ok: "));
}

TEST_F(Doctor, KnowsRdmaThatIsConfiguredAndNotLoaded) {
    write("etc/rsm/rdma-nodes", "1 10.77.1.1\n");
    EXPECT_THAT(said("controllers"), StartsWith("fail: loopback; this node has no id"));
    write("sys/module/rsm/parameters/node_id", "7\n");
    EXPECT_THAT(said("controllers"), StartsWith("note: loopback; /etc/rsm/rdma-nodes is there"));
    write("sys/module/rsm_rdma/refcnt", "0\n");
    EXPECT_THAT(said("controllers"), StartsWith("ok: "));
}

TEST_F(Doctor, NamesLinesOfListsOfNodesThatAreWrong) {
    write("sys/module/rsm/parameters/node_id", "1\n");
    write("etc/rsm/nodes", "# nodes\n\n1 10.77.1.1 fd00::1 # a\n2 fe80::1%eth0\r\n");
    write("etc/rsm/rdma-nodes", "1 10.77.1.1\n2\tfd00::2\n");
    EXPECT_EQ(said("nodes-file"), "nothing");
    const auto wrong = [this](const char *file, const std::string &line) {
        write(file, "# list\n" + line);
        return said("nodes-file");
    };
    const char *all = "etc/rsm/nodes";
    EXPECT_THAT(wrong(all, "one 10.77.1.1"),
                StartsWith("note: /etc/rsm/nodes, line 2: \"one\" is no node id -> correct it"));
    EXPECT_THAT(wrong(all, "-1 10.77.1.1"), HasSubstr("\"-1\" is no node id"));
    EXPECT_THAT(wrong(all, "4294967296 10.77.1.1"), HasSubstr("is no node id"));
    EXPECT_THAT(wrong(all, "1"), HasSubstr("there is no address"));
    EXPECT_THAT(wrong(all, "1 10.77.1.1 host"), HasSubstr("\"host\" is no IP address"));
    EXPECT_THAT(wrong(all, "1 10.77.1.1/24"), HasSubstr("is no IP address"));
    remove(all);
    EXPECT_THAT(wrong("etc/rsm/rdma-nodes", "1 10.77.1.1 10.77.1.2"),
                HasSubstr("more than one address -> correct it, then: systemctl"));
    EXPECT_TRUE(usable(examine(machine)));
}

TEST_F(Doctor, HasColouredVerdicts) {
    const auto findings = examine(machine);
    EXPECT_THAT(text_of(findings, Colours::on), StartsWith("\x1b[32mok\x1b[0m    module "));
    EXPECT_THAT(text_of(findings), StartsWith("ok    module "));
}

TEST_F(Doctor, SpeaksJson) {
    unload();
    const auto list = json_of(examine(machine));
    ASSERT_TRUE(list.is_array());
    EXPECT_EQ(list[0]["check"], "module");
    EXPECT_EQ(list[0]["verdict"], "fail");
    EXPECT_EQ(list[0]["remedy"], "modprobe rsm");
    EXPECT_FALSE(list[3].contains("remedy")) << "where there is nothing to do";
}

} // namespace rsmctl::test
