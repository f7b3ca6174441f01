// SPDX-License-Identifier: MIT
#include "window_range.h"

#include <cstring>
#include <mutex>
#include <sys/uio.h>
#include <unistd.h>

#include "binding.h"
#include "device.h"
#include "locks.h"
#include "mapping.h"

namespace rsm {
namespace {

constexpr int both = PROT_READ | PROT_WRITE;

Mapping view_of(int device, std::size_t length) noexcept {
    return {::mmap(nullptr, length, both, MAP_SHARED, device, 0), length};
}

Mapping ordinary_memory(std::size_t length) noexcept {
    return {::mmap(nullptr, length, both, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), length};
}

// The same for the segment. Its view is not moved: mremap() succeeds even if it can't take
// the old one away, and that would keep the handle. While there is a view this fails for want
// of memory only, also for a segment that has died meanwhile: the kernel unmaps the target
// first, and another thread's mmap() could get the hole.
bool map_over(void *target, int device, std::size_t length) noexcept {
    return ::mmap(target, length, both, MAP_SHARED | MAP_FIXED, device, 0) == target;
}

// From now on the end of the mapping is the end of the export: the kernel has looked at it. Create
// and rebind never touch a range of the program, which another thread may unmap at any time.
// Where that has happened already the export ends here.
void look_at_range(int device) noexcept {
    rsm_range range{};
    rsm_destroy destroy{};
    if (persistent_command(device, RSM_IOC_RANGE, range) == RSM_SUCCESS && range.shown == 0)
        (void)persistent_command(device, RSM_IOC_DESTROY, destroy);
}

// Stops where the target is not there any more.
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

// For when they failed. There may be a hole; with MAP_FIXED_NOREPLACE only that is filled.
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
void go_back(int device, void *old, const Mapping &view, const Mapping &contents) noexcept {
    std::memcpy(view.data(), contents.data(), contents.size());
    while (rebind_device(device, old, contents.size()) == RSMERR_INTERRUPTED)
        ;
}

int move_segment(int device, void *old, void *target, std::size_t length) noexcept {
    Mapping view = view_of(device, length);
    Mapping contents = ordinary_memory(length);
    if (!view || !contents)
        return RSMERR_INSUFFICIENT_MEM;
    std::memcpy(contents.data(), view.data(), length);
    if (const int status = rebind_device(device, target, length); status != RSM_SUCCESS)
        return status;
    if (!map_over(target, device, length)) {
        (void)fill(target, view, MAP_FIXED_NOREPLACE);
        go_back(device, old, view, contents);
        return RSMERR_INSUFFICIENT_MEM;
    }
    look_at_range(device);
    // There is no way back from here, so the old range gets its memory even if
    // others could see it empty for a moment.
    if (!move_to(old, contents))
        (void)fill(old, contents, MAP_FIXED);
    return RSM_SUCCESS;
}

} // namespace

int show_segment(int device, void *range, std::size_t length) noexcept {
    Mapping view = view_of(device, length);
    if (!view)
        return status_of_view_error(errno);
    if (map_over(range, device, length)) {
        look_at_range(device);
        return RSM_SUCCESS;
    }
    const int status = status_of_view_error(errno);
    (void)fill(range, view, MAP_FIXED_NOREPLACE);
    return status;
}

void bring_contents_home(int device) noexcept {
    rsm_unpublish unpublish{};
    (void)persistent_command(device, RSM_IOC_UNPUBLISH, unpublish);
    rsm_range range{};
    if (persistent_command(device, RSM_IOC_RANGE, range) != RSM_SUCCESS || range.shown == 0)
        return;
    Mapping contents = ordinary_memory(range.length);
    if (!contents)
        return;
    std::memcpy(contents.data(), start_of(range), contents.size());
    if (!move_to(start_of(range), contents))
        (void)fill(start_of(range), contents, MAP_FIXED_NOREPLACE);
}

int rebind_in_window(int device, void *range, std::size_t length) {
    const std::lock_guard guard(locks.ranges);
    rsm_range old{};
    const int status = persistent_command(device, RSM_IOC_RANGE, old);
    // REBIND itself refuses a child, after other errors.
    if (status != RSM_SUCCESS && status != RSMERR_NOT_CREATOR)
        return status;
    const bool moves = old.shown != 0 && start_of(old) != range && old.length == length;
    return moves ? move_segment(device, start_of(old), range, length)
                 : rebind_device(device, range, length);
}

} // namespace rsm
