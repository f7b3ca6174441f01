// SPDX-License-Identifier: GPL-2.0
// Grants that one thread revokes while another ends their export: each of them ends once.
#include "support/raw.hpp"
#include "support/unchanged.hpp"

#include <barrier>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

using namespace rsmtest;

namespace {

constexpr std::size_t grants = 2000; // to end them takes a while
constexpr int rounds = 10;

std::vector<raw::Ticket> make_grants(int segment)
{
    std::vector<raw::Ticket> tickets(grants);
    for (raw::Ticket &ticket : tickets)
        EXPECT_EQ(raw::grant(segment, ticket, 0, page_size()), raw::success);
    return tickets;
}

} // namespace

// A revocation may find its grant and wait for the export, which ends meanwhile. The grant that was
// made first ends last.
TEST(GrantRace, revocations_and_the_end_of_the_export)
{
    const Unchanged unchanged;
    const Pages memory(1);
    for (int round = 0; round < rounds; round++) {
        const Fd segment = raw::open_segment();
        ASSERT_EQ(raw::bind(segment.get(), memory.data(), memory.size(), RSM_BIND_LOCAL),
                  raw::success);
        const auto tickets = make_grants(segment.get());
        std::barrier together(2);
        std::thread thread([&] {
            together.arrive_and_wait();
            for (const raw::Ticket &ticket : tickets)
                if (raw::revoke(segment.get(), ticket) != raw::success)
                    return;
        });
        together.arrive_and_wait();
        EXPECT_EQ(raw::destroy(segment.get()), raw::success);
        thread.join();
        EXPECT_NE(raw::revoke(segment.get(), tickets.back()), raw::success);
    }
}
