// SPDX-License-Identifier: GPL-2.0
// A peer without libdat reaches exactly the bytes that were registered, by ioctl and by mmap,
// wherever they start and end.
#include "dat/support/attack.hpp"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>

using namespace rsmtest;
using namespace rsmtest::dat;

namespace {

constexpr std::byte mark{0xdd};

struct Range {
    std::size_t offset, length;
};

std::vector<Range> ranges()
{
    const std::size_t page = page_size();
    return {{page, 1},          {page + 1, 1},        {2 * page - 1, 1},     {2 * page - 1, 2},
            {page, page},       {page + 1, page - 1}, {page, page + 1},      {page - 1, page + 2},
            {page, 2 * page},   {page + 7, 2 * page}, {page - 1, 3 * page},  {page + 8, page - 16},
            {3, 4 * page - 6},  {page, page - 1},     {2 * page - 8, page},  {page - 1, 1},
            {page, 3 * page - 1}};
}

// One range as seen from outside: offsets are those in the exporter's segment.
class Intruder {
public:
    void enter(RawPeer &peer, std::uint32_t context, const Range &expected);
    void copy_outside();
    void map_outside();
    void mark_inside();

private:
    void refused(std::uint64_t at, std::uint64_t length);
    void grow(std::uint64_t at, std::uint64_t length) const;
    raw::Outcome copy(unsigned long command, std::uint64_t at, std::uint64_t length)
    {
        const rsm_transfer_entry entry = raw::entry(local_.data(), at, length);
        return raw::transfer(handle_.get(), command, {&entry, 1});
    }

    const std::size_t page_ = page_size();
    Fd handle_ = raw::open_segment();
    std::uint64_t first_ = 0, end_ = 0, size_ = 0;
    Pages local_{8};
};

void Intruder::enter(RawPeer &peer, std::uint32_t context, const Range &expected)
{
    const auto grant = peer.ask(context);
    ASSERT_TRUE(grant);
    first_ = grant->offset;
    end_ = grant->offset + grant->length;
    size_ = (end_ + page_ - 1) / page_ * page_;
    EXPECT_EQ(first_, expected.offset % page_);
    EXPECT_EQ(grant->length, expected.length);
    ASSERT_EQ(raw::redeem(handle_.get(), ticket_of(*grant)), raw::success);
}

void Intruder::refused(std::uint64_t at, std::uint64_t length)
{
    for (const unsigned long command : {RSM_IOC_PUTV, RSM_IOC_GETV}) {
        std::memset(local_.data(), 0xee, local_.size());
        EXPECT_NE(copy(command, at, length), raw::success) << at << " +" << length;
        EXPECT_EQ(std::count(local_.data(), local_.data() + local_.size(), std::byte{0xee}),
                  static_cast<std::ptrdiff_t>(local_.size()))
            << "something was read at " << at << " +" << length;
    }
}

void Intruder::copy_outside()
{
    if (first_ > 0) {
        refused(first_ - 1, 1);
        refused(first_ - 1, end_ - first_ + 1);
        refused(0, first_);
        refused(0, size_);
        refused(first_, ~std::uint64_t{0} - first_ + 1);
    }
    refused(end_, 1);
    refused(end_ - 1, 2);
    refused(first_, end_ - first_ + 1);
    refused(first_, size_ - first_ + 1);
    refused(size_, 1);
    refused(size_, page_);
    refused(first_, ~std::uint64_t{0});
    refused(~std::uint64_t{0}, 1);
    refused(~std::uint64_t{0} - page_ + 1, page_);
}

// The last mapping that is let in is written to, and does not grow.
void Intruder::grow(std::uint64_t at, std::uint64_t length) const
{
    void *base = raw::map(handle_.get(), length, PROT_READ | PROT_WRITE, static_cast<off_t>(at));
    ASSERT_NE(base, nullptr);
    std::memset(base, 0xdd, length);
    EXPECT_EQ(mremap(base, length, length + page_, MREMAP_MAYMOVE), MAP_FAILED);
    munmap(base, length);
}

void Intruder::map_outside()
{
    for (std::uint64_t at = 0; at <= size_; at += page_)
        for (std::uint64_t length = page_; length <= size_ + page_; length += page_) {
            if (at >= first_ && at + length <= end_) {
                if (at + length + page_ > end_)
                    grow(at, length);
                continue;
            }
            for (const int protection : {PROT_READ, PROT_READ | PROT_WRITE, PROT_NONE})
                EXPECT_EQ(raw::map(handle_.get(), length, protection, static_cast<off_t>(at)),
                          nullptr)
                    << at << " +" << length;
        }
    EXPECT_EQ(raw::map(handle_.get(), page_, PROT_READ, off_t{1} << 42), nullptr);
}

void Intruder::mark_inside()
{
    std::memset(local_.data(), 0xdd, local_.size());
    EXPECT_EQ(copy(RSM_IOC_PUTV, first_, end_ - first_), raw::success);
}

using RsmAttackBounds = RsmAttack;

} // namespace

TEST_F(RsmAttackBounds, exactly_what_was_registered)
{
    start([](Link &link, std::uint64_t qualifier) {
        RawPeer peer(qualifier);
        ASSERT_TRUE(peer.connected());
        for (const Range &range : ranges()) {
            SCOPED_TRACE(testing::Message() << range.offset << " +" << range.length);
            Intruder intruder;
            intruder.enter(peer, static_cast<std::uint32_t>(link.receive()), range);
            ASSERT_FALSE(HasFailure());
            intruder.copy_outside();
            intruder.map_outside();
            intruder.mark_inside();
            link.send();
        }
        link.receive();
    });
    admit();
    const Pages memory(5);
    for (const Range &range : ranges()) {
        SCOPED_TRACE(testing::Message() << range.offset << " +" << range.length);
        fill(memory);
        const Registered region(side().adapter, side().pz, memory.data() + range.offset,
                                range.length);
        attacker().send(region.rmr_context);
        attacker().receive();
        const std::byte *inside = memory.data() + range.offset;
        EXPECT_EQ(std::count(inside, inside + range.length, mark),
                  static_cast<std::ptrdiff_t>(range.length));
        EXPECT_TRUE(untouched_but(memory, range.offset, range.length));
        ASSERT_FALSE(HasFailure());
    }
    attacker().send();
    attacker().expect_success();
    expect_end();
}

// Windows: rights of the part that is bound, not of the region around it.
TEST_F(RsmAttackBounds, exactly_what_was_bound)
{
    start([](Link &link, std::uint64_t qualifier) {
        RawPeer peer(qualifier);
        ASSERT_TRUE(peer.connected());
        for (const Range &range : ranges()) {
            SCOPED_TRACE(testing::Message() << range.offset << " +" << range.length);
            const auto grant = peer.ask(static_cast<std::uint32_t>(link.receive()));
            ASSERT_TRUE(grant);
            EXPECT_EQ(grant->offset, range.offset);
            const Fd handle = raw::open_segment();
            ASSERT_EQ(raw::redeem(handle.get(), ticket_of(*grant)), raw::success);
            Pages local(6);
            std::memset(local.data(), 0xdd, local.size());
            const std::uint64_t end = range.offset + range.length;
            const rsm_transfer_entry tries[] = {
                raw::entry(local.data(), range.offset, range.length),
                raw::entry(local.data(), range.offset - 1, 1), raw::entry(local.data(), end, 1),
                raw::entry(local.data(), 0, 5 * page_size()),
                raw::entry(local.data(), range.offset, range.length + 1)};
            for (const auto &entry : tries)
                EXPECT_EQ(raw::transfer(handle.get(), RSM_IOC_PUTV, {&entry, 1}) == raw::success,
                          &entry == tries);
            const rsm_transfer_entry both[] = {tries[0], tries[2]};
            EXPECT_NE(raw::transfer(handle.get(), RSM_IOC_PUTV, both), raw::success);
            EXPECT_EQ(raw::map(handle.get(), 5 * page_size()), nullptr);
            link.send();
        }
        link.receive();
    });
    admit();
    const Pages memory(5);
    const Registered region(side().adapter, side().pz, memory.data(), memory.size());
    DAT_RMR_HANDLE rmr = DAT_HANDLE_NULL;
    ASSERT_OK(dat_rmr_create(side().pz, &rmr));
    for (const Range &range : ranges()) {
        SCOPED_TRACE(testing::Message() << range.offset << " +" << range.length);
        fill(memory);
        const DAT_LMR_TRIPLET part = region.piece(range.offset, range.length);
        DAT_RMR_CONTEXT context = 0;
        ASSERT_OK(dat_rmr_bind(rmr, &part, DAT_MEM_PRIV_ALL_FLAG, side().ep, cookie(1),
                               DAT_COMPLETION_DEFAULT_FLAG, &context));
        expect_event(side().requests, DAT_RMR_BIND_COMPLETION_EVENT);
        attacker().send(context);
        attacker().receive();
        EXPECT_EQ(memory.data()[range.offset], mark);
        EXPECT_TRUE(untouched_but(memory, range.offset, range.length));
        ASSERT_FALSE(HasFailure());
    }
    attacker().send();
    attacker().expect_success();
    expect_end();
    EXPECT_OK(dat_rmr_free(rmr));
}

// One right does not give the other, by any way to the bytes.
TEST_F(RsmAttackBounds, only_the_right_that_was_given)
{
    start([](Link &link, std::uint64_t qualifier) {
        RawPeer peer(qualifier);
        ASSERT_TRUE(peer.connected());
        for (const bool reads : {true, false}) {
            const auto grant = peer.ask(static_cast<std::uint32_t>(link.receive()));
            ASSERT_TRUE(grant);
            const Fd handle = raw::open_segment();
            ASSERT_EQ(raw::redeem(handle.get(), ticket_of(*grant)), raw::success);
            Pages local(1);
            const rsm_transfer_entry entry = raw::entry(local.data(), 0, 64);
            EXPECT_EQ(raw::transfer(handle.get(), RSM_IOC_GETV, {&entry, 1}) == raw::success,
                      reads);
            std::memset(local.data(), 0xdd, local.size());
            EXPECT_EQ(raw::transfer(handle.get(), RSM_IOC_PUTV, {&entry, 1}) == raw::success,
                      !reads);
            EXPECT_EQ(raw::map(handle.get(), page_size()), nullptr);
            void *base = raw::map(handle.get(), page_size(), PROT_READ);
            EXPECT_EQ(base != nullptr, reads);
            if (base) {
                EXPECT_NE(mprotect(base, page_size(), PROT_READ | PROT_WRITE), 0);
                munmap(base, page_size());
            }
            link.send();
        }
        link.receive();
    });
    admit();
    const Pages memory(1);
    for (const int privilege : {DAT_MEM_PRIV_REMOTE_READ_FLAG, DAT_MEM_PRIV_REMOTE_WRITE_FLAG}) {
        fill(memory);
        const Registered region(side().adapter, side().pz, memory.data(), memory.size(),
                                DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG |
                                    privilege);
        attacker().send(region.rmr_context);
        attacker().receive();
        const std::size_t written = privilege == DAT_MEM_PRIV_REMOTE_WRITE_FLAG ? 64 : 0;
        EXPECT_TRUE(untouched_but(memory, 0, written));
        EXPECT_EQ(memory.data()[0] == mark, written != 0);
    }
    attacker().send();
    attacker().expect_success();
    expect_end();
}
