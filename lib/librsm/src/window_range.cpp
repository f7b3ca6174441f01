// SPDX-License-Identifier: MIT
#include "window_range.h"

#include <cstring>
#include <mutex>
#include <sys/uio.h>
#include <unistd.h>

#include "device.h"
#include "locks.h"

namespace rsm {
namespace {

using rsmdev::Export;
using rsmdev::move_to;

constexpr int both = PROT_READ | PROT_WRITE;

Mapping view_of(const Export &segment, std::size_t length) noexcept {
    return {::mmap(nullptr, length, both, MAP_SHARED, segment.fd(), 0), length};
}

Mapping ordinary_memory(std::size_t length) noexcept {
    return {::mmap(nullptr, length, both, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), length};
}

// Maps the segment at the target. The former view is not moved: mremap() succeeds even if it
// can't remove the old mapping, which would hold the handle. While there is a view, this fails for
// lack of memory only, also for a segment that has died meanwhile. The kernel unmaps the target
// first: another thread's mmap() could get that range.
bool map_over(void *target, const Export &segment, std::size_t length) noexcept {
    return ::mmap(target, length, both, MAP_SHARED | MAP_FIXED, segment.fd(), 0) == target;
}

// From now on the end of the mapping is the end of the export: the kernel has looked at it. Create
// and rebind never touch a range of the program, which another thread may unmap at any time.
// Where that has happened already the export ends here.
void look_at_range(const Export &segment) noexcept {
    rsm_range range{};
    if (segment.range(range) == RSM_SUCCESS && range.shown == 0)
        segment.destroy();
}

// Stops at the first part of the target that is not mapped any more.
void copy_over(void *target, const Mapping &contents) noexcept {
    std::size_t done = 0;
    ssize_t count = 1;
    while (done < contents.size() && count > 0) {
        const std::size_t left = contents.size() - done;
        const iovec from{contents.data() + done, left};
        const iovec to{static_cast<std::byte *>(target) + done, left};
        count = ::process_vm_writev(::getpid(), &from, 1, &to, 1, 0);
        done += count > 0 ? static_cast<std::size_t>(count) : 0;
    }
}

// Called after a failure, which may leave a hole: MAP_FIXED_NOREPLACE fills only a hole.
bool fill(void *target, const Mapping &contents, int fixed) noexcept {
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | fixed;
    if (::mmap(target, contents.size(), both, flags, -1, 0) != target)
        return false;
    copy_over(target, contents);
    return true;
}

int status_of_view_error(int error) noexcept {
    return error == ENODEV ? RSMERR_CTLR_NOT_PRESENT : status_of_errno(error);
}

void *start_of(const rsm_range &range) noexcept {
    return reinterpret_cast<void *>(static_cast<std::uintptr_t>(range.vaddr));
}

// The segment has its old contents again and belongs to the old range.
void go_back(const Export &segment, void *old, const Mapping &view,
             const Mapping &contents) noexcept {
    std::memcpy(view.data(), contents.data(), contents.size());
    while (segment.rebind(old, contents.size()) == RSMERR_INTERRUPTED)
        ;
}

int move_segment(const Export &segment, void *old, void *target, std::size_t length) noexcept {
    Mapping view = view_of(segment, length);
    Mapping contents = ordinary_memory(length);
    if (!view || !contents)
        return RSMERR_INSUFFICIENT_MEM;
    std::memcpy(contents.data(), view.data(), length);
    if (const int status = segment.rebind(target, length); status != RSM_SUCCESS)
        return status;
    if (!map_over(target, segment, length)) {
        (void)fill(target, view, MAP_FIXED_NOREPLACE);
        go_back(segment, old, view, contents);
        return RSMERR_INSUFFICIENT_MEM;
    }
    look_at_range(segment);
    // There is no way back from here, so the old range gets its memory even if
    // others could see it empty for a moment.
    if (!move_to(old, contents))
        (void)fill(old, contents, MAP_FIXED);
    return RSM_SUCCESS;
}

} // namespace

int show_segment(const Export &segment, void *range, std::size_t length) noexcept {
    Mapping view = view_of(segment, length);
    if (!view)
        return status_of_view_error(errno);
    if (map_over(range, segment, length)) {
        look_at_range(segment);
        return RSM_SUCCESS;
    }
    const int status = status_of_view_error(errno);
    (void)fill(range, view, MAP_FIXED_NOREPLACE);
    return status;
}

void bring_contents_home(const Export &segment) noexcept {
    while (segment.unpublish() == RSMERR_INTERRUPTED)
        ;
    rsm_range range{};
    if (segment.range(range) != RSM_SUCCESS || range.shown == 0)
        return;
    Mapping contents = ordinary_memory(range.length);
    if (!contents)
        return;
    std::memcpy(contents.data(), start_of(range), contents.size());
    if (!move_to(start_of(range), contents))
        (void)fill(start_of(range), contents, MAP_FIXED_NOREPLACE);
}

int rebind_in_window(const Export &segment, void *range, std::size_t length) {
    const std::lock_guard guard(locks.ranges);
    rsm_range old{};
    const int status = segment.range(old);
    // REBIND itself refuses a child, after other errors.
    if (status != RSM_SUCCESS && status != RSMERR_NOT_CREATOR)
        return status;
    const bool moves = old.shown != 0 && start_of(old) != range && old.length == length;
    return moves ? move_segment(segment, start_of(old), range, length)
                 : segment.rebind(range, length);
}

} // namespace rsm
