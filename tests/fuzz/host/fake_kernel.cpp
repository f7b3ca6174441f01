// SPDX-License-Identifier: GPL-2.0
#include "fake_kernel.hpp"

#include "require.hpp"

#include "device/open.h"
#include "device/handle.h"

#include <algorithm>
#include <cstdarg>
#include <fcntl.h>
#include <memory>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace rsmtest::fuzz {

Kernel kernel;

namespace {

constexpr std::uint32_t SLOT = 1;

// Words of a slot are zero, so this is the generation of a connection that lives.
constexpr std::uint32_t ALIVE = 0;

std::uint32_t bind(int handle, rsm_bind &bind)
{
    require(::ftruncate(handle, static_cast<off_t>(bind.length)) == 0, "a handle holds a segment");
    kernel.bound = handle;
    bind.slot = SLOT;
    bind.window = 1;
    return RSM_SUCCESS;
}

// For CONNECT and REDEEM.
template <class Request>
std::uint32_t connect(int handle, Request &request)
{
    const Foreign &foreign = kernel.foreign;
    if (foreign.status != RSM_SUCCESS)
        return foreign.status;
    const auto shown = std::min<std::uint64_t>(foreign.bytes.size(), foreign.length);
    require(::ftruncate(handle, static_cast<off_t>(foreign.length)) == 0 &&
                ::pwrite(handle, foreign.bytes.data(), shown, 0) == static_cast<ssize_t>(shown),
            "a handle holds a segment");
    request.slot = SLOT;
    request.generation = ALIVE;
    request.length = foreign.length;
    return RSM_SUCCESS;
}

std::uint32_t redeem(int handle, rsm_redeem &request)
{
    if (kernel.redeems == 0)
        return RSMERR_SEG_NOT_PUBLISHED;
    --kernel.redeems;
    return connect(handle, request);
}

std::uint32_t transfer(int handle, const rsm_transfer &request, bool put)
{
    require(request.count == 1, "transfers have one entry");
    const auto *entry = reinterpret_cast<const rsm_transfer_entry *>(request.entries);
    struct stat file {};
    require(::fstat(handle, &file) == 0, "a handle holds a segment");
    const auto length = static_cast<std::uint64_t>(file.st_size);
    if (entry->remote_offset > length || entry->length > length - entry->remote_offset)
        return RSMERR_BAD_OFFSET;
    auto *local = reinterpret_cast<std::byte *>(entry->addr);
    const auto offset = static_cast<off_t>(entry->remote_offset);
    const auto done = put ? ::pwrite(handle, local, entry->length, offset)
                          : ::pread(handle, local, entry->length, offset);
    require(done == static_cast<ssize_t>(entry->length), "a handle holds a segment");
    if (put) {
        kernel.put.assign(local, local + entry->length);
        kernel.put_offset = entry->remote_offset;
    }
    return RSM_SUCCESS;
}

std::uint32_t receive(rsm_message &message)
{
    if (kernel.letters.empty())
        return RSMERR_TIMEOUT;
    std::ranges::copy(kernel.letters.front(), message.word);
    kernel.letters.pop_front();
    return RSM_SUCCESS;
}

template <class Request, class Do>
int answer(void *argument, Do &&act)
{
    auto &request = *static_cast<Request *>(argument);
    require(request.size == sizeof(Request), "a command has its argument");
    request.status = act(request);
    return 0;
}

// The command does nothing else if the target wants it to fail.
template <class Request, class Do>
int answer_or_fail(unsigned long command, void *argument, Do &&act)
{
    const auto failure = kernel.failures.extract(command);
    if (failure.empty())
        return answer<Request>(argument, act);
    return answer<Request>(argument, [&](const auto &) { return failure.mapped(); });
}

} // namespace

extern "C" int __wrap_ioctl(int handle, unsigned long command, ...)
{
    std::va_list list;
    va_start(list, command);
    void *argument = va_arg(list, void *);
    va_end(list);
    const auto succeed = [](const auto &) -> std::uint32_t { return RSM_SUCCESS; };
    switch (command) {
    case RSM_IOC_INFO:
        return answer<rsm_info>(argument, [](auto &info) -> std::uint32_t {
            info.node_id = OWN_NODE;
            return RSM_SUCCESS;
        });
    case RSM_IOC_ATTR:
        return answer<rsm_attr>(argument, succeed);
    case RSM_IOC_BIND:
        return answer_or_fail<rsm_bind>(command, argument,
                                        [=](auto &it) { return bind(handle, it); });
    case RSM_IOC_CONNECT:
        return answer_or_fail<rsm_connect>(command, argument,
                                           [=](auto &it) { return connect(handle, it); });
    case RSM_IOC_REDEEM:
        return answer_or_fail<rsm_redeem>(command, argument,
                                          [=](auto &it) { return redeem(handle, it); });
    case RSM_IOC_PUTV:
    case RSM_IOC_GETV:
        return answer_or_fail<rsm_transfer>(command, argument, [=](auto &it) {
            return transfer(handle, it, command == RSM_IOC_PUTV);
        });
    case RSM_IOC_RECEIVE:
        return answer<rsm_message>(argument, receive);
    case RSM_IOC_PUBLISH:
    case RSM_IOC_REPUBLISH:
        return answer<rsm_publish>(argument, succeed);
    case RSM_IOC_GRANT:
        return answer<rsm_grant>(argument, succeed);
    case RSM_IOC_POST:
        return answer<rsm_post>(argument, succeed);
    case RSM_IOC_SEND:
        return answer<rsm_message>(argument, succeed);
    case RSM_IOC_DESTROY:
        return answer<rsm_destroy>(argument, succeed);
    default:
        require(false, "the target needs no other command");
        return -1;
    }
}

} // namespace rsmtest::fuzz

namespace rsmdev {

// The tables of words of the control handle end behind RSM_MMAP_CONSUMED; nothing of it is used
// before it is touched.
int open_device(HandleKind /*kind*/, const Policy &policy, Descriptor &handle) noexcept
{
    constexpr off_t TABLES = RSM_MMAP_CONSUMED + off_t{RSM_TABLE_SLOTS} * RSM_SLOT_SIZE;
    const int fd = ::memfd_create("rsm", MFD_CLOEXEC);
    rsmtest::fuzz::require(fd >= 0 && ::ftruncate(fd, TABLES) == 0, "there is a descriptor");
    handle = Descriptor::keep(fd, policy.segments);
    return RSM_SUCCESS;
}

} // namespace rsmdev
