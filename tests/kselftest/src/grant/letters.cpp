// SPDX-License-Identifier: GPL-2.0
// Tickets for one REDEEM, and letters: SEND and RECEIVE.
#include "grant/grant.hpp"

#include <cstring>

using namespace rsmtest;
using raw::error;
using raw::status;
using raw::success;

namespace {

const auto denied = status(RSMERR_PERM_DENIED);
const auto none_left = status(RSMERR_TIMEOUT);
const auto no_such_ticket = status(RSMERR_SEG_NOT_PUBLISHED);

class GrantLetters : public GrantTest {
protected:
    // A ticket with which letters can be sent, and nothing else be done.
    raw::Ticket for_letters() const { return flagged(RSM_GRANT_SEND, 0, 0); }
    raw::Ticket flagged(std::uint32_t flags, std::uint64_t length, std::uint32_t permission) const
    {
        rsm_grant grant{};
        grant.length = length;
        grant.permission = permission;
        grant.flags = flags;
        EXPECT_EQ(raw::call(exported.get(), RSM_IOC_GRANT, grant), success);
        return {{grant.ticket[0], grant.ticket[1]}};
    }
    raw::Outcome grant_fails(std::uint64_t offset, std::uint64_t length, std::uint32_t permission,
                             std::uint32_t flags) const
    {
        rsm_grant grant{};
        grant.offset = offset;
        grant.length = length;
        grant.permission = permission;
        grant.flags = flags;
        return raw::call(exported.get(), RSM_IOC_GRANT, grant);
    }
    static raw::Outcome send(int fd, std::uint64_t number)
    {
        rsm_message message{};
        for (std::size_t i = 0; i < RSM_MESSAGE_WORDS; i++)
            message.word[i] = number + i;
        return raw::call(fd, RSM_IOC_SEND, message);
    }
    // The number of the next letter.
    std::uint64_t receive() const
    {
        rsm_message message{};
        EXPECT_EQ(raw::call(exported.get(), RSM_IOC_RECEIVE, message), success);
        for (std::size_t i = 0; i < RSM_MESSAGE_WORDS; i++)
            EXPECT_EQ(message.word[i], message.word[0] + i);
        return message.word[0];
    }
    raw::Outcome nothing_to_receive() const
    {
        rsm_message message{};
        return raw::call(exported.get(), RSM_IOC_RECEIVE, message);
    }
    // Letters first .. first + count - 1, of handles that the caller keeps.
    static std::vector<Fd> write_letters(const raw::Ticket &ticket, std::uint64_t first, int count)
    {
        std::vector<Fd> handles;
        for (int i = 0; i < count; i++) {
            handles.push_back(redeemed(ticket));
            EXPECT_EQ(send(handles.back().get(), first + static_cast<std::uint64_t>(i)), success);
        }
        return handles;
    }
};

} // namespace

TEST_F(GrantLetters, ticket_for_one_redeem)
{
    const raw::Ticket ticket = flagged(RSM_GRANT_ONCE, size, RSM_PERM_RDWR);
    const Fd first = redeemed(ticket);
    const Fd second = raw::open_segment();
    EXPECT_EQ(raw::redeem(second.get(), ticket), no_such_ticket);
    std::uint64_t word = 0;
    EXPECT_EQ(copy(first.get(), RSM_IOC_GETV, &word, 0, sizeof(word)), success);
    EXPECT_EQ(raw::revoke(exported.get(), ticket), success);
    EXPECT_TRUE(hung_up(first.get()));
    EXPECT_EQ(raw::revoke(exported.get(), ticket), no_such_ticket);
}

// A REDEEM that fails does not count.
TEST_F(GrantLetters, failed_redeem_leaves_the_ticket_good)
{
    const raw::Ticket ticket = flagged(RSM_GRANT_ONCE, size, RSM_PERM_READ);
    EXPECT_EQ(raw::redeem(exported.get(), ticket), status(RSMERR_BAD_SEG_HNDL));
    const Fd handle = redeemed(ticket);
}

TEST_F(GrantLetters, arguments)
{
    const Unchanged unchanged;
    EXPECT_EQ(grant_fails(0, 8, RSM_PERM_READ, 4), error(EOPNOTSUPP));
    EXPECT_EQ(grant_fails(0, 8, RSM_PERM_READ, 0x80000000), error(EOPNOTSUPP));
    EXPECT_EQ(grant_fails(0, 0, 0, 0), denied);
    EXPECT_EQ(grant_fails(0, 0, 0, RSM_GRANT_ONCE), denied);
    EXPECT_EQ(grant_fails(0, 8, 0, RSM_GRANT_SEND), status(RSMERR_BAD_LENGTH));
    EXPECT_EQ(grant_fails(8, 0, 0, RSM_GRANT_SEND), status(RSMERR_BAD_OFFSET));
    EXPECT_EQ(grant_fails(0, 0, RSM_PERM_READ, RSM_GRANT_SEND), status(RSMERR_BAD_LENGTH));
    const raw::Ticket mute = grant_all();
    EXPECT_EQ(send(redeemed(mute).get(), 1), denied);
    EXPECT_EQ(raw::revoke(exported.get(), mute), success);
    EXPECT_EQ(nothing_to_receive(), none_left);
}

TEST_F(GrantLetters, open_no_byte_to_their_senders)
{
    const Fd handle = redeemed(for_letters());
    std::uint64_t word = 0;
    EXPECT_NE(copy(handle.get(), RSM_IOC_GETV, &word, 0, sizeof(word)), success);
    EXPECT_NE(copy(handle.get(), RSM_IOC_PUTV, &word, 0, sizeof(word)), success);
    for (const int protection : {PROT_NONE, PROT_READ, PROT_WRITE})
        EXPECT_EQ(raw::map(handle.get(), page_size(), protection), nullptr) << protection;
}

TEST_F(GrantLetters, wake_the_creator)
{
    const Fd handle = redeemed(for_letters());
    pollfd entry{exported.get(), POLLIN, 0};
    EXPECT_EQ(poll(&entry, 1, 0), 0);
    EXPECT_EQ(send(handle.get(), 100), success);
    EXPECT_EQ(poll(&entry, 1, 0), 1);
    EXPECT_EQ(send(handle.get(), 200), status(RSMERR_QUEUE_FULL));
    EXPECT_EQ(receive(), 100u);
    EXPECT_EQ(send(handle.get(), 300), success);
    EXPECT_EQ(receive(), 300u);
    EXPECT_EQ(nothing_to_receive(), none_left);
}

TEST_F(GrantLetters, go_with_their_handle)
{
    const raw::Ticket ticket = for_letters();
    auto handles = write_letters(ticket, 10, 5);
    handles[0].reset();
    handles[2].reset();
    handles[4].reset();
    EXPECT_EQ(receive(), 11u);
    EXPECT_EQ(receive(), 13u);
    EXPECT_EQ(nothing_to_receive(), none_left);
}

TEST_F(GrantLetters, are_for_the_creator)
{
    const raw::Ticket ticket = for_letters();
    const Fd handle = redeemed(ticket);
    EXPECT_EQ(send(handle.get(), 1), success);
    Child child([&](rsmtest::Link &) {
        rsm_message message{};
        EXPECT_EQ(raw::call(exported.get(), RSM_IOC_RECEIVE, message),
                  status(RSMERR_NOT_CREATOR));
        EXPECT_EQ(message.word[0], 0u);
    });
    child.expect_success();
    EXPECT_EQ(receive(), 1u);
}

TEST_F(GrantLetters, end_with_the_grant)
{
    const raw::Ticket ticket = for_letters();
    const Fd handle = redeemed(ticket);
    EXPECT_EQ(raw::revoke(exported.get(), ticket), success);
    EXPECT_EQ(send(handle.get(), 1), status(RSMERR_CONN_ABORTED));
    const Fd other = redeemed(for_letters());
    EXPECT_EQ(send(other.get(), 2), success);
    EXPECT_EQ(raw::destroy(exported.get()), success);
    EXPECT_EQ(send(other.get(), 3), status(RSMERR_CONN_ABORTED));
}

// A sender of many delays others by one.
TEST_F(GrantLetters, of_users_in_turn)
{
    const raw::Ticket ticket = for_letters();
    Child flooder(alice(), [&](rsmtest::Link &link) {
        const auto handles = write_letters(ticket, 1000, 100);
        link.tell();
        link.hear();
    });
    flooder.hear();
    const auto ours = write_letters(ticket, 10, 2);
    Child other(bob(), [&](rsmtest::Link &link) {
        const auto handles = write_letters(ticket, 20, 2);
        link.tell();
        link.hear();
    });
    other.hear();
    for (const std::uint64_t expected : {1000, 10, 20, 1001, 11, 21, 1002, 1003})
        EXPECT_EQ(receive(), expected);
    flooder.tell();
    flooder.expect_success();
    EXPECT_EQ(nothing_to_receive(), none_left);
    other.tell();
    other.expect_success();
}
