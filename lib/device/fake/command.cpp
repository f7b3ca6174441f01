// SPDX-License-Identifier: MIT
// ioctl(): reads the argument and checks its form, as kernel/core/dispatch.c does, lets the agent
// run the command and stores the results.
#include "device/fake/command.h"

#include "device/fake/line.h"
#include "device/fake/memory.h"
#include "device/fake/user_memory.h"
#include "device/fake/views.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fcntl.h>
#include <span>
#include <linux/capability.h>
#include <string_view>
#include <sys/resource.h>
#include <sys/stat.h>

namespace rsmfake {
namespace {

constexpr std::size_t MAX_ARGUMENT = 4096;

enum class Results { STATUS_ONLY, SOME };

// A command's argument: its size today, and that of its first version.
struct Form {
    unsigned long command;
    std::uint32_t size;
    std::uint32_t least;
    Results results;
};

template <class Type>
constexpr Form form(unsigned long command, Results results) {
    return {command, sizeof(Type), sizeof(Type), results};
}

constexpr std::uint32_t FIRST_TRANSFER = offsetof(rsm_transfer, done);

constexpr std::array FORMS{
    form<rsm_info>(RSM_IOC_INFO, Results::SOME),
    form<rsm_attr>(RSM_IOC_ATTR, Results::SOME),
    form<rsm_topology_query>(RSM_IOC_TOPOLOGY, Results::SOME),
    form<rsm_bind>(RSM_IOC_BIND, Results::SOME),
    form<rsm_rebind>(RSM_IOC_REBIND, Results::STATUS_ONLY),
    form<rsm_publish>(RSM_IOC_PUBLISH, Results::SOME),
    form<rsm_publish>(RSM_IOC_REPUBLISH, Results::STATUS_ONLY),
    form<rsm_unpublish>(RSM_IOC_UNPUBLISH, Results::STATUS_ONLY),
    form<rsm_connect>(RSM_IOC_CONNECT, Results::SOME),
    form<rsm_post>(RSM_IOC_POST, Results::STATUS_ONLY),
    form<rsm_wait>(RSM_IOC_WAIT, Results::STATUS_ONLY),
    Form{RSM_IOC_PUTV, sizeof(rsm_transfer), FIRST_TRANSFER, Results::SOME},
    Form{RSM_IOC_GETV, sizeof(rsm_transfer), FIRST_TRANSFER, Results::SOME},
    form<rsm_barrier_request>(RSM_IOC_BARRIER, Results::STATUS_ONLY),
    form<rsm_destroy>(RSM_IOC_DESTROY, Results::STATUS_ONLY),
    form<rsm_range>(RSM_IOC_RANGE, Results::SOME),
    form<rsm_grant>(RSM_IOC_GRANT, Results::SOME),
    form<rsm_revoke>(RSM_IOC_REVOKE, Results::STATUS_ONLY),
    form<rsm_redeem>(RSM_IOC_REDEEM, Results::SOME),
    form<rsm_unmap>(RSM_IOC_UNMAP, Results::STATUS_ONLY),
    form<rsm_message>(RSM_IOC_SEND, Results::STATUS_ONLY),
    form<rsm_message>(RSM_IOC_RECEIVE, Results::SOME),
};

int check_tail(std::uint64_t from, std::size_t size) noexcept {
    std::array<std::byte, MAX_ARGUMENT> tail{};
    if (!copy_in(tail.data(), from, size))
        return EFAULT;
    const auto used = std::span(tail).first(size);
    return std::ranges::all_of(used, [](std::byte byte) { return byte == std::byte{0}; }) ? 0
                                                                                          : E2BIG;
}

// Returns 0 or an errno value.
int read_argument(const Form &form, std::uint64_t user, Argument &argument) noexcept {
    std::uint32_t size = 0;
    if (!copy_in(&size, user, sizeof(size)))
        return EFAULT;
    if (size < form.least)
        return EINVAL;
    if (size > MAX_ARGUMENT)
        return E2BIG;
    const std::size_t known = std::min(size, form.size) & ~(sizeof(std::uint64_t) - 1);
    if (!copy_in(argument.data(), user, known))
        return EFAULT;
    return size > form.size ? check_tail(user + form.size, size - form.size) : 0;
}

bool store_results(const Form &form, const Argument &before, const Reply &reply,
                   std::uint64_t user) noexcept {
    constexpr std::size_t status_at = sizeof(std::uint32_t);
    std::uint32_t told = 0;
    std::memcpy(&told, before.data() + status_at, sizeof(told));
    if (form.results == Results::STATUS_ONLY)
        return told == reply.status ||
               copy_out(user + status_at, &reply.status, sizeof(reply.status));
    Argument results = reply.argument;
    std::memcpy(results.data() + status_at, &reply.status, sizeof(reply.status));
    std::uint32_t size = 0;
    std::memcpy(&size, before.data(), sizeof(size));
    const std::size_t end = form.least < form.size ? std::min(size, form.size) : form.size;
    return copy_out(user + status_at, results.data() + status_at, end - status_at);
}

bool has_capability(unsigned capability) noexcept {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> data{};
    if (::syscall(SYS_capget, &header, data.data()) != 0)
        return false;
    return (data.front().effective >> capability & 1U) != 0;
}

// umask() alone can't be asked without changing it, for other threads as well.
std::uint32_t current_umask() noexcept {
    std::array<char, 512> text{};
    const auto file = static_cast<int>(
        ::syscall(SYS_openat, AT_FDCWD, "/proc/thread-self/status", O_RDONLY | O_CLOEXEC));
    (void)::syscall(SYS_read, file, text.data(), text.size() - 1);
    (void)::syscall(SYS_close, file);
    constexpr std::string_view key = "Umask:\t";
    const std::string_view status(text.data());
    const auto found = status.find(key);
    std::uint32_t value = 0;
    if (found != std::string_view::npos)
        (void)std::from_chars(status.data() + found + key.size(), status.data() + status.size(),
                              value, 8);
    return value;
}

void fill_in(Caller &caller) noexcept {
    caller.uid = ::getuid();
    caller.euid = ::geteuid();
    caller.egid = ::getegid();
    caller.umask = current_umask();
    caller.is_ipc_owner = has_capability(CAP_IPC_OWNER) ? 1 : 0;
    rlimit limit{};
    (void)::getrlimit(RLIMIT_MEMLOCK, &limit);
    caller.memory_limit = has_capability(CAP_IPC_LOCK) ? UINT64_MAX : limit.rlim_cur;
    const int count = ::getgroups(MAX_GROUPS, caller.groups.data());
    caller.group_count = count < 0 ? 0 : static_cast<std::uint32_t>(count);
}

void name_control(Request &request, int control) noexcept {
    request.control_given = control != -1 ? 1 : 0;
    request.control = handle_of(control).value_or(0);
}

// The range of a BIND or REBIND, if its numbers make sense: the agent says what is wrong with them.
void prepare_range(Request &request, AddressRange range, std::uint32_t flags) {
    constexpr std::uint64_t page = 4096;
    constexpr std::uint64_t most = std::uint64_t{1} << 47;
    if (range.start == 0 || range.start % page != 0 || range.length % page != 0 ||
        range.length == 0 || range.start >= most || range.length > most - range.start)
        return;
    request.range_status = check_range(range, flags);
    if (request.range_status == RSM_SUCCESS)
        request.is_shared = share_range(range, flags) ? 1 : 0;
}

void read_entries(Request &request) noexcept {
    const auto transfer = argument_as<rsm_transfer>(request.argument);
    if (transfer.count == 0 || transfer.count > RSM_MAX_SGIOREQS)
        return;
    if (!copy_in(request.entries.data(), transfer.entries,
                 transfer.count * sizeof(rsm_transfer_entry)))
        return;
    request.list_readable = 1;
    for (std::size_t i = 0; i < transfer.count; ++i)
        if (request.entries.at(i).type == RSM_HANDLE_TYPE)
            request.local_handles.at(i) = handle_of(request.entries.at(i).fd).value_or(0);
}

void read_acl(Request &request) noexcept {
    const auto publish = argument_as<rsm_publish>(request.argument);
    if (publish.acl_count == 0 || publish.acl_count > RSM_ACL_MAX)
        return;
    const std::size_t bytes = publish.acl_count * sizeof(rsm_acl_entry);
    request.list_readable = copy_in(request.acl.data(), publish.acl, bytes) ? 1 : 0;
}

// Adds what the agent has to know of this process.
void complete(Request &request) {
    switch (request.command) {
    case RSM_IOC_BIND: {
        const auto bind = argument_as<rsm_bind>(request.argument);
        fill_in(request.caller);
        name_control(request, bind.control_fd);
        prepare_range(request, {bind.vaddr, bind.length}, bind.flags);
        break;
    }
    case RSM_IOC_REBIND: {
        const auto rebind = argument_as<rsm_rebind>(request.argument);
        prepare_range(request, {rebind.vaddr, rebind.length}, 0);
        break;
    }
    case RSM_IOC_CONNECT:
        fill_in(request.caller);
        name_control(request, argument_as<rsm_connect>(request.argument).control_fd);
        break;
    case RSM_IOC_REDEEM:
        name_control(request, argument_as<rsm_redeem>(request.argument).control_fd);
        break;
    case RSM_IOC_SEND:
        request.caller.uid = ::getuid();
        break;
    case RSM_IOC_PUTV:
    case RSM_IOC_GETV:
        read_entries(request);
        break;
    case RSM_IOC_PUBLISH:
    case RSM_IOC_REPUBLISH:
        read_acl(request);
        break;
    default:
        break;
    }
}

// Changes of this process after a command.
void finish(const Request &request, const Reply &reply) {
    make_changes(reply);
    if (reply.status != RSM_SUCCESS)
        return;
    if (request.command == RSM_IOC_BIND) {
        const auto bind = argument_as<rsm_bind>(request.argument);
        note_bound({bind.vaddr, bind.length}, bind.flags);
    } else if (request.command == RSM_IOC_REBIND) {
        const auto rebind = argument_as<rsm_rebind>(request.argument);
        note_bound({rebind.vaddr, rebind.length}, 0);
    } else if (request.command == RSM_IOC_UNMAP) {
        const auto unmap = argument_as<rsm_unmap>(request.argument);
        unmap_views(reply.number, {unmap.vaddr, unmap.length});
    }
}

int fail(int error) noexcept {
    errno = error;
    return -1;
}

// Writes the time that was left of a WAIT to the program's argument, and fails with EINTR.
int interrupted(const Reply &reply, std::uint64_t user) noexcept {
    const auto rest = argument_as<rsm_wait>(reply.argument).timeout_ns;
    (void)copy_out(user + offsetof(rsm_wait, timeout_ns), &rest, sizeof(rest));
    return fail(EINTR);
}

} // namespace

int give_command(std::uint64_t handle, unsigned long command, void *argument) {
    const auto user = reinterpret_cast<std::uintptr_t>(argument);
    const auto *form = std::ranges::find(FORMS, command, &Form::command);
    if (form == FORMS.end())
        return fail(ENOTTY);
    Request request = request_for(Operation::COMMAND);
    request.command = static_cast<std::uint32_t>(command);
    request.handle = handle;
    if (const int error = read_argument(*form, user, request.argument); error != 0)
        return fail(error);
    complete(request);
    const Reply reply = command == RSM_IOC_WAIT ? ask_and_wait(request) : ask(request);
    if (reply.error == EINTR)
        return interrupted(reply, user);
    if (reply.error != 0)
        return fail(reply.error);
    const KeptErrno kept;
    finish(request, reply);
    return store_results(*form, request.argument, reply, user) ? 0 : fail(EFAULT);
}

} // namespace rsmfake
