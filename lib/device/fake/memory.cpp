// SPDX-License-Identifier: MIT
#include "device/fake/memory.h"

#include "device/fake/immortal.h"
#include "device/fake/line.h"
#include "device/fake/views.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <fcntl.h>
#include <mutex>
#include <pthread.h>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <sys/stat.h>
#include <vector>

namespace rsmfake {
namespace {

constexpr std::uint64_t PAGE = 4096;
constexpr std::uint64_t ADDRESSES = std::uint64_t{1} << 47;
constexpr std::uint64_t CHUNK = std::uint64_t{1} << 20;

// A line of /proc/self/maps.
struct Area {
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    std::uint64_t offset = 0;
    std::uint64_t inode = 0;
    int protection = PROT_NONE;
    bool is_shared = false;
    std::string path;
};

std::uint64_t number(std::string_view &text, int base) {
    std::uint64_t value = 0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value, base);
    text.remove_prefix(
        std::min(text.size(), static_cast<std::size_t>(result.ptr - text.data()) + 1));
    return value;
}

std::string_view word(std::string_view &text) {
    const auto end = std::min(text.find(' '), text.size());
    const auto result = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return result;
}

Area parse_area(std::string_view line) {
    Area area;
    area.start = number(line, 16);
    area.end = number(line, 16);
    const auto rights = word(line);
    area.protection = (rights[0] == 'r' ? PROT_READ : 0) | (rights[1] == 'w' ? PROT_WRITE : 0) |
                      (rights[2] == 'x' ? PROT_EXEC : 0);
    area.is_shared = rights[3] == 's';
    area.offset = number(line, 16);
    (void)word(line);
    area.inode = number(line, 10);
    area.path = line.substr(std::min(line.find_first_not_of(' '), line.size()));
    return area;
}

std::string read_maps() {
    std::string text;
    const auto file = static_cast<int>(
        ::syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC));
    if (file < 0)
        return text;
    std::array<char, 65536> buffer{};
    for (long count = 1; count > 0;) {
        count = ::syscall(SYS_read, file, buffer.data(), buffer.size());
        if (count > 0)
            text.append(buffer.data(), static_cast<std::size_t>(count));
    }
    (void)::syscall(SYS_close, file);
    return text;
}

// The areas that overlap a range.
std::vector<Area> areas_in(AddressRange range) {
    std::vector<Area> found;
    const std::string text = read_maps();
    for (std::string_view rest = text; !rest.empty();) {
        const auto end = std::min(rest.find('\n'), rest.size());
        Area area = parse_area(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
        if (area.start < range.start + range.length && range.start < area.end)
            found.push_back(std::move(area));
    }
    return found;
}

// Memory without a name that a path leads to.
bool is_nameless(const Area &area) {
    return area.path.starts_with("/memfd:") || area.path.starts_with("/SYSV") ||
           area.path.starts_with("/dev/zero (deleted)") || area.inode == 0;
}

bool is_of_tmpfs(const Area &area) {
    return area.path.starts_with("/dev/shm/");
}

struct SharedFile {
    int descriptor = -1;
    std::uint64_t inode = 0;
};

std::mutex lock;
SharedFile shared_file;
struct Bound {
    AddressRange range;
    std::uint32_t flags;
};
Immortal<std::vector<Bound>> immortal_bound;
std::vector<Bound> &bound = immortal_bound.value;
std::atomic<std::size_t> bound_count = 0;

bool overlaps(AddressRange a, AddressRange b) noexcept {
    return a.start < b.start + b.length && b.start < a.start + a.length;
}

bool is_own_page(const Area &area) {
    return shared_file.inode != 0 && area.inode == shared_file.inode && area.offset == area.start;
}

bool make_shared_file() {
    if (shared_file.descriptor >= 0)
        return true;
    const auto low =
        static_cast<int>(::syscall(SYS_memfd_create, "rsm-exported", MFD_CLOEXEC));
    const int high = ::fcntl(low, F_DUPFD_CLOEXEC, 700);
    const int file = high < 0 ? low : high;
    if (high >= 0)
        (void)::syscall(SYS_close, low);
    struct stat status {};
    if (file < 0 || ::ftruncate(file, static_cast<off_t>(ADDRESSES)) != 0 ||
        ::fstat(file, &status) != 0)
        return false;
    shared_file = {file, status.st_ino};
    int none = -1;
    return ask(request_for(Operation::SHARE_MEMORY), none, OnExec::CLOSE, file).error == 0;
}

bool is_on_own_stack(AddressRange range) {
    pthread_attr_t attributes;
    void *start = nullptr;
    std::size_t size = 0;
    if (::pthread_getattr_np(::pthread_self(), &attributes) != 0)
        return false;
    (void)::pthread_attr_getstack(&attributes, &start, &size);
    (void)::pthread_attr_destroy(&attributes);
    return overlaps(range, {reinterpret_cast<std::uintptr_t>(start), size});
}

bool has_other_writers(const Area &area) {
    return area.inode != 0 || area.path.starts_with("[heap") || area.path.starts_with("[stack") ||
           is_on_own_stack({area.start, area.end - area.start});
}

bool can_be_shared(const Area &area, std::uint32_t bind_flags) {
    constexpr int needed = PROT_READ | PROT_WRITE;
    if (area.is_shared || (area.protection & needed) != needed)
        return false;
    return (bind_flags & RSM_BIND_LOCAL) == 0 || !has_other_writers(area);
}

// One of the pages is there: not all of a large range is copied that was never touched.
bool is_touched(int pagemap, std::uint64_t start, std::uint64_t length) {
    std::array<std::uint64_t, CHUNK / PAGE> entries{};
    const auto bytes = static_cast<std::size_t>(length / PAGE * sizeof(std::uint64_t));
    const long count = ::syscall(SYS_pread64, pagemap, entries.data(), bytes,
                                 start / PAGE * sizeof(std::uint64_t));
    if (count != static_cast<long>(bytes))
        return true;
    return std::ranges::any_of(entries, [](std::uint64_t entry) { return entry >> 62 != 0; });
}

bool copy_contents(const Area &area, std::uint64_t start, std::uint64_t end) {
    const auto pagemap = static_cast<int>(
        ::syscall(SYS_openat, AT_FDCWD, "/proc/self/pagemap", O_RDONLY | O_CLOEXEC));
    bool copied = true;
    for (std::uint64_t at = start; at < end && copied; at += CHUNK) {
        const std::uint64_t count = std::min(CHUNK, end - at);
        if (area.inode != 0 || is_touched(pagemap, at, count))
            copied = ::syscall(SYS_pwrite64, shared_file.descriptor, at, count, at) ==
                     static_cast<long>(count);
    }
    (void)::syscall(SYS_close, pagemap);
    return copied;
}

void punch(std::uint64_t start, std::uint64_t length) {
    (void)::fallocate(shared_file.descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                      static_cast<off_t>(start), static_cast<off_t>(length));
}

void *address_of(std::uint64_t address) {
    return reinterpret_cast<void *>(address);
}

void *map_now(std::uint64_t at, std::uint64_t length, int protection, int flags, int file,
              std::uint64_t offset) {
    return reinterpret_cast<void *>(
        ::syscall(SYS_mmap, at, length, protection, flags, file, offset));
}

bool share_area(const Area &area, AddressRange range) {
    const std::uint64_t start = std::max(area.start, range.start);
    const std::uint64_t end = std::min(area.end, range.start + range.length);
    punch(start, end - start);
    return copy_contents(area, start, end) &&
           map_now(start, end - start, area.protection, MAP_SHARED | MAP_FIXED,
                   shared_file.descriptor, start) != MAP_FAILED;
}

// In a forked child: a private copy in the place of pages that are the parent's.
void unshare_area(const Area &area) {
    const std::uint64_t length = area.end - area.start;
    void *copy = map_now(0, length, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (copy == MAP_FAILED)
        return;
    const auto to = reinterpret_cast<std::uintptr_t>(copy);
    off_t at = static_cast<off_t>(area.start);
    const auto end = static_cast<off_t>(area.end);
    for (off_t data = at; at < end; at = data) {
        const off_t found = ::lseek(shared_file.descriptor, at, SEEK_DATA);
        if (found < 0 || found >= end)
            break;
        data = std::min<off_t>(::lseek(shared_file.descriptor, found, SEEK_HOLE), end);
        (void)::syscall(SYS_pread64, shared_file.descriptor,
                        to + (static_cast<std::uint64_t>(found) - area.start), data - found, found);
    }
    (void)::mprotect(copy, length, area.protection);
    (void)::syscall(SYS_mremap, copy, length, length, MREMAP_MAYMOVE | MREMAP_FIXED,
                    address_of(area.start));
}

std::uint32_t check_area(const Area &area, std::uint32_t bind_flags) {
    const int needed = (bind_flags & RSM_BIND_READ) != 0 ? PROT_READ : PROT_READ | PROT_WRITE;
    const bool named = area.is_shared && !is_nameless(area);
    if (named && ((bind_flags & RSM_BIND_LOCAL) == 0 || !is_of_tmpfs(area)))
        return RSMERR_BAD_ADDR;
    return (area.protection & needed) == needed ? RSM_SUCCESS : RSMERR_PERM_DENIED;
}

} // namespace

std::uint32_t check_range(AddressRange range, std::uint32_t bind_flags) {
    std::uint64_t reached = range.start;
    for (const Area &area : areas_in(range)) {
        if (area.start > reached)
            return RSMERR_BAD_ADDR;
        if (const auto status = check_area(area, bind_flags); status != RSM_SUCCESS)
            return status;
        reached = area.end;
    }
    return reached < range.start + range.length ? RSMERR_BAD_ADDR : RSM_SUCCESS;
}

bool share_range(AddressRange range, std::uint32_t bind_flags) {
    const std::scoped_lock guard(lock);
    if (!make_shared_file())
        return false;
    bool all = true;
    for (const Area &area : areas_in(range))
        if (!is_own_page(area))
            all = can_be_shared(area, bind_flags) && share_area(area, range) && all;
    return all;
}

void note_bound(AddressRange range, std::uint32_t bind_flags) {
    const std::scoped_lock guard(lock);
    const auto same = [&](const Bound &other) {
        return other.range.start == range.start && other.range.length == range.length &&
               other.flags == bind_flags;
    };
    if (std::ranges::none_of(bound, same))
        bound.push_back({range, bind_flags});
    bound_count = bound.size();
}

bool is_bound(AddressRange range) noexcept {
    if (bound_count.load(std::memory_order_relaxed) == 0)
        return false;
    const std::scoped_lock guard(lock);
    return std::ranges::any_of(bound, [&](const auto &other) { return overlaps(other.range, range); });
}

void range_is_gone(AddressRange range, Contents contents) noexcept {
    Request request = request_for(Operation::RANGE_GONE);
    request.range = range;
    make_changes(ask(request));
    const std::scoped_lock guard(lock);
    std::erase_if(bound, [&](const auto &other) { return overlaps(other.range, range); });
    bound_count = bound.size();
    if (shared_file.descriptor >= 0 && contents == Contents::LOST)
        punch(range.start, range.length);
}

void range_is_unwritable(AddressRange range, int protection) noexcept {
    const auto ends = [&](const Bound &other) {
        const bool reads_only = (other.flags & RSM_BIND_READ) != 0;
        return overlaps(other.range, range) && !(reads_only && (protection & PROT_READ) != 0);
    };
    {
        const std::scoped_lock guard(lock);
        if (std::ranges::none_of(bound, ends))
            return;
    }
    Request request = request_for(Operation::RANGE_GONE);
    request.range = range;
    make_changes(ask(request));
}

void prepare_fork() noexcept {
    lock.lock();
}

void end_fork_in_parent() noexcept {
    lock.unlock();
}

void end_fork_in_child() noexcept {
    for (const Area &area : areas_in({0, ADDRESSES}))
        if (is_own_page(area))
            unshare_area(area);
    if (shared_file.descriptor >= 0)
        (void)::syscall(SYS_close, shared_file.descriptor);
    shared_file = {};
    bound.clear();
    bound_count = 0;
    lock.unlock();
}

} // namespace rsmfake
