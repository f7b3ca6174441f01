// SPDX-License-Identifier: GPL-2.0
// An exporter, an importer and a holder of a ticket are killed before and after each of their system calls.
#include "support/raw.hpp"
#include "support/traced.hpp"

#include <cstdio>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace rsmtest;
using raw::success;

namespace {

constexpr std::uint32_t the_id = 0x630000;

bool ended(const Fd &handle)
{
    pollfd entry{handle.get(), POLLRDHUP, 0};
    return poll(&entry, 1, 0) == 1;
}

// All that an exporter does; its handles go with it.
void export_and_go()
{
    const Pages memory(2), other(2);
    const Fd control = raw::open_control();
    const Fd handle = raw::open_segment();
    auto bind = raw::bind_argument(memory.data(), memory.size(), RSM_ALLOW_REBIND, control.get());
    ASSERT_EQ(raw::call(handle.get(), RSM_IOC_BIND, bind), success);
    std::uint32_t id = the_id;
    ASSERT_EQ(raw::publish(handle.get(), id), success);
    ASSERT_EQ(raw::republish(handle.get()), success);
    ASSERT_EQ(raw::rebind(handle.get(), other.data(), other.size()), success);
    ASSERT_EQ(raw::post(handle.get()), success);
    ASSERT_EQ(raw::unpublish(handle.get()), success);
    ASSERT_EQ(raw::publish(handle.get(), id), success);
    ASSERT_EQ(raw::destroy(handle.get()), success);
}

// All that an importer does with a segment.
void import_and_go(std::uint32_t id)
{
    const Fd control = raw::open_control();
    void *words = raw::map(control.get(), page_size(), PROT_READ, RSM_MMAP_STATUS);
    ASSERT_NE(words, nullptr);
    const Fd handle = raw::open_segment();
    auto connect = raw::connect_argument(id, RSM_PERM_RDWR, control.get());
    ASSERT_EQ(raw::call(handle.get(), RSM_IOC_CONNECT, connect), success);
    void *base = raw::map(handle.get(), connect.length);
    ASSERT_NE(base, nullptr);
    *static_cast<volatile std::uint64_t *>(base) = 1;
    const std::uint64_t value = 2;
    const rsm_transfer_entry entry = raw::entry(&value, 8, sizeof(value));
    ASSERT_EQ(raw::transfer(handle.get(), RSM_IOC_PUTV, {&entry, 1}, RSM_IMPLICIT_SIGPOST), success);
    ASSERT_EQ(raw::barrier(handle.get(), RSM_BARRIER_CLOSE), success);
    ASSERT_EQ(raw::post(handle.get()), success);
    ASSERT_EQ(raw::unmap(handle.get(), base, page_size()), success);
}

void send_and_go(const raw::Ticket &ticket)
{
    const Fd handle = raw::open_segment();
    ASSERT_EQ(raw::redeem(handle.get(), ticket), success);
    rsm_message message{};
    ASSERT_EQ(raw::call(handle.get(), RSM_IOC_SEND, message), success);
}

void say(int killed)
{
    EXPECT_GT(killed, 10) << "the body made hardly a call";
    std::printf("note: killed %d\n", killed);
}

} // namespace

TEST(LifetimeKilledAtEachCall, exporter)
{
    const Counters before = kernel_counters();
    say(killed_at_each_call(export_and_go, [&](int n) {
        EXPECT_TRUE(eventually([&] { return kernel_counters() == before; })) << "after stop " << n;
        // The id is free for others.
        std::uint32_t id = the_id;
        const raw::Published segment;
        EXPECT_EQ(raw::unpublish(segment.handle.get()), success);
        EXPECT_EQ(raw::publish(segment.handle.get(), id), success) << "after stop " << n;
    }));
}

TEST(LifetimeKilledAtEachCall, importer)
{
    const raw::Published segment(2);
    const Counters before = kernel_counters();
    say(killed_at_each_call([&] { import_and_go(segment.id); }, [&](int n) {
        EXPECT_TRUE(eventually([&] { return kernel_counters() == before; })) << "after stop " << n;
        // The exporter takes the dead one's events, and has other importers.
        while (raw::wait(segment.handle.get()) == success)
            ;
        const Fd handle = raw::open_segment();
        EXPECT_EQ(raw::connect(handle.get(), segment.id), success) << "after stop " << n;
        EXPECT_FALSE(ended(handle));
    }));
}

TEST(LifetimeKilledAtEachCall, sender)
{
    const Pages memory(1);
    const Fd exporter = raw::open_segment();
    ASSERT_EQ(raw::bind(exporter.get(), memory.data(), memory.size(), RSM_BIND_LOCAL), success);
    rsm_grant grant{};
    grant.flags = RSM_GRANT_SEND;
    ASSERT_EQ(raw::call(exporter.get(), RSM_IOC_GRANT, grant), success);
    const raw::Ticket ticket{{grant.ticket[0], grant.ticket[1]}};
    const Counters before = kernel_counters();
    const int killed = killed_at_each_call([&] { send_and_go(ticket); }, [&](int n) {
        EXPECT_TRUE(eventually([&] { return kernel_counters() == before; })) << "after stop " << n;
        // Its message has gone with it.
        rsm_message message{};
        EXPECT_EQ(raw::call(exporter.get(), RSM_IOC_RECEIVE, message), raw::status(RSMERR_TIMEOUT));
    });
    EXPECT_GT(killed, 4);
}
