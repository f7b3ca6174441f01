// SPDX-License-Identifier: MIT
#include "device/fake/views.h"

#include "device/fake/immortal.h"
#include "device/fake/line.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <fcntl.h>
#include <mutex>
#include <pthread.h>
#include <string_view>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

namespace rsmfake {
namespace {

constexpr std::uint64_t PAGE = 4096;
constexpr std::uint64_t MOST_PAGES_OF_ONE = 64;

struct View {
    std::uint32_t number; // of the import
    std::uint64_t start;
    std::uint64_t length;
    std::uint64_t offset; // in the segment
    int protection;
};

// A mapping keeps its handle open.
struct HeldHandle {
    std::uint32_t number;
    int descriptor;
};

std::mutex lock;
std::mutex fetching;
Immortal<std::vector<View>> immortal_views;
Immortal<std::vector<HeldHandle>> immortal_held;
std::vector<View> &views = immortal_views.value;
std::vector<HeldHandle> &held = immortal_held.value;
std::atomic<std::size_t> view_count = 0;
std::atomic<int> serving_process = 0;
std::atomic<int> serving_line = -1;

long map_now(std::uint64_t at, std::uint64_t length, int protection, int flags, int file,
             std::uint64_t offset) noexcept {
    return ::syscall(SYS_mmap, at, length, protection, flags, file, offset);
}

// Keeps the parts of a view in front of and behind a range.
void cut(std::vector<View> &rest, const View &view, AddressRange range) {
    const std::uint64_t end = range.start + range.length;
    if (view.start < range.start) {
        View front = view;
        front.length = std::min(view.length, range.start - view.start);
        rest.push_back(front);
    }
    if (end < view.start + view.length) {
        View back = view;
        const std::uint64_t skipped = end > view.start ? end - view.start : 0;
        back.start += skipped;
        back.offset += skipped;
        back.length -= skipped;
        rest.push_back(back);
    }
}

bool overlaps(const View &view, AddressRange range) {
    return view.start < range.start + range.length && range.start < view.start + view.length;
}

void forget_locked(AddressRange range) {
    std::vector<View> rest;
    for (const View &view : views)
        if (overlaps(view, range))
            cut(rest, view, range);
        else
            rest.push_back(view);
    views.swap(rest);
    view_count = views.size();
}

// The descriptors of handles without a view, taken from those that are held.
std::vector<HeldHandle> take_unused() {
    std::vector<HeldHandle> unused;
    std::erase_if(held, [&](const HeldHandle &handle) {
        const bool is_used = std::ranges::any_of(
            views, [&](const View &view) { return view.number == handle.number; });
        if (!is_used)
            unused.push_back(handle);
        return !is_used;
    });
    return unused;
}

// The caller does not hold `lock`.
void close_unused(const std::vector<HeldHandle> &unused) {
    for (const HeldHandle &handle : unused)
        (void)::syscall(SYS_close, handle.descriptor);
    if (!unused.empty())
        make_changes(ask(request_for(Operation::SYNCHRONIZE)));
}

void hold(std::uint32_t number, int descriptor) {
    constexpr int lowest = 700;
    const auto same = [&](const HeldHandle &handle) { return handle.number == number; };
    if (std::ranges::any_of(held, same))
        return;
    const int copy = ::fcntl(descriptor, F_DUPFD_CLOEXEC, lowest);
    if (copy >= 0)
        held.push_back({number, copy});
}

// One page that shows everywhere; a large view shows pages of zeros.
void show_nothing(const View &view) {
    constexpr int flags = MAP_FIXED | MAP_SHARED;
    const auto page = static_cast<int>(::syscall(SYS_memfd_create, "rsm-scratch", MFD_CLOEXEC));
    if (view.length > MOST_PAGES_OF_ONE * PAGE || ::ftruncate(page, PAGE) != 0)
        (void)map_now(view.start, view.length, view.protection, flags | MAP_ANONYMOUS, -1, 0);
    else
        for (std::uint64_t done = 0; done < view.length; done += PAGE)
            (void)map_now(view.start + done, PAGE, view.protection, flags, page, 0);
    (void)::syscall(SYS_close, page);
}

void apply(const Reply &change, int file) {
    for (const View &view : views) {
        if (view.number != change.number)
            continue;
        if (change.change == Change::SHOW_NOTHING)
            show_nothing(view);
        else if (file >= 0)
            (void)map_now(view.start, view.length, view.protection, MAP_FIXED | MAP_SHARED, file,
                          change.file_offset + view.offset);
    }
    if (file >= 0)
        (void)::syscall(SYS_close, file);
}

// A thread makes the changes that other processes' calls bring about: they wait for it.
void *serve_changes(void *argument) {
    const auto line = static_cast<int>(reinterpret_cast<std::intptr_t>(argument));
    Reply change{};
    int file = -1;
    while (receive_message(line, change, file)) {
        {
            const std::scoped_lock guard(lock);
            apply(change, file);
        }
        (void)send_message(line, request_for(Operation::NEXT_CHANGE));
    }
    int mine = line;
    (void)serving_line.compare_exchange_strong(mine, -1);
    (void)::syscall(SYS_close, line);
    return nullptr;
}

void start_serving() {
    const Request request = request_for(Operation::SERVE_CHANGES);
    if (serving_process.exchange(request.process) == request.process)
        return;
    const int line = new_line();
    Reply reply{};
    int none = -1;
    if (!send_message(line, request) || !receive_message(line, reply, none))
        return;
    serving_line = line;
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread{};
    auto *argument = reinterpret_cast<void *>(static_cast<std::intptr_t>(line));
    if (::pthread_create(&thread, nullptr, serve_changes, argument) == 0)
        (void)::pthread_detach(thread);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// Once for each process. The program sees an error that the kernel has other reasons for.
void tell_not_shared() noexcept {
    static std::atomic_flag told;
    constexpr std::string_view text = "rsm-fake: the heap, the stack, static variables and shared "
                                      "memory can't be exported or registered over the fake: "
                                      "use private memory of mmap()\n";
    if (!told.test_and_set())
        (void)::syscall(SYS_write, STDERR_FILENO, text.data(), text.size());
}

void *refused(int error) noexcept {
    if (error == EOPNOTSUPP)
        tell_not_shared();
    errno = error;
    return MAP_FAILED;
}

constexpr int placement(int flags) {
    return flags & (MAP_FIXED | MAP_FIXED_NOREPLACE | MAP_NORESERVE | MAP_POPULATE);
}

} // namespace

namespace {

// A change that came between the agent's reply and the entry of the view found no view.
void enter_view(std::uint64_t handle, int descriptor, const View &view, bool is_foreign) {
    {
        const std::scoped_lock guard(lock);
        hold(view.number, descriptor);
        views.push_back(view);
        view_count = views.size();
    }
    if (is_foreign)
        start_serving();
    Request request = request_for(Operation::SYNCHRONIZE);
    request.handle = handle;
    const Reply reply = ask(request);
    if (reply.ended == 0)
        return;
    const std::scoped_lock guard(lock);
    Reply gone{};
    gone.number = view.number;
    gone.change = Change::SHOW_NOTHING;
    apply(gone, -1);
}

} // namespace

void *map_handle(std::uint64_t handle, int descriptor, void *address, std::size_t length,
                 int protection, int flags, off_t offset) noexcept {
    Request request = request_for(Operation::MAP);
    request.handle = handle;
    request.map = {static_cast<std::uint64_t>(offset), length, protection,
                   (flags & MAP_TYPE) == MAP_PRIVATE ? 0U : 1U};
    int file = -1;
    const Reply reply = ask(request, file);
    if (reply.error != 0)
        return refused(reply.error);
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    const long result = file >= 0 ? map_now(at, length, protection, MAP_SHARED | placement(flags),
                                            file, reply.file_offset)
                                  : map_now(at, length, PROT_NONE,
                                            MAP_SHARED | MAP_ANONYMOUS | placement(flags), -1, 0);
    if (file >= 0)
        (void)::syscall(SYS_close, file);
    if (result == -1)
        return MAP_FAILED;
    void *mapped = reinterpret_cast<void *>(result);
    if (reply.number == 0 && offset >= static_cast<off_t>(RSM_MMAP_CONSUMED))
        (void)::madvise(mapped, length, MADV_DONTFORK);
    if (reply.number != 0)
        enter_view(handle, descriptor,
                   {reply.number, static_cast<std::uint64_t>(result),
                    (length + PAGE - 1) & ~(PAGE - 1), request.map.offset, protection},
                   reply.is_foreign != 0);
    return mapped;
}

void unmap_views(std::uint32_t number, AddressRange range) noexcept {
    std::unique_lock guard(lock);
    const std::uint64_t end = range.start + ((range.length + PAGE - 1) & ~(PAGE - 1));
    std::vector<AddressRange> gone;
    for (const View &view : views) {
        const std::uint64_t first = std::max(view.start, range.start);
        const std::uint64_t last = std::min(view.start + view.length, end);
        if (view.number == number && first < last)
            gone.push_back({first, last - first});
    }
    for (const AddressRange &part : gone) {
        (void)::syscall(SYS_munmap, part.start, part.length);
        forget_locked(part);
    }
    const auto unused = take_unused();
    guard.unlock();
    close_unused(unused);
}

void forget_views(AddressRange range) noexcept {
    if (view_count.load(std::memory_order_relaxed) == 0)
        return;
    std::unique_lock guard(lock);
    forget_locked(range);
    const auto unused = take_unused();
    guard.unlock();
    close_unused(unused);
}

// The agent waits for the thread that serves changes, which takes `lock`: nobody asks the agent
// with that held. Changes that another thread has fetched have been made when `fetching` is free.
void make_changes(const Reply &reply) noexcept {
    if (reply.has_changes == 0)
        return;
    const std::scoped_lock fetcher(fetching);
    for (;;) {
        int file = -1;
        const Reply change = ask(request_for(Operation::NEXT_CHANGE), file);
        if (change.error != 0 || change.change == Change::NONE)
            return;
        const std::scoped_lock guard(lock);
        apply(change, file);
    }
}

void prepare_fork_of_views() noexcept {
    fetching.lock();
    lock.lock();
}

void end_fork_of_views() noexcept {
    lock.unlock();
    fetching.unlock();
}

// Closes its parent's line: the agent hears that the parent has closed the line, as by exec, only
// when no child has it.
void end_fork_of_views_in_child() noexcept {
    end_fork_of_views();
    if (const int line = serving_line.exchange(-1); line >= 0)
        (void)::syscall(SYS_close, line);
}

} // namespace rsmfake
