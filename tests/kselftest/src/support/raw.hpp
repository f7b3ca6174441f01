// SPDX-License-Identifier: GPL-2.0
// /dev/rsm without librsm.
#pragma once

#include "support/system.hpp"

#include <cstdint>
#include <linux/rsm.h>
#include <ostream>
#include <span>
#include <string_view>
#include <sys/ioctl.h>

namespace rsmtest::raw {

// The outcome of an ioctl: errno if it failed, otherwise the status field.
struct Outcome {
    int error = 0;
    std::uint32_t status = 0;
    bool operator==(const Outcome &) const = default;
};
std::ostream &operator<<(std::ostream &out, const Outcome &outcome);

inline constexpr Outcome success{0, RSM_SUCCESS};
constexpr Outcome status(std::uint32_t value) { return {0, value}; }
constexpr Outcome error(int value) { return {value, 0}; }

Fd open_segment();
Fd open_control();

// Any command; the structure's size field is filled in.
template <class T> Outcome call(int fd, unsigned long command, T &argument)
{
    argument.size = sizeof(T);
    argument.status = 0xdeadbeef;
    if (ioctl(fd, command, &argument) != 0)
        return error(errno);
    return status(argument.status);
}

rsm_bind bind_argument(const void *address, std::size_t length, std::uint32_t flags = 0,
                       int control = -1, std::string_view controller = "loopback");
rsm_connect connect_argument(std::uint32_t id, std::uint32_t permission, int control = -1,
                             std::string_view controller = "loopback");

std::uint32_t local_node();
Outcome bind(int fd, const void *address, std::size_t length, std::uint32_t flags = 0);
Outcome rebind(int fd, const void *address, std::size_t length);
// An id of 0 is replaced by the one that was assigned.
Outcome publish(int fd, std::uint32_t &id, std::span<const rsm_acl_entry> acl = {});
Outcome republish(int fd, std::span<const rsm_acl_entry> acl = {});
Outcome unpublish(int fd);
Outcome destroy(int fd);
Outcome connect(int fd, std::uint32_t id, std::uint32_t permission = RSM_PERM_RDWR);

// The ticket that GRANT gives and REDEEM takes.
struct Ticket {
    std::uint64_t word[2] = {};
    bool operator==(const Ticket &) const = default;
};
Outcome grant(int fd, Ticket &ticket, std::uint64_t offset, std::uint64_t length,
              std::uint32_t permission = RSM_PERM_RDWR);
Outcome revoke(int fd, const Ticket &ticket);
rsm_redeem redeem_argument(const Ticket &ticket, int control = -1);
Outcome redeem(int fd, const Ticket &ticket);
Outcome unmap(int fd, const void *address, std::uint64_t length);

Outcome post(int fd, std::uint32_t flags = 0);
Outcome wait(int fd, std::int64_t timeout_ns = 0);
Outcome barrier(int fd, std::uint32_t operation);
// residual, if wanted, gets the entries not completed
Outcome transfer(int fd, unsigned long command, std::span<const rsm_transfer_entry> entries,
                 std::uint32_t flags = 0, std::uint32_t *residual = nullptr);
rsm_transfer_entry entry(const void *address, std::uint64_t remote, std::uint64_t length);

// Shared mapping of a handle; check valid(). errno tells why it failed.
void *map(int fd, std::size_t length, int protection = PROT_READ | PROT_WRITE, off_t offset = 0,
          int flags = MAP_SHARED);

// A published export of its own memory, for tests that need something to
// connect to.
struct Published {
    explicit Published(std::size_t pages = 1, std::uint32_t flags = 0);
    Pages memory;
    Fd handle;
    std::uint32_t id = 0;
    bool ok = false;
};

} // namespace rsmtest::raw
