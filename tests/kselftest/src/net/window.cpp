// SPDX-License-Identifier: GPL-2.0
// The window of an interconnect: what happens when it is full, and that nothing of it is lost.
#include "net/peer/shell.hpp"
#include "net/support/net_test.hpp"
#include "support/raw.hpp"
#include "support/subuser.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <sys/resource.h>

using namespace rsmtest;
using namespace rsmtest::net;

namespace {

constexpr std::size_t megabyte = 1u << 20;
constexpr std::size_t most_pieces = 4096;

class NetWindow : public NetTest {
  protected:
    void SetUp() override {
        NetTest::SetUp();
        if (!HasFatalFailure() && !IsSkipped() && !has_window())
            GTEST_SKIP() << configuration.controller << " has no window";
    }
    // Exports, each with a pattern of its own, until there is no room.
    std::vector<std::unique_ptr<RemoteExport>> fill_window(Session &session);
    // Pieces of a megabyte that fit now.
    std::size_t room(Session &session) { return fill_window(session).size(); }
    static void destroy(std::vector<std::unique_ptr<RemoteExport>> &exports) {
        for (const auto &exported : exports)
            EXPECT_EQ(exported->destroy(), RSM_SUCCESS);
        exports.clear();
    }
};

std::vector<std::unique_ptr<RemoteExport>> NetWindow::fill_window(Session &session) {
    std::vector<std::unique_ptr<RemoteExport>> exports;
    while (exports.size() < most_pieces) {
        auto exported = std::make_unique<RemoteExport>(session, megabyte / page);
        if (exported->status() != RSM_SUCCESS) {
            EXPECT_EQ(exported->status(), RSMERR_INSUFFICIENT_RESOURCES);
            break;
        }
        exported->memory().fill(0, page, exports.size());
        exports.push_back(std::move(exported));
    }
    return exports;
}

// Where the window of this node lies, as the kernel writes it.
std::string window_start() {
    const std::filesystem::path drivers = "/sys/bus/pci/drivers/rsm_ivshmem";
    for (const auto &entry : std::filesystem::directory_iterator(drivers)) {
        std::ifstream resources(entry.path() / "resource");
        std::string line;
        for (int bar = 0; bar <= 2; bar++)
            std::getline(resources, line);
        if (!line.empty())
            return line.substr(0, line.find(' '));
    }
    return {};
}

// An export in the window, which lasts as long as the object.
class Piece {
  public:
    explicit Piece(const std::string &controller) {
        rsm_bind bind = raw::bind_argument(memory_.data(), memory_.size(), 0, -1, controller);
        outcome_ = raw::call(handle_.get(), RSM_IOC_BIND, bind);
    }
    raw::Outcome outcome() const { return outcome_; }

  private:
    Pages memory_{megabyte / page_size()};
    Fd handle_ = raw::open_segment();
    raw::Outcome outcome_;
};

} // namespace

// The kernel does not say so by itself.
TEST_F(NetWindow, one_that_is_not_cached_is_told_of) {
    std::ifstream types("/sys/kernel/debug/x86/pat_memtype_list");
    if (!types)
        GTEST_SKIP() << "the kernel has no list of memory types";
    const std::string start = "mem " + window_start() + '-';
    std::string type;
    for (std::string line; std::getline(types, line);)
        if (line.find(start) != std::string::npos)
            type = line.substr(line.find("] ") + 2);
    ASSERT_FALSE(type.empty()) << start;
    Args look("dmesg | grep -q 'rsm_ivshmem.* is not cached'");
    EXPECT_EQ(run_shell(look).status == 0, type != "write-back") << type;
}

TEST_F(NetWindow, full) {
    Session exporter(first.node());
    auto exports = fill_window(exporter);
    ASSERT_GE(exports.size(), 4u);
    // Nobody else has room either, and small ones fill what is left.
    Session another(self.node());
    EXPECT_EQ(RemoteExport(another, megabyte / page).status(), RSMERR_INSUFFICIENT_RESOURCES);
    EXPECT_EQ(exporter.status("peek", exports[0]->memory().name(), 0), 0);
    for (std::size_t i = 0; i < exports.size(); i++)
        EXPECT_EQ(exports[i]->memory().differ(0, page, i), 0u) << "segment " << i << " was harmed";
    for (const std::size_t i : {std::size_t{0}, exports.size() - 1}) {
        ASSERT_EQ(exports[i]->publish(), RSM_SUCCESS);
        RemoteImport imported(another, *exports[i]);
        EXPECT_EQ(imported.get(0, page, i).value(), 0u);
    }
    const std::size_t before = exports.size();
    destroy(exports);
    auto again = fill_window(another);
    EXPECT_EQ(again.size(), before) << "megabytes that fit, before and after";
}

TEST_F(NetWindow, users_of_a_namespace_have_the_share_of_its_owner) {
    const rlimit none{RLIM_INFINITY, RLIM_INFINITY};
    ASSERT_EQ(setrlimit(RLIMIT_MEMLOCK, &none), 0);
    const std::string controller = configuration.controller;
    Child owner(alice(), [&](Link &link) {
        std::vector<std::unique_ptr<Piece>> pieces;
        do
            pieces.push_back(std::make_unique<Piece>(controller));
        while (pieces.back()->outcome() == raw::success);
        EXPECT_EQ(pieces.back()->outcome(), raw::status(RSMERR_INSUFFICIENT_RESOURCES));
        link.send();
        link.receive();
    });
    owner.receive();
    EXPECT_EQ(Piece(controller).outcome(), raw::success) << "half of the window is free";
    Subuser user(alice(), [&] { return Piece(controller).outcome().status; });
    EXPECT_EQ(user.result(), std::uint64_t{RSMERR_INSUFFICIENT_RESOURCES});
    owner.send();
    owner.expect_success();
}

// Space of sessions that end without a word comes back, too.
TEST_F(NetWindow, space_of_the_killed_comes_back) {
    Session witness(self.node());
    std::size_t before = 0;
    {
        Session exporter(first.node());
        before = room(exporter);
        exporter.kill();
    }
    EXPECT_TRUE(eventually([&] {
        Session session(self.node());
        const std::size_t after = room(session);
        session.kill();
        return after == before;
    }));
}

// Each round takes an eighth of the window: one that leaks is missing at the end, and nine would end the test.
TEST_F(NetWindow, no_leak_in_32_rounds) {
    Session exporter(first.node());
    Session importer(self.node());
    const std::size_t before = room(exporter);
    exporter.kill();
    Session fresh(first.node());
    const std::size_t size = std::max<std::size_t>(before / 8, 1) * megabyte;
    for (int i = 0; i < 32 && !HasFailure(); i++) {
        RemoteExport exported(fresh, size / page);
        ASSERT_EQ(exported.status(), RSM_SUCCESS) << "round " << i;
        ASSERT_EQ(exported.publish(), RSM_SUCCESS);
        RemoteImport imported(importer, exported);
        ASSERT_EQ(imported.map(size), RSM_SUCCESS);
        imported.poke(size - 8, static_cast<std::uint64_t>(i));
        if (i % 2) {
            ASSERT_EQ(exported.destroy(), RSM_SUCCESS);
        }
        EXPECT_EQ(imported.unmap(), RSM_SUCCESS);
        EXPECT_EQ(imported.disconnect(), RSM_SUCCESS);
        if (i % 2 == 0) {
            ASSERT_EQ(exported.destroy(), RSM_SUCCESS);
        }
        EXPECT_EQ(fresh.status("munmap", exported.memory().name()), 0);
    }
    Session last(first.node());
    EXPECT_EQ(room(last), before) << "megabytes that fit";
}

// Memory that has been given back in the middle can be had again.
TEST_F(NetWindow, fragments) {
    Session exporter(first.node());
    auto exports = fill_window(exporter);
    ASSERT_GE(exports.size(), 8u);
    for (std::size_t i = 1; i < exports.size(); i += 2)
        ASSERT_EQ(exports[i]->destroy(), RSM_SUCCESS);
    RemoteExport one(exporter, megabyte / page);
    EXPECT_EQ(one.status(), RSM_SUCCESS) << "a hole of just this size";
    one.memory().fill(0, megabyte, 1234);
    for (std::size_t i = 0; i < exports.size(); i += 2)
        EXPECT_EQ(exports[i]->memory().differ(0, page, i), 0u) << "segment " << i << " was harmed";
}
