// SPDX-License-Identifier: MIT
#include <array>
#include <cstdint>
#include <gtest/gtest.h>
#include <numeric>
#include <thread>

#include "fake_segment.h"

namespace {

using rsm::test::FakeSegment;

class PutGet : public testing::Test {
  protected:
    void SetUp() override { init(segment); }
    void TearDown() override { rsm_memseg_import_destroy_barrier(&barrier); }

    void init(const FakeSegment &target) {
        ASSERT_EQ(rsm_memseg_import_init_barrier(target.handle(), RSM_BAR_DEFAULT, &barrier),
                  RSM_SUCCESS);
    }

    FakeSegment segment;
    rsmapi_barrier_t barrier{};
    uint64_t value = 0x0123456789abcdef;
};

template <class Item>
void round_trip(const FakeSegment &segment,
                int (*put)(rsm_memseg_import_handle_t, off_t, Item *, ulong_t),
                int (*get)(rsm_memseg_import_handle_t, off_t, Item *, ulong_t)) {
    std::array<Item, 37> out{};
    std::array<Item, 37> in{};
    std::iota(out.begin(), out.end(), Item{1});
    const auto last = segment.size() - sizeof(out);
    for (const std::size_t offset : {std::size_t{0}, sizeof(Item) * 5, last}) {
        const auto at = static_cast<off_t>(offset);
        EXPECT_EQ(put(segment.handle(), at, out.data(), out.size()), RSM_SUCCESS);
        EXPECT_EQ(segment.item<Item>(offset), out.front());
        EXPECT_EQ(segment.item<Item>(offset + sizeof(out) - sizeof(Item)), out.back());
        in = {};
        EXPECT_EQ(get(segment.handle(), at, in.data(), in.size()), RSM_SUCCESS);
        EXPECT_EQ(in, out);
    }
    const auto end = static_cast<off_t>(segment.size());
    EXPECT_EQ(put(segment.handle(), end - static_cast<off_t>(sizeof(Item)), out.data(), 1),
              RSM_SUCCESS);
    EXPECT_EQ(put(segment.handle(), end, out.data(), 0), RSM_SUCCESS);
    EXPECT_EQ(put(segment.handle(), end, out.data(), 1), RSMERR_BAD_OFFSET);
    EXPECT_EQ(get(segment.handle(), end, out.data(), 1), RSMERR_BAD_OFFSET);
    EXPECT_EQ(get(segment.handle(), 0, nullptr, 1), RSMERR_BAD_ADDR);
    // Counts whose bytes overflow; the sums are 0 for items of one byte.
    constexpr ulong_t most = ULONG_MAX / sizeof(Item);
    for (const ulong_t count : {ULONG_MAX, most, most + 1, most + 2}) {
        if (count < most)
            continue;
        EXPECT_EQ(put(segment.handle(), 0, out.data(), count), RSMERR_BAD_OFFSET);
        EXPECT_EQ(get(segment.handle(), 8, in.data(), count), RSMERR_BAD_OFFSET);
    }
    EXPECT_EQ(put(segment.handle(), -static_cast<off_t>(sizeof(Item)), out.data(), 1),
              RSMERR_BAD_OFFSET);
    if (sizeof(Item) > 1) {
        auto *odd = reinterpret_cast<Item *>(reinterpret_cast<std::uintptr_t>(out.data()) + 1);
        EXPECT_EQ(put(segment.handle(), 0, odd, 1), RSMERR_BAD_MEM_ALIGNMENT);
        EXPECT_EQ(get(segment.handle(), 1, out.data(), 1), RSMERR_BAD_MEM_ALIGNMENT);
    }
}

TEST_F(PutGet, EveryWidth) {
    round_trip<uint8_t>(segment, rsm_memseg_import_put8, rsm_memseg_import_get8);
    round_trip<uint16_t>(segment, rsm_memseg_import_put16, rsm_memseg_import_get16);
    round_trip<uint32_t>(segment, rsm_memseg_import_put32, rsm_memseg_import_get32);
    round_trip<uint64_t>(segment, rsm_memseg_import_put64, rsm_memseg_import_get64);
}

TEST_F(PutGet, RangesOfBytes) {
    std::array<char, 1001> out{};
    std::array<char, 1001> in{};
    std::iota(out.begin(), out.end(), char{3});
    EXPECT_EQ(rsm_memseg_import_put(segment.handle(), 13, out.data(), out.size()), RSM_SUCCESS);
    EXPECT_EQ(rsm_memseg_import_get(segment.handle(), 13, in.data(), in.size()), RSM_SUCCESS);
    EXPECT_EQ(in, out);
    const auto size = segment.size();
    EXPECT_EQ(rsm_memseg_import_put(segment.handle(), 0, out.data(), SIZE_MAX), RSMERR_BAD_OFFSET);
    EXPECT_EQ(rsm_memseg_import_get(segment.handle(), 1, in.data(), size), RSMERR_BAD_OFFSET);
    EXPECT_EQ(rsm_memseg_import_get(segment.handle(), 1, in.data(), SIZE_MAX), RSMERR_BAD_OFFSET);
    EXPECT_EQ(rsm_memseg_import_get(segment.handle(), INT64_MAX, in.data(), 1), RSMERR_BAD_OFFSET);
    EXPECT_EQ(rsm_memseg_import_get(segment.handle(), INT64_MIN, in.data(), 1), RSMERR_BAD_OFFSET);
}

TEST_F(PutGet, NeedABarrierInImplicitMode) {
    EXPECT_EQ(rsm_memseg_import_destroy_barrier(&barrier), RSM_SUCCESS);
    EXPECT_EQ(rsm_memseg_import_put64(segment.handle(), 0, &value, 1),
              RSMERR_BARRIER_UNINITIALIZED);
    EXPECT_EQ(rsm_memseg_import_set_mode(segment.handle(), RSM_BARRIER_MODE_EXPLICIT), RSM_SUCCESS);
    EXPECT_EQ(rsm_memseg_import_put64(segment.handle(), 0, &value, 1), RSM_SUCCESS);
    EXPECT_EQ(rsm_memseg_import_set_mode(segment.handle(), RSM_BARRIER_MODE_IMPLICIT), RSM_SUCCESS);
    EXPECT_EQ(rsm_memseg_import_get64(segment.handle(), 0, &value, 1),
              RSMERR_BARRIER_UNINITIALIZED);
    // Range errors come first.
    EXPECT_EQ(rsm_memseg_import_get64(segment.handle(), 1 << 20, &value, 1), RSMERR_BAD_OFFSET);
}

TEST_F(PutGet, RightsOfTheConnection) {
    const FakeSegment reader({.rights = RSM_PERM_READ});
    init(reader);
    EXPECT_EQ(rsm_memseg_import_get64(reader.handle(), 0, &value, 1), RSM_SUCCESS);
    EXPECT_EQ(rsm_memseg_import_put64(reader.handle(), 0, &value, 1), RSMERR_PERM_DENIED);
    EXPECT_EQ(rsm_memseg_import_put(reader.handle(), -1, &value, 1), RSMERR_PERM_DENIED);

    const FakeSegment writer({.rights = RSM_PERM_WRITE});
    init(writer);
    EXPECT_EQ(rsm_memseg_import_put64(writer.handle(), 0, &value, 1), RSM_SUCCESS);
    EXPECT_EQ(rsm_memseg_import_get64(writer.handle(), 0, &value, 1), RSMERR_PERM_DENIED);

    const FakeSegment neither({.rights = RSM_PERM_NONE});
    init(neither);
    EXPECT_EQ(rsm_memseg_import_put64(neither.handle(), 0, &value, 1), RSMERR_PERM_DENIED);
    EXPECT_EQ(rsm_memseg_import_get64(neither.handle(), 0, &value, 1), RSMERR_PERM_DENIED);
}

TEST_F(PutGet, TellOfABrokenConnection) {
    EXPECT_EQ(rsm_memseg_import_put64(segment.handle(), 0, &value, 1), RSM_SUCCESS);
    segment.abort();
    EXPECT_EQ(rsm_memseg_import_put64(segment.handle(), 0, &value, 1), RSMERR_CONN_ABORTED);
    EXPECT_EQ(rsm_memseg_import_get(segment.handle(), 0, &value, 1), RSMERR_CONN_ABORTED);
    EXPECT_EQ(rsm_memseg_import_put64(segment.handle(), 0, &value, 0), RSMERR_CONN_ABORTED);
}

TEST_F(PutGet, MayRaceWithUnmap) {
    std::atomic<bool> stop = false;
    std::thread mapper([&] {
        const auto page = static_cast<off_t>(::sysconf(_SC_PAGESIZE));
        for (int round = 0; round < 3000; ++round) {
            void *address = nullptr;
            rsm_memseg_import_map(segment.handle(), &address, RSM_MAP_NONE, RSM_PERM_READ, page,
                                  static_cast<std::size_t>(page));
            rsm_memseg_import_unmap(segment.handle());
        }
        stop = true;
    });
    while (!stop) {
        const auto last = static_cast<off_t>(segment.size() - sizeof(value));
        const int status = rsm_memseg_import_put64(segment.handle(), last, &value, 1);
        ASSERT_TRUE(status == RSM_SUCCESS || status == RSMERR_BAD_OFFSET) << status;
    }
    mapper.join();
}

// Without a kernel agent the transfer itself can't succeed; what comes before can fail.
TEST_F(PutGet, WithoutAMapping) {
    const FakeSegment far({.mappable = false});
    EXPECT_EQ(rsm_memseg_import_put64(far.handle(), 0, &value, 1), RSMERR_BARRIER_UNINITIALIZED);
    init(far);
    EXPECT_EQ(rsm_memseg_import_put64(far.handle(), 0, &value, 1), RSMERR_INTERNAL_ERROR);
    EXPECT_EQ(rsm_memseg_import_put64(far.handle(), 0, &value, 0), RSM_SUCCESS);
    EXPECT_EQ(rsm_memseg_import_put64(far.handle(), -8, &value, 1), RSMERR_BAD_OFFSET);
    EXPECT_EQ(rsm_memseg_import_put64(far.handle(), 0, &value, 1 << 20), RSMERR_BAD_LENGTH);
    EXPECT_EQ(rsm_memseg_import_put64(far.handle(), 1 << 20, &value, 1), RSMERR_BAD_OFFSET);
}

} // namespace
