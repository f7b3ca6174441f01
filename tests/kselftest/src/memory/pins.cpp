// SPDX-License-Identifier: GPL-2.0
// Which memory can be registered, and for what.
#include "memory/memory.hpp"

#include "engine/memory/sharing.h"

#include <fcntl.h>
#include <sys/ipc.h>
#include <sys/shm.h>

using namespace rsmtest;
using rsmengine::Status;
using rsmengine::Sharing;

namespace {

class MemoryPins : public MemoryTest {
protected:
    // All of it is shared and can be pinned.
    void is_shared(const void *start)
    {
        const auto at = reinterpret_cast<std::uintptr_t>(start);
        EXPECT_EQ(rsmengine::sharing_of(at, 4 * page), Sharing::SHARED);
        std::shared_ptr<Pinned> pinned;
        EXPECT_EQ(rsmengine::pin(device, {at, 4 * page}, true, pinned), Status::OK);
    }
    void is_shared(int file)
    {
        ASSERT_GE(file, 0);
        ASSERT_EQ(::ftruncate(file, static_cast<off_t>(4 * page)), 0);
        const Pages pages(4, PROT_READ | PROT_WRITE, MAP_SHARED, file);
        ASSERT_TRUE(pages.valid());
        is_shared(pages.data());
    }
};

} // namespace

TEST_F(MemoryPins, read_only)
{
    const Pages pages(2, PROT_READ);
    std::shared_ptr<Pinned> pinned;
    EXPECT_EQ(pin(pages, true, pinned), Status::BAD_RIGHTS);
    EXPECT_EQ(pin(pages, false, pinned), Status::OK);
    EXPECT_FALSE(static_cast<const rsmengine::RsmPinned &>(*pinned).writable);
    const auto remote = open(region(pages, 0, pages.size(), remote_read, false));
    ASSERT_TRUE(remote);
    std::byte byte{1};
    EXPECT_EQ(remote->read(address(pages, 17), std::vector{piece(&byte, 1)}, 1), Outcome::DONE);
    EXPECT_EQ(byte, std::byte{});
    EXPECT_FALSE(grant(region(pages, 0, pages.size(), remote_both, false)));
}

TEST_F(MemoryPins, not_there)
{
    std::shared_ptr<Pinned> pinned;
    EXPECT_EQ(pin(Pages(1, PROT_NONE), false, pinned), Status::BAD_RIGHTS);
    EXPECT_EQ(rsmengine::pin(device, {page, page}, false, pinned), Status::BAD_ADDRESS);
    EXPECT_EQ(rsmengine::pin(device, {1ULL << 62, page}, true, pinned), Status::BAD_ADDRESS);
    const Pages pages(3);
    ASSERT_EQ(::munmap(pages.data() + page, page), 0);
    EXPECT_EQ(pin(pages, true, pinned), Status::BAD_ADDRESS);
}

TEST_F(MemoryPins, shared)
{
    is_shared(Pages(4, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS).data());
    is_shared(Fd(::memfd_create("pins", MFD_CLOEXEC)).get());
    const Fd named(::shm_open("/rsm-pins", O_RDWR | O_CREAT | O_EXCL, 0600));
    ::shm_unlink("/rsm-pins");
    is_shared(named.get());
    const int id = ::shmget(IPC_PRIVATE, 4 * page, IPC_CREAT | 0600);
    ASSERT_GE(id, 0);
    void *attached = ::shmat(id, nullptr, 0);
    ::shmctl(id, IPC_RMID, nullptr);
    is_shared(attached);
    ::shmdt(attached);
}

// Memory that goes away takes what was registered there with it.
TEST_F(MemoryPins, unmapped)
{
    Pages pages(4);
    Region &target = region(pages, 0, pages.size(), remote_both);
    const auto remote = open(target);
    ASSERT_TRUE(remote);
    const std::uint64_t start = address(pages);
    pages.release();
    std::byte byte{};
    const std::vector pieces{piece(&byte, 1)};
    EXPECT_TRUE(eventually([&] { return remote->read(start, pieces, 1) == Outcome::GONE; }));
    Stranger other;
    EXPECT_FALSE(grant(target, other));
}
