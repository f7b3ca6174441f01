// SPDX-License-Identifier: GPL-2.0
// The exporter's side of a segment that another node imports: its memory before, during and
// after, and every way for it to end.
#include "net/support/net_test.hpp"

#include <csignal>

using namespace rsmtest;
using namespace rsmtest::net;

namespace {

constexpr std::uint32_t the_id = 0x600200;
constexpr std::size_t pages = 4;

class NetExport : public NetPairTest {
  protected:
    void SetUp() override {
        NetPairTest::SetUp();
        if (HasFatalFailure() || IsSkipped())
            return;
        exported = std::make_unique<RemoteExport>(exporter(), pages, RSM_ALLOW_REBIND);
        ASSERT_EQ(exported->status(), RSM_SUCCESS);
        exported->memory().fill(0, size, 1);
        ASSERT_EQ(exported->publish(the_id), RSM_SUCCESS);
        imported = std::make_unique<RemoteImport>(importer(), *exported);
        if (mappable()) {
            ASSERT_EQ(imported->map(size), RSM_SUCCESS);
        }
        ASSERT_EQ(imported->get(0, size, 1).value(), 0u);
    }
    void TearDown() override {
        imported.reset();
        exported.reset();
        NetPairTest::TearDown();
    }
    void expect_end();
    void expect_nothing_to_see();
    void expect_memory_is_the_programs(std::uint64_t seed);

    const std::size_t size = pages * page;
    std::unique_ptr<RemoteExport> exported;
    std::unique_ptr<RemoteImport> imported;
};

NET_ALL_WAYS(NetExport);

// The next user of the same pages, or of the same part of a window, must not be seen.
void NetExport::expect_nothing_to_see() {
    Session heir(exporter_node().node());
    RemoteExport next(heir, 4 * pages);
    ASSERT_EQ(next.status(), RSM_SUCCESS);
    next.memory().fill(0, 4 * size, 99);
    ASSERT_EQ(next.publish(the_id), RSM_SUCCESS) << "the id is not free";
    if (mappable()) {
        EXPECT_EQ(importer().value("nonzero", imported->name()), 0u);
        importer().status("fill", imported->name(), 0, size, 98);
    }
    EXPECT_EQ(imported->put64(8, 97), RSMERR_CONN_ABORTED);
    EXPECT_EQ(next.memory().differ(0, 4 * size, 99), 0u) << "a dead import wrote";
    RemoteImport anew(importer(), next);
    EXPECT_EQ(anew.get(0, size, 99).value(), 0u) << "the new one works";
    EXPECT_EQ(next.destroy(), RSM_SUCCESS);
}

void NetExport::expect_end() {
    EXPECT_TRUE(imported->hung_up()) << "the import goes on";
    expect_nothing_to_see();
    imported->expect_aborted();
    if (mappable()) {
        EXPECT_EQ(imported->unmap(), RSM_SUCCESS);
    }
    EXPECT_EQ(imported->map(size), RSMERR_CONN_ABORTED);
    EXPECT_EQ(imported->disconnect(), RSM_SUCCESS);
}

// The program goes on with its memory as if nothing had happened.
void NetExport::expect_memory_is_the_programs(std::uint64_t seed) {
    EXPECT_EQ(exported->memory().differ(0, size, seed), 0u) << "contents are lost";
    exported->memory().fill(0, size, seed + 1);
    EXPECT_EQ(exported->memory().differ(0, size, seed + 1), 0u);
}

} // namespace

TEST_P(NetExport, pointer_stays_good) {
    exported->memory().poke(8, 42);
    EXPECT_EQ(imported->get64(8).value(), 42u) << "a store of the exporter is not seen";
    EXPECT_EQ(imported->put64(16, 43), RSM_SUCCESS);
    EXPECT_EQ(exported->memory().peek(16), 43u) << "the exporter does not see a put";
    exported->memory().fill(0, size, 2);
    EXPECT_EQ(imported->get(0, size, 2).value(), 0u);
}

TEST_P(NetExport, contents_stay_after_destroy) {
    EXPECT_EQ(imported->put(0, size, 5), RSM_SUCCESS);
    ASSERT_EQ(exported->destroy(), RSM_SUCCESS);
    expect_memory_is_the_programs(5);
    EXPECT_TRUE(imported->hung_up());
    expect_nothing_to_see();
    EXPECT_EQ(exported->memory().differ(0, size, 6), 0u) << "the memory is not the program's own";
    // and can be exported again
    ASSERT_EQ(exporter().status("create", "again", exported->memory().name(), 0), RSM_SUCCESS);
    ASSERT_EQ(exporter().status("publish", "again", the_id), RSM_SUCCESS);
    RemoteImport anew(importer(), exporter().node(), the_id);
    ASSERT_EQ(anew.barrier("init"), RSM_SUCCESS);
    EXPECT_EQ(anew.get(0, size, 6).value(), 0u);
}

TEST_P(NetExport, E11_rebind) {
    RemoteMemory other = RemoteMemory::buffer(exporter(), pages);
    RemoteMemory wrong = RemoteMemory::buffer(exporter(), pages + 1);
    other.fill(0, size, 7);
    EXPECT_EQ(exported->rebind(wrong), RSMERR_BAD_LENGTH);
    ASSERT_EQ(exported->rebind(other), RSM_SUCCESS);
    EXPECT_EQ(imported->get(0, size, 7).value(), 0u) << "not the new contents";
    if (mappable()) {
        EXPECT_EQ(imported->differ(0, size, 7), 0u) << "the mapping shows something else";
    }
    EXPECT_EQ(imported->put64(8, 44), RSM_SUCCESS);
    EXPECT_EQ(other.peek(8), 44u);
    other.poke(16, 45);
    EXPECT_EQ(imported->get64(16).value(), 45u);
    expect_memory_is_the_programs(1);
    other.fill(0, size, 8);
    EXPECT_EQ(imported->get(0, size, 8).value(), 0u) << "the old memory is still visible";
    EXPECT_EQ(imported->post(), RSM_SUCCESS);
    EXPECT_EQ(exported->events(1), 1u);
    ASSERT_EQ(exported->rebind(exported->memory()), RSM_SUCCESS) << "back again";
    EXPECT_EQ(imported->get(0, size, 2).value(), 0u);
    EXPECT_EQ(other.differ(0, size, 8), 0u) << "contents of the second range are lost";
}

TEST_P(NetExport, E11_rebind_needs_the_flag) {
    RemoteExport fixed(exporter(), pages);
    EXPECT_EQ(fixed.rebind(exported->memory()), RSMERR_REBIND_NOT_ALLOWED);
}

TEST_P(NetExport, I10_unpublish) {
    ASSERT_EQ(exported->unpublish(), RSM_SUCCESS);
    // Nobody on the other node reaches it once unpublish has returned.
    if (mappable()) {
        EXPECT_EQ(imported->nonzero(), 0u);
    }
    exported->memory().fill(0, size, 3);
    expect_end();
    EXPECT_EQ(exported->memory().differ(0, size, 3), 0u);
}

TEST_P(NetExport, E12_destroy) {
    ASSERT_EQ(exported->destroy(), RSM_SUCCESS);
    expect_end();
}

TEST_P(NetExport, munmap_of_its_range) {
    ASSERT_EQ(exporter().status("munmap", exported->memory().name()), 0);
    expect_end();
    EXPECT_EQ(exporter().status("republish", exported->name()), RSMERR_SEG_NOT_PUBLISHED);
}

TEST_P(NetExport, E14_exit) {
    ASSERT_EQ(exporter().status("exit"), 0);
    EXPECT_EQ(exporter().reap(), 0);
    expect_end();
}

TEST_P(NetExport, E14_kill) {
    exporter().kill();
    expect_end();
}

TEST_P(NetExport, E14_kill_while_a_forked_child_lives) {
    ASSERT_EQ(exporter().status("fork"), 0);
    exporter().kill();
    expect_end();
}

TEST_P(NetExport, E15_exec) {
    ASSERT_EQ(exporter().status("exec"), 0);
    expect_end();
}

// Memory that other processes have mapped can't move into a window.
TEST_P(NetExport, shared_memory) {
    for (const char *kind : {"shared", "sysv"}) {
        RemoteExport shared(exporter(), pages, 0, kind);
        EXPECT_EQ(shared.status(), has_window() ? RSMERR_BAD_ADDR : RSM_SUCCESS) << kind;
        shared.memory().poke(0, 5);
        EXPECT_EQ(shared.memory().peek(0), 5u) << "the memory was touched";
    }
    EXPECT_EQ(imported->get64(8).status, RSM_SUCCESS) << "others are not disturbed";
}
