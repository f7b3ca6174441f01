// SPDX-License-Identifier: MIT
// Contexts of the provider `rsm`, which say who may touch which memory, without a kernel.
#include "memory/contexts.h"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <vector>

namespace {

using namespace rsmengine;

constexpr unsigned LOCAL_READ = rights::LOCAL_READ;
constexpr unsigned LOCAL_WRITE = rights::LOCAL_WRITE;
constexpr unsigned REMOTE_READ = rights::REMOTE_READ;
constexpr unsigned REMOTE_WRITE = rights::REMOTE_WRITE;
constexpr unsigned ALL = rights::ALL;
constexpr std::uint64_t START = 0x10003;
constexpr std::uint64_t LENGTH = 1000;

// Stands for objects of which only the address counts.
struct alignas(64) Stranger {
    std::byte inside[64];
    template <class T>
    T &as() {
        return reinterpret_cast<T &>(*this);
    }
};

class DaplRsmContexts : public testing::Test {
  protected:
    Stranger zone, other_zone, peer;
    RsmContexts contexts;
    std::shared_ptr<RsmPinned> pinned = std::make_shared<RsmPinned>(0x10000, 0x1000, true);

    RsmRegion &make(unsigned privileges, bool local = true) {
        RsmRegion *region =
            contexts.create(zone.as<Pz>(), pinned, START, LENGTH, privileges, local);
        EXPECT_NE(region, nullptr);
        return *region;
    }
    Status gather(Stranger &pz, unsigned privilege, const std::vector<Segment> &iov) {
        used = 0;
        total = 0;
        return contexts.gather(&pz.as<Pz>(), static_cast<Count>(iov.size()), iov.data(),
                               privilege, pieces, used, total);
    }
    Status gather(unsigned privilege, const Segment &piece) {
        return gather(zone, privilege, {piece});
    }
    auto reach(const RsmRegion &region, std::uint64_t start, std::uint64_t length,
               unsigned privilege) {
        return contexts.reach(&zone.as<Pz>(), region.context, start, length, privilege);
    }

    std::array<Segment, 4> pieces{};
    Count used = 0;
    std::uint64_t total = 0;
};

Segment piece(const RsmRegion &region, std::uint64_t start = START,
                      std::uint64_t length = LENGTH) {
    return {region.context, 0xdeadbeef, start, length};
}

TEST_F(DaplRsmContexts, ZeroAndStrangersAreNone) {
    EXPECT_EQ(contexts.find(0), nullptr);
    EXPECT_EQ(contexts.find(1), nullptr);
    const RsmRegion &region = make(ALL);
    EXPECT_EQ(contexts.find(region.context), &region);
    EXPECT_EQ(contexts.find(0), nullptr);
    for (unsigned bit = 0; bit < 32; ++bit)
        EXPECT_EQ(contexts.find(region.context ^ 1U << bit), nullptr);
}

TEST_F(DaplRsmContexts, AreNotUsedAgainForLong) {
    std::set<LocalKey> seen;
    for (int i = 0; i < 300000; ++i) {
        RsmRegion &region = make(ALL);
        const LocalKey context = region.context;
        ASSERT_TRUE(seen.insert(context).second) << i;
        contexts.destroy(region);
        ASSERT_EQ(contexts.find(context), nullptr);
    }
}

// With one slot left the first of its contexts comes back after 32767 uses, and never 0.
TEST_F(DaplRsmContexts, UsesWrapAround) {
    RsmRegion *region = nullptr;
    while (RsmRegion *next =
               contexts.create(zone.as<Pz>(), nullptr, START, LENGTH, LOCAL_READ, true))
        region = next;
    const LocalKey first = region->context;
    std::uint32_t uses = 0;
    do {
        contexts.destroy(*region);
        region = contexts.create(zone.as<Pz>(), nullptr, START, LENGTH, LOCAL_READ, true);
        ASSERT_NE(region, nullptr);
        ASSERT_NE(region->context, 0U);
    } while (++uses < 100000 && region->context != first);
    EXPECT_EQ(uses, 32767U);
}

TEST_F(DaplRsmContexts, RunOut) {
    std::vector<RsmRegion *> all;
    std::set<LocalKey> seen;
    while (RsmRegion *region =
               contexts.create(zone.as<Pz>(), pinned, START, LENGTH, LOCAL_READ, true)) {
        all.push_back(region);
        ASSERT_TRUE(seen.insert(region->context).second);
    }
    EXPECT_EQ(all.size(), 131072U);
    contexts.destroy(*all.back());
    EXPECT_NE(contexts.create(zone.as<Pz>(), pinned, START, LENGTH, LOCAL_READ, true), nullptr);
    EXPECT_EQ(contexts.create(zone.as<Pz>(), pinned, START, LENGTH, LOCAL_READ, true), nullptr);
    for (const RsmRegion *region : all)
        EXPECT_EQ(region->length, LENGTH);
}

TEST_F(DaplRsmContexts, GatherTakesWhatIsThere) {
    const RsmRegion &region = make(LOCAL_READ);
    EXPECT_EQ(gather(zone, LOCAL_READ,
                     {piece(region),
                      piece(region, START + LENGTH - 1, 1),
                      piece(region, 0, 0),
                      {0, 0, 0, 0},
                      piece(region, START, 1)}),
              Status::OK);
    EXPECT_EQ(used, 3);
    EXPECT_EQ(total, LENGTH + 2);
    EXPECT_EQ(pieces[1].address, START + LENGTH - 1);
    EXPECT_EQ(pieces[2].length, 1U);
    EXPECT_EQ(gather(zone, LOCAL_READ, {}), Status::OK);
}

TEST_F(DaplRsmContexts, GatherChecksTheVector) {
    const RsmRegion &region = make(LOCAL_READ);
    const std::vector<Segment> five(5, piece(region, START, 1));
    EXPECT_EQ(gather(zone, LOCAL_READ, five), Status::BAD_SEGMENT_COUNT);
    EXPECT_EQ(contexts.gather(&zone.as<Pz>(), -1, five.data(), LOCAL_READ, pieces, used, total),
              Status::BAD_SEGMENT_COUNT);
    EXPECT_EQ(contexts.gather(&zone.as<Pz>(), 1, nullptr, LOCAL_READ, pieces, used, total),
              Status::BAD_SEGMENT);
    used = 0;
    total = UINT64_MAX;
    EXPECT_EQ(contexts.gather(&zone.as<Pz>(), 1, five.data(), LOCAL_READ, pieces, used, total),
              Status::BAD_SEGMENT);
}

TEST_F(DaplRsmContexts, GatherChecksBounds) {
    const RsmRegion &region = make(ALL);
    for (const auto &[start, length] :
         std::vector<std::pair<std::uint64_t, std::uint64_t>>{{START - 1, 1},
                                                              {START - 1, LENGTH},
                                                              {START, LENGTH + 1},
                                                              {START + LENGTH, 1},
                                                              {START + 1, LENGTH},
                                                              {START, UINT64_MAX},
                                                              {START + 1, UINT64_MAX - START},
                                                              {UINT64_MAX, 1},
                                                              {UINT64_MAX, UINT64_MAX},
                                                              {0, START + LENGTH}})
        EXPECT_EQ(gather(LOCAL_READ, piece(region, start, length)), Status::BAD_SEGMENT)
            << start << ' ' << length;
}

TEST_F(DaplRsmContexts, GatherChecksRights) {
    const auto privileges = [](bool write) {
        return write ? Status::RIGHT_TO_WRITE_MISSING : Status::RIGHT_TO_READ_MISSING;
    };
    const auto protection = [](bool write) {
        return write ? Status::ZONE_OF_WRITE_DIFFERS : Status::ZONE_OF_READ_DIFFERS;
    };
    for (const bool write : {false, true}) {
        const unsigned needed = write ? LOCAL_WRITE : LOCAL_READ;
        RsmRegion &region = make(ALL);
        EXPECT_EQ(gather(needed, piece(region)), Status::OK);
        EXPECT_EQ(gather(other_zone, needed, {piece(region)}), protection(write));
        EXPECT_EQ(gather(needed, piece(make(ALL & ~needed))), privileges(write));
        EXPECT_EQ(gather(needed, piece(make(ALL, false))), privileges(write)); // an RMR's
        const Segment stale = piece(region);
        EXPECT_NE(contexts.usable(&zone.as<Pz>(), stale, needed), nullptr);
        contexts.destroy(region);
        EXPECT_EQ(gather(needed, stale), privileges(write));
        EXPECT_EQ(contexts.usable(&zone.as<Pz>(), stale, needed), nullptr);
    }
}

TEST_F(DaplRsmContexts, ReachIsExact) {
    const RsmRegion &region = make(ALL);
    const auto reached = reach(region, START + 1, LENGTH - 1, REMOTE_WRITE);
    ASSERT_TRUE(reached);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(reached->bytes.data()), START + 1);
    EXPECT_EQ(reached->bytes.size(), LENGTH - 1);
    EXPECT_TRUE(reach(region, START + LENGTH, 0, REMOTE_READ));
    EXPECT_FALSE(reach(region, START + LENGTH + 1, 0, REMOTE_READ));
    EXPECT_FALSE(reach(region, START - 1, 1, REMOTE_READ));
    EXPECT_FALSE(reach(region, START, LENGTH + 1, REMOTE_READ));
    EXPECT_FALSE(reach(region, START + 1, UINT64_MAX, REMOTE_READ));
    EXPECT_FALSE(reach(region, UINT64_MAX, 2, REMOTE_READ));
}

TEST_F(DaplRsmContexts, ReachChecksRights) {
    EXPECT_FALSE(reach(make(ALL & ~REMOTE_READ), START, 1, REMOTE_READ));
    EXPECT_FALSE(reach(make(ALL & ~REMOTE_WRITE), START, 1, REMOTE_WRITE));
    EXPECT_TRUE(reach(make(REMOTE_WRITE), START, 1, REMOTE_WRITE));
    RsmRegion &window = make(REMOTE_READ, false);
    EXPECT_TRUE(reach(window, START, 1, REMOTE_READ));
    EXPECT_FALSE(contexts.reach(&other_zone.as<Pz>(), window.context, START, 1, REMOTE_READ));
    window.open = false; // its bind has not been carried out
    EXPECT_FALSE(reach(window, START, 1, REMOTE_READ));
    window.open = true;
    const RemoteKey stale = window.context;
    contexts.destroy(window);
    EXPECT_FALSE(contexts.reach(&zone.as<Pz>(), stale, START, 1, REMOTE_READ));
}

// The kernel refuses all grants here: there is no handle.
TEST_F(DaplRsmContexts, NoTicketNoGrant) {
    const RsmRegion &region = make(ALL);
    const Ep &ep = peer.as<Ep>();
    EXPECT_FALSE(contexts.tickets.grant(contexts, ep, &zone.as<Pz>(), region.context));
    EXPECT_FALSE(contexts.tickets.grant(contexts, ep, &other_zone.as<Pz>(), region.context));
    EXPECT_FALSE(contexts.tickets.grant(contexts, ep, &zone.as<Pz>(), region.context + 1));
    EXPECT_FALSE(contexts.tickets.grant(contexts, ep, &zone.as<Pz>(), make(ALL & ~0x22U).context));
    EXPECT_TRUE(region.holders.empty());
    contexts.tickets.revoke(ep);
}

} // namespace
