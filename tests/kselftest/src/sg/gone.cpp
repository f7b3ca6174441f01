// SPDX-License-Identifier: GPL-2.0
// Local memory handles whose memory goes away: a transfer fails, and touches nothing by address.
#include "support/loopback.hpp"

#include <atomic>
#include <cstring>
#include <gtest/gtest.h>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

using namespace rsmtest;

namespace {

using Transfer = int (*)(rsm_scat_gath_t *);
constexpr Transfer both[] = {rsm_memseg_import_putv, rsm_memseg_import_getv};
const char *name_of(Transfer transfer)
{
    return transfer == rsm_memseg_import_putv ? "putv" : "getv";
}

enum class Kind { PRIVATE, FILE };

// Memory, and a handle of it. The object ends both, whatever the test has done to the memory.
class Prepared {
public:
    static constexpr std::size_t page_count = 2;

    Prepared(rsmapi_controller_handle_t controller, Kind kind) : controller_(controller)
    {
        if (kind == Kind::FILE) {
            file_ = Fd(memfd_create("local", MFD_CLOEXEC));
            EXPECT_EQ(ftruncate(file_.get(), static_cast<off_t>(size())), 0);
        }
        const int flags = kind == Kind::FILE ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
        void *base = mmap(nullptr, size(), PROT_READ | PROT_WRITE, flags, file_.get(), 0);
        EXPECT_NE(base, MAP_FAILED);
        start_ = static_cast<std::byte *>(base);
        std::memset(start_, 0x11, size());
        EXPECT_EQ(rsm_create_localmemory_handle(controller_, &handle_,
                                                reinterpret_cast<caddr_t>(start_), size()),
                  RSM_SUCCESS);
    }
    ~Prepared()
    {
        EXPECT_EQ(rsm_free_localmemory_handle(controller_, handle_), RSM_SUCCESS);
        munmap(start_, size());
    }
    Prepared(const Prepared &) = delete;
    Prepared &operator=(const Prepared &) = delete;

    static std::size_t size() { return page_count * page_size(); }
    std::byte *start() const { return start_; }
    rsm_localmemory_handle_t handle() const { return handle_; }

    void unmap() const { EXPECT_EQ(munmap(start_, size()), 0); }
    void unmap_tail() const { EXPECT_EQ(munmap(start_ + page_size(), page_size()), 0); }
    void hide() const { EXPECT_EQ(mprotect(start_, size(), PROT_NONE), 0); }
    void make_read_only() const { EXPECT_EQ(mprotect(start_, size(), PROT_READ), 0); }
    void discard() const { EXPECT_EQ(madvise(start_, size(), MADV_DONTNEED), 0); }
    void truncate() const { EXPECT_EQ(ftruncate(file_.get(), 0), 0); }
    void replace() const
    {
        void *again = mmap(start_, size(), PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        EXPECT_EQ(again, start_);
        std::memset(start_, 0x22, size());
    }

private:
    rsmapi_controller_handle_t controller_;
    Fd file_;
    std::byte *start_;
    rsm_localmemory_handle_t handle_ = nullptr;
};

// A request of two entries: a word of the test's own memory, then one behind the handle.
class LocalMemoryGone : public PublishedTest {
protected:
    void SetUp() override
    {
        PublishedTest::SetUp();
        ASSERT_EQ(import.status(), RSM_SUCCESS);
    }

    rsm_scat_gath_t *request(const Prepared &prepared, std::size_t offset = 0)
    {
        vector[0] = {};
        vector[0].io_type = RSM_VA_TYPE;
        vector[0].local.vaddr = reinterpret_cast<caddr_t>(&word);
        vector[0].remote_offset = 8;
        vector[0].transfer_length = sizeof(word);
        vector[1] = vector[0];
        vector[1].io_type = RSM_HANDLE_TYPE;
        vector[1].local.handle = prepared.handle();
        vector[1].local_offset = offset;
        vector[1].remote_offset = 64;
        io = {};
        io.io_request_count = 2;
        io.flags = RSM_IMPLICIT_SIGPOST;
        io.remote_handle = import;
        io.iovec = vector;
        return &io;
    }
    bool event_has_come() const
    {
        return rsm_intr_signal_wait(static_cast<rsm_memseg_export_handle_t>(seg), 0) == RSM_SUCCESS;
    }
    // Nothing of a request with such a handle happens.
    void expect_refused(const Prepared &prepared, std::size_t offset = 0)
    {
        for (const Transfer transfer : both) {
            SCOPED_TRACE(name_of(transfer));
            word = 7;
            memory.at(8) = 5;
            memory.at(64) = 6;
            EXPECT_EQ(transfer(request(prepared, offset)), RSMERR_BAD_SGIO);
            EXPECT_EQ(io.io_residual_count, 2u);
            EXPECT_EQ(word, 7u) << "memory of the entry in front was written";
            EXPECT_EQ(memory.at(8), 5u) << "the segment was written by the entry in front";
            EXPECT_EQ(memory.at(64), 6u) << "the segment was written";
            EXPECT_FALSE(event_has_come());
        }
    }
    // The kernel agent looks at some changes a moment after they were made. Until then the pages
    // are pinned and a transfer reaches them, and nothing else.
    void expect_refused_soon(const Prepared &prepared)
    {
        memory.at(64) = 0x3333333333333333;
        EXPECT_TRUE(eventually([&] {
            const int status = rsm_memseg_import_putv(request(prepared));
            EXPECT_TRUE(status == RSM_SUCCESS || status == RSMERR_BAD_SGIO) << status;
            EXPECT_TRUE(status == RSM_SUCCESS || memory.at(64) == 0x1111111111111111 ||
                        memory.at(64) == 0x3333333333333333);
            return status == RSMERR_BAD_SGIO;
        }));
        while (event_has_come())
            ;
        expect_refused(prepared);
    }

    ImportSegment import{ctl, seg.id()};
    std::uint64_t word = 7;
    rsm_iovec_t vector[2] = {};
    rsm_scat_gath_t io{};
};

} // namespace

TEST_F(LocalMemoryGone, moves_while_the_memory_is_there)
{
    for (const Kind kind : {Kind::PRIVATE, Kind::FILE}) {
        const Prepared prepared(ctl, kind);
        ASSERT_EQ(rsm_memseg_import_putv(request(prepared, 16)), RSM_SUCCESS);
        EXPECT_EQ(io.io_residual_count, 0u);
        EXPECT_EQ(memory.at(8), 7u);
        EXPECT_EQ(memory.at(64), 0x1111111111111111u);
        EXPECT_TRUE(event_has_come());
        memory.at(64) = 9;
        ASSERT_EQ(rsm_memseg_import_getv(request(prepared, page_size() - 4)), RSM_SUCCESS);
        std::uint64_t got = 0;
        std::memcpy(&got, prepared.start() + page_size() - 4, sizeof(got));
        EXPECT_EQ(got, 9u);
        EXPECT_EQ(prepared.start()[page_size() + 4], std::byte{0x11});
        EXPECT_TRUE(event_has_come());
    }
}

TEST_F(LocalMemoryGone, unmapped)
{
    for (const Kind kind : {Kind::PRIVATE, Kind::FILE}) {
        const Prepared prepared(ctl, kind);
        prepared.unmap();
        expect_refused(prepared);
    }
}

TEST_F(LocalMemoryGone, unmapped_in_part)
{
    for (const Kind kind : {Kind::PRIVATE, Kind::FILE}) {
        const Prepared prepared(ctl, kind);
        prepared.unmap_tail();
        expect_refused(prepared);
        expect_refused(prepared, page_size());
    }
}

TEST_F(LocalMemoryGone, protected_from_its_own_process)
{
    for (const Kind kind : {Kind::PRIVATE, Kind::FILE}) {
        const Prepared hidden(ctl, kind);
        hidden.hide();
        expect_refused(hidden);
        const Prepared read_only(ctl, kind);
        read_only.make_read_only();
        expect_refused(read_only);
    }
}

TEST_F(LocalMemoryGone, replaced_by_memory_that_is_no_business_of_the_handle)
{
    for (const Kind kind : {Kind::PRIVATE, Kind::FILE}) {
        const Prepared prepared(ctl, kind);
        prepared.replace();
        expect_refused(prepared);
        for (std::size_t i = 0; i < Prepared::size(); i++)
            ASSERT_EQ(prepared.start()[i], std::byte{0x22}) << i;
    }
}

TEST_F(LocalMemoryGone, truncated)
{
    const Prepared prepared(ctl, Kind::FILE);
    prepared.truncate();
    expect_refused_soon(prepared);
}

TEST_F(LocalMemoryGone, discarded)
{
    const Prepared prepared(ctl, Kind::PRIVATE);
    prepared.discard();
    expect_refused_soon(prepared);
    EXPECT_EQ(prepared.start()[0], std::byte{0});
}

// The handle is its creator's, as an export is. The child's copy of the memory stays the child's.
TEST_F(LocalMemoryGone, forked)
{
    const Prepared prepared(ctl, Kind::PRIVATE);
    in_child([&] {
        expect_refused(prepared);
        EXPECT_EQ(prepared.start()[0], std::byte{0x11});
        EXPECT_EQ(rsm_free_localmemory_handle(ctl, prepared.handle()), RSM_SUCCESS);
    });
    EXPECT_EQ(rsm_memseg_import_putv(request(prepared)), RSM_SUCCESS);
    EXPECT_EQ(memory.at(64), 0x1111111111111111u);
}

// Whatever the moment, the transfer moves what was prepared, or fails.
TEST_F(LocalMemoryGone, unmapped_by_another_thread_at_any_moment)
{
    for (int round = 0; round < 50; round++) {
        const Prepared prepared(ctl, round % 2 ? Kind::FILE : Kind::PRIVATE);
        memory.at(64) = 0x1111111111111111;
        std::atomic<bool> begun = false;
        std::thread other([&] {
            begun.wait(false);
            prepared.replace();
        });
        int status = RSM_SUCCESS;
        while (status == RSM_SUCCESS) {
            status = rsm_memseg_import_putv(request(prepared));
            ASSERT_EQ(memory.at(64), 0x1111111111111111u);
            begun = true;
            begun.notify_one();
        }
        other.join();
        EXPECT_EQ(status, RSMERR_BAD_SGIO);
        while (event_has_come())
            ;
    }
}
