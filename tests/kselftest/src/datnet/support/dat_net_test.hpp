// SPDX-License-Identifier: GPL-2.0
// Tests of uDAPL with another node, where ksft-dat-partner runs.
//
// The IA is RSM_DAT_IA, or rsm1; the node is the first of RSM_NET_NODES (net/support/hub.hpp).
#pragma once

#include "datnet/support/call.hpp"
#include "datnet/support/remote.hpp"

#include <gtest/gtest.h>
#include <optional>

namespace rsmtest::datnet {

// The partner is there when a test begins, and has nothing left when it ends.
class DatNet : public testing::Test {
  protected:
    DatNet();
    void SetUp() override;
    void TearDown() override;

    // A machine that was killed is there again, and the way to it.
    void restart();
    // RSM's agents reach each other.
    bool has_path() const;

    net::Peer partner;
    std::optional<Session> session; // a process there
};

// One side here and one there.
class DatNetPair : public DatNet {
  protected:
    static constexpr std::size_t bytes = 65536;

    void SetUp() override;
    void TearDown() override;
    // Memory of this size on both sides.
    void make_sides(std::size_t size);
    void make_side_there(std::size_t size);

    // Both end up CONNECTED; who asks is the active side.
    void connect_from_here();
    void connect_from_there();
    void connect(bool from_here) { from_here ? connect_from_here() : connect_from_there(); }
    // Both have ended so, and may be connected again.
    void expect_end(DAT_EVENT_NUMBER number);
    // Our attempt has failed, and another is possible.
    void expect_failed(DAT_EVENT_NUMBER number);

    std::span<std::byte> part(std::size_t offset, std::size_t size) {
        return {here->memory.start + offset, size};
    }
    std::uint64_t qualifier_there();
    std::uint64_t qualifier_here();

    std::optional<dat::Side> here;
    std::optional<Remote> there;

  private:
    std::uint64_t qualifier_there_ = 0;
    std::uint64_t qualifier_here_ = 0;
};

} // namespace rsmtest::datnet
