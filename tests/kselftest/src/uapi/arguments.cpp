// SPDX-License-Identifier: GPL-2.0
// Malformed arguments of every ioctl: what could not be understood fails with
// an errno and changes nothing.
#include "support/child.hpp"
#include "support/raw.hpp"
#include "support/unchanged.hpp"

#include <cstring>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace rsmtest;
using raw::error;
using raw::Outcome;
using raw::status;
using raw::success;

namespace {

struct Command {
    const char *name;
    unsigned long number;
    std::size_t size;
    // offset of a field that must be zero, 0 if there is none
    std::size_t reserved;
    // offset of the flags or operation, 0 if there is none
    std::size_t flags;
    // size of the first version of the structure, 0 if it has not grown
    std::size_t first = 0;
};

const Command commands[] = {
    {"INFO", RSM_IOC_INFO, sizeof(rsm_info), 0, 0},
    {"ATTR", RSM_IOC_ATTR, sizeof(rsm_attr), offsetof(rsm_attr, reserved), 0},
    {"TOPOLOGY", RSM_IOC_TOPOLOGY, sizeof(rsm_topology_query),
     offsetof(rsm_topology_query, reserved), 0},
    {"BIND", RSM_IOC_BIND, sizeof(rsm_bind), offsetof(rsm_bind, reserved),
     offsetof(rsm_bind, flags)},
    {"REBIND", RSM_IOC_REBIND, sizeof(rsm_rebind), 0, 0},
    {"PUBLISH", RSM_IOC_PUBLISH, sizeof(rsm_publish), 0, 0},
    {"REPUBLISH", RSM_IOC_REPUBLISH, sizeof(rsm_publish), 0, 0},
    {"UNPUBLISH", RSM_IOC_UNPUBLISH, sizeof(rsm_unpublish), 0, 0},
    {"CONNECT", RSM_IOC_CONNECT, sizeof(rsm_connect), 0, 0},
    {"POST", RSM_IOC_POST, sizeof(rsm_post), offsetof(rsm_post, reserved),
     offsetof(rsm_post, flags)},
    {"WAIT", RSM_IOC_WAIT, sizeof(rsm_wait), 0, 0},
    {"PUTV", RSM_IOC_PUTV, sizeof(rsm_transfer), offsetof(rsm_transfer, reserved),
     offsetof(rsm_transfer, flags), offsetof(rsm_transfer, done)},
    {"GETV", RSM_IOC_GETV, sizeof(rsm_transfer), offsetof(rsm_transfer, reserved),
     offsetof(rsm_transfer, flags), offsetof(rsm_transfer, done)},
    {"BARRIER", RSM_IOC_BARRIER, sizeof(rsm_barrier_request),
     offsetof(rsm_barrier_request, reserved), offsetof(rsm_barrier_request, op)},
    {"DESTROY", RSM_IOC_DESTROY, sizeof(rsm_destroy), 0, 0},
    {"RANGE", RSM_IOC_RANGE, sizeof(rsm_range), offsetof(rsm_range, reserved), 0},
    {"GRANT", RSM_IOC_GRANT, sizeof(rsm_grant), 0, offsetof(rsm_grant, flags)},
    {"REVOKE", RSM_IOC_REVOKE, sizeof(rsm_revoke), 0, 0},
    {"REDEEM", RSM_IOC_REDEEM, sizeof(rsm_redeem), offsetof(rsm_redeem, reserved), 0},
    {"UNMAP", RSM_IOC_UNMAP, sizeof(rsm_unmap), 0, 0},
    {"SEND", RSM_IOC_SEND, sizeof(rsm_message), 0, 0},
    {"RECEIVE", RSM_IOC_RECEIVE, sizeof(rsm_message), 0, 0},
};

std::size_t least(const Command &command)
{
    return command.first ? command.first : command.size;
}

int call(int fd, unsigned long command, void *argument)
{
    return ioctl(fd, command, argument) == 0 ? 0 : errno;
}

void set_word(std::byte *at, std::uint32_t value)
{
    std::memcpy(at, &value, sizeof(value));
}

// Handles of all four kinds.
class UapiArguments : public testing::Test {
protected:
    void SetUp() override
    {
        ASSERT_TRUE(published.ok);
        ASSERT_TRUE(control.valid());
        ASSERT_TRUE(blank.valid());
        ASSERT_EQ(raw::connect(imported.get(), published.id), success);
    }
    std::vector<int> handles() const
    {
        return {control.get(), blank.get(), published.handle.get(), imported.get()};
    }
    raw::Published published{2, RSM_ALLOW_REBIND};
    Fd control = raw::open_control();
    Fd blank = raw::open_segment();
    Fd imported = raw::open_segment();
    // Two pages, the second one inaccessible behind the first.
    Pages buffer{3};
};

} // namespace

TEST_F(UapiArguments, unknown_commands)
{
    Unchanged unchanged;
    std::byte argument[256] = {};
    set_word(argument, sizeof(argument));
    for (const int fd : handles()) {
        for (unsigned number = 0x16; number < 0x100; number++)
            ASSERT_EQ(call(fd, _IO(RSM_IOC_TYPE, number), argument), ENOTTY) << number;
        EXPECT_EQ(call(fd, _IOWR(RSM_IOC_TYPE, 0, rsm_info), argument), ENOTTY);
        EXPECT_EQ(call(fd, _IO(0xD6, 0), argument), ENOTTY);
        EXPECT_EQ(call(fd, _IO('T', 1), argument), ENOTTY);
        EXPECT_EQ(call(fd, 0xffffffff, argument), ENOTTY);
    }
}

TEST_F(UapiArguments, structures_that_are_too_small)
{
    Unchanged unchanged;
    for (const Command &command : commands) {
        for (const int fd : handles()) {
            std::byte *argument = buffer.data();
            std::memset(argument, 0, page_size());
            for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{4},
                                           std::size_t{7}, least(command) - 1}) {
                set_word(argument, static_cast<std::uint32_t>(size));
                EXPECT_EQ(call(fd, command.number, argument), EINVAL)
                    << command.name << " size " << size;
            }
        }
    }
}

TEST_F(UapiArguments, structures_that_are_too_large)
{
    Unchanged unchanged;
    for (const Command &command : commands) {
        for (const int fd : handles()) {
            std::byte *argument = buffer.data();
            std::memset(argument, 0, buffer.size());
            for (const std::uint32_t size :
                 {static_cast<std::uint32_t>(page_size()) + 1, 0x10000u, 0x7fffffffu, 0xffffffffu}) {
                set_word(argument, size);
                EXPECT_EQ(call(fd, command.number, argument), E2BIG)
                    << command.name << " size " << size;
            }
            // a byte that the kernel does not know
            for (const std::size_t behind : {command.size, command.size + 77, page_size() - 1}) {
                std::memset(argument, 0, page_size());
                set_word(argument, static_cast<std::uint32_t>(page_size()));
                argument[behind] = std::byte{1};
                EXPECT_EQ(call(fd, command.number, argument), E2BIG)
                    << command.name << " at " << behind;
            }
        }
    }
}

TEST_F(UapiArguments, larger_structures_of_zeros_are_fine)
{
    for (const std::size_t size : {sizeof(rsm_info) + 4, sizeof(rsm_info) + 1, page_size()}) {
        std::memset(buffer.data(), 0, page_size());
        auto *info = buffer.pointer<rsm_info>();
        info->size = static_cast<std::uint32_t>(size);
        EXPECT_EQ(call(control.get(), RSM_IOC_INFO, info), 0) << size;
        EXPECT_EQ(info->status, static_cast<std::uint32_t>(RSM_SUCCESS));
        EXPECT_EQ(info->node_id, raw::local_node());
        auto *post = buffer.pointer<rsm_post>();
        std::memset(buffer.data(), 0, page_size());
        post->size = static_cast<std::uint32_t>(size);
        EXPECT_EQ(call(imported.get(), RSM_IOC_POST, post), 0) << size;
    }
}

TEST_F(UapiArguments, reserved_fields_and_unknown_flags)
{
    Unchanged unchanged;
    for (const Command &command : commands) {
        for (const std::size_t field : {command.reserved, command.flags}) {
            if (!field)
                continue;
            for (const std::uint32_t bits : {0x80000000u, 0x20000u, 0xfffffffcu}) {
                for (const int fd : handles()) {
                    std::byte *argument = buffer.data();
                    std::memset(argument, 0, page_size());
                    set_word(argument, static_cast<std::uint32_t>(command.size));
                    if (command.number == RSM_IOC_BIND)
                        reinterpret_cast<rsm_bind *>(argument)->control_fd = -1;
                    set_word(argument + field, bits);
                    EXPECT_EQ(call(fd, command.number, argument), EOPNOTSUPP)
                        << command.name << " field at " << field << " bits " << bits;
                }
            }
        }
    }
    rsm_bind read = raw::bind_argument(buffer.data(), page_size(), RSM_BIND_READ);
    EXPECT_EQ(raw::call(blank.get(), RSM_IOC_BIND, read), error(EOPNOTSUPP))
        << "RSM_BIND_READ without RSM_BIND_LOCAL";
    rsm_publish argument{};
    argument.id = 5;
    EXPECT_EQ(raw::call(published.handle.get(), RSM_IOC_REPUBLISH, argument), error(EOPNOTSUPP))
        << "the id of REPUBLISH must be 0";
}

TEST_F(UapiArguments, structures_that_can_not_be_read)
{
    Unchanged unchanged;
    const Pages hole(3);
    ASSERT_EQ(mprotect(hole.data() + page_size(), page_size(), PROT_NONE), 0);
    std::byte *edge = hole.data() + page_size();
    for (const Command &command : commands) {
        for (const int fd : handles()) {
            EXPECT_EQ(call(fd, command.number, nullptr), EFAULT) << command.name;
            EXPECT_EQ(call(fd, command.number, edge), EFAULT) << command.name;
            EXPECT_EQ(call(fd, command.number, edge - 2), EFAULT) << command.name;
            EXPECT_EQ(call(fd, command.number, reinterpret_cast<void *>(~0ul - 2)), EFAULT);
            EXPECT_EQ(call(fd, command.number, reinterpret_cast<void *>(0xffff888000000000ul)),
                      EFAULT);
            set_word(edge - 4, static_cast<std::uint32_t>(command.size));
            EXPECT_EQ(call(fd, command.number, edge - 4), EFAULT) << command.name;
        }
    }
}

TEST_F(UapiArguments, results_that_can_not_be_stored)
{
    // The call may have taken place; it must say so and leave nothing broken.
    Pages memory(1);
    const Pages read_only(1);
    const auto try_it = [&](int fd, unsigned long command, const auto &argument) {
        ASSERT_EQ(mprotect(read_only.data(), page_size(), PROT_READ | PROT_WRITE), 0);
        std::memcpy(read_only.data(), &argument, sizeof(argument));
        set_word(read_only.data(), sizeof(argument));
        // A status that is already there need not be stored.
        set_word(read_only.data() + 4, 0xdeadbeef);
        ASSERT_EQ(mprotect(read_only.data(), page_size(), PROT_READ), 0);
        EXPECT_EQ(call(fd, command, read_only.data()), EFAULT) << command;
    };
    try_it(control.get(), RSM_IOC_INFO, rsm_info{});
    try_it(blank.get(), RSM_IOC_BIND, raw::bind_argument(memory.data(), memory.size()));
    try_it(blank.get(), RSM_IOC_PUBLISH, rsm_publish{});
    try_it(imported.get(), RSM_IOC_POST, rsm_post{});
    try_it(imported.get(), RSM_IOC_WAIT, rsm_wait{});
    try_it(published.handle.get(), RSM_IOC_UNPUBLISH, rsm_unpublish{});
    const Fd another = raw::open_segment();
    try_it(another.get(), RSM_IOC_CONNECT, raw::connect_argument(published.id, RSM_PERM_RDWR));
    Pages granted(1);
    const Fd granting = raw::open_segment();
    ASSERT_EQ(raw::bind(granting.get(), granted.data(), granted.size(), RSM_BIND_LOCAL), success);
    rsm_grant grant{};
    grant.length = 1;
    grant.permission = RSM_PERM_READ;
    try_it(granting.get(), RSM_IOC_GRANT, grant);
    raw::Ticket ticket;
    ASSERT_EQ(raw::grant(granting.get(), ticket, 0, 1), success);
    const Fd redeeming = raw::open_segment();
    try_it(redeeming.get(), RSM_IOC_REDEEM, raw::redeem_argument(ticket));
    rsm_revoke revoke{};
    std::memcpy(revoke.ticket, ticket.word, sizeof(revoke.ticket));
    try_it(granting.get(), RSM_IOC_REVOKE, revoke);
}

TEST_F(UapiArguments, strings_without_an_end)
{
    Unchanged unchanged;
    rsm_attr attr{};
    std::memset(attr.controller, 'l', RSM_NAME_SIZE);
    EXPECT_EQ(raw::call(control.get(), RSM_IOC_ATTR, attr), error(EINVAL));
    Pages memory(1);
    rsm_bind bind = raw::bind_argument(memory.data(), memory.size());
    std::memset(bind.controller, 'l', RSM_NAME_SIZE);
    EXPECT_EQ(raw::call(blank.get(), RSM_IOC_BIND, bind), error(EINVAL));
    rsm_connect connect = raw::connect_argument(published.id, RSM_PERM_RDWR);
    std::memset(connect.controller, 'l', RSM_NAME_SIZE);
    EXPECT_EQ(raw::call(blank.get(), RSM_IOC_CONNECT, connect), error(EINVAL));
    EXPECT_EQ(raw::bind(blank.get(), memory.data(), memory.size()), success) << "still blank";
}

TEST_F(UapiArguments, control_descriptors_of_another_kind)
{
    Unchanged unchanged;
    Pages memory(1);
    const Fd file(open("/dev/null", O_RDWR | O_CLOEXEC));
    const Fd path(open("/dev/rsm", O_PATH | O_CLOEXEC));
    for (const int wrong : {file.get(), path.get(), blank.get(), imported.get(),
                            published.handle.get(), 12345, -2, static_cast<int>(0x80000000)}) {
        rsm_bind bind = raw::bind_argument(memory.data(), memory.size(), 0, wrong);
        EXPECT_EQ(raw::call(blank.get(), RSM_IOC_BIND, bind), error(EBADF)) << wrong;
        rsm_connect connect = raw::connect_argument(published.id, RSM_PERM_RDWR, wrong);
        EXPECT_EQ(raw::call(blank.get(), RSM_IOC_CONNECT, connect), error(EBADF)) << wrong;
        rsm_redeem redeem = raw::redeem_argument({}, wrong);
        EXPECT_EQ(raw::call(blank.get(), RSM_IOC_REDEEM, redeem), error(EBADF)) << wrong;
    }
}

TEST_F(UapiArguments, descriptors_that_take_no_ioctl)
{
    const Fd path(open("/dev/rsm", O_PATH | O_CLOEXEC));
    rsm_info info{};
    EXPECT_EQ(raw::call(path.get(), RSM_IOC_INFO, info), error(EBADF));
    const Fd write_only(open("/dev/rsm", O_WRONLY | O_CLOEXEC));
    if (write_only.valid()) {
        // Whatever kind it is, it is not a crash.
        raw::call(write_only.get(), RSM_IOC_INFO, info);
        Pages memory(1);
        raw::bind(write_only.get(), memory.data(), memory.size());
    }
    std::byte data[16] = {};
    for (const int fd : handles()) {
        EXPECT_LT(read(fd, data, sizeof(data)), 0);
        EXPECT_LT(write(fd, data, sizeof(data)), 0);
    }
}
