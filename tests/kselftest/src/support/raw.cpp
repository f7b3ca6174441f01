// SPDX-License-Identifier: GPL-2.0
#include "support/raw.hpp"

#include <algorithm>
#include <cstring>
#include <fcntl.h>

namespace rsmtest::raw {
namespace {

std::uint64_t number(const void *address)
{
    return reinterpret_cast<std::uintptr_t>(address);
}

} // namespace

std::ostream &operator<<(std::ostream &out, const Outcome &outcome)
{
    if (outcome.error)
        return out << "errno " << outcome.error << " (" << std::strerror(outcome.error) << ")";
    return out << "status " << outcome.status;
}

Fd open_segment()
{
    return Fd(open("/dev/rsm", O_RDWR | O_CLOEXEC));
}

Fd open_control()
{
    return Fd(open("/dev/rsm", O_RDONLY | O_CLOEXEC));
}

rsm_bind bind_argument(const void *address, std::size_t length, std::uint32_t flags, int control,
                       std::string_view controller)
{
    rsm_bind argument{};
    argument.size = sizeof(argument);
    controller.copy(argument.controller, RSM_NAME_SIZE);
    argument.vaddr = number(address);
    argument.length = length;
    argument.flags = flags;
    argument.control_fd = control;
    return argument;
}

rsm_connect connect_argument(std::uint32_t id, std::uint32_t permission, int control,
                             std::string_view controller)
{
    rsm_connect argument{};
    argument.size = sizeof(argument);
    controller.copy(argument.controller, RSM_NAME_SIZE);
    argument.node = local_node();
    argument.id = id;
    argument.permission = permission;
    argument.control_fd = control;
    return argument;
}

std::uint32_t local_node()
{
    const Fd control = open_control();
    rsm_info info{};
    return call(control.get(), RSM_IOC_INFO, info) == success ? info.node_id : ~0u;
}

Outcome bind(int fd, const void *address, std::size_t length, std::uint32_t flags)
{
    rsm_bind argument = bind_argument(address, length, flags);
    return call(fd, RSM_IOC_BIND, argument);
}

Outcome rebind(int fd, const void *address, std::size_t length)
{
    rsm_rebind argument{};
    argument.vaddr = number(address);
    argument.length = length;
    return call(fd, RSM_IOC_REBIND, argument);
}

Outcome publish(int fd, std::uint32_t &id, std::span<const rsm_acl_entry> acl)
{
    rsm_publish argument{};
    argument.id = id;
    argument.acl_count = static_cast<std::uint32_t>(acl.size());
    argument.acl = number(acl.data());
    const Outcome outcome = call(fd, RSM_IOC_PUBLISH, argument);
    if (outcome == success)
        id = argument.id;
    return outcome;
}

Outcome republish(int fd, std::span<const rsm_acl_entry> acl)
{
    rsm_publish argument{};
    argument.acl_count = static_cast<std::uint32_t>(acl.size());
    argument.acl = number(acl.data());
    return call(fd, RSM_IOC_REPUBLISH, argument);
}

Outcome unpublish(int fd)
{
    rsm_unpublish argument{};
    return call(fd, RSM_IOC_UNPUBLISH, argument);
}

Outcome destroy(int fd)
{
    rsm_destroy argument{};
    return call(fd, RSM_IOC_DESTROY, argument);
}

Outcome connect(int fd, std::uint32_t id, std::uint32_t permission)
{
    rsm_connect argument = connect_argument(id, permission);
    return call(fd, RSM_IOC_CONNECT, argument);
}

Outcome grant(int fd, Ticket &ticket, std::uint64_t offset, std::uint64_t length,
              std::uint32_t permission)
{
    rsm_grant argument{};
    argument.offset = offset;
    argument.length = length;
    argument.permission = permission;
    const Outcome outcome = call(fd, RSM_IOC_GRANT, argument);
    if (outcome == success)
        ticket = {{argument.ticket[0], argument.ticket[1]}};
    return outcome;
}

Outcome revoke(int fd, const Ticket &ticket)
{
    rsm_revoke argument{};
    std::copy_n(ticket.word, 2, argument.ticket);
    return call(fd, RSM_IOC_REVOKE, argument);
}

rsm_redeem redeem_argument(const Ticket &ticket, int control)
{
    rsm_redeem argument{};
    argument.size = sizeof(argument);
    std::copy_n(ticket.word, 2, argument.ticket);
    argument.control_fd = control;
    return argument;
}

Outcome redeem(int fd, const Ticket &ticket)
{
    rsm_redeem argument = redeem_argument(ticket);
    return call(fd, RSM_IOC_REDEEM, argument);
}

Outcome unmap(int fd, const void *address, std::uint64_t length)
{
    rsm_unmap argument{};
    argument.vaddr = reinterpret_cast<std::uintptr_t>(address);
    argument.length = length;
    return call(fd, RSM_IOC_UNMAP, argument);
}

Outcome post(int fd, std::uint32_t flags)
{
    rsm_post argument{};
    argument.flags = flags;
    return call(fd, RSM_IOC_POST, argument);
}

Outcome wait(int fd, std::int64_t timeout_ns)
{
    rsm_wait argument{};
    argument.timeout_ns = timeout_ns;
    return call(fd, RSM_IOC_WAIT, argument);
}

Outcome barrier(int fd, std::uint32_t operation)
{
    rsm_barrier_request argument{};
    argument.op = operation;
    return call(fd, RSM_IOC_BARRIER, argument);
}

Outcome transfer(int fd, unsigned long command, std::span<const rsm_transfer_entry> entries,
                 std::uint32_t flags, std::uint32_t *residual)
{
    rsm_transfer argument{};
    argument.count = static_cast<std::uint32_t>(entries.size());
    argument.flags = flags;
    argument.entries = number(entries.data());
    const Outcome outcome = call(fd, command, argument);
    if (residual)
        *residual = argument.residual;
    return outcome;
}

rsm_transfer_entry entry(const void *address, std::uint64_t remote, std::uint64_t length)
{
    rsm_transfer_entry piece{};
    piece.type = RSM_VA_TYPE;
    piece.fd = -1;
    piece.addr = number(address);
    piece.remote_offset = remote;
    piece.length = length;
    return piece;
}

void *map(int fd, std::size_t length, int protection, off_t offset, int flags)
{
    void *base = mmap(nullptr, length, protection, flags, fd, offset);
    return base == MAP_FAILED ? nullptr : base;
}

Published::Published(std::size_t pages, std::uint32_t flags)
    : memory(pages), handle(open_segment())
{
    ok = memory.valid() && handle.valid() &&
         bind(handle.get(), memory.data(), memory.size(), flags) == success &&
         publish(handle.get(), id) == success;
}

} // namespace rsmtest::raw
