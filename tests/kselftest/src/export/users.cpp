// SPDX-License-Identifier: GPL-2.0
// Limits of one user of the node: handles and exported memory.
#include "support/child.hpp"
#include "support/raw.hpp"
#include "support/subuser.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

using namespace rsmtest;

namespace {

constexpr std::uint64_t no_more = 1000;

// Opens handles, at most so many.
std::vector<Fd> open_handles(std::uint64_t count)
{
    std::vector<Fd> handles;
    while (handles.size() < count) {
        Fd one = raw::open_segment();
        if (!one.valid()) {
            EXPECT_EQ(errno, EAGAIN);
            break;
        }
        handles.push_back(std::move(one));
    }
    return handles;
}

// All that a user can have.
std::uint64_t count_handles()
{
    return open_handles(no_more).size();
}

// A process of a user that has handles until it is told to end.
class Holder {
public:
    Holder(const User &user, std::uint64_t wanted)
        : process_(user, [wanted](Link &link) {
              const auto handles = open_handles(wanted);
              link.send(handles.size());
              link.receive();
          }),
          handles_(process_.receive())
    {
    }
    ~Holder()
    {
        process_.send();
        process_.expect_success();
    }
    std::uint64_t handles() const { return handles_; }

private:
    Child process_;
    std::uint64_t handles_;
};

std::uint64_t handles_of_root()
{
    std::vector<Fd> handles;
    for (;;) {
        Fd one = raw::open_segment();
        if (!one.valid())
            return handles.size();
        handles.push_back(std::move(one));
    }
}

// 64 handles: 32 for a user, and 4 that only root gets.
class UserLimits : public testing::Test {
protected:
    void SetUp() override
    {
        ASSERT_TRUE(segments.set("64"));
        ASSERT_TRUE(share.set("50"));
    }

    ModuleParameter segments{"max_segments"};
    ModuleParameter share{"max_segments_per_user"};
};

rsmtest::raw::Outcome bind_of(const Pages &pages)
{
    const Fd seg = raw::open_segment();
    return raw::bind(seg.get(), pages.data(), pages.size());
}

} // namespace

TEST_F(UserLimits, all_processes_of_a_user_have_its_share_of_handles)
{
    const Holder first(alice(), 20);
    EXPECT_EQ(first.handles(), 20u);
    const Holder second(alice(), no_more);
    EXPECT_EQ(second.handles(), 12u);
    const Holder other(bob(), 10);
    EXPECT_EQ(other.handles(), 10u);
}

TEST_F(UserLimits, a_share_is_free_again_when_handles_are_closed)
{
    for (int round = 0; round < 3; ++round)
        EXPECT_EQ(Holder(alice(), no_more).handles(), 32u);
}

TEST_F(UserLimits, the_last_handles_are_for_the_administrator)
{
    const Holder first(alice(), no_more);
    const Holder second(bob(), no_more);
    EXPECT_EQ(first.handles() + second.handles(), 60u);
    EXPECT_EQ(handles_of_root(), 4u);
}

TEST_F(UserLimits, users_of_a_namespace_count_for_its_owner)
{
    const Holder owner(alice(), 30);
    EXPECT_EQ(Subuser(alice(), count_handles).result(), 2u);
}

TEST_F(UserLimits, the_administrator_has_no_share)
{
    EXPECT_EQ(handles_of_root(), 64u);
}

TEST_F(UserLimits, shares_are_percentages)
{
    for (const char *value : {"0", "101", "-1", "many"})
        EXPECT_FALSE(share.set(value)) << value;
}

// One percent of one percent of all memory, in two processes that may lock what they like.
TEST(UserMemory, all_processes_of_a_user_have_its_share_of_exported_memory)
{
    ModuleParameter most("max_exported_memory"), share("max_exported_memory_per_user");
    ASSERT_TRUE(most.set("10"));
    ASSERT_TRUE(share.set("10"));
    const std::size_t pages = memory_info("MemTotal") / 100 / page_size();
    const auto export_some = [pages](Link &link) {
        // Small pages only: huge ones would count for more.
        const Pages memory(pages * 6 / 10);
        ASSERT_EQ(::madvise(memory.data(), memory.size(), MADV_NOHUGEPAGE), 0);
        const Fd seg = raw::open_segment();
        link.send(raw::bind(seg.get(), memory.data(), memory.size()).status);
        link.receive();
    };
    const rlimit none{RLIM_INFINITY, RLIM_INFINITY};
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_MEMLOCK, &before), 0);
    ASSERT_EQ(::setrlimit(RLIMIT_MEMLOCK, &none), 0);
    Child first(alice(), export_some);
    EXPECT_EQ(first.receive(), std::uint64_t{RSM_SUCCESS});
    Child second(alice(), export_some);
    EXPECT_EQ(second.receive(), std::uint64_t{RSMERR_INSUFFICIENT_MEM});
    Child third(bob(), export_some);
    EXPECT_EQ(third.receive(), std::uint64_t{RSM_SUCCESS});
    for (Child *child : {&first, &second, &third}) {
        child->send();
        child->expect_success();
    }
    ASSERT_EQ(::setrlimit(RLIMIT_MEMLOCK, &before), 0);
}

// A user asks for more than there is, again and again, while another one exports a page.
TEST(UserMemory, a_refused_export_takes_nothing_from_others)
{
    ModuleParameter most("max_exported_memory"), share("max_exported_memory_per_user");
    ASSERT_TRUE(most.set("10"));
    ASSERT_TRUE(share.set("100"));
    const std::size_t all = memory_info("MemTotal") / page_size();
    const Pages too_much(all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
    const Pages page(1);
    const rlimit none{RLIM_INFINITY, RLIM_INFINITY};
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_MEMLOCK, &before), 0);
    ASSERT_EQ(::setrlimit(RLIMIT_MEMLOCK, &none), 0);
    Child greedy(alice(), [&](Link &link) {
        const Fd seg = raw::open_segment();
        link.send();
        while (!link.is_readable())
            ASSERT_EQ(raw::bind(seg.get(), too_much.data(), too_much.size()),
                      raw::status(RSMERR_INSUFFICIENT_MEM));
    });
    greedy.receive();
    in_child_as(bob(), [&] {
        for (int round = 0; round < 2000; round++)
            ASSERT_EQ(bind_of(page), raw::success) << round;
    });
    greedy.send();
    greedy.expect_success();
    ASSERT_EQ(::setrlimit(RLIMIT_MEMLOCK, &before), 0);
}

TEST(UserMemory, the_last_of_the_exported_memory_is_for_the_administrator)
{
    ModuleParameter most("max_exported_memory"), share("max_exported_memory_per_user");
    ASSERT_TRUE(most.set("1"));
    ASSERT_TRUE(share.set("100"));
    const std::size_t limit = memory_info("MemTotal") / 100 / page_size();
    const auto small_pages = [](std::size_t count) {
        Pages memory(count);
        EXPECT_EQ(::madvise(memory.data(), memory.size(), MADV_NOHUGEPAGE), 0);
        return memory;
    };
    // A sixteenth is reserved.
    const Pages nearly_all = small_pages(limit * 92 / 100), some = small_pages(limit * 4 / 100);
    const rlimit none{RLIM_INFINITY, RLIM_INFINITY};
    in_child([&] {
        ASSERT_EQ(::setrlimit(RLIMIT_MEMLOCK, &none), 0);
        const Fd exported = raw::open_segment();
        ASSERT_EQ(raw::bind(exported.get(), nearly_all.data(), nearly_all.size()), raw::success);
        in_child_as(alice(), [&] {
            EXPECT_EQ(bind_of(some), raw::status(RSMERR_INSUFFICIENT_MEM));
        });
        EXPECT_EQ(bind_of(some), raw::success);
        EXPECT_EQ(bind_of(nearly_all), raw::status(RSMERR_INSUFFICIENT_MEM));
    });
}

// A pin of a small part keeps all of a huge page.
TEST(UserMemory, a_part_of_a_huge_page_is_charged_for_all_of_it)
{
    constexpr std::size_t huge = 2 << 20;
    const Pages memory(2 * huge / page_size());
    std::byte *start =
        memory.data() + (huge - reinterpret_cast<std::uintptr_t>(memory.data()) % huge);
    ASSERT_EQ(::madvise(start, huge, MADV_HUGEPAGE), 0);
    start[0] = std::byte{1};
    const std::int64_t before = kernel_counters()["pinned_pages"];
    const Fd seg = raw::open_segment();
    ASSERT_EQ(raw::bind(seg.get(), start, 2 * page_size()), raw::success);
    EXPECT_EQ(kernel_counters()["pinned_pages"] - before,
              static_cast<std::int64_t>(huge / page_size()));
    EXPECT_EQ(raw::destroy(seg.get()), raw::success);
    EXPECT_EQ(kernel_counters()["pinned_pages"], before);
}

TEST(UserMemory, a_huge_page_above_the_limit_is_refused)
{
    in_child_as(alice(), [] {
        constexpr std::size_t huge = 2 << 20;
        const Pages memory(2 * huge / page_size());
        std::byte *start =
            memory.data() + (huge - reinterpret_cast<std::uintptr_t>(memory.data()) % huge);
        ASSERT_EQ(::madvise(start, huge, MADV_HUGEPAGE), 0);
        start[0] = std::byte{1};
        const rlimit limit{huge / 2, huge / 2};
        ASSERT_EQ(::setrlimit(RLIMIT_MEMLOCK, &limit), 0);
        const Fd seg = raw::open_segment();
        EXPECT_EQ(raw::bind(seg.get(), start, page_size()), raw::status(RSMERR_INSUFFICIENT_MEM));
        const Pages small(1);
        EXPECT_EQ(bind_of(small), raw::success);
    });
}
