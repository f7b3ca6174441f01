// SPDX-License-Identifier: GPL-2.0
// Which handle takes which command, and what the answers say.
#include "support/child.hpp"
#include "support/raw.hpp"
#include "support/unchanged.hpp"

#include <cstring>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/mman.h>

using namespace rsmtest;
using raw::error;
using raw::status;
using raw::success;

namespace {

const auto wrong_kind = status(RSMERR_BAD_SEG_HNDL);

class UapiKinds : public testing::Test {
protected:
    void SetUp() override
    {
        ASSERT_TRUE(published.ok);
        ASSERT_EQ(raw::connect(imported.get(), published.id), success);
    }
    raw::Published published{2, RSM_ALLOW_REBIND};
    Fd control = raw::open_control();
    Fd blank = raw::open_segment();
    Fd imported = raw::open_segment();
    Pages memory{2};
    std::uint32_t id = 0;
};

} // namespace

TEST_F(UapiKinds, table_of_commands)
{
    Unchanged unchanged;
    const int exported = published.handle.get();
    const rsm_transfer_entry entry = raw::entry(memory.data(), 0, 8);

    for (const int fd : {control.get(), blank.get(), exported, imported.get()}) {
        rsm_info info{};
        EXPECT_EQ(raw::call(fd, RSM_IOC_INFO, info), success);
        rsm_attr attr{};
        std::strcpy(attr.controller, "loopback");
        EXPECT_EQ(raw::call(fd, RSM_IOC_ATTR, attr), success);
        rsm_topology_query query{};
        EXPECT_EQ(raw::call(fd, RSM_IOC_TOPOLOGY, query), success);
    }
    for (const int fd : {control.get(), exported, imported.get()}) {
        EXPECT_EQ(raw::bind(fd, memory.data(), memory.size()), wrong_kind);
        EXPECT_EQ(raw::connect(fd, published.id), wrong_kind);
        EXPECT_EQ(raw::redeem(fd, {}), wrong_kind);
    }
    for (const int fd : {control.get(), blank.get(), imported.get()}) {
        EXPECT_EQ(raw::rebind(fd, memory.data(), memory.size()), wrong_kind);
        EXPECT_EQ(raw::publish(fd, id), wrong_kind);
        EXPECT_EQ(raw::republish(fd), wrong_kind);
        EXPECT_EQ(raw::unpublish(fd), wrong_kind);
        EXPECT_EQ(raw::destroy(fd), wrong_kind);
        rsm_range range{};
        EXPECT_EQ(raw::call(fd, RSM_IOC_RANGE, range), wrong_kind);
        raw::Ticket ticket;
        EXPECT_EQ(raw::grant(fd, ticket, 0, 8), wrong_kind);
        EXPECT_EQ(raw::revoke(fd, ticket), wrong_kind);
        rsm_message message{};
        EXPECT_EQ(raw::call(fd, RSM_IOC_RECEIVE, message), wrong_kind);
    }
    for (const int fd : {control.get(), blank.get()}) {
        EXPECT_EQ(raw::post(fd), wrong_kind);
        EXPECT_EQ(raw::wait(fd), wrong_kind);
    }
    for (const int fd : {control.get(), blank.get(), exported}) {
        EXPECT_EQ(raw::transfer(fd, RSM_IOC_PUTV, {&entry, 1}), wrong_kind);
        EXPECT_EQ(raw::transfer(fd, RSM_IOC_GETV, {&entry, 1}), wrong_kind);
        EXPECT_EQ(raw::barrier(fd, RSM_BARRIER_OPEN), wrong_kind);
        EXPECT_EQ(raw::unmap(fd, memory.data(), memory.size()), wrong_kind);
        rsm_message message{};
        EXPECT_EQ(raw::call(fd, RSM_IOC_SEND, message), wrong_kind);
    }
    for (const int fd : {exported, imported.get()}) {
        const int other = fd == exported ? imported.get() : exported;
        EXPECT_EQ(raw::post(fd), success);
        EXPECT_EQ(raw::wait(fd), status(RSMERR_TIMEOUT));
        EXPECT_EQ(raw::wait(other), success) << "each gets the other's event";
    }
    EXPECT_EQ(raw::transfer(imported.get(), RSM_IOC_PUTV, {&entry, 1}), success);
    for (const std::uint32_t op : {RSM_BARRIER_OPEN, RSM_BARRIER_ORDER, RSM_BARRIER_CLOSE})
        EXPECT_EQ(raw::barrier(imported.get(), op), success);
}

TEST_F(UapiKinds, a_failed_first_command_leaves_the_handle_blank)
{
    EXPECT_EQ(raw::bind(blank.get(), nullptr, memory.size()), status(RSMERR_BAD_ADDR));
    EXPECT_EQ(raw::connect(blank.get(), 0x600999), status(RSMERR_SEG_NOT_PUBLISHED));
    EXPECT_EQ(raw::bind(blank.get(), memory.data() + 1, memory.size()),
              status(RSMERR_BAD_MEM_ALIGNMENT));
    EXPECT_EQ(raw::post(blank.get()), wrong_kind);
    EXPECT_EQ(raw::connect(blank.get(), published.id), success);
    EXPECT_EQ(raw::bind(blank.get(), memory.data(), memory.size()), wrong_kind);
}

TEST_F(UapiKinds, destroyed_handles_are_good_for_close_only)
{
    const int exported = published.handle.get();
    in_child([&] { EXPECT_EQ(raw::destroy(exported), status(RSMERR_NOT_CREATOR)); });
    EXPECT_EQ(raw::post(imported.get()), success) << "the child's call did something";
    EXPECT_EQ(raw::destroy(exported), success);
    EXPECT_EQ(raw::post(imported.get()), status(RSMERR_CONN_ABORTED));
    EXPECT_EQ(raw::connect(blank.get(), published.id), status(RSMERR_SEG_NOT_PUBLISHED));
    EXPECT_NE(raw::publish(exported, id), success);
    EXPECT_NE(raw::unpublish(exported), success);
    EXPECT_NE(raw::republish(exported), success);
    EXPECT_NE(raw::rebind(exported, memory.data(), memory.size()), success);
    EXPECT_EQ(raw::bind(exported, memory.data(), memory.size()), wrong_kind);
    raw::destroy(exported);
}

TEST_F(UapiKinds, bind_statuses)
{
    Unchanged unchanged;
    const int fd = blank.get();
    const std::size_t page = page_size();
    EXPECT_EQ(raw::bind(fd, memory.data(), 0), status(RSMERR_BAD_LENGTH));
    EXPECT_EQ(raw::bind(fd, memory.data(), 8), status(RSMERR_BAD_MEM_ALIGNMENT));
    EXPECT_EQ(raw::bind(fd, memory.data() + 8, page), status(RSMERR_BAD_MEM_ALIGNMENT));
    rsm_bind other = raw::bind_argument(memory.data(), page, 0, -1, "nosuch0");
    EXPECT_EQ(raw::call(fd, RSM_IOC_BIND, other), status(RSMERR_CTLR_NOT_PRESENT));
    rsm_bind unnamed = raw::bind_argument(memory.data(), page, 0, -1, "");
    EXPECT_EQ(raw::call(fd, RSM_IOC_BIND, unnamed), status(RSMERR_CTLR_NOT_PRESENT));
    // ranges that wrap, and kernel addresses
    for (const std::uint64_t address :
         {0xfffffffffffff000ull, 0xffff888000000000ull, 0x00007ffffffff000ull, 0x1000000000000000ull}) {
        const auto outcome = raw::bind(fd, reinterpret_cast<void *>(address), page);
        EXPECT_EQ(outcome, status(RSMERR_BAD_ADDR)) << std::hex << address;
    }
    for (const std::uint64_t length : {0xfffffffffffff000ull, 0x8000000000000000ull,
                                       0x00007ffffffff000ull, 0x100000000000ull}) {
        const auto outcome = raw::bind(fd, memory.data(), length);
        EXPECT_TRUE(outcome == status(RSMERR_BAD_ADDR) || outcome == status(RSMERR_BAD_LENGTH))
            << std::hex << length << ": " << outcome;
    }
    const Pages read_only(1, PROT_READ);
    EXPECT_EQ(raw::bind(fd, read_only.data(), page), status(RSMERR_PERM_DENIED));
    Pages gone(1);
    void *where = gone.data();
    gone.release();
    EXPECT_EQ(raw::bind(fd, where, page), status(RSMERR_BAD_ADDR));
    EXPECT_EQ(raw::bind(fd, memory.data(), memory.size(), RSM_CREATE_SEG_DONTWAIT), success);
    blank.reset();
}

TEST_F(UapiKinds, an_import_mapping_is_nothing_to_export)
{
    Unchanged unchanged;
    void *base = raw::map(imported.get(), 2 * page_size());
    ASSERT_NE(base, nullptr);
    EXPECT_NE(raw::bind(blank.get(), base, 2 * page_size()), success);
    EXPECT_EQ(munmap(base, 2 * page_size()), 0);
}

TEST_F(UapiKinds, topology_arrays)
{
    rsm_topology_query query{};
    EXPECT_EQ(raw::call(control.get(), RSM_IOC_TOPOLOGY, query), success);
    EXPECT_EQ(query.node_id, raw::local_node());
    // far more room than needed, at an address that can't be written
    rsm_topology_query wild{};
    wild.controllers = 8;
    wild.peers = ~0ull - 7;
    wild.controller_count = ~0u;
    wild.peer_count = ~0u;
    const auto outcome = raw::call(control.get(), RSM_IOC_TOPOLOGY, wild);
    EXPECT_TRUE(outcome == status(RSMERR_BAD_ADDR) ||
                (outcome == success && wild.controller_count == 0))
        << outcome;
}

TEST_F(UapiKinds, numbers_are_unique)
{
    rsm_bind first = raw::bind_argument(memory.data(), memory.size(), 0, control.get());
    EXPECT_EQ(raw::call(blank.get(), RSM_IOC_BIND, first), success);
    const Fd other = raw::open_segment();
    rsm_connect second = raw::connect_argument(published.id, RSM_PERM_READ, control.get());
    EXPECT_EQ(raw::call(other.get(), RSM_IOC_CONNECT, second), success);
    EXPECT_NE(first.number, second.number);
    EXPECT_NE(first.slot, second.slot);
    EXPECT_LT(first.slot, static_cast<std::uint32_t>(RSM_TABLE_SLOTS));
    EXPECT_LT(second.slot, static_cast<std::uint32_t>(RSM_TABLE_SLOTS));
    EXPECT_EQ(second.length, published.memory.size());
    EXPECT_EQ(second.mappable, 1u);
    const Fd third = raw::open_segment();
    rsm_connect without = raw::connect_argument(published.id, RSM_PERM_READ);
    EXPECT_EQ(raw::call(third.get(), RSM_IOC_CONNECT, without), success);
    EXPECT_EQ(without.slot, RSM_NO_SLOT);
}

TEST_F(UapiKinds, poll_on_handles_without_events)
{
    for (const int fd : {control.get(), blank.get()}) {
        pollfd entry{fd, POLLIN | POLLRDNORM | POLLRDHUP, 0};
        EXPECT_GE(poll(&entry, 1, 0), 0);
        EXPECT_EQ(entry.revents & (POLLIN | POLLRDNORM), 0);
    }
}

TEST_F(UapiKinds, waits_of_any_length)
{
    EXPECT_EQ(raw::wait(imported.get(), 0), status(RSMERR_TIMEOUT));
    EXPECT_EQ(raw::wait(imported.get(), 1), status(RSMERR_TIMEOUT));
    EXPECT_EQ(raw::wait(imported.get(), 5000000), status(RSMERR_TIMEOUT));
    EXPECT_EQ(raw::post(published.handle.get()), success);
    EXPECT_EQ(raw::post(published.handle.get()), success);
    EXPECT_EQ(raw::wait(imported.get(), 0x7fffffffffffffff), success);
    EXPECT_EQ(raw::wait(imported.get(), static_cast<std::int64_t>(1ull << 63)), success);
    EXPECT_EQ(raw::wait(imported.get(), 0), status(RSMERR_TIMEOUT));
}

// A structure can be used for one call after the other.
TEST_F(UapiKinds, the_size_is_the_callers)
{
    rsm_attr attr{};
    std::strcpy(attr.controller, "loopback");
    rsm_info info{};
    rsm_topology_query query{};
    attr.size = sizeof(attr);
    info.size = sizeof(info);
    query.size = sizeof(query);
    for (int call = 0; call < 2; call++) {
        EXPECT_EQ(ioctl(control.get(), RSM_IOC_ATTR, &attr), 0) << call;
        EXPECT_EQ(ioctl(control.get(), RSM_IOC_INFO, &info), 0) << call;
        EXPECT_EQ(ioctl(control.get(), RSM_IOC_TOPOLOGY, &query), 0) << call;
        EXPECT_EQ(attr.size, sizeof(attr));
        EXPECT_EQ(info.size, sizeof(info));
        EXPECT_EQ(query.size, sizeof(query));
    }
    struct {
        rsm_attr known{};
        std::uint64_t later = 0;
    } larger;
    larger.known.size = sizeof(larger);
    std::strcpy(larger.known.controller, "loopback");
    EXPECT_EQ(ioctl(control.get(), RSM_IOC_ATTR, &larger), 0);
    EXPECT_EQ(larger.known.size, sizeof(larger));
}

// epoll asks a file only once where to wait for it.
TEST_F(UapiKinds, epoll_of_a_blank_handle)
{
    const Fd poller(epoll_create1(EPOLL_CLOEXEC));
    epoll_event wanted{EPOLLIN | EPOLLRDHUP | EPOLLET, {}};
    ASSERT_EQ(epoll_ctl(poller.get(), EPOLL_CTL_ADD, blank.get(), &wanted), 0);
    epoll_event event{};
    EXPECT_EQ(epoll_wait(poller.get(), &event, 1, 0), 0) << "a blank handle reports nothing";
    ASSERT_EQ(raw::connect(blank.get(), published.id), success);
    ASSERT_EQ(raw::post(published.handle.get()), success);
    ASSERT_EQ(epoll_wait(poller.get(), &event, 1, -1), 1);
    EXPECT_TRUE(event.events & EPOLLIN);
    ASSERT_EQ(raw::wait(blank.get()), success);
    ASSERT_EQ(raw::unpublish(published.handle.get()), success);
    ASSERT_EQ(epoll_wait(poller.get(), &event, 1, -1), 1);
    EXPECT_EQ(event.events, static_cast<std::uint32_t>(EPOLLRDHUP));
}

TEST_F(UapiKinds, unmap_statuses)
{
    Unchanged unchanged;
    const int fd = imported.get();
    const std::size_t page = page_size();
    auto *mapped = static_cast<std::byte *>(raw::map(fd, 2 * page));
    ASSERT_NE(mapped, MAP_FAILED);
    EXPECT_EQ(raw::unmap(fd, mapped + 8, page), status(RSMERR_BAD_MEM_ALIGNMENT));
    EXPECT_EQ(raw::unmap(fd, mapped, 0), status(RSMERR_BAD_ADDR));
    EXPECT_EQ(raw::unmap(fd, mapped, ~std::uint64_t{0}), status(RSMERR_BAD_ADDR));
    EXPECT_EQ(raw::unmap(fd, mapped, ~std::uint64_t{0} - 2 * page), status(RSMERR_BAD_ADDR));
    EXPECT_EQ(raw::unmap(fd, reinterpret_cast<void *>(~(page - 1)), page), status(RSMERR_BAD_ADDR));
    EXPECT_EQ(raw::unmap(fd, memory.data(), memory.size()), success) << "nothing of it is there";
    memory.at(0) = 1;

    // Another handle's mapping of the same segment stays.
    const Fd other = raw::open_segment();
    ASSERT_EQ(raw::connect(other.get(), published.id), success);
    EXPECT_EQ(raw::unmap(other.get(), mapped, 2 * page), success);
    EXPECT_EQ(msync(mapped, 2 * page, MS_ASYNC), 0);
    EXPECT_EQ(raw::unmap(fd, mapped, page + 1), success) << "the last page counts as a whole";
    EXPECT_EQ(msync(mapped, page, MS_ASYNC), -1);
    EXPECT_EQ(msync(mapped + page, page, MS_ASYNC), -1);
}
