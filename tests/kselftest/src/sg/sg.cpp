// SPDX-License-Identifier: GPL-2.0
// Scatter-gather and local memory handles: V1 to V4.
#include "support/loopback.hpp"
#include "support/unchanged.hpp"

#include <array>
#include <cstring>

using namespace rsmtest;

namespace {

class ScatterGather : public PublishedTest {
protected:
    Pages local{page_count};
    std::array<rsm_iovec_t, 17> vector{};
    rsm_scat_gath_t request{};

    static rsm_iovec_t at_address(void *address, std::size_t offset, std::size_t remote,
                                  std::size_t length)
    {
        rsm_iovec_t entry{};
        entry.io_type = RSM_VA_TYPE;
        entry.local.vaddr = static_cast<caddr_t>(address);
        entry.local_offset = offset;
        entry.remote_offset = remote;
        entry.transfer_length = length;
        return entry;
    }
    static rsm_iovec_t at_handle(rsm_localmemory_handle_t handle, std::size_t offset,
                                 std::size_t remote, std::size_t length)
    {
        rsm_iovec_t entry = at_address(nullptr, offset, remote, length);
        entry.io_type = RSM_HANDLE_TYPE;
        entry.local.handle = handle;
        return entry;
    }
    rsm_scat_gath_t *prepare(rsm_memseg_import_handle_t handle, ulong_t count, uint_t flags = 0)
    {
        request.local_nodeid = 4711;
        request.io_request_count = count;
        request.io_residual_count = 99;
        request.flags = flags;
        request.remote_handle = handle;
        request.iovec = vector.data();
        return &request;
    }
    int events() const
    {
        int count = 0;
        while (rsm_intr_signal_wait(static_cast<rsm_memseg_export_handle_t>(seg), 0) == RSM_SUCCESS)
            count++;
        return count;
    }
    rsm_localmemory_handle_t local_handle(std::size_t length)
    {
        rsm_localmemory_handle_t handle = nullptr;
        EXPECT_EQ(rsm_create_localmemory_handle(ctl, &handle,
                                                reinterpret_cast<caddr_t>(local.data()), length),
                  RSM_SUCCESS);
        EXPECT_NE(handle, nullptr);
        return handle;
    }
};

using Transfer = int (*)(rsm_scat_gath_t *);
constexpr Transfer both[] = {rsm_memseg_import_putv, rsm_memseg_import_getv};

} // namespace

TEST_F(ScatterGather, V1_argument_errors)
{
    Unchanged unchanged;
    ImportSegment h(ctl, seg.id());
    vector.fill(at_address(local.data(), 0, 0, 8));
    for (const Transfer transfer : both) {
        EXPECT_EQ(transfer(nullptr), RSMERR_BAD_SGIO);
        EXPECT_EQ(transfer(prepare(nullptr, 0)), RSMERR_BAD_SEG_HNDL);
        EXPECT_EQ(transfer(prepare(nullptr, 1)), RSMERR_BAD_SEG_HNDL);
        for (const ulong_t count : {0ul, 17ul, ~0ul, 1ul << 32, (1ul << 32) + 1}) {
            EXPECT_EQ(transfer(prepare(h, count)), RSMERR_BAD_SGIO) << count;
            EXPECT_EQ(request.io_residual_count, 99u) << "residual was written";
        }
        prepare(h, 1)->iovec = nullptr;
        EXPECT_EQ(transfer(&request), RSMERR_BAD_ADDR);
        EXPECT_EQ(request.io_residual_count, 1u);
    }
}

TEST_F(ScatterGather, V1_sixteen_mixed_entries)
{
    ImportSegment h(ctl, seg.id());
    rsm_localmemory_handle_t handle = local_handle(local.size());
    for (std::size_t i = 0; i < local.size(); i++)
        local.at<std::uint8_t>(i) = static_cast<std::uint8_t>(i * 13 + i / 256);
    std::size_t remote = 5;
    for (std::size_t i = 0; i < 16; i++) {
        const std::size_t length = 1 + i * 61;
        const std::size_t offset = 100 * i + i % 3;
        vector[i] = i % 2 ? at_handle(handle, offset, remote, length)
                          : at_address(local.data() + 7, offset, remote, length);
        remote += length + 3;
    }
    ASSERT_EQ(rsm_memseg_import_putv(prepare(h, 16)), RSM_SUCCESS) << "no barrier is needed";
    EXPECT_EQ(request.io_residual_count, 0u);
    EXPECT_EQ(request.io_request_count, 16u);
    EXPECT_EQ(request.local_nodeid, 4711u);
    for (std::size_t i = 0; i < 16; i++) {
        const std::byte *from = local.data() + (i % 2 ? 0 : 7) + vector[i].local_offset;
        EXPECT_EQ(std::memcmp(memory.data() + vector[i].remote_offset, from,
                              vector[i].transfer_length),
                  0)
            << i;
    }
    EXPECT_EQ(memory.at<std::uint8_t>(4), 0);
    EXPECT_EQ(memory.at<std::uint8_t>(remote), 0);

    Pages back(page_count);
    rsm_iovec_t entry = at_address(back.data(), 3, 5, remote);
    vector[0] = entry;
    ASSERT_EQ(rsm_memseg_import_getv(prepare(h, 1)), RSM_SUCCESS);
    EXPECT_EQ(std::memcmp(back.data() + 3, memory.data() + 5, remote), 0);
    EXPECT_EQ(std::memcmp(&vector[0], &entry, sizeof(entry)), 0) << "the entry was modified";
    EXPECT_EQ(rsm_free_localmemory_handle(ctl, handle), RSM_SUCCESS);
}

TEST_F(ScatterGather, V1_with_a_partial_mapping)
{
    ImportSegment h(ctl, seg.id());
    ASSERT_EQ(h.map(page_size(), static_cast<off_t>(page_size())), RSM_SUCCESS);
    local.at(0) = 31;
    vector[0] = at_address(local.data(), 0, page_size() + 8, 8);
    ASSERT_EQ(rsm_memseg_import_putv(prepare(h, 1)), RSM_SUCCESS);
    EXPECT_EQ(memory.at(page_size() + 8), 31u) << "offsets count from the start of the segment";
}

TEST_F(ScatterGather, V1_empty_entries)
{
    ImportSegment h(ctl, seg.id());
    vector[0] = at_address(local.data(), 0, 0, 0);
    vector[1] = at_address(local.data(), 0, memory.size(), 0);
    vector[2] = at_address(local.data(), 0, 8, 8);
    local.at(0) = 5;
    EXPECT_EQ(rsm_memseg_import_putv(prepare(h, 3)), RSM_SUCCESS);
    EXPECT_EQ(request.io_residual_count, 0u);
    EXPECT_EQ(memory.at(8), 5u);
    EXPECT_EQ(memory.at(0), 0u);
}

TEST_F(ScatterGather, V2_errors_of_entries)
{
    ImportSegment h(ctl, seg.id());
    rsm_localmemory_handle_t handle = local_handle(page_size());
    const std::size_t size = memory.size();
    rsm_iovec_t unknown = at_address(local.data(), 0, 0, 8);
    unknown.io_type = 3;
    rsm_iovec_t zero = unknown;
    zero.io_type = 0;
    struct Case {
        const char *what;
        rsm_iovec_t entry;
        int result;
    };
    const Case cases[] = {
        {"unknown type", unknown, RSMERR_BAD_SGIO},
        {"type 0", zero, RSMERR_BAD_SGIO},
        {"NULL handle", at_handle(nullptr, 0, 0, 8), RSMERR_BAD_SGIO},
        {"NULL address", at_address(nullptr, 0, 0, 8), RSMERR_BAD_ADDR},
        {"remote offset beyond the end", at_address(local.data(), 0, size + 1, 0),
         RSMERR_BAD_OFFSET},
        {"far beyond the end", at_address(local.data(), 0, ~std::size_t{0}, 8), RSMERR_BAD_OFFSET},
        {"ends beyond the end", at_address(local.data(), 0, size - 7, 8), RSMERR_BAD_LENGTH},
        {"length wraps", at_address(local.data(), 0, 16, ~std::size_t{0} - 8), RSMERR_BAD_LENGTH},
        {"ends beyond the handle", at_handle(handle, page_size() - 7, 0, 8), RSMERR_BAD_LENGTH},
        {"begins beyond the handle", at_handle(handle, page_size() + 8, 0, 8), RSMERR_BAD_LENGTH},
        {"local offset wraps", at_handle(handle, ~std::size_t{0} - 3, 0, 8), RSMERR_BAD_LENGTH},
    };
    local.at(0) = 77;
    for (const Case &c : cases) {
        for (const Transfer transfer : both) {
            SCOPED_TRACE(c.what);
            vector[0] = at_address(local.data(), 0, 0, 8);
            vector[1] = at_address(local.data(), 0, 8, 8);
            vector[2] = c.entry;
            vector[3] = at_address(local.data(), 0, 16, 8);
            EXPECT_EQ(transfer(prepare(h, 4, RSM_IMPLICIT_SIGPOST)), c.result);
            EXPECT_TRUE(request.io_residual_count == 2 || request.io_residual_count == 4)
                << request.io_residual_count;
            EXPECT_EQ(request.flags, static_cast<uint_t>(RSM_IMPLICIT_SIGPOST));
            EXPECT_EQ(events(), 0) << "an event in spite of the failure";
            EXPECT_EQ(memory.at(16), 0u) << "went on behind the failing entry";
            local.at(0) = 77;
        }
    }
    EXPECT_EQ(rsm_free_localmemory_handle(ctl, handle), RSM_SUCCESS);
}

TEST_F(ScatterGather, V2_rights)
{
    vector[0] = at_address(local.data(), 0, 0, 8);
    local.at(0) = 3;
    ImportSegment reader(ctl, seg.id(), RSM_PERM_READ);
    EXPECT_EQ(rsm_memseg_import_putv(prepare(reader, 1)), RSMERR_PERM_DENIED);
    EXPECT_EQ(request.io_residual_count, 1u);
    EXPECT_EQ(memory.at(0), 0u);
    EXPECT_EQ(rsm_memseg_import_getv(prepare(reader, 1)), RSM_SUCCESS);
    EXPECT_EQ(local.at(0), 0u);
    ImportSegment writer(ctl, seg.id(), RSM_PERM_WRITE);
    local.at(0) = 4;
    EXPECT_EQ(rsm_memseg_import_getv(prepare(writer, 1)), RSMERR_PERM_DENIED);
    EXPECT_EQ(local.at(0), 4u);
    EXPECT_EQ(rsm_memseg_import_putv(prepare(writer, 1)), RSM_SUCCESS);
    EXPECT_EQ(memory.at(0), 4u);
}

TEST_F(ScatterGather, V3_implicit_signal)
{
    ImportSegment h(ctl, seg.id());
    vector.fill(at_address(local.data(), 0, 0, 8));
    for (const Transfer transfer : both) {
        EXPECT_EQ(transfer(prepare(h, 4, RSM_IMPLICIT_SIGPOST)), RSM_SUCCESS);
        EXPECT_EQ(request.flags, static_cast<uint_t>(RSM_IMPLICIT_SIGPOST));
        EXPECT_EQ(events(), 1);
        EXPECT_EQ(transfer(prepare(h, 4, 0)), RSM_SUCCESS);
        EXPECT_EQ(transfer(prepare(h, 4, RSM_SIGPOST_NO_ACCUMULATE)), RSM_SUCCESS);
        EXPECT_EQ(events(), 0) << "NO_ACCUMULATE alone has no effect";
        const uint_t flags = RSM_IMPLICIT_SIGPOST | RSM_SIGPOST_NO_ACCUMULATE;
        EXPECT_EQ(transfer(prepare(h, 1, flags)), RSM_SUCCESS);
        EXPECT_EQ(transfer(prepare(h, 1, flags)), RSM_SUCCESS);
        EXPECT_EQ(request.flags, flags);
        EXPECT_EQ(events(), 1);
        EXPECT_EQ(transfer(prepare(h, 1, RSM_IMPLICIT_SIGPOST)), RSM_SUCCESS);
        EXPECT_EQ(transfer(prepare(h, 1, RSM_IMPLICIT_SIGPOST)), RSM_SUCCESS);
        EXPECT_EQ(events(), 2);
    }
}

TEST_F(ScatterGather, V4_local_handle_errors)
{
    Unchanged unchanged;
    rsm_localmemory_handle_t handle = nullptr;
    auto *address = reinterpret_cast<caddr_t>(local.data());
    EXPECT_EQ(rsm_create_localmemory_handle(nullptr, nullptr, address + 1, 0), RSMERR_BAD_ADDR);
    EXPECT_EQ(rsm_create_localmemory_handle(nullptr, nullptr, address, 0), RSMERR_BAD_CTLR_HNDL);
    EXPECT_EQ(rsm_create_localmemory_handle(ctl, nullptr, address, 0), RSMERR_BAD_LOCALMEM_HNDL);
    EXPECT_EQ(rsm_create_localmemory_handle(ctl, &handle, address, 0), RSMERR_BAD_LENGTH);
    EXPECT_EQ(rsm_create_localmemory_handle(ctl, &handle, nullptr, 8), RSMERR_BAD_ADDR);
    ASSERT_EQ(munmap(local.data() + page_size(), page_size()), 0);
    EXPECT_EQ(rsm_create_localmemory_handle(ctl, &handle, address + page_size(), 8),
              RSMERR_BAD_ADDR);
    EXPECT_EQ(rsm_create_localmemory_handle(ctl, &handle, address, page_size() + 1),
              RSMERR_BAD_ADDR);
    EXPECT_EQ(handle, nullptr);
    EXPECT_EQ(rsm_free_localmemory_handle(nullptr, nullptr), RSMERR_BAD_CTLR_HNDL);
    EXPECT_EQ(rsm_free_localmemory_handle(ctl, nullptr), RSMERR_BAD_LOCALMEM_HNDL);
    handle = local_handle(8);
    EXPECT_EQ(rsm_free_localmemory_handle(nullptr, handle), RSMERR_BAD_CTLR_HNDL);
    EXPECT_EQ(rsm_free_localmemory_handle(ctl, handle), RSM_SUCCESS);
}

TEST_F(ScatterGather, V4_freed_handle)
{
    ImportSegment h(ctl, seg.id());
    rsm_localmemory_handle_t handle = local_handle(8);
    local.at(page_size() - 8) = 12;
    vector[0] = at_handle(handle, page_size() - 8, 0, 8);
    EXPECT_EQ(rsm_memseg_import_putv(prepare(h, 1)), RSM_SUCCESS)
        << "the length is rounded up to whole pages";
    EXPECT_EQ(memory.at(0), 12u);
    ASSERT_EQ(rsm_free_localmemory_handle(ctl, handle), RSM_SUCCESS);
    const int result = rsm_memseg_import_putv(prepare(h, 1));
    EXPECT_TRUE(result == RSMERR_BAD_LOCALMEM_HNDL || result == RSMERR_BAD_SGIO) << result;
    EXPECT_EQ(rsm_free_localmemory_handle(ctl, handle), RSMERR_BAD_LOCALMEM_HNDL);
}

TEST_F(ScatterGather, V4_local_handle_is_no_export_handle)
{
    rsm_localmemory_handle_t handle = local_handle(page_size());
    rsm_memseg_id_t id = 0;
    EXPECT_EQ(rsm_memseg_export_publish(reinterpret_cast<rsm_memseg_export_handle_t>(handle), &id,
                                        nullptr, 0),
              RSMERR_BAD_SEG_HNDL);
    EXPECT_EQ(rsm_intr_signal_post(handle, 0), RSMERR_BAD_SEG_HNDL);
    EXPECT_EQ(rsm_free_localmemory_handle(ctl, handle), RSM_SUCCESS);
}
