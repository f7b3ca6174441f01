// SPDX-License-Identifier: MIT
#include <cstdint>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include "fake_segment.h"

namespace {

using rsm::test::FakeSegment;

const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
const auto page_offset = static_cast<off_t>(page);

class Map : public testing::Test {
  protected:
    void SetUp() override {
        rsm_memseg_import_set_mode(segment.handle(), RSM_BARRIER_MODE_EXPLICIT);
    }
    int map(rsm_permission_t permission, off_t offset, std::size_t length,
            rsm_attribute_t attr = RSM_MAP_NONE) {
        return rsm_memseg_import_map(segment.handle(), &address, attr, permission, offset, length);
    }
    int put(off_t offset) { return rsm_memseg_import_put64(segment.handle(), offset, &value, 1); }
    int unmap() { return rsm_memseg_import_unmap(segment.handle()); }

    FakeSegment segment;
    void *address = nullptr;
    uint64_t value = 42;
};

TEST_F(Map, ChecksInOrder) {
    EXPECT_EQ(rsm_memseg_import_map(segment.handle(), nullptr, RSM_MAP_NONE, 0, 0, 0),
              RSMERR_BAD_ADDR);
    EXPECT_EQ(map(0777, 0, 0), RSMERR_BAD_PERMS);
    EXPECT_EQ(map(RSM_PERM_READ, -1, 0), RSMERR_BAD_LENGTH);
    EXPECT_EQ(map(RSM_PERM_READ, -1, page), RSMERR_BAD_OFFSET);
    EXPECT_EQ(map(RSM_PERM_READ, 1, segment.size()), RSMERR_BAD_LENGTH);
    EXPECT_EQ(map(RSM_PERM_READ, page_offset, SIZE_MAX), RSMERR_BAD_LENGTH);
    EXPECT_EQ(map(RSM_PERM_READ, 1, page), RSMERR_BAD_MEM_ALIGNMENT);
    address = reinterpret_cast<void *>(1);
    EXPECT_EQ(map(RSM_PERM_READ, 0, page, RSM_MAP_FIXED), RSMERR_BAD_MEM_ALIGNMENT);
    EXPECT_EQ(address, reinterpret_cast<void *>(1));
    EXPECT_EQ(unmap(), RSMERR_SEG_NOT_MAPPED);
}

TEST_F(Map, OneAtATime) {
    address = this; // not looked at
    EXPECT_EQ(map(RSM_PERM_RDWR, 0, segment.size()), RSM_SUCCESS);
    *static_cast<uint64_t *>(address) = 7;
    EXPECT_EQ(segment.item<uint64_t>(0), 7U);
    EXPECT_EQ(map(0777, 0, 0), RSMERR_SEG_ALREADY_MAPPED);
    EXPECT_EQ(rsm_memseg_import_disconnect(segment.handle()), RSMERR_SEG_STILL_MAPPED);
    EXPECT_EQ(unmap(), RSM_SUCCESS);
    EXPECT_EQ(unmap(), RSMERR_SEG_NOT_MAPPED);
}

TEST_F(Map, PartRestrictsPutAndGet) {
    segment.item<uint64_t>(page) = 11;
    EXPECT_EQ(map(RSM_PERM_READ, page_offset, page), RSM_SUCCESS);
    EXPECT_EQ(*static_cast<uint64_t *>(address), 11U);
    // Rights are those of the connection, not of the mapping.
    EXPECT_EQ(put(page_offset), RSM_SUCCESS);
    EXPECT_EQ(put(2 * page_offset - 8), RSM_SUCCESS);
    EXPECT_EQ(put(0), RSMERR_BAD_OFFSET);
    EXPECT_EQ(put(2 * page_offset), RSMERR_BAD_OFFSET);
    EXPECT_EQ(unmap(), RSM_SUCCESS);
    EXPECT_EQ(put(0), RSM_SUCCESS);
}

TEST_F(Map, AfterATransfer) {
    EXPECT_EQ(put(0), RSM_SUCCESS);
    EXPECT_EQ(map(RSM_PERM_RDWR, 0, page), RSM_SUCCESS);
    EXPECT_EQ(unmap(), RSM_SUCCESS);
    EXPECT_EQ(unmap(), RSMERR_SEG_NOT_MAPPED);
    EXPECT_EQ(put(0), RSM_SUCCESS);
    EXPECT_EQ(unmap(), RSM_SUCCESS);
    EXPECT_EQ(unmap(), RSMERR_SEG_NOT_MAPPED);
    EXPECT_EQ(put(0), RSM_SUCCESS);
    EXPECT_EQ(rsm_memseg_import_disconnect(segment.handle()), RSM_SUCCESS);
    EXPECT_EQ(put(0), RSMERR_BAD_SEG_HNDL);
}

TEST_F(Map, FixedReplacesWhatIsThere) {
    void *place = ::mmap(nullptr, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(place, MAP_FAILED);
    address = place;
    const auto attr = static_cast<rsm_attribute_t>(RSM_MAP_FIXED | RSM_MAP_RESERVED);
    EXPECT_EQ(map(RSM_PERM_RDWR, 0, 100, attr), RSM_SUCCESS);
    EXPECT_EQ(address, place);
    *static_cast<uint64_t *>(place) = 5;
    EXPECT_EQ(segment.item<uint64_t>(0), 5U);
}

TEST_F(Map, SurvivesMunmapByTheProgram) {
    EXPECT_EQ(map(RSM_PERM_RDWR, 0, page), RSM_SUCCESS);
    EXPECT_EQ(::munmap(address, page), 0);
    EXPECT_EQ(put(0), RSM_SUCCESS);
    EXPECT_EQ(unmap(), RSM_SUCCESS);
}

TEST_F(Map, ModesOfBarriers) {
    // C programs may pass any number.
    auto *set_mode =
        reinterpret_cast<int (*)(rsm_memseg_import_handle_t, unsigned)>(rsm_memseg_import_set_mode);
    rsm_barrier_mode_t mode{};
    EXPECT_EQ(rsm_memseg_import_get_mode(segment.handle(), nullptr), RSMERR_BAD_ADDR);
    EXPECT_EQ(rsm_memseg_import_get_mode(segment.handle(), &mode), RSM_SUCCESS);
    EXPECT_EQ(mode, RSM_BARRIER_MODE_EXPLICIT);
    EXPECT_EQ(set_mode(segment.handle(), 2), RSMERR_BAD_MODE);
    const FakeSegment fresh;
    EXPECT_EQ(rsm_memseg_import_get_mode(fresh.handle(), &mode), RSM_SUCCESS);
    EXPECT_EQ(mode, RSM_BARRIER_MODE_IMPLICIT);
}

} // namespace
