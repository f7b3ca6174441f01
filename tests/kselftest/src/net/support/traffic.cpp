// SPDX-License-Identifier: GPL-2.0
#include "net/support/traffic.hpp"

#include <algorithm>
#include <gtest/gtest.h>

namespace rsmtest::net {

Traffic::Traffic(unsigned here, unsigned there, std::size_t pages)
    : size_(pages * page_size()), exporter_here_(here), exporter_there_(there), importer_here_(here),
      storing_here_(here), importer_there_(there), exported_here_(exporter_here_, pages),
      exported_there_(exporter_there_, pages) {
    EXPECT_EQ(published_, RSM_SUCCESS);
}

std::vector<RemoteHammer *> Traffic::here() {
    return {&put_, &get_, &post_};
}

std::vector<RemoteHammer *> Traffic::all() {
    return {&put_, &get_, &post_, &store_, &their_put_, &their_post_};
}

bool Traffic::flows(std::uint64_t times) {
    return std::ranges::all_of(all(), [times](RemoteHammer *hammer) { return hammer->succeeds(times); });
}

void Traffic::expect_errors() {
    for (RemoteHammer *hammer : all())
        EXPECT_TRUE(hammer->fails()) << "a transfer goes on, or hangs";
}

bool Traffic::is_whole(RemoteHammer &hammer) {
    const Answer counts = hammer.calm();
    EXPECT_EQ(counts.status, 0) << "does not end";
    if (counts.value(1) == 0)
        return true;
    EXPECT_PRED1(is_disconnect, counts.value(2)) << "first error";
    EXPECT_PRED1(is_disconnect, counts.value(3)) << "last error";
    return false;
}

bool Traffic::end() {
    bool whole = true;
    for (RemoteHammer *hammer : all())
        whole &= is_whole(*hammer);
    return whole;
}

void Traffic::expect_cut() {
    expect_imports_cut();
    expect_export_freed();
}

void Traffic::expect_imports_cut() {
    EXPECT_TRUE(puts_.hung_up());
    for (RemoteHammer *hammer : here()) {
        EXPECT_TRUE(hammer->fails()) << "a transfer to the dead goes on";
        EXPECT_FALSE(is_whole(*hammer));
    }
    EXPECT_EQ(store_.calm().status, 0) << "stores to the dead hang or kill";
    EXPECT_EQ(stores_.disconnect(), mapped_ ? RSMERR_SEG_STILL_MAPPED : RSM_SUCCESS);
    if (mapped_) {
        EXPECT_EQ(stores_.unmap(), RSM_SUCCESS);
    }
}

// The dead importer holds nothing of it.
void Traffic::expect_export_freed() {
    exported_here_.memory().fill(0, size_, 3);
    EXPECT_EQ(exported_here_.memory().differ(0, size_, 3), 0u) << "the dead go on writing";
    const auto start = Hub::Clock::now();
    EXPECT_EQ(exported_here_.destroy(), RSM_SUCCESS);
    note_time("an export that a dead node had imported was destroyed", start);
    EXPECT_EQ(exported_here_.memory().differ(0, size_, 3), 0u) << "contents are lost";
}

} // namespace rsmtest::net
