// SPDX-License-Identifier: GPL-2.0
// The promise of REVOKE: when it returns no holder of the ticket reaches the memory.
#include "grant/grant.hpp"

#include <algorithm>
#include <atomic>
#include <ctime>
#include <sched.h>
#include <thread>

using namespace rsmtest;
using raw::status;
using raw::success;
using raw::Ticket;

namespace {

class GrantRevoke : public GrantTest {
protected:
    void *map_all(const Fd &handle) const { return raw::map(handle.get(), size); }
};

constexpr long MICROSECOND = 1000;

timespec now()
{
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time;
}

timespec after(timespec time, long nanoseconds)
{
    const long sum = time.tv_nsec + nanoseconds;
    return {time.tv_sec + sum / 1'000'000'000, sum % 1'000'000'000};
}

void sleep_until(const timespec &time)
{
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr);
}

// All threads of this process share a processor as long as the object lives.
class OneProcessor {
public:
    OneProcessor()
    {
        sched_getaffinity(0, sizeof(before_), &before_);
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(0, &one);
        EXPECT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
    }
    ~OneProcessor() { sched_setaffinity(0, sizeof(before_), &before_); }
    OneProcessor(const OneProcessor &) = delete;
    OneProcessor &operator=(const OneProcessor &) = delete;

    // This thread preempts all others.
    static void first()
    {
        const sched_param priority{.sched_priority = 1};
        EXPECT_EQ(sched_setscheduler(0, SCHED_FIFO, &priority), 0);
    }

private:
    cpu_set_t before_{};
};

} // namespace

TEST_F(GrantRevoke, while_mapped)
{
    const Ticket ticket = grant_all();
    const Fd control = raw::open_control();
    void *words = raw::map(control.get(), page, PROT_READ, RSM_MMAP_STATUS);
    ASSERT_NE(words, nullptr);
    const Fd handle = raw::open_segment();
    rsm_redeem argument = raw::redeem_argument(ticket, control.get());
    ASSERT_EQ(raw::call(handle.get(), RSM_IOC_REDEEM, argument), success);
    const auto *slot = reinterpret_cast<volatile rsm_status_slot *>(
        static_cast<std::byte *>(words) + argument.slot * RSM_SLOT_SIZE);
    void *base = map_all(handle);
    ASSERT_NE(base, nullptr);
    EXPECT_EQ(word(base, page), memory.at(page));
    EXPECT_FALSE(hung_up(handle.get()));
    EXPECT_EQ(slot->generation, argument.generation);

    ASSERT_EQ(raw::revoke(exported.get(), ticket), success);
    EXPECT_NE(slot->generation, argument.generation);
    EXPECT_TRUE(hung_up(handle.get()));
    for (std::size_t at = 0; at < size; at += page)
        EXPECT_EQ(word(base, at), 0u) << at;
    word(base, 8) = 99;
    EXPECT_NE(memory.at(8), 99u);
    EXPECT_EQ(word(base, page + 8), 99u) << "one page stands for all";

    const auto aborted = status(RSMERR_CONN_ABORTED);
    EXPECT_EQ(copy(handle.get(), RSM_IOC_PUTV, local.data(), 0, 8), aborted);
    EXPECT_EQ(copy(handle.get(), RSM_IOC_GETV, local.data(), 0, 8), aborted);
    EXPECT_EQ(raw::post(handle.get()), aborted);
    EXPECT_EQ(raw::barrier(handle.get(), RSM_BARRIER_CLOSE), aborted);
    EXPECT_EQ(refused(handle.get(), page, PROT_READ, 0), ENODEV);
    const Fd late = raw::open_segment();
    EXPECT_EQ(raw::redeem(late.get(), ticket), status(RSMERR_SEG_NOT_PUBLISHED));
    munmap(base, size);
    munmap(words, page);
}

TEST_F(GrantRevoke, others_go_on)
{
    const Ticket first = grant_all();
    const Ticket second = grant_all();
    const Fd revoked = redeemed(first);
    const Fd revoked_too = redeemed(first);
    const Fd living = redeemed(second);
    void *dead = map_all(revoked);
    void *dead_too = map_all(revoked_too);
    void *live = map_all(living);
    ASSERT_TRUE(dead && dead_too && live);
    ASSERT_EQ(raw::revoke(exported.get(), first), success);
    EXPECT_TRUE(hung_up(revoked.get()));
    EXPECT_TRUE(hung_up(revoked_too.get()));
    EXPECT_FALSE(hung_up(living.get()));
    EXPECT_EQ(word(dead), 0u);
    word(dead) = 5;
    EXPECT_EQ(word(dead_too), 0u) << "the page that a dead mapping shows is private";
    word(live) = 6;
    EXPECT_EQ(memory.at(), 6u);
    EXPECT_EQ(raw::post(exported.get()), success);
    EXPECT_EQ(raw::wait(living.get()), success);
    EXPECT_EQ(raw::wait(revoked.get()), status(RSMERR_TIMEOUT)) << "an event for the dead";
    for (void *base : {dead, dead_too, live})
        munmap(base, size);
}

TEST_F(GrantRevoke, somebody_who_does_not_stop)
{
    constexpr int rounds = 12;
    for (int round = 0; round < rounds; round++) {
        const Ticket ticket = grant(16, size - 16);
        Child attacker([&](Link &link) {
            const Fd handle = redeemed(ticket);
            void *base =
                raw::map(handle.get(), 3 * page, PROT_READ | PROT_WRITE, static_cast<off_t>(page));
            ASSERT_NE(base, nullptr);
            std::thread([&] {
                for (std::uint64_t n = 1;; n++)
                    word(base, n * 64 % (3 * page)) = n;
            }).detach();
            word(base) = 1;
            link.tell();
            for (std::uint64_t n = 1;; n++) {
                local.at() = n;
                copy(handle.get(), RSM_IOC_PUTV, local.data(), 16, size - 16);
            }
        });
        attacker.hear();
        const std::uint64_t before = memory.at(page);
        EXPECT_TRUE(eventually([&] { return memory.at(page) != before; })) << "no attack";
        ASSERT_EQ(raw::revoke(exported.get(), ticket), success);
        fill(memory);
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        for (std::size_t at = 0; at < size; at++)
            ASSERT_EQ(memory.data()[at], pattern(at)) << "round " << round << " at " << at;
        EXPECT_EQ(::kill(attacker.pid(), 0), 0) << "it goes on, without effect";
        attacker.kill();
    }
}

TEST_F(GrantRevoke, in_the_moment_of_a_redeem)
{
    std::atomic<bool> done = false;
    std::atomic<std::uint64_t> offered[2] = {};
    std::atomic<unsigned> redeemed_in_time = 0;
    std::thread redeemer([&] {
        while (!done) {
            const Ticket ticket{{offered[0].load(), offered[1].load()}};
            const Fd handle = raw::open_segment();
            if (raw::redeem(handle.get(), ticket) != success)
                continue;
            redeemed_in_time++;
            // It ends, though nobody will ever revoke it again.
            EXPECT_TRUE(eventually([&] { return hung_up(handle.get()); }));
        }
    });
    for (int round = 0; round < 2000; round++) {
        const Ticket ticket = grant_all();
        offered[0] = ticket.word[0];
        offered[1] = ticket.word[1];
        if (round % 3 == 0)
            std::this_thread::yield();
        EXPECT_EQ(raw::revoke(exported.get(), ticket), success);
    }
    done = true;
    redeemer.join();
    EXPECT_EQ(kernel_counters()["grants"], 0);
    // It may never have been quick enough, where there is one processor.
    RecordProperty("redeemed", static_cast<int>(redeemed_in_time.load()));
}

TEST_F(GrantRevoke, after_the_holder_has_closed)
{
    const Ticket ticket = grant_all();
    Fd handle = redeemed(ticket);
    void *base = map_all(handle);
    ASSERT_NE(base, nullptr);
    handle.reset();
    word(base) = 3;
    EXPECT_EQ(memory.at(), 3u) << "the mapping outlives the descriptor";
    ASSERT_EQ(raw::revoke(exported.get(), ticket), success);
    EXPECT_EQ(word(base), 0u);
    munmap(base, size);
    const Ticket another = grant_all();
    redeemed(another).reset();
    EXPECT_EQ(raw::revoke(exported.get(), another), success);
}

// A holder closes its handle while the kernel takes the import from the list and drops its letter. The
// holder preempts the revoker on their one processor, in each round at a later point of REVOKE.
TEST_F(GrantRevoke, while_the_holder_closes)
{
    const OneProcessor one;
    for (int round = 0; round < 600; round++) {
        const Ticket ticket = grant_all();
        Fd handle = redeemed(ticket);
        const timespec begin = after(now(), 8000 * MICROSECOND);
        std::thread holder([&] {
            OneProcessor::first();
            sleep_until(after(begin, round * 2 * MICROSECOND));
            handle = Fd();
        });
        sleep_until(begin);
        EXPECT_EQ(raw::revoke(exported.get(), ticket), success);
        holder.join();
    }
}
