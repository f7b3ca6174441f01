// SPDX-License-Identifier: MIT
// Endpoints that are connected without a wire, and a peer that is no endpoint at all.
#pragma once

#include "core/transport.h"
#include "engine/connect/ep.h"
#include "fake_ia.h"
#include "transfer/srq.h"
#include "transfer/transfer.h"

#include <atomic>
#include <cstring>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace fake {

using rsmengine::CompletionFlags;
using rsmengine::CompletionStatus;
using rsmengine::Close;
using rsmengine::Cookie;
using rsmengine::Count;
using rsmengine::EpAttributes;
using rsmengine::EpState;
using rsmengine::Event;
using rsmengine::EventKind;
using rsmengine::Reason;
using rsmengine::RemoteKey;
using rsmengine::RemoteSegment;
using rsmengine::Segment;
using rsmengine::Status;
using rsmengine::UNLIMITED;
namespace rights = rsmengine::rights;

constexpr std::size_t RING = 16384;
constexpr std::uint32_t HERE = 0;
constexpr std::uint32_t ELSEWHERE = 1;

extern int bells;   // rung so far
extern bool grants; // peers are let in
extern bool maps;   // and map what they are let into
extern int writes;  // by RemoteRegion::write(), not straight through a mapping
// The thread that has closed a region of a peer last.
extern std::atomic<std::thread::id> region_closed_by;

constexpr CompletionFlags DEFAULT = CompletionFlags::DEFAULT;
constexpr CompletionFlags SUPPRESS = CompletionFlags::SUPPRESS;
constexpr CompletionFlags UNSIGNALLED = CompletionFlags::UNSIGNALLED;
constexpr CompletionFlags SOLICITED = CompletionFlags::SOLICITED;
constexpr CompletionFlags FENCE = CompletionFlags::FENCE;

// Bytes that are registered.
struct Memory {
    std::vector<std::byte> bytes;
    rsmengine::RsmRegion *region = nullptr;

    [[nodiscard]] std::uint64_t address() const {
        return reinterpret_cast<std::uint64_t>(bytes.data());
    }
    [[nodiscard]] Segment at(std::uint64_t offset, std::uint64_t length) const {
        return {region->context, 0, address() + offset, length};
    }
    [[nodiscard]] RemoteSegment remote(std::uint64_t offset, std::uint64_t length) const {
        return {region->context, 0, address() + offset, length};
    }
    void fill(int seed) {
        for (std::size_t i = 0; i < bytes.size(); ++i)
            bytes[i] = static_cast<std::byte>(i * 7 + i / 251 + static_cast<std::size_t>(seed));
    }
};

// An endpoint with EVDs of its own.
struct Side {
    rsmengine::Ep *ep = nullptr;
    rsmengine::Evd *recv = nullptr;
    rsmengine::Evd *request = nullptr;
    rsmengine::Evd *connection = nullptr;

    // Posts; cookies count from the given number.
    [[nodiscard]] Status send(std::vector<Segment> iov, std::uint64_t cookie = 0,
                              CompletionFlags flags = DEFAULT) const;
    [[nodiscard]] Status receive(std::vector<Segment> iov, std::uint64_t cookie = 0,
                                 CompletionFlags flags = DEFAULT) const;
    [[nodiscard]] Status write(std::vector<Segment> iov, RemoteSegment remote,
                               std::uint64_t cookie = 0,
                               CompletionFlags flags = DEFAULT) const;
    [[nodiscard]] Status read(std::vector<Segment> iov, RemoteSegment remote,
                              std::uint64_t cookie = 0, CompletionFlags flags = DEFAULT) const;
    void progress() const { ep->transfer->progress(); }
};

class Transfers : public IaTest {
  protected:
    Transfers() : IaTest("") {}
    void SetUp() override;

    static EpAttributes attributes();
    Side make_side(const EpAttributes &attr = attributes(), rsmengine::Srq *srq = nullptr);
    Memory make_memory(std::size_t size, unsigned privileges = rights::ALL);
    void forget(Memory &memory);
    rsmengine::Pz &make_pz();
    rsmengine::Srq &make_srq(Count entries);

    // Two endpoints, each the other's peer.
    void connect(Side &one, Side &other, std::uint32_t node = HERE);
    // An endpoint and a peer that the test plays itself.
    std::unique_ptr<rsmengine::Channel> connect(Side &side, std::uint32_t node = HERE);
    // Both go on until neither has anything to do.
    static void run(const Side &one, const Side &other);

    // The next event of an EVD is the end of a transfer like this.
    static void expect(rsmengine::Evd &evd, std::uint64_t cookie,
                       CompletionStatus status = CompletionStatus::OK,
                       std::uint64_t length = 0);
    static void expect_event(rsmengine::Evd &evd, EventKind number);
    static void expect_nothing(rsmengine::Evd &evd);

    rsmengine::Pz *pz = nullptr;

  private:
    rsmengine::Evd &make_evd(Count length = 4096);
    std::unique_ptr<rsmengine::Channel> link(const Side &side, std::uint32_t node);
    std::shared_ptr<rsmengine::RsmPinned> pinned_;
};

// Two endpoints, and memory of both.
class Pair : public Transfers {
  protected:
    void SetUp() override {
        Transfers::SetUp();
        one = make_side();
        other = make_side();
        from = make_memory(1 << 21);
        to = make_memory(1 << 21);
        from.fill(1);
    }
    void expect_same(std::size_t length, std::size_t from_offset = 0, std::size_t to_offset = 0) {
        EXPECT_EQ(std::memcmp(from.bytes.data() + from_offset, to.bytes.data() + to_offset, length),
                  0);
    }
    void expect_broken() {
        for (const Side &side : {one, other}) {
            EXPECT_EQ(side.ep->state, EpState::DISCONNECTED);
            expect_event(*side.connection, EventKind::BROKEN);
            expect_nothing(*side.connection);
        }
    }

    Side one, other;
    Memory from, to;
};

} // namespace fake
