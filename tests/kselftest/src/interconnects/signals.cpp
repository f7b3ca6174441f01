// SPDX-License-Identifier: GPL-2.0
// Transfers by the kernel under signals: one in each page of the caller's memory.
#include "interconnects/testctl.hpp"
#include "support/raw.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

using namespace rsmtest;
using raw::status;

namespace {

constexpr std::size_t page_count = 8;
std::atomic<int> handled{0};

void count_signal(int)
{
    ++handled;
}

// Memory that has one page at a time. When the thread that made it touches another one, a
// second thread sends it a signal, keeps the contents of the former page, and takes that away.
class SignallingPages {
public:
    SignallingPages() : thread_([this] { serve(); }) {}
    ~SignallingPages() { finish(); }
    SignallingPages(const SignallingPages &) = delete;
    SignallingPages &operator=(const SignallingPages &) = delete;

    std::byte *data() const { return pages_.data(); }
    std::size_t size() const { return pages_.size(); }
    // The word that the memory has, or had, in it.
    const Pages &contents() const { return contents_; }
    // How often a page was wanted, in all.
    std::size_t supplied() const { return supplied_; }
    // To be called before contents() and supplied().
    void finish()
    {
        if (!thread_.joinable())
            return;
        const std::uint64_t one = 1;
        EXPECT_EQ(write(stop_.get(), &one, sizeof(one)), static_cast<ssize_t>(sizeof(one)));
        thread_.join();
        take_away();
    }

private:
    // A transfer that makes no progress is let go on in the end, to be seen by its count.
    static constexpr std::size_t enough = 8 * page_count;

    static Fd watch(const Pages &pages)
    {
        Fd fd(static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK)));
        uffdio_api api{};
        api.api = UFFD_API;
        uffdio_register range{};
        range.range = {reinterpret_cast<std::uintptr_t>(pages.data()), pages.size()};
        range.mode = UFFDIO_REGISTER_MODE_MISSING;
        EXPECT_EQ(ioctl(fd.get(), UFFDIO_API, &api), 0) << std::strerror(errno);
        EXPECT_EQ(ioctl(fd.get(), UFFDIO_REGISTER, &range), 0) << std::strerror(errno);
        return fd;
    }
    void serve()
    {
        pollfd entries[] = {{userfault_.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}};
        while (poll(entries, 2, -1) > 0 && !entries[1].revents) {
            uffd_msg message{};
            if (read(userfault_.get(), &message, sizeof(message)) != sizeof(message))
                continue;
            const auto *address = reinterpret_cast<std::byte *>(message.arg.pagefault.address);
            supply((address - data()) / page_size());
        }
    }
    void supply(std::size_t index)
    {
        if (supplied_ < enough)
            pthread_kill(user_, SIGUSR1);
        if (present_ != index)
            take_away();
        uffdio_copy page{};
        page.dst = reinterpret_cast<std::uintptr_t>(data() + index * page_size());
        page.src = reinterpret_cast<std::uintptr_t>(contents_.data() + index * page_size());
        page.len = page_size();
        // One who was woken by the signal waits, and is told of, once more.
        if (ioctl(userfault_.get(), UFFDIO_COPY, &page) != 0)
            return;
        present_ = index;
        ++supplied_;
    }
    void take_away()
    {
        if (present_ == page_count)
            return;
        const auto offset = present_ * page_size();
        std::memcpy(contents_.data() + offset, data() + offset, page_size());
        EXPECT_EQ(madvise(data() + offset, page_size(), MADV_DONTNEED), 0);
        present_ = page_count;
    }

    Pages pages_{page_count};
    Pages contents_{page_count};
    Fd userfault_ = watch(pages_);
    Fd stop_{eventfd(0, EFD_CLOEXEC)};
    pthread_t user_ = pthread_self();
    std::size_t present_ = page_count;
    std::size_t supplied_ = 0;
    std::thread thread_;
};

class Signals : public testing::Test {
protected:
    void SetUp() override
    {
        ASSERT_TRUE(module.loaded());
        struct sigaction action{};
        action.sa_handler = count_signal;
        ASSERT_EQ(sigaction(SIGUSR1, &action, nullptr), 0);
        ASSERT_EQ(seg.status(), RSM_SUCCESS);
        ASSERT_EQ(seg.publish(), RSM_SUCCESS);
        for (std::size_t i = 0; i < page_count; i++)
            fill(i, local.contents(), 1);
        handled = 0;
    }
    static void fill(std::size_t index, const Pages &pages, int first)
    {
        std::memset(pages.data() + index * page_size(), static_cast<int>(first + index),
                    page_size());
    }
    void expect_each_page_once()
    {
        local.finish();
        EXPECT_EQ(local.supplied(), page_count);
        EXPECT_GE(handled, static_cast<int>(page_count) - 1) << "signals can merge at the end only";
        EXPECT_EQ(std::memcmp(memory.data(), local.contents().data(), memory.size()), 0);
    }
    TestControllers module;
    Controller ctl{"nomap0"};
    Pages memory{page_count};
    ExportSegment seg{ctl, memory};
    SignallingPages local;
};

} // namespace

TEST_F(Signals, put_goes_on_where_it_was)
{
    ImportSegment imp(ctl, seg.id());
    ASSERT_EQ(imp.init_barrier(), RSM_SUCCESS);
    EXPECT_EQ(rsm_memseg_import_put(imp, 0, local.data(), local.size()), RSM_SUCCESS);
    expect_each_page_once();
}

TEST_F(Signals, get_goes_on_where_it_was)
{
    ImportSegment imp(ctl, seg.id());
    ASSERT_EQ(imp.init_barrier(), RSM_SUCCESS);
    for (std::size_t i = 0; i < page_count; i++)
        fill(i, memory, 101);
    EXPECT_EQ(rsm_memseg_import_get(imp, 0, local.data(), local.size()), RSM_SUCCESS);
    expect_each_page_once();
}

TEST_F(Signals, putv_goes_on_where_it_was)
{
    ImportSegment imp(ctl, seg.id());
    ASSERT_EQ(imp.init_barrier(), RSM_SUCCESS);
    rsm_iovec_t entries[2]{};
    const auto half = local.size() / 2;
    for (std::size_t i = 0; i < 2; i++) {
        entries[i].io_type = RSM_VA_TYPE;
        entries[i].local.vaddr = reinterpret_cast<caddr_t>(local.data());
        entries[i].local_offset = i * half;
        entries[i].remote_offset = i * half;
        entries[i].transfer_length = half;
    }
    rsm_scat_gath_t request{};
    request.io_request_count = 2;
    request.flags = RSM_IMPLICIT_SIGPOST;
    request.remote_handle = imp;
    request.iovec = entries;
    EXPECT_EQ(rsm_memseg_import_putv(&request), RSM_SUCCESS);
    EXPECT_EQ(request.io_residual_count, 0U);
    expect_each_page_once();
    const auto exporter = static_cast<rsm_memseg_export_handle_t>(seg);
    EXPECT_EQ(rsm_intr_signal_wait(exporter, 0), RSM_SUCCESS);
    EXPECT_EQ(rsm_intr_signal_wait(exporter, 0), RSMERR_TIMEOUT) << "one event for all";
}

// The copy that the core makes, without librsm.
TEST_F(Signals, the_kernel_says_how_far_it_came)
{
    const Fd importer = raw::open_segment();
    ASSERT_EQ(raw::connect(importer.get(), seg.id()), raw::success);
    rsm_transfer_entry entries[] = {raw::entry(memory.data(), 0, 0),
                                    raw::entry(local.data(), 0, local.size())};
    rsm_transfer request{};
    request.count = 2;
    request.entries = reinterpret_cast<std::uintptr_t>(entries);
    request.done = 77;
    EXPECT_EQ(raw::call(importer.get(), RSM_IOC_PUTV, request), status(RSMERR_INTERRUPTED));
    EXPECT_EQ(request.residual, 1U);
    EXPECT_EQ(request.done, page_size());
    request.done = 0;
    local.finish();
}

// A program that was built when the structure ended with the entries.
TEST_F(Signals, the_first_version_of_the_structure_is_taken)
{
    const Fd importer = raw::open_segment();
    ASSERT_EQ(raw::connect(importer.get(), seg.id()), raw::success);
    auto entry = raw::entry(local.data(), 0, local.size());
    rsm_transfer request{};
    request.size = offsetof(rsm_transfer, done);
    request.count = 1;
    request.entries = reinterpret_cast<std::uintptr_t>(&entry);
    request.done = 77;
    ASSERT_EQ(ioctl(importer.get(), RSM_IOC_PUTV, &request), 0);
    EXPECT_EQ(request.status, static_cast<std::uint32_t>(RSMERR_INTERRUPTED));
    EXPECT_EQ(request.residual, 1U);
    EXPECT_EQ(request.done, 77U) << "behind the end of that structure";
    local.finish();
}
