// SPDX-License-Identifier: GPL-2.0
// Mapping: I7 to I9.
#include "support/loopback.hpp"
#include "support/unchanged.hpp"

using namespace rsmtest;

namespace {

class ImportMap : public PublishedTest {
protected:
    // A map that must fail: the address stays untouched.
    void refuse(ImportSegment &h, rsm_attribute_t attribute, rsm_permission_t permission,
                off_t offset, std::size_t length, int result, void *at = nullptr)
    {
        void *address = at;
        EXPECT_EQ(rsm_memseg_import_map(h, &address, attribute, permission, offset, length), result)
            << "offset " << offset << " length " << length << " permission " << permission;
        EXPECT_EQ(address, at);
    }
    const off_t size = static_cast<off_t>(memory.size());
    const off_t page = static_cast<off_t>(page_size());
};

} // namespace

TEST_F(ImportMap, I7_errors_in_order)
{
    Unchanged unchanged;
    ImportSegment h(ctl, seg.id());
    void *address = nullptr;
    EXPECT_EQ(rsm_memseg_import_map(nullptr, nullptr, RSM_MAP_NONE, 0777, 1, 0),
              RSMERR_BAD_SEG_HNDL);
    EXPECT_EQ(rsm_memseg_import_map(nullptr, &address, RSM_MAP_NONE, 0600, 0, 1),
              RSMERR_BAD_SEG_HNDL);
    EXPECT_EQ(rsm_memseg_import_map(h, nullptr, RSM_MAP_NONE, 0777, 1, 0), RSMERR_BAD_ADDR);
    for (const rsm_permission_t permission : {0601u, 0700u, 0777u, 01600u, ~0u})
        refuse(h, RSM_MAP_NONE, permission, 1, 0, RSMERR_BAD_PERMS);
    refuse(h, RSM_MAP_NONE, 0600, -1, 0, RSMERR_BAD_LENGTH);
    refuse(h, RSM_MAP_NONE, 0600, -1, 1, RSMERR_BAD_OFFSET);
    refuse(h, RSM_MAP_NONE, 0600, -page, memory.size(), RSMERR_BAD_OFFSET);
    refuse(h, RSM_MAP_NONE, 0600, 0, memory.size() + 1, RSMERR_BAD_LENGTH);
    refuse(h, RSM_MAP_NONE, 0600, page, memory.size(), RSMERR_BAD_LENGTH);
    refuse(h, RSM_MAP_NONE, 0600, size, 1, RSMERR_BAD_LENGTH);
    refuse(h, RSM_MAP_NONE, 0600, 1, memory.size(), RSMERR_BAD_LENGTH);
    refuse(h, RSM_MAP_NONE, 0600, page, ~std::size_t{0}, RSMERR_BAD_LENGTH);
    refuse(h, RSM_MAP_NONE, 0600, page, ~std::size_t{0} - memory.size(), RSMERR_BAD_LENGTH);
    refuse(h, RSM_MAP_NONE, 0600, 1, 8, RSMERR_BAD_MEM_ALIGNMENT);
    refuse(h, RSM_MAP_NONE, 0600, page / 2, 8, RSMERR_BAD_MEM_ALIGNMENT);
    refuse(h, RSM_MAP_FIXED, 0600, 0, 8, RSMERR_BAD_MEM_ALIGNMENT, memory.data() + 1);
    refuse(h, RSM_MAP_FIXED, 0600, 0, 8, RSMERR_BAD_MEM_ALIGNMENT, memory.data() + 512);
    EXPECT_EQ(h.unmap(), RSMERR_SEG_NOT_MAPPED);

    ASSERT_EQ(h.map(memory.size()), RSM_SUCCESS) << "no lock is left behind";
    refuse(h, RSM_MAP_NONE, 0777, 1, 0, RSMERR_SEG_ALREADY_MAPPED);
    refuse(h, RSM_MAP_NONE, 0600, 0, memory.size(), RSMERR_SEG_ALREADY_MAPPED);
    EXPECT_EQ(rsm_memseg_import_map(h, nullptr, RSM_MAP_NONE, 0600, 0, 1), RSMERR_BAD_ADDR);
}

TEST_F(ImportMap, I7_rights_beyond_the_connection)
{
    for (const rsm_permission_t rights : {0u, 0400u, 0200u, 0600u}) {
        ImportSegment h(ctl, seg.id(), rights);
        ASSERT_EQ(h.status(), RSM_SUCCESS);
        for (const rsm_permission_t wanted : {0u, 0400u, 0200u, 0600u}) {
            if (wanted & ~rights) {
                refuse(h, RSM_MAP_NONE, wanted, 0, memory.size(), RSMERR_BAD_PERMS);
            } else {
                ASSERT_EQ(h.map(memory.size(), 0, wanted), RSM_SUCCESS) << rights << " " << wanted;
                EXPECT_EQ(h.unmap(), RSM_SUCCESS);
            }
        }
    }
}

TEST_F(ImportMap, I7_system_chooses_the_address)
{
    ImportSegment h(ctl, seg.id());
    // Whatever is in *address does no harm.
    void *address = reinterpret_cast<void *>(0x123);
    ASSERT_EQ(rsm_memseg_import_map(h, &address, RSM_MAP_NONE, 0600, 0, memory.size()), RSM_SUCCESS);
    EXPECT_NE(address, reinterpret_cast<void *>(0x123));
    *static_cast<volatile int *>(address) = 4;
    EXPECT_EQ(memory.at<int>(0), 4);
    EXPECT_EQ(h.unmap(), RSM_SUCCESS);
    address = memory.data();
    ASSERT_EQ(rsm_memseg_import_map(h, &address, RSM_MAP_RESERVED, 0600, 0, memory.size()),
              RSM_SUCCESS);
    EXPECT_NE(address, memory.data()) << "replaced memory without RSM_MAP_FIXED";
    EXPECT_EQ(h.unmap(), RSM_SUCCESS);
    EXPECT_EQ(memory.at<int>(0), 4);
}

TEST_F(ImportMap, I7_partial_map_shows_the_right_page)
{
    for (std::size_t i = 0; i < page_count; i++)
        memory.at(i * page_size()) = 100 + i;
    ImportSegment h(ctl, seg.id());
    ASSERT_EQ(h.init_barrier(), RSM_SUCCESS);
    ASSERT_EQ(h.map(page_size() + 1, page), RSM_SUCCESS) << "length is no page multiple";
    EXPECT_EQ(h.at(0), 101u);
    EXPECT_EQ(h.at(page_size()), 102u) << "the tail page is mapped whole";
    EXPECT_EQ(h.at(2 * page_size() - 8), 0u);
    h.at(8) = 55;
    EXPECT_EQ(memory.at(page_size() + 8), 55u);

    // put and get count from the start of the segment, within the window
    std::uint64_t value = 0;
    EXPECT_EQ(h.get64(page, &value), RSM_SUCCESS);
    EXPECT_EQ(value, 101u);
    EXPECT_EQ(h.put64(page + 16, 66), RSM_SUCCESS);
    EXPECT_EQ(memory.at(page_size() + 16), 66u);
    EXPECT_EQ(h.put64(0, 1), RSMERR_BAD_OFFSET);
    EXPECT_EQ(h.get64(page - 8, &value), RSMERR_BAD_OFFSET);
    EXPECT_EQ(h.put64(3 * page, 1), RSMERR_BAD_OFFSET);
    EXPECT_EQ(rsm_memseg_import_put(h, page - 1, &value, 2), RSMERR_BAD_OFFSET);
    EXPECT_EQ(memory.at(0), 100u);
    EXPECT_EQ(memory.at(3 * page_size()), 103u);
    ASSERT_EQ(h.unmap(), RSM_SUCCESS);
    EXPECT_EQ(h.put64(0, 1), RSM_SUCCESS) << "the window is gone with the mapping";
}

TEST_F(ImportMap, I7_one_byte)
{
    memory.at(3 * page_size()) = 9;
    ImportSegment h(ctl, seg.id());
    ASSERT_EQ(h.map(1, 3 * page), RSM_SUCCESS);
    EXPECT_EQ(h.at(0), 9u);
}

TEST_F(ImportMap, I8_fixed_replaces_a_mapping)
{
    const Pages area(page_count + 2);
    area.at(0) = 1;
    area.at(page_size()) = 2;
    area.at((page_count + 1) * page_size()) = 3;
    memory.at(0) = 77;
    ImportSegment h(ctl, seg.id());
    void *address = area.data() + page_size();
    ASSERT_EQ(rsm_memseg_import_map(h, &address, RSM_MAP_FIXED, 0600, 0, memory.size()), RSM_SUCCESS);
    EXPECT_EQ(address, area.data() + page_size());
    EXPECT_EQ(area.at(page_size()), 77u);
    area.at(page_size() + 8) = 78;
    EXPECT_EQ(memory.at(8), 78u);
    EXPECT_EQ(area.at(0), 1u);
    EXPECT_EQ(area.at((page_count + 1) * page_size()), 3u);
    EXPECT_EQ(h.unmap(), RSM_SUCCESS);
}

// The connection has ended, so there is nothing to map: what the program has there stays.
TEST_F(ImportMap, fixed_that_fails_leaves_what_was_there)
{
    const Pages area(page_count);
    area.at(0) = 1;
    ImportSegment h(ctl, seg.id());
    ASSERT_EQ(seg.unpublish(), RSM_SUCCESS);
    void *address = area.data();
    EXPECT_EQ(rsm_memseg_import_map(h, &address, RSM_MAP_FIXED, 0600, 0, memory.size()),
              RSMERR_CONN_ABORTED);
    EXPECT_EQ(area.at(0), 1u);
}

// Where nothing is mapped the kernel may put the first view that the library makes.
TEST_F(ImportMap, fixed_into_a_hole)
{
    ImportSegment h(ctl, seg.id());
    for (std::size_t pages = 1; pages <= page_count; pages++) {
        void *probe = mmap(nullptr, memory.size(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        ASSERT_NE(probe, MAP_FAILED);
        ASSERT_EQ(munmap(probe, memory.size()), 0);
        void *address = static_cast<std::byte *>(probe) + (pages - 1) * page_size();
        ASSERT_EQ(rsm_memseg_import_map(h, &address, RSM_MAP_FIXED, 0600, 0, page_size()),
                  RSM_SUCCESS);
        EXPECT_EQ(h.unmap(), RSM_SUCCESS);
        address = probe;
        ASSERT_EQ(rsm_memseg_import_map(h, &address, RSM_MAP_FIXED, 0600, 0, memory.size()),
                  RSM_SUCCESS);
        *static_cast<volatile std::uint64_t *>(probe) = pages;
        EXPECT_EQ(memory.at(0), pages);
        EXPECT_EQ(h.unmap(), RSM_SUCCESS);
    }
}

// A program that has unmapped the segment itself owns what is at that address now.
TEST_F(ImportMap, unmap_takes_the_mapping_of_the_segment_and_nothing_else)
{
    ImportSegment h(ctl, seg.id());
    ASSERT_EQ(h.init_barrier(), RSM_SUCCESS);
    Pages area(page_count);
    for (std::size_t mine = 0; mine < page_count; mine++) {
        void *address = area.data();
        ASSERT_EQ(rsm_memseg_import_map(h, &address, RSM_MAP_FIXED, 0600, 0, memory.size()),
                  RSM_SUCCESS);
        void *page_of_mine = area.data() + mine * page_size();
        ASSERT_EQ(mmap(page_of_mine, page_size(), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
                  page_of_mine);
        area.at(mine * page_size()) = 7;
        EXPECT_EQ(h.unmap(), RSM_SUCCESS);
        unsigned char present = 0;
        for (std::size_t page = 0; page < page_count; page++)
            EXPECT_EQ(mincore(area.data() + page * page_size(), page_size(), &present),
                      page == mine ? 0 : -1)
                << page;
        EXPECT_EQ(area.at(mine * page_size()), 7u);
    }
    // The library's own mapping, which the kernel may have put where the program's was.
    void *address = nullptr;
    ASSERT_EQ(rsm_memseg_import_map(h, &address, RSM_MAP_NONE, 0600, 0, memory.size()),
              RSM_SUCCESS);
    ASSERT_EQ(munmap(address, memory.size()), 0);
    EXPECT_EQ(h.put64(0, 1), RSM_SUCCESS);
    EXPECT_EQ(h.unmap(), RSM_SUCCESS);
    EXPECT_EQ(h.put64(0, 2), RSM_SUCCESS);
    EXPECT_EQ(memory.at(0), 2u);
}

TEST_F(ImportMap, I9_put_then_map)
{
    ImportSegment h(ctl, seg.id());
    ASSERT_EQ(h.init_barrier(), RSM_SUCCESS);
    ASSERT_EQ(h.put64(0, 1), RSM_SUCCESS);
    ASSERT_EQ(h.map(page_size()), RSM_SUCCESS);
    EXPECT_EQ(h.at(0), 1u);
    h.at(0) = 2;
    EXPECT_EQ(memory.at(0), 2u);
}

TEST_F(ImportMap, I9_put_then_disconnect)
{
    ImportSegment h(ctl, seg.id());
    ASSERT_EQ(h.init_barrier(), RSM_SUCCESS);
    ASSERT_EQ(h.put64(0, 1), RSM_SUCCESS);
    EXPECT_EQ(rsm_memseg_import_unmap(h), RSM_SUCCESS) << "drops an implicit mapping";
    ASSERT_EQ(h.put64(0, 2), RSM_SUCCESS);
    EXPECT_EQ(h.disconnect(), RSM_SUCCESS);
}

TEST_F(ImportMap, I9_map_then_disconnect)
{
    ImportSegment h(ctl, seg.id());
    ASSERT_EQ(h.init_barrier(), RSM_SUCCESS);
    ASSERT_EQ(h.map(memory.size()), RSM_SUCCESS);
    EXPECT_EQ(rsm_memseg_import_disconnect(h), RSMERR_SEG_STILL_MAPPED);
    h.at(0) = 5;
    EXPECT_EQ(memory.at(0), 5u) << "something changed";
    EXPECT_EQ(h.put64(0, 6), RSM_SUCCESS);
    // SEG_STILL_MAPPED comes before POLLFD_IN_USE
    pollfd entry{};
    auto *handle = static_cast<rsm_memseg_import_handle_t>(h);
    ASSERT_EQ(rsm_memseg_get_pollfd(handle, &entry), RSM_SUCCESS);
    EXPECT_EQ(rsm_memseg_import_disconnect(h), RSMERR_SEG_STILL_MAPPED);
    EXPECT_EQ(rsm_memseg_release_pollfd(handle), RSM_SUCCESS);
    EXPECT_EQ(h.unmap(), RSM_SUCCESS);
    EXPECT_EQ(h.unmap(), RSMERR_SEG_NOT_MAPPED);
    EXPECT_EQ(h.disconnect(), RSM_SUCCESS);
    EXPECT_EQ(rsm_memseg_import_unmap(nullptr), RSMERR_BAD_SEG_HNDL);
    EXPECT_EQ(rsm_memseg_import_disconnect(nullptr), RSMERR_BAD_SEG_HNDL);
}

TEST_F(ImportMap, I9_unmap_after_the_program_unmapped_it)
{
    ImportSegment h(ctl, seg.id());
    ASSERT_EQ(h.map(memory.size()), RSM_SUCCESS);
    ASSERT_EQ(munmap(h.base(), memory.size()), 0);
    EXPECT_EQ(h.unmap(), RSM_SUCCESS);
    EXPECT_EQ(h.disconnect(), RSM_SUCCESS);
}

TEST_F(ImportMap, I9_barrier_of_a_disconnected_segment)
{
    ImportSegment h(ctl, seg.id());
    ASSERT_EQ(h.init_barrier(), RSM_SUCCESS);
    ASSERT_EQ(h.disconnect(), RSM_SUCCESS);
    for (auto *function : {rsm_memseg_import_open_barrier, rsm_memseg_import_order_barrier,
                           rsm_memseg_import_close_barrier, rsm_memseg_import_destroy_barrier}) {
        const int result = function(h.barrier());
        EXPECT_TRUE(result == RSMERR_BAD_SEG_HNDL || result == RSMERR_BARRIER_UNINITIALIZED)
            << result;
    }
}
