// SPDX-License-Identifier: MIT
#include <array>
#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>
#include <numeric>

#include "fake_segment.h"
#include "local_memory.h"

namespace {

using rsm::test::FakeSegment;

class ScatterGather : public testing::Test {
  protected:
    ScatterGather() {
        std::iota(local.begin(), local.end(), char{1});
        request(segment, 1);
    }

    void request(const FakeSegment &target, std::size_t count) {
        for (std::size_t i = 0; i < vec.size(); ++i) {
            vec[i].io_type = RSM_VA_TYPE;
            vec[i].local.vaddr = local.data();
            vec[i].local_offset = i;
            vec[i].remote_offset = 100 * i;
            vec[i].transfer_length = 7;
        }
        io = {};
        io.io_request_count = count;
        io.io_residual_count = 99;
        io.remote_handle = target.handle();
        io.iovec = vec.data();
    }
    int put(ulong_t residual) {
        const int status = rsm_memseg_import_putv(&io);
        EXPECT_EQ(io.io_residual_count, residual);
        return status;
    }

    FakeSegment segment;
    std::array<char, 4096> local{};
    std::array<rsm_iovec_t, RSM_MAX_SGIOREQS> vec{};
    rsm_scat_gath_t io{};
};

TEST_F(ScatterGather, MovesSixteenEntriesBothWays) {
    request(segment, 16);
    vec[3].transfer_length = 0;
    EXPECT_EQ(put(0), RSM_SUCCESS);
    for (std::size_t i = 0; i < 16; ++i)
        EXPECT_EQ(std::memcmp(&segment.memory()[100 * i], &local[i], i == 3 ? 0 : 7), 0) << i;
    const auto sent = local;
    for (std::size_t i = 0; i < 16; ++i)
        vec[i].local_offset = 1000 + 10 * i;
    EXPECT_EQ(rsm_memseg_import_getv(&io), RSM_SUCCESS);
    EXPECT_EQ(std::memcmp(&local[1150], &sent[15], 7), 0);
}

TEST_F(ScatterGather, CountIsOneToSixteen) {
    io.io_request_count = 0;
    EXPECT_EQ(put(99), RSMERR_BAD_SGIO);
    io.io_request_count = 17;
    EXPECT_EQ(put(99), RSMERR_BAD_SGIO);
}

TEST_F(ScatterGather, ChecksEntriesBeforeTheFirst) {
    request(segment, 4);
    vec[2].remote_offset = segment.size() + 1;
    EXPECT_EQ(put(4), RSMERR_BAD_OFFSET);
    vec[2].remote_offset = segment.size() - 6;
    EXPECT_EQ(put(4), RSMERR_BAD_LENGTH);
    vec[2].remote_offset = 8;
    vec[2].transfer_length = SIZE_MAX;
    EXPECT_NE(put(4), RSM_SUCCESS);
    EXPECT_EQ(segment.item<uint64_t>(0), 0U);
}

TEST_F(ScatterGather, ChecksLocalMemory) {
    io.iovec = nullptr;
    EXPECT_EQ(put(1), RSMERR_BAD_ADDR);
    io.iovec = vec.data();
    vec[0].local.vaddr = nullptr;
    EXPECT_EQ(put(1), RSMERR_BAD_ADDR);
    vec[0].io_type = 3;
    EXPECT_EQ(put(1), RSMERR_BAD_SGIO);
    vec[0].io_type = RSM_HANDLE_TYPE;
    vec[0].local.handle = nullptr;
    EXPECT_EQ(put(1), RSMERR_BAD_SGIO);
    vec[0].local.handle = reinterpret_cast<rsm_localmemory_handle_t>(segment.handle());
    EXPECT_EQ(put(1), RSMERR_BAD_SGIO);
}

// Only the kernel agent, of which the segment's descriptor is no handle here, touches memory that
// is given by handle.
TEST_F(ScatterGather, LeavesLocalHandlesToTheKernel) {
    auto *memory = rsm::create<rsm::LocalMemory>(rsm::LocalMemory{{}, local.size()});
    request(segment, 2);
    vec[0].io_type = RSM_HANDLE_TYPE;
    vec[0].local.handle = rsm::handle_of<rsm_localmemory_handle_t>(memory);
    vec[0].local_offset = 50;
    EXPECT_EQ(put(2), RSMERR_INTERNAL_ERROR);
    EXPECT_EQ(segment.item<uint64_t>(0), 0U);
    EXPECT_EQ(segment.item<uint32_t>(100), 0U) << "the address of the same request";
    vec[0].local_offset = local.size() - 6;
    EXPECT_EQ(put(2), RSMERR_BAD_LENGTH);
    vec[0].local_offset = SIZE_MAX;
    EXPECT_EQ(put(2), RSMERR_BAD_LENGTH);
    rsm::destroy(memory);
    vec[0].local_offset = 0;
    EXPECT_EQ(put(2), RSMERR_BAD_SGIO);
}

TEST_F(ScatterGather, RightsOfTheConnection) {
    const FakeSegment reader({.rights = RSM_PERM_READ});
    request(reader, 2);
    EXPECT_EQ(put(2), RSMERR_PERM_DENIED);
    EXPECT_EQ(rsm_memseg_import_getv(&io), RSM_SUCCESS);
}

TEST_F(ScatterGather, TellsOfABrokenConnection) {
    request(segment, 3);
    EXPECT_EQ(put(0), RSM_SUCCESS);
    segment.abort();
    EXPECT_EQ(put(3), RSMERR_CONN_ABORTED);
}

// Positions count from the start of the segment, whatever is mapped.
TEST_F(ScatterGather, IgnoresPartialMappings) {
    void *address = nullptr;
    const auto page = static_cast<off_t>(::sysconf(_SC_PAGESIZE));
    ASSERT_EQ(
        rsm_memseg_import_map(segment.handle(), &address, RSM_MAP_NONE, RSM_PERM_READ, page, 1),
        RSM_SUCCESS);
    EXPECT_EQ(put(0), RSM_SUCCESS);
    EXPECT_EQ(std::memcmp(segment.memory().data(), local.data(), 7), 0);
}

} // namespace
