// SPDX-License-Identifier: GPL-2.0
// Memory that can be bound to be granted: memory that is only read, and files of tmpfs.
#include "grant/grant.hpp"

#include <cstring>
#include <fcntl.h>
#include <sys/mount.h>
#include <unistd.h>

using namespace rsmtest;
using raw::status;
using raw::success;
using raw::Ticket;

namespace {

constexpr std::uint32_t to_read = RSM_BIND_LOCAL | RSM_BIND_READ;

class GrantReadOnly : public GrantTest {
protected:
    // An export of memory that is only read, all of it granted and redeemed.
    struct Shared {
        Shared(const void *address, std::size_t length)
        {
            bound = raw::bind(exporting.get(), address, length, to_read);
            if (bound != success)
                return;
            EXPECT_EQ(raw::grant(exporting.get(), ticket, 0, length, RSM_PERM_READ), success);
            EXPECT_EQ(raw::redeem(imported.get(), ticket), success);
        }
        raw::Outcome bound;
        Ticket ticket;
        Fd exporting = raw::open_segment();
        Fd imported = raw::open_segment();
    };
    // The first word as the importer reads it.
    static std::uint64_t first_word(const Shared &shared)
    {
        std::uint64_t value = ~0ull;
        EXPECT_EQ(copy(shared.imported.get(), RSM_IOC_GETV, &value, 0, sizeof(value)), success);
        return value;
    }
    // The export still lives after a while.
    static void expect_alive(const Shared &shared)
    {
        usleep(20000);
        EXPECT_FALSE(hung_up(shared.imported.get()));
    }
};

// A file system of its own, gone at the end.
class Mounted {
public:
    explicit Mounted(const char *type)
    {
        if (mkdtemp(path_) && mount("rsm-test", path_, type, 0, nullptr) == 0)
            mounted_ = true;
    }
    ~Mounted()
    {
        if (mounted_) {
            EXPECT_EQ(umount2(path_, MNT_DETACH), 0);
        }
        rmdir(path_);
    }
    Mounted(const Mounted &) = delete;
    Mounted &operator=(const Mounted &) = delete;
    bool ok() const { return mounted_; }
    Fd file(std::size_t bytes, int flags = O_RDWR) const
    {
        const std::string name = std::string(path_) + "/file";
        const Fd made(open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
        EXPECT_EQ(ftruncate(made.get(), static_cast<off_t>(bytes)), 0);
        return Fd(open(name.c_str(), flags | O_CLOEXEC));
    }

private:
    char path_[32] = "/tmp/rsm-grant.XXXXXX";
    bool mounted_ = false;
};

} // namespace

TEST_F(GrantReadOnly, private_memory_that_can_not_be_written)
{
    const Pages pages(2, PROT_READ);
    const Fd plain = raw::open_segment();
    EXPECT_EQ(raw::bind(plain.get(), pages.data(), pages.size(), RSM_BIND_LOCAL),
              status(RSMERR_PERM_DENIED));
    const Shared shared(pages.data(), pages.size());
    ASSERT_EQ(shared.bound, success);
    EXPECT_EQ(first_word(shared), 0u);
    Ticket ticket;
    for (const std::uint32_t rights : {RSM_PERM_WRITE, RSM_PERM_RDWR})
        EXPECT_EQ(raw::grant(shared.exporting.get(), ticket, 0, 8, rights),
                  status(RSMERR_PERM_DENIED));
    EXPECT_EQ(copy(shared.imported.get(), RSM_IOC_PUTV, local.data(), 0, 8),
              status(RSMERR_PERM_DENIED));
    EXPECT_EQ(refused(shared.imported.get(), page, PROT_READ | PROT_WRITE, 0), EACCES);
    EXPECT_EQ(refused(shared.imported.get(), page, PROT_READ, 0), 0);
    // Made writable, it is still the same memory.
    ASSERT_EQ(mprotect(pages.data(), pages.size(), PROT_READ | PROT_WRITE), 0);
    pages.at() = 77;
    expect_alive(shared);
    EXPECT_EQ(first_word(shared), 77u);
}

TEST_F(GrantReadOnly, memory_that_was_never_touched)
{
    const Pages pages(64);
    const Shared shared(pages.data(), pages.size());
    ASSERT_EQ(shared.bound, success);
    for (std::size_t at = 0; at < pages.size(); at += page)
        pages.at(at) = 5;
    expect_alive(shared);
    EXPECT_EQ(first_word(shared), 5u);
}

TEST_F(GrantReadOnly, private_mapping_of_a_file)
{
    const Fd self(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
    const Pages text(2, PROT_READ, MAP_PRIVATE, self.get());
    ASSERT_TRUE(text.valid());
    const Shared shared(text.data(), text.size());
    ASSERT_EQ(shared.bound, success);
    ASSERT_EQ(copy(shared.imported.get(), RSM_IOC_GETV, local.data(), 0, text.size()), success);
    EXPECT_EQ(std::memcmp(local.data(), text.data(), text.size()), 0);
    void *base = raw::map(shared.imported.get(), text.size(), PROT_READ);
    ASSERT_NE(base, nullptr);
    EXPECT_EQ(std::memcmp(base, "\177ELF", 4), 0);
    ASSERT_EQ(mprotect(text.data(), text.size(), PROT_READ | PROT_WRITE), 0);
    text.at() = 78;
    expect_alive(shared);
    EXPECT_EQ(first_word(shared), 78u);
    munmap(base, text.size());
    const Pages fresh(1, PROT_READ, MAP_PRIVATE, self.get());
    EXPECT_EQ(std::memcmp(fresh.data(), "\177ELF", 4), 0) << "the file was written";
}

TEST_F(GrantReadOnly, lives_for_as_long_as_it_can_be_read)
{
    Pages pages(2);
    pages.at() = 3;
    const Shared shared(pages.data(), pages.size());
    ASSERT_EQ(shared.bound, success);
    ASSERT_EQ(mprotect(pages.data(), page, PROT_READ), 0);
    expect_alive(shared);
    EXPECT_EQ(first_word(shared), 3u);
    ASSERT_EQ(mprotect(pages.data(), page, PROT_NONE), 0);
    EXPECT_TRUE(eventually([&] { return hung_up(shared.imported.get()); }));
    const Shared again(pages.data() + page, page);
    ASSERT_EQ(again.bound, success);
    pages.release();
    EXPECT_TRUE(eventually([&] { return hung_up(again.imported.get()); }));
}

TEST_F(GrantReadOnly, fork_leaves_the_pages_with_the_parent)
{
    const Pages pages(4, PROT_READ);
    const Shared shared(pages.data(), pages.size());
    ASSERT_EQ(shared.bound, success);
    ASSERT_EQ(mprotect(pages.data(), pages.size(), PROT_READ | PROT_WRITE), 0);
    Child child([&](Link &link) {
        link.hear();
        pages.at() = 1;
        link.tell();
        link.hear();
    });
    pages.at() = 2;
    child.tell();
    child.hear();
    expect_alive(shared);
    EXPECT_EQ(first_word(shared), 2u);
    child.tell();
    child.expect_success();
}

TEST_F(GrantReadOnly, memory_that_a_child_shares_already)
{
    const Pages pages(4);
    pages.at() = 9;
    Child child([&](Link &link) {
        link.hear();
        EXPECT_EQ(pages.at(), 9u);
    });
    const Shared shared(pages.data(), pages.size());
    ASSERT_EQ(shared.bound, success);
    pages.at() = 10;
    expect_alive(shared);
    EXPECT_EQ(first_word(shared), 10u);
    child.tell();
    child.expect_success();
}

TEST_F(GrantReadOnly, as_the_local_end)
{
    const Fd handle = redeemed(grant_all());
    const Pages pages(1);
    pages.at() = 21;
    const Fd own = raw::open_segment();
    ASSERT_EQ(raw::bind(own.get(), pages.data(), page, to_read), success);
    rsm_transfer_entry entry = raw::entry(nullptr, 8, 8);
    entry.type = RSM_HANDLE_TYPE;
    entry.fd = own.get();
    EXPECT_EQ(raw::transfer(handle.get(), RSM_IOC_PUTV, {&entry, 1}), success);
    EXPECT_EQ(memory.at(8), 21u);
    memory.at(8) = 22;
    EXPECT_EQ(raw::transfer(handle.get(), RSM_IOC_GETV, {&entry, 1}), status(RSMERR_PERM_DENIED));
    EXPECT_EQ(pages.at(), 21u);
}

TEST_F(GrantReadOnly, rebind_follows_the_same_rules)
{
    const Pages first(1, PROT_READ);
    const Pages second(1, PROT_READ);
    const Pages unreadable(1, PROT_NONE);
    const Fd own = raw::open_segment();
    ASSERT_EQ(raw::bind(own.get(), first.data(), page, to_read | RSM_ALLOW_REBIND), success);
    EXPECT_EQ(raw::rebind(own.get(), unreadable.data(), page), status(RSMERR_PERM_DENIED));
    EXPECT_EQ(raw::rebind(own.get(), second.data(), page), success);
    EXPECT_EQ(raw::rebind(exported.get(), local.data(), size), success);
    ASSERT_EQ(mprotect(memory.data(), size, PROT_READ), 0);
    EXPECT_EQ(raw::rebind(exported.get(), memory.data(), size), status(RSMERR_PERM_DENIED));
}

TEST_F(GrantReadOnly, files_of_tmpfs)
{
    const Mounted tmpfs("tmpfs");
    ASSERT_TRUE(tmpfs.ok());
    const Fd file = tmpfs.file(2 * page);
    const Pages shared(2, PROT_READ | PROT_WRITE, MAP_SHARED, file.get());
    ASSERT_TRUE(shared.valid());
    const Fd plain = raw::open_segment();
    EXPECT_EQ(raw::bind(plain.get(), shared.data(), shared.size()), status(RSMERR_BAD_ADDR));
    const Fd own = raw::open_segment();
    ASSERT_EQ(raw::bind(own.get(), shared.data(), shared.size(), RSM_BIND_LOCAL), success);
    Ticket ticket;
    ASSERT_EQ(raw::grant(own.get(), ticket, 8, 8), success);
    const Fd handle = redeemed(ticket);
    local.at() = 31;
    EXPECT_EQ(copy(handle.get(), RSM_IOC_PUTV, local.data(), 8, 8), success);
    EXPECT_EQ(shared.at(8), 31u);
    // Users who may open the file can end the export so, but nothing else.
    ASSERT_EQ(ftruncate(file.get(), 0), 0);
    EXPECT_TRUE(eventually([&] { return hung_up(handle.get()); }));
    EXPECT_EQ(copy(handle.get(), RSM_IOC_PUTV, local.data(), 8, 8), status(RSMERR_CONN_ABORTED));
}

TEST_F(GrantReadOnly, files_of_tmpfs_opened_to_be_read)
{
    const Mounted tmpfs("tmpfs");
    ASSERT_TRUE(tmpfs.ok());
    const Fd writable = tmpfs.file(2 * page);
    const Fd readable = tmpfs.file(2 * page, O_RDONLY);
    const Pages writer(2, PROT_READ | PROT_WRITE, MAP_SHARED, writable.get());
    const Pages reader(2, PROT_READ, MAP_SHARED, readable.get());
    const Fd plain = raw::open_segment();
    EXPECT_EQ(raw::bind(plain.get(), reader.data(), reader.size(), RSM_BIND_LOCAL),
              status(RSMERR_PERM_DENIED));
    const Shared shared(reader.data(), reader.size());
    ASSERT_EQ(shared.bound, success);
    writer.at() = 41;
    EXPECT_EQ(first_word(shared), 41u);
    expect_alive(shared);
}

TEST_F(GrantReadOnly, other_files_with_a_name)
{
    const Mounted ramfs("ramfs");
    ASSERT_TRUE(ramfs.ok());
    const Fd file = ramfs.file(page);
    const Pages shared(1, PROT_READ | PROT_WRITE, MAP_SHARED, file.get());
    ASSERT_TRUE(shared.valid());
    for (const std::uint32_t flags : {0u, static_cast<std::uint32_t>(RSM_BIND_LOCAL), to_read}) {
        const Fd own = raw::open_segment();
        EXPECT_EQ(raw::bind(own.get(), shared.data(), page, flags), status(RSMERR_BAD_ADDR))
            << flags;
    }
}
