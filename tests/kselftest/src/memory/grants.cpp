// SPDX-License-Identifier: GPL-2.0
// Grants: one for each peer, how they end, and what lies in them achieve.
#include "memory/memory.hpp"

#include "support/child.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <thread>

using namespace rsmtest;

namespace {

class MemoryGrants : public MemoryTest {
protected:
    using End = std::function<void(Region &)>;

    // A copy after the end does nothing and says so.
    void ends_by(const End &end)
    {
        Region &target = region(pages, 1, 3 * page, remote_both);
        const auto keep = target.pinned; // as by an LMR when an RMR's region goes
        const auto granted = grant(target);
        ASSERT_TRUE(granted);
        const auto remote = RemoteRegion::open(device, *granted);
        ASSERT_TRUE(remote);
        const std::vector<std::byte> data(page, std::byte{1});
        const std::vector pieces{piece(data.data(), data.size())};
        EXPECT_EQ(remote->write(address(pages, 1), pieces, page), Outcome::DONE);
        end(target);
        std::fill_n(pages.data(), pages.size(), std::byte{2});
        EXPECT_EQ(remote->write(address(pages, 1), pieces, 1), Outcome::GONE);
        EXPECT_EQ(remote->write(address(pages, page), pieces, 8), Outcome::GONE);
        EXPECT_EQ(remote->read(address(pages, page), pieces, 8), Outcome::GONE);
        EXPECT_EQ(RemoteRegion::open(device, *granted), nullptr);
        EXPECT_EQ(std::count(pages.data(), pages.data() + pages.size(), std::byte{2}),
                  static_cast<long>(pages.size()));
    }
    // Reads and writes of a peer that changes its grant first. GONE: it is not even connected.
    std::pair<Outcome, Outcome> lie(const std::function<void(Grant &)> &change)
    {
        Grant told = *grant(*honest);
        change(told);
        const auto remote = RemoteRegion::open(device, told);
        if (!remote)
            return {Outcome::GONE, Outcome::GONE};
        const std::vector<std::byte> data(pages.size());
        const std::vector pieces{piece(data.data(), data.size())};
        const auto length = std::min<std::uint64_t>(told.length, data.size());
        const Outcome read = remote->read(told.address, pieces, length);
        return {read, remote->write(told.address, pieces, length)};
    }

    Pages pages{8};
    Region *honest = nullptr;
};

} // namespace

TEST_F(MemoryGrants, end_with_the_region)
{
    ends_by([&](Region &target) { contexts.destroy(target); });
}

TEST_F(MemoryGrants, end_with_the_connection)
{
    ends_by([&](Region &) { contexts.tickets.revoke(peer.as<rsmengine::Ep>()); });
}

TEST_F(MemoryGrants, one_for_each_peer)
{
    Region &target = region(pages, 1, 3 * page, remote_read);
    Stranger other;
    const auto first = grant(target);
    const auto again = grant(target);
    const auto others = grant(target, other);
    ASSERT_TRUE(first && again && others);
    EXPECT_EQ(std::memcmp(&*first, &*again, sizeof(*first)), 0);
    EXPECT_NE(std::memcmp(first->ticket, others->ticket, sizeof(first->ticket)), 0);
    contexts.tickets.revoke(peer.as<rsmengine::Ep>());
    EXPECT_EQ(RemoteRegion::open(device, *first), nullptr);
    EXPECT_NE(RemoteRegion::open(device, *others), nullptr);
    EXPECT_EQ(target.holders, std::vector<const rsmengine::Ep *>{&other.as<rsmengine::Ep>()});
    contexts.destroy(target);
    EXPECT_EQ(RemoteRegion::open(device, *others), nullptr);
}

TEST_F(MemoryGrants, lies_do_not_help)
{
    const std::pair refused{Outcome::DENIED, Outcome::DENIED};
    const std::pair gone{Outcome::GONE, Outcome::GONE};
    honest = &region(pages, page + 1, 2 * page, remote_read);
    EXPECT_EQ(lie([](Grant &) {}), std::pair(Outcome::DONE, Outcome::DENIED));
    EXPECT_EQ(lie([](Grant &told) { told.permission = RSM_PERM_RDWR; }),
              std::pair(Outcome::DONE, Outcome::DENIED));
    EXPECT_EQ(lie([](Grant &told) { told.permission = UINT32_MAX; }),
              std::pair(Outcome::DONE, Outcome::DENIED));
    EXPECT_EQ(lie([](Grant &told) { told.length += 1; }), refused);
    EXPECT_EQ(lie([](Grant &told) { told.offset -= 1; }), refused);
    EXPECT_EQ(lie([](Grant &told) { told.offset = 0; }), refused);
    EXPECT_EQ(lie([](Grant &told) { told.offset = 1ULL << 40; }), refused);
    EXPECT_EQ(lie([](Grant &told) { told.length = 1ULL << 45; }), refused);
    EXPECT_EQ(lie([](Grant &told) { told.length = 0; }), gone);
    EXPECT_EQ(lie([](Grant &told) { told.length = UINT64_MAX; }), gone);
    EXPECT_EQ(lie([](Grant &told) { told.offset = UINT64_MAX; }), gone);
    EXPECT_EQ(lie([](Grant &told) { told.address = UINT64_MAX; }), gone);
    EXPECT_EQ(lie([](Grant &told) { told.ticket[0] ^= 1; }), gone);
    EXPECT_EQ(lie([](Grant &told) { told.ticket[1] ^= 1; }), gone);
}

// When destroy() returns nothing changes any more, however hard others write.
TEST_F(MemoryGrants, end_while_hammered)
{
    Region &target = region(pages, 3, 6 * page, remote_both);
    const auto keep = target.pinned;
    const auto remote = open(target);
    ASSERT_TRUE(remote);
    std::atomic<int> rounds{0};
    std::jthread writer([&] {
        Outcome outcome = Outcome::DONE;
        while (outcome == Outcome::DONE) {
            const std::vector<std::byte> data(6 * page, static_cast<std::byte>(++rounds));
            const std::vector pieces{piece(data.data(), data.size())};
            outcome = remote->write(address(pages, 3), pieces, data.size());
        }
        EXPECT_EQ(outcome, Outcome::GONE);
    });
    ASSERT_TRUE(eventually([&] { return rounds > 20; }));
    contexts.destroy(target);
    const std::vector<std::byte> after(pages.data(), pages.data() + pages.size());
    writer.join();
    EXPECT_TRUE(std::equal(after.begin(), after.end(), pages.data()));
}

// The peer is another process, and dies.
TEST_F(MemoryGrants, another_process)
{
    Child child([](Link &link) {
        const Device own;
        Grant told{};
        for (auto *word = reinterpret_cast<std::uint64_t *>(&told);
             word != reinterpret_cast<std::uint64_t *>(&told + 1); ++word)
            *word = link.receive();
        const auto remote = RemoteRegion::open(own, told);
        ASSERT_TRUE(remote);
        const auto data = pattern(static_cast<std::size_t>(told.length), 4);
        const std::vector pieces{piece(data.data(), data.size())};
        ASSERT_EQ(remote->write(told.address, pieces, data.size()), Outcome::DONE);
        link.send();
        link.receive(); // until it is killed
    });
    Region &target = region(pages, 77, 2 * page, remote_both);
    const auto told = grant(target);
    ASSERT_TRUE(told);
    std::uint64_t words[sizeof(Grant) / sizeof(std::uint64_t)];
    std::memcpy(words, &*told, sizeof(words));
    for (const auto word : words)
        child.send(word);
    child.receive();
    const auto expected = pattern(2 * page, 4);
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), pages.data() + 77));
    child.kill();
    contexts.destroy(target);
}
