// SPDX-License-Identifier: GPL-2.0
// An export without an id, and grants of it.
#pragma once

#include "support/child.hpp"
#include "support/raw.hpp"
#include "support/unchanged.hpp"

#include <cerrno>
#include <gtest/gtest.h>
#include <poll.h>

namespace rsmtest {

// Memory with a pattern, bound so that it can be granted.
class GrantTest : public testing::Test {
protected:
    static constexpr std::size_t page_count = 4;

    void SetUp() override
    {
        ASSERT_EQ(raw::bind(exported.get(), memory.data(), size, RSM_BIND_LOCAL | RSM_ALLOW_REBIND),
                  raw::success);
        fill(memory);
    }
    static std::byte pattern(std::size_t at) { return static_cast<std::byte>(at % 251 + 1); }
    static void fill(const Pages &pages)
    {
        for (std::size_t at = 0; at < pages.size(); at++)
            pages.data()[at] = pattern(at);
    }
    raw::Ticket grant(std::uint64_t offset, std::uint64_t length,
                      std::uint32_t permission = RSM_PERM_RDWR) const
    {
        raw::Ticket ticket;
        EXPECT_EQ(raw::grant(exported.get(), ticket, offset, length, permission), raw::success);
        return ticket;
    }
    raw::Ticket grant_all(std::uint32_t permission = RSM_PERM_RDWR) const
    {
        return grant(0, size, permission);
    }
    // A handle that has redeemed a ticket.
    static Fd redeemed(const raw::Ticket &ticket)
    {
        Fd handle = raw::open_segment();
        EXPECT_EQ(raw::redeem(handle.get(), ticket), raw::success);
        return handle;
    }
    static raw::Outcome copy(int fd, unsigned long command, const void *local,
                             std::uint64_t remote, std::uint64_t length)
    {
        const rsm_transfer_entry entry = raw::entry(local, remote, length);
        return raw::transfer(fd, command, {&entry, 1});
    }
    // Whether the connection has ended, as poll tells it.
    static bool hung_up(int fd)
    {
        pollfd entry{fd, POLLRDHUP, 0};
        return poll(&entry, 1, 0) == 1 && entry.revents & POLLRDHUP;
    }
    // errno of a mapping that must not be; 0 if it can be made
    static int refused(int fd, std::size_t length, int protection, std::size_t offset)
    {
        void *base = raw::map(fd, length, protection, static_cast<off_t>(offset));
        if (!base)
            return errno;
        munmap(base, length);
        return 0;
    }
    static volatile std::uint64_t &word(void *base, std::size_t offset = 0)
    {
        return *reinterpret_cast<volatile std::uint64_t *>(static_cast<std::byte *>(base) + offset);
    }

    Pages memory{page_count};
    Pages local{page_count + 1};
    Fd exported = raw::open_segment();
    const std::size_t page = page_size();
    const std::size_t size = page_count * page;
};

// Messages of a child that exports about a ticket, and messages to it.
inline void tell(Link &link, const raw::Ticket &ticket)
{
    link.tell(ticket.word[0]);
    link.tell(ticket.word[1]);
}

inline raw::Ticket hear_ticket(Link &link)
{
    raw::Ticket ticket;
    for (std::uint64_t &word : ticket.word)
        word = link.hear();
    return ticket;
}

} // namespace rsmtest
