// SPDX-License-Identifier: GPL-2.0
// Ends of grants with their export, and rights to grant.
#include "grant/grant.hpp"
#include "interconnects/testctl.hpp"

#include <algorithm>
#include <unistd.h>

using namespace rsmtest;
using raw::status;
using raw::success;
using raw::Ticket;

namespace {

const auto no_such_ticket = status(RSMERR_SEG_NOT_PUBLISHED);

class GrantLife : public GrantTest {
protected:
    // The import is at its end, and so is the ticket.
    static void expect_ended(const Fd &handle, void *base, const Ticket &ticket)
    {
        EXPECT_TRUE(eventually([&] { return hung_up(handle.get()); }));
        EXPECT_EQ(word(base), 0u);
        const Fd late = raw::open_segment();
        EXPECT_EQ(raw::redeem(late.get(), ticket), no_such_ticket);
    }
    // Runs in another process: exports two pages and grants them.
    static void serve(Link &link)
    {
        Pages pages(2);
        pages.at() = 111;
        const Fd handle = raw::open_segment();
        ASSERT_EQ(raw::bind(handle.get(), pages.data(), pages.size(), RSM_BIND_LOCAL), success);
        Ticket ticket;
        ASSERT_EQ(raw::grant(handle.get(), ticket, 0, pages.size()), success);
        tell(link, ticket);
        link.hear();
    }
};

} // namespace

TEST_F(GrantLife, exporter_killed)
{
    for (int round = 0; round < 5; round++) {
        Child exporter(serve);
        const Ticket ticket = hear_ticket(exporter.link());
        const Fd handle = redeemed(ticket);
        void *base = raw::map(handle.get(), 2 * page);
        ASSERT_NE(base, nullptr);
        EXPECT_EQ(word(base), 111u);
        exporter.kill();
        expect_ended(handle, base, ticket);
        munmap(base, 2 * page);
    }
}

TEST_F(GrantLife, exporter_exits)
{
    Child exporter(serve);
    const Ticket ticket = hear_ticket(exporter.link());
    const Fd handle = redeemed(ticket);
    void *base = raw::map(handle.get(), 2 * page);
    ASSERT_NE(base, nullptr);
    exporter.tell();
    exporter.expect_success();
    expect_ended(handle, base, ticket);
    munmap(base, 2 * page);
}

TEST_F(GrantLife, destroyed_closed_or_unmapped)
{
    for (int way = 0; way < 3; way++) {
        Pages pages(2);
        pages.at() = 7;
        Fd exporting = raw::open_segment();
        ASSERT_EQ(raw::bind(exporting.get(), pages.data(), pages.size(), RSM_BIND_LOCAL), success);
        Ticket ticket;
        ASSERT_EQ(raw::grant(exporting.get(), ticket, 0, pages.size()), success);
        const Fd handle = redeemed(ticket);
        void *base = raw::map(handle.get(), 2 * page);
        ASSERT_NE(base, nullptr);
        EXPECT_EQ(word(base), 7u);
        if (way == 0) {
            EXPECT_EQ(raw::destroy(exporting.get()), success);
            EXPECT_TRUE(hung_up(handle.get())) << "destroy returned before";
        } else if (way == 1) {
            exporting.reset();
        } else {
            munmap(pages.data() + page, page);
        }
        expect_ended(handle, base, ticket);
        munmap(base, 2 * page);
    }
}

TEST_F(GrantLife, a_forked_child_grants_nothing)
{
    const Ticket ticket = grant_all();
    in_child([&] {
        Ticket own;
        EXPECT_EQ(raw::grant(exported.get(), own, 0, 8), status(RSMERR_NOT_CREATOR));
        EXPECT_EQ(raw::revoke(exported.get(), ticket), status(RSMERR_NOT_CREATOR));
        const Fd handle = redeemed(ticket);
        EXPECT_EQ(copy(handle.get(), RSM_IOC_GETV, local.data(), 0, 8), success);
    });
    const Fd handle = redeemed(ticket);
    EXPECT_FALSE(hung_up(handle.get()));
}

TEST_F(GrantLife, a_child_that_holds_the_descriptor_keeps_no_grant)
{
    Child exporter([&](Link &link) {
        Pages pages(2);
        const Fd handle = raw::open_segment();
        ASSERT_EQ(raw::bind(handle.get(), pages.data(), pages.size(), RSM_BIND_LOCAL), success);
        Ticket ticket;
        ASSERT_EQ(raw::grant(handle.get(), ticket, 0, pages.size()), success);
        link.send_fd(handle.get());
        tell(link, ticket);
        link.hear();
    });
    const Fd kept = exporter.link().receive_fd();
    const Ticket ticket = hear_ticket(exporter.link());
    const Fd handle = redeemed(ticket);
    void *base = raw::map(handle.get(), 2 * page);
    ASSERT_NE(base, nullptr);
    Ticket own;
    EXPECT_EQ(raw::grant(kept.get(), own, 0, 8), status(RSMERR_NOT_CREATOR));
    exporter.kill();
    expect_ended(handle, base, ticket);
    munmap(base, 2 * page);
}

TEST_F(GrantLife, handles_close_in_any_order)
{
    Unchanged unchanged;
    Pages pages(1);
    Fd exporting = raw::open_segment();
    ASSERT_EQ(raw::bind(exporting.get(), pages.data(), page, RSM_BIND_LOCAL), success);
    Ticket ticket;
    ASSERT_EQ(raw::grant(exporting.get(), ticket, 0, page), success);
    Fd first = redeemed(ticket);
    Fd second = redeemed(ticket);
    first.reset();
    exporting.reset();
    EXPECT_EQ(raw::post(second.get()), status(RSMERR_CONN_ABORTED));
    second.reset();
}

TEST_F(GrantLife, pins_are_charged_once)
{
    const std::int64_t before = kernel_counters()["pinned_pages"];
    Pages pages(8);
    Fd exporting = raw::open_segment();
    ASSERT_EQ(raw::bind(exporting.get(), pages.data(), pages.size(), RSM_BIND_LOCAL), success);
    const std::int64_t bound = kernel_counters()["pinned_pages"];
    EXPECT_EQ(bound, before + 8);
    Ticket ticket;
    ASSERT_EQ(raw::grant(exporting.get(), ticket, 0, pages.size()), success);
    const Fd handle = redeemed(ticket);
    void *base = raw::map(handle.get(), pages.size());
    ASSERT_NE(base, nullptr);
    word(base) = 1;
    EXPECT_EQ(kernel_counters()["pinned_pages"], bound);
    exporting.reset();
    EXPECT_EQ(kernel_counters()["pinned_pages"], before) << "a mapping of the dead holds nothing";
    munmap(base, pages.size());
}

// No controller is asked: neither one that has memory of its own, nor one that
// can't map.
TEST_F(GrantLife, any_controller)
{
    const TestControllers module;
    ASSERT_TRUE(module.loaded());
    for (const char *name : {"window0", "nomap0", "loopback"}) {
        SCOPED_TRACE(name);
        Pages pages(2);
        fill(pages);
        const Fd exporting = raw::open_segment();
        rsm_bind bind =
            raw::bind_argument(pages.data(), pages.size(), RSM_BIND_LOCAL, -1, name);
        ASSERT_EQ(raw::call(exporting.get(), RSM_IOC_BIND, bind), success);
        EXPECT_EQ(bind.window, 0u);
        Ticket ticket;
        ASSERT_EQ(raw::grant(exporting.get(), ticket, 4, page + 100), success);
        const Fd handle = redeemed(ticket);
        EXPECT_EQ(refused(handle.get(), page, PROT_READ, 0), ENXIO);
        EXPECT_EQ(copy(handle.get(), RSM_IOC_GETV, local.data(), 4, page + 100), success);
        EXPECT_TRUE(std::equal(local.data(), local.data() + page + 100, pages.data() + 4));
        EXPECT_EQ(raw::post(handle.get()), success);
        EXPECT_EQ(raw::wait(exporting.get()), success);
        EXPECT_EQ(raw::post(exporting.get()), success);
        EXPECT_EQ(raw::wait(handle.get()), success);
        EXPECT_EQ(raw::barrier(handle.get(), RSM_BARRIER_CLOSE), success);
        Ticket whole;
        ASSERT_EQ(raw::grant(exporting.get(), whole, 0, pages.size()), success);
        const Fd mapped = redeemed(whole);
        void *base = raw::map(mapped.get(), pages.size());
        ASSERT_NE(base, nullptr);
        word(base, page) = 12;
        EXPECT_EQ(pages.at(page), 12u);
        EXPECT_EQ(raw::destroy(exporting.get()), success);
        EXPECT_EQ(word(base, page), 0u);
        munmap(base, pages.size());
    }
}

TEST_F(GrantLife, the_controller_goes_away)
{
    const TestControllers module;
    ASSERT_TRUE(module.loaded());
    Pages pages(2);
    pages.at() = 7;
    const Fd exporting = raw::open_segment();
    rsm_bind bind = raw::bind_argument(pages.data(), pages.size(), RSM_BIND_LOCAL, -1, "window0");
    ASSERT_EQ(raw::call(exporting.get(), RSM_IOC_BIND, bind), success);
    Ticket ticket;
    ASSERT_EQ(raw::grant(exporting.get(), ticket, 0, pages.size()), success);
    const Fd handle = redeemed(ticket);
    void *base = raw::map(handle.get(), pages.size());
    ASSERT_NE(base, nullptr);
    EXPECT_EQ(word(base), 7u);
    ASSERT_TRUE(write_text("/sys/module/rsm_testctl/parameters/remove_window", "1"));
    EXPECT_TRUE(hung_up(handle.get())) << "not ended when the removal was done";
    expect_ended(handle, base, ticket);
    EXPECT_EQ(copy(handle.get(), RSM_IOC_PUTV, local.data(), 0, 8), status(RSMERR_CONN_ABORTED));
    EXPECT_EQ(raw::grant(exporting.get(), ticket, 0, 8), status(RSMERR_BAD_SEG_HNDL));
    EXPECT_EQ(raw::post(exporting.get()), success);
    const Fd untouched = redeemed(grant_all());
    EXPECT_FALSE(hung_up(untouched.get())) << "another controller's";
    munmap(base, pages.size());
}
