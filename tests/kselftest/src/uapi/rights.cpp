// SPDX-License-Identifier: GPL-2.0
// Rights against a caller that never loads librsm.
#include "support/child.hpp"
#include "support/raw.hpp"
#include "support/unchanged.hpp"

#include <cerrno>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace rsmtest;
using raw::error;
using raw::status;
using raw::success;

namespace {

// A segment of root's that others may do what the mode says.
class UapiRights : public testing::Test {
protected:
    void SetUp() override
    {
        ASSERT_TRUE(published.ok);
        const rsm_acl_entry all{raw::local_node(), 0666};
        ASSERT_EQ(raw::republish(published.handle.get(), {&all, 1}), success);
    }
    void allow(std::uint32_t mode)
    {
        const rsm_acl_entry entry{raw::local_node(), mode};
        ASSERT_EQ(raw::republish(published.handle.get(), {&entry, 1}), success);
    }
    raw::Published published{2, RSM_ALLOW_REBIND};
    Pages local{1};
};

} // namespace

TEST_F(UapiRights, connect_asks_the_kernel_not_the_library)
{
    struct Case {
        std::uint32_t mode;
        std::uint32_t wanted;
        bool fine;
    };
    for (const Case &c : {Case{0660, 0400, false}, Case{0660, 0200, false}, Case{0664, 0400, true},
                          Case{0664, 0200, false}, Case{0664, 0600, false}, Case{0662, 0200, true},
                          Case{0666, 0600, true}, Case{0660, 0, true}}) {
        allow(c.mode);
        in_child_as(alice(), [&] {
            const Fd handle = raw::open_segment();
            EXPECT_EQ(raw::connect(handle.get(), published.id, c.wanted),
                      c.fine ? success : status(RSMERR_PERM_DENIED))
                << std::oct << c.mode << " " << c.wanted;
        });
    }
    const Fd handle = raw::open_segment();
    for (const std::uint32_t permission : {01u, 0100u, 0777u, 0666u, 0x80000000u, ~0u})
        EXPECT_EQ(raw::connect(handle.get(), published.id, permission), status(RSMERR_PERM_DENIED));
    rsm_connect foreign = raw::connect_argument(published.id, RSM_PERM_READ);
    foreign.node++;
    EXPECT_EQ(raw::call(handle.get(), RSM_IOC_CONNECT, foreign), status(RSMERR_CTLR_NOT_PRESENT));
    rsm_connect nowhere = raw::connect_argument(published.id, RSM_PERM_READ, -1, "nosuch0");
    EXPECT_EQ(raw::call(handle.get(), RSM_IOC_CONNECT, nowhere), status(RSMERR_CTLR_NOT_PRESENT));
}

TEST_F(UapiRights, transfers)
{
    const rsm_transfer_entry entry = raw::entry(local.data(), 0, 8);
    local.at() = 9;
    const Fd reader = raw::open_segment();
    ASSERT_EQ(raw::connect(reader.get(), published.id, RSM_PERM_READ), success);
    std::uint32_t residual = 0;
    EXPECT_EQ(raw::transfer(reader.get(), RSM_IOC_PUTV, {&entry, 1}, 0, &residual),
              status(RSMERR_PERM_DENIED));
    EXPECT_EQ(residual, 1u);
    EXPECT_EQ(published.memory.at(), 0u);
    const Fd writer = raw::open_segment();
    ASSERT_EQ(raw::connect(writer.get(), published.id, RSM_PERM_WRITE), success);
    EXPECT_EQ(raw::transfer(writer.get(), RSM_IOC_GETV, {&entry, 1}), status(RSMERR_PERM_DENIED));
    EXPECT_EQ(local.at(), 9u);
    const Fd none = raw::open_segment();
    ASSERT_EQ(raw::connect(none.get(), published.id, RSM_PERM_NONE), success);
    EXPECT_EQ(raw::transfer(none.get(), RSM_IOC_PUTV, {&entry, 1}), status(RSMERR_PERM_DENIED));
    EXPECT_EQ(raw::transfer(none.get(), RSM_IOC_GETV, {&entry, 1}), status(RSMERR_PERM_DENIED));
}

TEST_F(UapiRights, transfer_entries)
{
    Unchanged unchanged;
    const Fd handle = raw::open_segment();
    ASSERT_EQ(raw::connect(handle.get(), published.id), success);
    const std::uint64_t size = published.memory.size();
    const Fd own = raw::open_segment();
    Pages own_pages(1);
    ASSERT_EQ(raw::bind(own.get(), own_pages.data(), page_size()), success);
    const Fd device(open("/dev/null", O_RDWR | O_CLOEXEC));
    const Fd blank = raw::open_segment();
    const Fd control = raw::open_control();
    const Pages hole(1, PROT_NONE);

    struct Case {
        const char *what;
        rsm_transfer_entry entry;
        std::uint32_t result;
    };
    std::vector<Case> cases;
    const auto add = [&](const char *what, std::uint32_t result, auto change) {
        rsm_transfer_entry entry = raw::entry(local.data(), 0, 8);
        change(entry);
        cases.push_back({what, entry, result});
    };
    const auto use = [&](int fd) {
        return [fd](rsm_transfer_entry &e) {
            e.type = RSM_HANDLE_TYPE;
            e.fd = fd;
            e.addr = 0;
        };
    };
    add("type 0", RSMERR_BAD_SGIO, [](auto &e) { e.type = 0; });
    add("type 3", RSMERR_BAD_SGIO, [](auto &e) { e.type = 3; });
    add("no fd", RSMERR_BAD_SGIO, use(-1));
    add("an fd that is not open", RSMERR_BAD_SGIO, use(54321));
    add("another device", RSMERR_BAD_SGIO, use(device.get()));
    add("a blank handle", RSMERR_BAD_SGIO, use(blank.get()));
    add("a control handle", RSMERR_BAD_SGIO, use(control.get()));
    add("an import handle", RSMERR_BAD_SGIO, use(handle.get()));
    add("remote offset beyond", RSMERR_BAD_OFFSET, [&](auto &e) { e.remote_offset = size + 1; });
    add("remote offset far beyond", RSMERR_BAD_OFFSET, [](auto &e) { e.remote_offset = ~0ull; });
    add("ends beyond", RSMERR_BAD_LENGTH, [&](auto &e) { e.remote_offset = size - 7; });
    add("remote end wraps", RSMERR_BAD_LENGTH, [](auto &e) {
        e.remote_offset = 16;
        e.length = ~0ull - 8;
    });
    add("local handle too short", RSMERR_BAD_LENGTH, [&](auto &e) {
        use(own.get())(e);
        e.local_offset = page_size() - 4;
    });
    add("local handle offset wraps", RSMERR_BAD_LENGTH, [&](auto &e) {
        use(own.get())(e);
        e.local_offset = ~0ull - 3;
    });
    add("address 0", RSMERR_BAD_ADDR, [](auto &e) { e.addr = 0; });
    add("no access", RSMERR_BAD_ADDR, [&](auto &e) {
        e.addr = reinterpret_cast<std::uintptr_t>(hole.data());
    });
    add("kernel address", RSMERR_BAD_ADDR, [](auto &e) { e.addr = 0xffff888000000000ull; });
    add("address wraps", RSMERR_BAD_ADDR, [](auto &e) { e.local_offset = ~0ull - 100; });
    for (const Case &c : cases) {
        for (const unsigned long command : {RSM_IOC_PUTV, RSM_IOC_GETV}) {
            const rsm_transfer_entry entries[] = {c.entry, raw::entry(local.data(), 64, 8)};
            local.at() = 5;
            std::uint32_t residual = 0;
            EXPECT_EQ(raw::transfer(handle.get(), command, entries, RSM_IMPLICIT_SIGPOST, &residual),
                      status(c.result))
                << c.what;
            EXPECT_EQ(residual, 2u) << c.what;
            EXPECT_EQ(published.memory.at(64), 0u) << c.what;
            EXPECT_EQ(raw::wait(published.handle.get()), status(RSMERR_TIMEOUT)) << c.what;
        }
    }
    rsm_transfer_entry good = raw::entry(nullptr, 8, 8);
    use(own.get())(good);
    own_pages.at() = 6;
    EXPECT_EQ(raw::transfer(handle.get(), RSM_IOC_PUTV, {&good, 1}), success);
    EXPECT_EQ(published.memory.at(8), 6u);
    // an array that can't be read, and counts out of range
    rsm_transfer request{};
    for (const std::uint32_t count : {0u, 17u, 0x10000000u, ~0u}) {
        request = {};
        request.count = count;
        request.entries = reinterpret_cast<std::uintptr_t>(&good);
        EXPECT_EQ(raw::call(handle.get(), RSM_IOC_PUTV, request), status(RSMERR_BAD_SGIO)) << count;
    }
    for (const std::uint64_t address : {0ull, 0xffff888000000000ull, ~0ull - 7}) {
        request = {};
        request.count = 2;
        request.entries = address;
        EXPECT_EQ(raw::call(handle.get(), RSM_IOC_PUTV, request), status(RSMERR_BAD_ADDR));
    }
}

TEST_F(UapiRights, getv_into_read_only_memory)
{
    const Fd handle = raw::open_segment();
    ASSERT_EQ(raw::connect(handle.get(), published.id), success);
    local.at() = 5;
    ASSERT_EQ(mprotect(local.data(), page_size(), PROT_READ), 0);
    const rsm_transfer_entry entry = raw::entry(local.data(), 0, 8);
    EXPECT_EQ(raw::transfer(handle.get(), RSM_IOC_GETV, {&entry, 1}), status(RSMERR_BAD_ADDR));
    EXPECT_EQ(raw::transfer(handle.get(), RSM_IOC_PUTV, {&entry, 1}), success);
    EXPECT_EQ(published.memory.at(), 5u);
}

TEST_F(UapiRights, only_the_creator_publishes)
{
    Unchanged unchanged;
    const Fd bound = raw::open_segment();
    ASSERT_EQ(raw::bind(bound.get(), local.data(), page_size(), RSM_ALLOW_REBIND), success);
    in_child([&] {
        Pages other(2);
        std::uint32_t id = 0;
        const auto refused = status(RSMERR_NOT_CREATOR);
        EXPECT_EQ(raw::publish(bound.get(), id), refused);
        EXPECT_EQ(raw::republish(published.handle.get()), refused);
        EXPECT_EQ(raw::unpublish(published.handle.get()), refused);
        EXPECT_EQ(raw::rebind(published.handle.get(), other.data(), other.size()), refused);
        // Nor does its memory serve as a local handle of somebody else.
        const Fd handle = raw::open_segment();
        ASSERT_EQ(raw::connect(handle.get(), published.id), success);
        rsm_transfer_entry entry = raw::entry(nullptr, 0, 8);
        entry.type = RSM_HANDLE_TYPE;
        entry.fd = bound.get();
        EXPECT_EQ(raw::transfer(handle.get(), RSM_IOC_PUTV, {&entry, 1}), status(RSMERR_BAD_SGIO));
        EXPECT_EQ(raw::transfer(handle.get(), RSM_IOC_GETV, {&entry, 1}), status(RSMERR_BAD_SGIO));
    });
    const Fd importer = raw::open_segment();
    EXPECT_EQ(raw::connect(importer.get(), published.id), success);
}

TEST_F(UapiRights, publish_statuses)
{
    Unchanged unchanged;
    const Fd bound = raw::open_segment();
    ASSERT_EQ(raw::bind(bound.get(), local.data(), page_size()), success);
    EXPECT_EQ(raw::republish(bound.get()), status(RSMERR_SEG_NOT_PUBLISHED));
    EXPECT_EQ(raw::unpublish(bound.get()), status(RSMERR_SEG_NOT_PUBLISHED));
    EXPECT_EQ(raw::rebind(bound.get(), local.data(), page_size()),
              status(RSMERR_REBIND_NOT_ALLOWED));
    for (std::uint32_t id : {1u, 0xFFFFFu, 0x100000u, 0x200000u, 0x3FFFFFu, 0x80000000u, ~0u})
        EXPECT_EQ(raw::publish(bound.get(), id), status(RSMERR_RESERVED_SEGID)) << id;
    std::uint32_t id = published.id;
    EXPECT_EQ(raw::publish(published.handle.get(), id), status(RSMERR_SEG_ALREADY_PUBLISHED));
    const std::uint32_t node = raw::local_node();
    for (const rsm_acl_entry entry :
         {rsm_acl_entry{node + 1, 0666}, rsm_acl_entry{RSM_NODE_MAX + 1, 0666},
          rsm_acl_entry{~0u, 0666}, rsm_acl_entry{node, 0667}, rsm_acl_entry{node, ~0u}}) {
        id = 0x600030;
        EXPECT_EQ(raw::publish(bound.get(), id, {&entry, 1}), status(RSMERR_BAD_ACL));
        EXPECT_EQ(raw::republish(published.handle.get(), {&entry, 1}), status(RSMERR_BAD_ACL));
    }
    rsm_publish request{};
    for (const std::uint32_t count : {RSM_ACL_MAX + 1u, 0x20000000u, ~0u}) {
        request = {};
        request.id = 0x600030;
        request.acl_count = count;
        request.acl = reinterpret_cast<std::uintptr_t>(local.data());
        EXPECT_EQ(raw::call(bound.get(), RSM_IOC_PUBLISH, request), status(RSMERR_BAD_ACL)) << count;
    }
    for (const std::uint64_t address : {0ull, 8ull, 0xffff888000000000ull, ~0ull - 3}) {
        request = {};
        request.id = 0x600030;
        request.acl_count = 1;
        request.acl = address;
        EXPECT_EQ(raw::call(bound.get(), RSM_IOC_PUBLISH, request), status(RSMERR_BAD_ADDR));
    }
    id = 0x600030;
    EXPECT_EQ(raw::publish(bound.get(), id), success) << "the failures took the id";
    EXPECT_EQ(raw::unpublish(bound.get()), success);
}

TEST_F(UapiRights, rebind_statuses)
{
    const int fd = published.handle.get();
    Pages other(2);
    EXPECT_EQ(raw::rebind(fd, other.data(), page_size()), status(RSMERR_BAD_LENGTH));
    EXPECT_EQ(raw::rebind(fd, other.data(), ~0ull), status(RSMERR_BAD_LENGTH));
    EXPECT_EQ(raw::rebind(fd, other.data() + 1, other.size()), status(RSMERR_BAD_ADDR));
    EXPECT_EQ(raw::rebind(fd, nullptr, other.size()), status(RSMERR_BAD_ADDR));
    EXPECT_EQ(raw::rebind(fd, reinterpret_cast<void *>(~0xfffull), other.size()),
              status(RSMERR_BAD_ADDR));
    ASSERT_EQ(mprotect(other.data(), page_size(), PROT_READ), 0);
    EXPECT_EQ(raw::rebind(fd, other.data(), other.size()), status(RSMERR_PERM_DENIED));
    ASSERT_EQ(mprotect(other.data(), page_size(), PROT_READ | PROT_WRITE), 0);
    EXPECT_EQ(raw::rebind(fd, other.data(), other.size()), success);
}
