// SPDX-License-Identifier: GPL-2.0
// Data between nodes, however long and wherever it lies, while segments move and go away, and
// with barriers that have something to wait for.
#include "net/support/net_test.hpp"
#include "net/support/netem.hpp"
#include "net/support/pattern.hpp"

#include <array>
#include <thread>

using namespace rsmtest;
using namespace rsmtest::net;

namespace {

using std::chrono::milliseconds;

// A bit more than a chunk of registered memory, and than what one operation moves.
constexpr std::size_t pages = 600;

class NetTransfers : public NetPairTest {
  protected:
    void SetUp() override {
        NetPairTest::SetUp();
        if (HasFatalFailure() || IsSkipped())
            return;
        exported = std::make_unique<RemoteExport>(exporter(), pages, RSM_ALLOW_REBIND);
        ASSERT_EQ(exported->status(), RSM_SUCCESS);
        exported->memory().fill(0, size, 1);
        ASSERT_EQ(exported->publish(), RSM_SUCCESS);
        imported = std::make_unique<RemoteImport>(importer(), *exported);
        ASSERT_EQ(imported->status(), RSM_SUCCESS);
    }
    void shuttle(const char *kind, std::size_t pad, std::size_t offset, std::size_t length);
    void shuttle_all(const char *kind);
    void set_mode(rsm_barrier_mode_t mode) {
        EXPECT_EQ(importer().status("mode", imported->name(), mode), RSM_SUCCESS);
    }

    const std::size_t size = pages * page;
    std::unique_ptr<RemoteExport> exported;
    std::unique_ptr<RemoteImport> imported;
};

NET_BOTH_WAYS(NetTransfers);

// The words around a piece are those that were there.
void NetTransfers::shuttle(const char *kind, std::size_t pad, std::size_t offset,
                           std::size_t length) {
    SCOPED_TRACE(testing::Message()
                 << kind << ": " << length << " bytes from " << pad << " to " << offset);
    const std::size_t before = offset / 8 ? offset / 8 - 1 : 0;
    const std::size_t after = (offset + length + 7) / 8;
    const std::uint64_t left = exported->memory().peek(before * 8);
    const std::uint64_t right = exported->memory().peek(after * 8);
    const Answer answer =
        importer().call("shuttle", imported->name(), kind, pad, offset, length, offset + length);
    EXPECT_EQ(answer.status, RSM_SUCCESS);
    EXPECT_EQ(answer.value(), 0u) << "bytes that differ";
    if (offset >= 8) {
        EXPECT_EQ(exported->memory().peek(before * 8), left) << "the word before it changed";
    }
    EXPECT_EQ(exported->memory().peek(after * 8), right) << "the word behind it changed";
}

void NetTransfers::shuttle_all(const char *kind) {
    struct Piece {
        std::size_t pad;
        std::size_t offset;
        std::size_t length;
    };
    const std::size_t chunk = 256 * page; // as rdma_rxe has them
    const std::array<Piece, 14> cases{{
        {0, 0, 0},
        {0, 0, 1},
        {4095, 4095, 2},
        {1, 8191, 4096},
        {0, page, page},
        {2048, 3 * page + 7, page},
        {0, page, page + 1},
        {4095, 1, 2 * page},
        {17, 4097, 65536},
        {0, 0, 256 * page},
        {1, 16, 256 * page},
        {4095, 3, 257 * page + 5},
        {100, chunk - 9, 32},
        {333, chunk - 5 * page - 1, 20 * page},
    }};
    for (const Piece &piece : cases)
        shuttle(kind, piece.pad, piece.offset, piece.length);
}

} // namespace

TEST_P(NetTransfers, any_length_from_anywhere_in_memory) {
    shuttle_all("address");
}

TEST_P(NetTransfers, any_length_from_anywhere_in_a_local_handle) {
    shuttle_all("handle");
}

TEST_P(NetTransfers, explicit_mode_is_complete_after_a_barrier) {
    set_mode(RSM_BARRIER_MODE_EXPLICIT);
    for (unsigned round = 2; round < 12; round++) {
        const char *const barrier = round % 2 ? "order" : "close";
        EXPECT_EQ(imported->barrier("open"), RSM_SUCCESS);
        for (std::size_t at = 0; at < size; at += size / 6)
            EXPECT_EQ(imported->put(at, size / 6, round), RSM_SUCCESS);
        EXPECT_EQ(imported->barrier(barrier), RSM_SUCCESS);
        for (std::size_t at = 0; at < size; at += size / 6)
            EXPECT_EQ(exported->memory().differ(at, size / 6, round), 0u) << round << " at " << at;
    }
}

// A get returns what was put before, barrier or not; and events come after data.
TEST_P(NetTransfers, explicit_mode_keeps_the_order) {
    set_mode(RSM_BARRIER_MODE_EXPLICIT);
    for (unsigned round = 2; round < 6; round++) {
        EXPECT_EQ(imported->put(0, size, round), RSM_SUCCESS);
        const Answer got = imported->get(0, size, round);
        EXPECT_EQ(got.status, RSM_SUCCESS);
        EXPECT_EQ(got.value(), 0u) << "words that differ";
        EXPECT_EQ(imported->put(0, size, round + 100), RSM_SUCCESS);
        EXPECT_EQ(imported->post(), RSM_SUCCESS);
        EXPECT_EQ(exported->wait(-1), RSM_SUCCESS);
        EXPECT_EQ(exported->memory().differ(0, size, round + 100), 0u)
            << "the event overtook the data";
    }
}

TEST_P(NetTransfers, explicit_mode_does_not_wait_for_the_network) {
    if (!has_network() || !has_machines())
        GTEST_SKIP() << "there is nothing to wait for";
    constexpr milliseconds late{400};
    set_mode(RSM_BARRIER_MODE_EXPLICIT);
    EXPECT_EQ(imported->get(0, size, 1).status, RSM_SUCCESS) << "all keys are known now";
    const Netem delay(importer_node().node(), "delay " + std::to_string(late.count()) + "ms");
    const Waiting waiting("a put that does not wait for the network");
    bool at_once = false;
    // The machine may do something else for so long, but not each time.
    for (unsigned round = 2; !at_once && !HasFailure(); round++) {
        EXPECT_EQ(imported->barrier("open"), RSM_SUCCESS);
        const auto start = std::chrono::steady_clock::now();
        EXPECT_EQ(imported->put(0, 16 * page, round), RSM_SUCCESS);
        at_once = std::chrono::steady_clock::now() - start < late;
        EXPECT_EQ(imported->barrier("close"), RSM_SUCCESS);
        EXPECT_GE(std::chrono::steady_clock::now() - start, late) << "the barrier does not wait";
        EXPECT_EQ(exported->memory().differ(0, 16 * page, round), 0u);
    }
}

TEST_P(NetTransfers, rebind_goes_unnoticed_by_those_who_put_and_get) {
    RemoteHammer puts(importer(), "put", imported->name(), size);
    RemoteImport reader(importer(), *exported, RSM_PERM_READ);
    RemoteHammer gets(importer(), "get", reader.name(), size);
    for (unsigned round = 0; round < 4; round++) {
        RemoteMemory next = RemoteMemory::buffer(exporter(), pages);
        EXPECT_TRUE(puts.succeeds(3 * round + 1));
        EXPECT_TRUE(gets.succeeds(3 * round + 1));
        EXPECT_EQ(exported->rebind(next), RSM_SUCCESS);
    }
    for (RemoteHammer *hammer : {&puts, &gets}) {
        const Answer counts = hammer->calm();
        EXPECT_EQ(counts.status, RSM_SUCCESS);
        EXPECT_EQ(counts.value(1), 0u) << "failures, the first is " << counts.value(2);
    }
    EXPECT_TRUE(all_connected());
}

TEST_P(NetTransfers, rebind_leaves_the_old_memory_alone) {
    RemoteMemory next = RemoteMemory::buffer(exporter(), pages);
    next.fill(0, size, 5);
    RemoteHammer puts(importer(), "put", imported->name(), size);
    EXPECT_TRUE(puts.succeeds());
    ASSERT_EQ(exported->rebind(next), RSM_SUCCESS);
    exported->memory().fill(0, size, 6);
    EXPECT_TRUE(puts.succeeds(puts.progress().value(0) + 3));
    EXPECT_EQ(puts.calm().value(1), 0u) << "failures";
    EXPECT_EQ(exported->memory().differ(0, size, 6), 0u) << "a put reached the old memory";
    EXPECT_EQ(imported->put(0, size, 7), RSM_SUCCESS);
    EXPECT_EQ(next.differ(0, size, 7), 0u) << "a put does not reach the new memory";
}

// The segment's end is the end of the connection to it, and of nothing else.
TEST_P(NetTransfers, unpublish_while_somebody_puts) {
    RemoteExport other(exporter(), 1);
    ASSERT_EQ(other.publish(), RSM_SUCCESS);
    RemoteImport witness(importer(), other);
    for (unsigned round = 0; round < 5; round++) {
        RemoteImport victim(importer(), *exported);
        RemoteHammer puts(importer(), "put", victim.name(), size);
        EXPECT_TRUE(puts.succeeds());
        ASSERT_EQ(exported->unpublish(), RSM_SUCCESS);
        exported->memory().fill(0, size, 50 + round);
        EXPECT_TRUE(puts.fails());
        EXPECT_EQ(puts.calm().value(2), static_cast<std::uint64_t>(RSMERR_CONN_ABORTED));
        EXPECT_EQ(exported->memory().differ(0, size, 50 + round), 0u) << "a put came late";
        victim.expect_aborted();
        ASSERT_EQ(exported->publish(), RSM_SUCCESS);
    }
    EXPECT_EQ(witness.put64(0, 9), RSM_SUCCESS);
    EXPECT_EQ(other.memory().peek(0), 9u);
}

TEST_P(NetTransfers, unpublish_while_somebody_puts_and_does_not_wait) {
    set_mode(RSM_BARRIER_MODE_EXPLICIT);
    EXPECT_EQ(imported->barrier("open"), RSM_SUCCESS);
    RemoteHammer puts(importer(), "put", imported->name(), size);
    EXPECT_TRUE(puts.succeeds(3));
    ASSERT_EQ(exported->unpublish(), RSM_SUCCESS);
    exported->memory().fill(0, size, 50);
    EXPECT_EQ(imported->barrier("close"), RSMERR_CONN_ABORTED);
    EXPECT_EQ(puts.calm().status, RSM_SUCCESS);
    EXPECT_EQ(exported->memory().differ(0, size, 50), 0u) << "a put came late";
    EXPECT_TRUE(all_connected());
}

// A list that allows more counts at once, also for a node that has a connection.
TEST_P(NetTransfers, republish_lets_newcomers_write) {
    RemoteExport readable(exporter(), 2);
    ASSERT_EQ(readable.publish(0, everybody(0444)), RSM_SUCCESS);
    RemoteImport reader(importer(), readable, RSM_PERM_READ);
    EXPECT_EQ(reader.get64(0).status, RSM_SUCCESS);
    ASSERT_EQ(readable.republish(everybody(0666)), RSM_SUCCESS);
    RemoteImport writer(importer(), readable);
    EXPECT_EQ(writer.put64(8, 12), RSM_SUCCESS);
    EXPECT_EQ(readable.memory().peek(8), 12u);
    EXPECT_EQ(reader.get64(8).value(), 12u);
}
