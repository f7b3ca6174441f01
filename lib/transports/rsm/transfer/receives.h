// SPDX-License-Identifier: MIT
// The peer's requests: sends into our receives, RDMA carried out for a peer whose node can't reach
// our memory, and tickets for one that can.
#pragma once

#include "engine/core/types.h"
#include "engine/event/event.h"
#include "engine/loop/engine.h"
#include "engine/transfer/fifo.h"
#include "engine/transfer/receives.h"
#include "transfer/notifying_channel.h"
#include "transfer/requests.h"
#include "transfer/sg_slice.h"
#include "transfer/srq.h"

#include <optional>

namespace rsmengine {

class RsmReceives final : public Receives, public RsmSrq::Waiter {
  public:
    RsmReceives(Ep &ep, NotifyingChannel &channel) : Receives(ep), channel_(channel) {}
    ~RsmReceives();
    RsmReceives(const RsmReceives &) = delete;
    RsmReceives &operator=(const RsmReceives &) = delete;

    // The Ep's limits have changed. Throws std::bad_alloc.
    void resize();

    void connected() noexcept;
    // Carries out what has arrived.
    void take_requests() noexcept;
    // The peer asks for a ticket. False if the message is malformed.
    bool take_ask(const MessageHeader &header) noexcept;
    // Sends the messages that waited for room in the ring.
    void answer() noexcept;
    [[nodiscard]] bool has_answers() const noexcept { return ask_ || fault_ || !reads_.empty(); }
    // Sends what the peer cannot see once the connection has ended.
    void last_words() noexcept;
    // The receives are flushed.
    void flush() noexcept;

    void buffer_posted() noexcept override; // to the SRQ

    [[nodiscard]] bool starving() const noexcept { return starving_; } // a send waits for a receive
    [[nodiscard]] bool budget_exhausted() const noexcept {
        return budget_exhausted_;
    } // see RsmRequests

  private:
    enum class Taken { YES, LATER, NONSENSE };
    // A request whose pieces are arriving.
    struct Arriving {
        MessageKind kind = MessageKind::PAD; // none
        bool solicited = false;
        RemoteKey context = 0;
        std::uint64_t address = 0;
        std::uint64_t total = 0;
        std::uint64_t moved = 0;
    };
    struct Read {
        RemoteKey context;
        std::uint64_t address;
        std::uint64_t left;
        std::uint64_t number;
    };
    struct Fault {
        CompletionStatus status;
        std::uint64_t number;
    };

    [[nodiscard]] const Pz *pz() const noexcept; // of the receives

    Taken take(const Message &message) noexcept;
    // Most sends come in one piece, into a receive that is one. False, and nothing has happened, if
    // this one does not, or anything is wrong with it.
    bool take_at_once(const Message &message) noexcept;
    Taken begin(const MessageHeader &header) noexcept;
    [[nodiscard]] bool fits(const Message &message) const noexcept;
    Taken take_piece(const Message &message) noexcept;
    bool take_buffer() noexcept;
    void fill(const Message &message) noexcept;
    void write(const Message &message) noexcept;
    Taken take_read(const MessageHeader &header) noexcept;
    void carried_out() noexcept;

    [[nodiscard]] bool waits_for_reads(const MessageHeader &header) noexcept;
    void answer_reads() noexcept;
    bool answer_read(Read &read) noexcept;
    [[nodiscard]] bool copy_out(const Read &read, std::span<std::byte> to) const noexcept;
    void answer_ask() noexcept;
    void report_fault() noexcept;
    void fault(CompletionStatus status, std::uint64_t number) noexcept;
    void complete_current(CompletionStatus status) noexcept;

    NotifyingChannel &channel_;
    Arriving arriving_;
    Fifo<Read> reads_;             // of the peer's, to be answered
    std::optional<RemoteKey> ask_; // likewise
    std::optional<Fault> fault_;   // likewise, and then the connection ends
    Engine::Alarm patience_ = 0;   // limits the wait for a peer that does not take its FAULT
    std::uint64_t executed_ = 0;
    bool starving_ = false;
    bool held_back_ = false; // a request waits for the answers to reads
    bool budget_exhausted_ = false;
};

} // namespace rsmengine
