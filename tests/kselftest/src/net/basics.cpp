// SPDX-License-Identifier: GPL-2.0
// Segments of another node: data by every way there is, offsets, argument errors.
#include "net/support/net_test.hpp"
#include "net/support/pattern.hpp"

using namespace rsmtest;
using namespace rsmtest::net;

namespace {

constexpr std::size_t pages = 16;

// A published export with a pattern in it.
class NetBasics : public NetPairTest {
  protected:
    void SetUp() override {
        NetPairTest::SetUp();
        if (HasFatalFailure() || IsSkipped())
            return;
        exported = std::make_unique<RemoteExport>(exporter(), pages, RSM_ALLOW_REBIND);
        ASSERT_EQ(exported->status(), RSM_SUCCESS);
        exported->memory().fill(0, size, seed);
        ASSERT_EQ(exported->publish(0, everybody()), RSM_SUCCESS);
    }
    const std::size_t size = pages * page;
    const std::uint64_t seed = 11;
    std::unique_ptr<RemoteExport> exported;

    void widths(unsigned width);
};

NET_BOTH_WAYS(NetBasics);

} // namespace

TEST_P(NetBasics, map_load_and_store) {
    if (!mappable())
        GTEST_SKIP() << "this interconnect can't be mapped";
    RemoteImport imported(importer(), *exported);
    ASSERT_EQ(imported.map(size), RSM_SUCCESS);
    EXPECT_EQ(imported.differ(0, size, seed), 0u) << "loads";
    imported.fill(0, size, 12);
    EXPECT_EQ(exported->memory().differ(0, size, 12), 0u) << "stores don't reach the exporter";
    exported->memory().fill(0, size, 13);
    EXPECT_EQ(imported.differ(0, size, 13), 0u) << "the exporter's stores are not seen";
    EXPECT_EQ(imported.barrier("open"), RSM_SUCCESS);
    EXPECT_EQ(imported.barrier("close"), RSM_SUCCESS);
}

// More than one chunk, one page, one queue of anything.
TEST_P(NetBasics, megabytes_arrive_whole) {
    const std::size_t large = 3u << 20;
    RemoteExport big(exporter(), large / page);
    ASSERT_EQ(big.status(), RSM_SUCCESS);
    big.memory().fill(0, large, 1);
    ASSERT_EQ(big.publish(), RSM_SUCCESS);
    RemoteImport imported(importer(), big);
    Answer got = imported.get(0, large, 1);
    EXPECT_EQ(got.status, RSM_SUCCESS);
    EXPECT_EQ(got.value(), 0u) << "words that differ";
    EXPECT_EQ(imported.put(0, large, 2), RSM_SUCCESS);
    EXPECT_EQ(big.memory().differ(0, large, 2), 0u);
    EXPECT_EQ(imported.put((1u << 20) + 40, 8192, 3), RSM_SUCCESS);
    EXPECT_EQ(big.memory().differ(0, 1u << 20, 2), 0u) << "the neighbourhood changed";
    got = imported.get((1u << 20) + 40, 8192, 3);
    EXPECT_EQ(got.status, RSM_SUCCESS);
    EXPECT_EQ(got.value(), 0u);
}

TEST_P(NetBasics, contents_from_before_the_bind) {
    RemoteMemory buffer = RemoteMemory::buffer(exporter(), 4);
    buffer.fill(0, 4 * page, 77);
    ASSERT_EQ(exporter().status("create", "early", buffer.name(), 0), RSM_SUCCESS);
    const Answer published = exporter().call("publish", "early", 0);
    ASSERT_EQ(published.status, RSM_SUCCESS);
    RemoteImport imported(importer(), exporter().node(),
                          static_cast<std::uint32_t>(published.value()));
    ASSERT_EQ(imported.barrier("init"), RSM_SUCCESS);
    EXPECT_EQ(imported.get(0, 4 * page, 77).value(), 0u);
}

void NetBasics::widths(unsigned width) {
    RemoteImport imported(importer(), *exported);
    const std::uint64_t value = 0x1122334455667788u & (~std::uint64_t{0} >> (64 - 8 * width));
    for (const std::size_t at : {std::size_t{0}, size / 2, size - 16}) {
        SCOPED_TRACE(testing::Message() << width << " bytes at " << at);
        EXPECT_EQ(importer().status("putw", imported.name(), width, at, 1, value), RSM_SUCCESS);
        const std::uint64_t mask = ~std::uint64_t{0} >> (64 - 8 * width);
        EXPECT_EQ(exported->memory().peek(at) & mask, value);
        EXPECT_EQ(exported->memory().peek(at + 8), pattern(seed, at / 8 + 1))
            << "the neighbour changed";
        const Answer got = importer().call("getw", imported.name(), width, at, 1, 0);
        EXPECT_EQ(got.status, RSM_SUCCESS);
        EXPECT_EQ(got.value(), value);
    }
    EXPECT_EQ(importer().status("putw", imported.name(), width, size, 0, 0), RSM_SUCCESS);
    EXPECT_EQ(importer().status("putw", imported.name(), width, size, 1, 0),
              mappable() ? RSMERR_BAD_OFFSET : RSMERR_BAD_LENGTH);
    const int beyond = importer().status("putw", imported.name(), width, size - width, 2, 0);
    EXPECT_TRUE(beyond == RSMERR_BAD_OFFSET || beyond == RSMERR_BAD_LENGTH) << beyond;
    const int misaligned = importer().status("putw", imported.name(), width, 1, 1, 0);
    EXPECT_EQ(misaligned, width > 1 ? RSMERR_BAD_MEM_ALIGNMENT : RSM_SUCCESS);
}

TEST_P(NetBasics, I4_widths) {
    for (const unsigned width : {1u, 2u, 4u, 8u})
        widths(width);
}

TEST_P(NetBasics, I4_and_I5_without_a_mapping_and_without_a_barrier) {
    RemoteImport imported(importer(), exported->node(), exported->id());
    ASSERT_EQ(imported.status(), RSM_SUCCESS);
    EXPECT_EQ(imported.put64(0, 5), RSMERR_BARRIER_UNINITIALIZED);
    EXPECT_EQ(importer().status("mode", imported.name(), RSM_BARRIER_MODE_EXPLICIT), RSM_SUCCESS);
    EXPECT_EQ(imported.put64(0, 5), RSM_SUCCESS) << "explicit mode needs no barrier";
    EXPECT_EQ(imported.get64(0).value(), 5u);
    EXPECT_EQ(exported->memory().peek(0), 5u);
}

TEST_P(NetBasics, I6_rights_of_the_connection) {
    RemoteImport reader(importer(), *exported, RSM_PERM_READ);
    RemoteImport writer(importer(), *exported, RSM_PERM_WRITE);
    EXPECT_EQ(reader.put64(0, 5), RSMERR_PERM_DENIED);
    EXPECT_EQ(reader.get64(0).status, RSM_SUCCESS);
    EXPECT_EQ(writer.put64(8, 6), RSM_SUCCESS);
    EXPECT_EQ(writer.get64(8).status, RSMERR_PERM_DENIED);
    EXPECT_EQ(importer().status("putv", reader.name(), 0, 1, 64, 1, 0), RSMERR_PERM_DENIED);
    EXPECT_EQ(importer().status("getv", writer.name(), 0, 1, 64, 1, 0), RSMERR_PERM_DENIED);
    EXPECT_EQ(exported->memory().peek(0), pattern(seed, 0)) << "the reader wrote";
    EXPECT_EQ(exported->memory().peek(8), 6u);
}

TEST_P(NetBasics, I7_map) {
    if (!mappable())
        GTEST_SKIP() << "this interconnect can't be mapped";
    RemoteImport imported(importer(), *exported);
    EXPECT_EQ(imported.map(0), RSMERR_BAD_LENGTH);
    EXPECT_EQ(imported.map(size + page), RSMERR_BAD_LENGTH);
    EXPECT_EQ(imported.map(page, size), RSMERR_BAD_LENGTH);
    EXPECT_EQ(imported.map(page, 8), RSMERR_BAD_MEM_ALIGNMENT);
    EXPECT_EQ(imported.map(page, 0, 0777), RSMERR_BAD_PERMS);
    ASSERT_EQ(imported.map(2 * page, 3 * page), RSM_SUCCESS);
    EXPECT_EQ(imported.map(page), RSMERR_SEG_ALREADY_MAPPED);
    EXPECT_EQ(imported.peek(0), pattern(seed, 3 * page / 8)) << "not the page at the offset";
    EXPECT_EQ(imported.put64(0, 1), RSMERR_BAD_OFFSET);
    EXPECT_EQ(imported.put64(3 * page + 8, 1), RSM_SUCCESS);
    EXPECT_EQ(imported.peek(8), 1u);
    EXPECT_EQ(imported.put64(5 * page, 1), RSMERR_BAD_OFFSET);
    RemoteImport reader(importer(), *exported, RSM_PERM_READ);
    EXPECT_EQ(reader.map(page), RSMERR_BAD_PERMS);
    EXPECT_EQ(reader.map(page, 0, RSM_PERM_READ), RSM_SUCCESS);
}

TEST_P(NetBasics, I9_order_of_map_put_and_disconnect) {
    RemoteImport imported(importer(), *exported);
    EXPECT_EQ(imported.unmap(), RSMERR_SEG_NOT_MAPPED);
    EXPECT_EQ(imported.put64(0, 1), RSM_SUCCESS);
    if (mappable()) {
        ASSERT_EQ(imported.map(size), RSM_SUCCESS) << "after a put";
        EXPECT_EQ(imported.disconnect(), RSMERR_SEG_STILL_MAPPED);
        EXPECT_EQ(imported.unmap(), RSM_SUCCESS);
        EXPECT_EQ(imported.unmap(), RSMERR_SEG_NOT_MAPPED);
    }
    EXPECT_EQ(imported.put64(0, 1), RSM_SUCCESS);
    EXPECT_EQ(imported.disconnect(), RSM_SUCCESS) << "after a put";
}

TEST_P(NetBasics, V1_sixteen_pieces) {
    RemoteImport imported(importer(), *exported);
    for (const unsigned count : {0u, 17u})
        EXPECT_EQ(importer().status("putv", imported.name(), 0, count, 64, 1, 0), RSMERR_BAD_SGIO);
    const Answer put = importer().call("putv", imported.name(), 512, 16, 1024, 21, 0);
    EXPECT_EQ(put.status, RSM_SUCCESS);
    EXPECT_EQ(put.value(), 0u) << "residual";
    EXPECT_EQ(exported->memory().peek(512), pattern(21, 0));
    EXPECT_EQ(exported->memory().peek(512 + 16 * 1024 - 8), pattern(21, 16 * 1024 / 8 - 1));
    EXPECT_EQ(exported->memory().peek(504), pattern(seed, 63)) << "the neighbour changed";
    const Answer got = importer().call("getv", imported.name(), 512, 16, 1024, 21, 0);
    EXPECT_EQ(got.status, RSM_SUCCESS);
    EXPECT_EQ(got.value(0), 0u) << "residual";
    EXPECT_EQ(got.value(1), 0u) << "words that differ";
}

TEST_P(NetBasics, V2_a_piece_beyond_the_end) {
    RemoteImport imported(importer(), *exported);
    // Pieces of a page from two pages before the end: the third is outside.
    const Answer put = importer().call("putv", imported.name(), size - 2 * page, 4, page, 21, 0);
    EXPECT_TRUE(put.status == RSMERR_BAD_OFFSET || put.status == RSMERR_BAD_LENGTH) << put.status;
    EXPECT_TRUE(put.value() == 2 || put.value() == 4) << "residual " << put.value();
}

TEST_P(NetBasics, V3_implicit_event) {
    RemoteImport imported(importer(), *exported);
    const auto putv = [&](std::size_t offset, unsigned flags) {
        return importer().status("putv", imported.name(), offset, 1, 64, 1, flags);
    };
    EXPECT_EQ(putv(0, RSM_IMPLICIT_SIGPOST), RSM_SUCCESS);
    EXPECT_EQ(exported->events(1), 1u);
    EXPECT_EQ(putv(size + page, RSM_IMPLICIT_SIGPOST), RSMERR_BAD_OFFSET);
    EXPECT_EQ(exported->events(0), 0u) << "an event although it failed";
    EXPECT_EQ(putv(0, RSM_IMPLICIT_SIGPOST), RSM_SUCCESS);
    EXPECT_EQ(putv(0, RSM_IMPLICIT_SIGPOST | RSM_SIGPOST_NO_ACCUMULATE), RSM_SUCCESS);
    Fence(exporter(), importer()).at_exporter();
    EXPECT_EQ(exported->events(1), 1u);
}

TEST_P(NetBasics, B3_order_of_visibility) {
    RemoteImport imported(importer(), *exported);
    EXPECT_EQ(imported.barrier("close"), RSMERR_BARRIER_NOT_OPENED);
    EXPECT_EQ(imported.barrier("open"), RSM_SUCCESS);
    EXPECT_EQ(imported.put64(0, 1), RSM_SUCCESS);
    EXPECT_EQ(imported.barrier("order"), RSM_SUCCESS);
    EXPECT_EQ(imported.put64(8, 2), RSM_SUCCESS);
    EXPECT_EQ(imported.barrier("close"), RSM_SUCCESS);
    EXPECT_EQ(exported->memory().peek(8), 2u);
    EXPECT_EQ(exported->memory().peek(0), 1u);
    EXPECT_EQ(imported.barrier("close"), RSMERR_BARRIER_NOT_OPENED);
}

TEST_P(NetBasics, B5_modes) {
    RemoteImport imported(importer(), *exported);
    const auto mode = [&] { return importer().value("getmode", imported.name()); };
    EXPECT_EQ(mode(), RSM_BARRIER_MODE_IMPLICIT);
    EXPECT_EQ(importer().status("mode", imported.name(), RSM_BARRIER_MODE_EXPLICIT), RSM_SUCCESS);
    EXPECT_EQ(mode(), RSM_BARRIER_MODE_EXPLICIT);
    EXPECT_EQ(importer().status("mode", imported.name(), 99), RSMERR_BAD_MODE);
    EXPECT_EQ(mode(), RSM_BARRIER_MODE_EXPLICIT);
}
