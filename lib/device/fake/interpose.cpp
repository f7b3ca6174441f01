// SPDX-License-Identifier: MIT
// The functions of the C library in whose place librsm-fake.so puts its own. For all that is no
// handle of /dev/rsm they make the system call. ioctl(), close() and the like are cancellation
// points or not as the C library has them: the requests to the agent are none.
#include "device/fake/command.h"
#include "device/fake/line.h"
#include "device/fake/memory.h"
#include "device/fake/readiness.h"
#include "device/fake/views.h"

#include <cstdarg>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>

// The C library's own headers declare these with attributes that a definition must not contradict.
#define RSM_FAKE_EXPORT extern "C" __attribute__((visibility("default")))

namespace rsmfake {
namespace {

constexpr std::uint64_t PAGE = 4096;

// The next definition of a function: the C library's, or that of a sanitizer.
template <class Function>
Function *next(const char *name) noexcept {
    return reinterpret_cast<Function *>(::dlsym(RTLD_NEXT, name));
}

AddressRange range_of(const void *address, std::size_t length) noexcept {
    return {reinterpret_cast<std::uintptr_t>(address), length};
}

int open_handle(int flags) {
    const bool control = (flags & O_ACCMODE) == O_RDONLY;
    const Request request =
        request_for(control ? Operation::OPEN_CONTROL : Operation::OPEN_SEGMENT);
    int handle = -1;
    const Reply reply =
        ask(request, handle, (flags & O_CLOEXEC) != 0 ? OnExec::CLOSE : OnExec::KEEP);
    if (reply.error == 0 && handle < 0)
        errno = EMFILE;
    else if (reply.error != 0)
        errno = reply.error;
    return handle;
}

bool is_device(const char *path) noexcept {
    return path != nullptr && std::strcmp(path, "/dev/rsm") == 0;
}

using OpenAt = int(int, const char *, int, ...);

int open_any(int directory, const char *path, int flags, mode_t mode) {
    static OpenAt *const real = next<OpenAt>("openat64");
    return is_device(path) ? open_handle(flags) : real(directory, path, flags, mode);
}

// The program is about to put something else, or nothing, in a range where memory may be bound or
// mapped. Before it does so: afterwards another thread may have the addresses.
void replace(AddressRange range, Contents contents = Contents::LOST) noexcept {
    const KeptErrno kept;
    if (range.start % PAGE != 0 || range.length == 0)
        return; // the system call fails
    forget_views(range);
    if (is_bound(range))
        range_is_gone(range, contents);
}

void *map_any(void *address, std::size_t length, int protection, int flags, int file,
              off_t offset) noexcept {
    const auto handle = file >= 0 ? handle_of(file) : std::nullopt;
    if ((flags & MAP_FIXED) != 0)
        replace(range_of(address, length));
    if (handle)
        return map_handle(*handle, file, address, length, protection, flags, offset);
    const long result =
        ::syscall(SYS_mmap, address, length, protection, flags, file, offset);
    return reinterpret_cast<void *>(result);
}

// All that other processes have closed by ending is noticed.
void synchronize() noexcept {
    const KeptErrno kept;
    if (is_client())
        make_changes(ask(request_for(Operation::SYNCHRONIZE)));
}

void prepare() noexcept {
    prepare_fork();
    prepare_fork_of_views();
}

void end_in_parent() noexcept {
    end_fork_of_views();
    end_fork_in_parent();
}

void end_in_child() noexcept {
    end_fork_of_views_in_child();
    end_fork_in_child();
}

__attribute__((constructor)) void start() noexcept {
    (void)::pthread_atfork(prepare, end_in_parent, end_in_child);
}

mode_t mode_of(int flags, va_list arguments) noexcept {
    const bool has_mode = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
    return has_mode ? va_arg(arguments, mode_t) : 0;
}

timespec *time_of(int milliseconds, timespec &space) noexcept {
    space = {milliseconds / 1000, static_cast<long>(milliseconds % 1000) * 1'000'000};
    return milliseconds < 0 ? nullptr : &space;
}

} // namespace
} // namespace rsmfake

RSM_FAKE_EXPORT int open(const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = rsmfake::mode_of(flags, arguments);
    va_end(arguments);
    return rsmfake::open_any(AT_FDCWD, path, flags, mode);
}

RSM_FAKE_EXPORT int open64(const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = rsmfake::mode_of(flags, arguments);
    va_end(arguments);
    return rsmfake::open_any(AT_FDCWD, path, flags, mode);
}

RSM_FAKE_EXPORT int openat(int directory, const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = rsmfake::mode_of(flags, arguments);
    va_end(arguments);
    return rsmfake::open_any(directory, path, flags, mode);
}

RSM_FAKE_EXPORT int __open_2(const char *path, int flags) {
    return rsmfake::open_any(AT_FDCWD, path, flags, 0);
}

RSM_FAKE_EXPORT int __open64_2(const char *path, int flags) {
    return rsmfake::open_any(AT_FDCWD, path, flags, 0);
}

RSM_FAKE_EXPORT int close(int descriptor) {
    static auto *const real = rsmfake::next<int(int)>("close");
    const bool is_handle = rsmfake::is_client() && rsmfake::handle_of(descriptor).has_value();
    const int result = real(descriptor);
    if (is_handle)
        rsmfake::synchronize();
    return result;
}

// By another name: the C library's declaration says that nothing passes it, and a thread that is
// cancelled in a WAIT does.
RSM_FAKE_EXPORT int rsm_fake_ioctl(int descriptor, unsigned long command, ...) __asm__("ioctl");

RSM_FAKE_EXPORT int rsm_fake_ioctl(int descriptor, unsigned long command, ...) {
    static auto *const real = rsmfake::next<int(int, unsigned long, ...)>("ioctl");
    va_list arguments;
    va_start(arguments, command);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    if (const auto handle = rsmfake::handle_of(descriptor))
        return rsmfake::give_command(*handle, command, argument);
    return real(descriptor, command, argument);
}

RSM_FAKE_EXPORT void *mmap(void *address, std::size_t length, int protection, int flags, int file,
                           off_t offset) noexcept {
    return rsmfake::map_any(address, length, protection, flags, file, offset);
}

RSM_FAKE_EXPORT void *mmap64(void *address, std::size_t length, int protection, int flags,
                             int file, off64_t offset) noexcept {
    return rsmfake::map_any(address, length, protection, flags, file, offset);
}

RSM_FAKE_EXPORT int munmap(void *address, std::size_t length) noexcept {
    rsmfake::replace(rsmfake::range_of(address, length));
    return static_cast<int>(::syscall(SYS_munmap, address, length));
}

RSM_FAKE_EXPORT void *mremap(void *address, std::size_t before, std::size_t after, int flags,
                             ...) noexcept {
    va_list arguments;
    va_start(arguments, flags);
    void *to = (flags & MREMAP_FIXED) != 0 ? va_arg(arguments, void *) : nullptr;
    va_end(arguments);
    if (to != nullptr)
        rsmfake::replace(rsmfake::range_of(to, after));
    rsmfake::replace(rsmfake::range_of(address, before), rsmfake::Contents::MOVED);
    const long result = ::syscall(SYS_mremap, address, before, after, flags, to);
    return reinterpret_cast<void *>(result);
}

RSM_FAKE_EXPORT int mprotect(void *address, std::size_t length, int protection) noexcept {
    const long result = ::syscall(SYS_mprotect, address, length, protection);
    const auto range = rsmfake::range_of(address, length);
    if (result == 0 && (protection & PROT_WRITE) == 0 && rsmfake::is_bound(range))
        rsmfake::range_is_unwritable(range, protection);
    return static_cast<int>(result);
}

RSM_FAKE_EXPORT int poll(pollfd *descriptors, nfds_t count, int timeout) {
    timespec space{};
    return rsmfake::poll_handles(descriptors, count, rsmfake::time_of(timeout, space), nullptr);
}

RSM_FAKE_EXPORT int __poll_chk(pollfd *descriptors, nfds_t count, int timeout,
                               std::size_t /*size*/) {
    return ::poll(descriptors, count, timeout);
}

RSM_FAKE_EXPORT int ppoll(pollfd *descriptors, nfds_t count, const timespec *timeout,
                          const sigset_t *signals) {
    return rsmfake::poll_handles(descriptors, count, timeout, signals);
}

RSM_FAKE_EXPORT int epoll_ctl(int epoll, int operation, int descriptor,
                              epoll_event *event) noexcept {
    const long result = ::syscall(SYS_epoll_ctl, epoll, operation, descriptor, event);
    if (result == 0)
        rsmfake::note_epoll(epoll, operation, descriptor, event);
    return static_cast<int>(result);
}

RSM_FAKE_EXPORT int epoll_wait(int epoll, epoll_event *events, int most, int timeout) {
    return rsmfake::wait_epoll(epoll, events, most, timeout, nullptr);
}

RSM_FAKE_EXPORT int epoll_pwait(int epoll, epoll_event *events, int most, int timeout,
                                const sigset_t *signals) {
    return rsmfake::wait_epoll(epoll, events, most, timeout, signals);
}

RSM_FAKE_EXPORT pid_t waitpid(pid_t process, int *status, int options) {
    static auto *const real = rsmfake::next<pid_t(pid_t, int *, int)>("waitpid");
    const pid_t ended = real(process, status, options);
    if (ended > 0)
        rsmfake::synchronize();
    return ended;
}

RSM_FAKE_EXPORT pid_t wait(int *status) {
    return ::waitpid(-1, status, 0);
}
