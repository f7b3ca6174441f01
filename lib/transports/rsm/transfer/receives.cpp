// SPDX-License-Identifier: MIT
// The peer's requests: sends and RDMA writes as they arrive, piece by piece.
#include "transfer/receives.h"

#include "core/transport.h"
#include "engine/connect/ep.h"
#include "memory/copy.h"
#include "transfer/transfer.h"

#include <algorithm>
#include <cstring>

namespace rsmengine {
namespace {

bool is_first(const MessageHeader &header) noexcept {
    return (header.flags & message_flags::FIRST) != 0;
}

bool is_last(const MessageHeader &header) noexcept {
    return (header.flags & message_flags::LAST) != 0;
}

} // namespace

void RsmReceives::connected() noexcept {
    executed_ = 0;
    arriving_ = {};
    live_ = true;
    check_watermarks();
}

void RsmReceives::take_requests() noexcept {
    const std::uint64_t before = executed_;
    budget_exhausted_ = starving_ = held_back_ = false;
    int turns = TURNS;
    for (Message message{}; !failed_ && !fault_;) {
        budget_exhausted_ = turns-- == 0;
        if (budget_exhausted_)
            break;
        const Arrived arrived = channel_.receive(NotifyingChannel::Ring::REQUEST, message);
        if (arrived == Arrived::NOTHING)
            break;
        held_back_ = arrived == Arrived::MESSAGE && waits_for_reads(message.header);
        if (held_back_)
            break;
        const Taken taken = arrived == Arrived::MESSAGE ? take(message) : Taken::NONSENSE;
        if (taken == Taken::LATER)
            break;
        if (taken == Taken::NONSENSE)
            failed_ = true;
        channel_.consume(NotifyingChannel::Ring::REQUEST);
    }
    if (executed_ != before)
        channel_.set_executed(executed_);
}

// A read may fail up to its last byte, and then no later request may have been carried out.
bool RsmReceives::waits_for_reads(const MessageHeader &header) noexcept {
    if (reads_.empty() || header.kind == MessageKind::READ)
        return false;
    answer_reads();
    return fault_ || !reads_.empty();
}

RsmReceives::Taken RsmReceives::take(const Message &message) noexcept {
    const MessageHeader &header = message.header;
    if (take_at_once(message)) [[likely]]
        return Taken::YES;
    if (header.kind == MessageKind::READ)
        return arriving_.kind == MessageKind::PAD ? take_read(header) : Taken::NONSENSE;
    if (header.kind != MessageKind::SEND && header.kind != MessageKind::WRITE)
        return Taken::NONSENSE;
    if (is_first(header))
        if (const Taken begun = begin(header); begun != Taken::YES)
            return begun;
    if (fault_)
        return Taken::YES;
    return header.kind == arriving_.kind && fits(message) ? take_piece(message) : Taken::NONSENSE;
}

RsmReceives::Taken RsmReceives::begin(const MessageHeader &header) noexcept {
    const bool send = header.kind == MessageKind::SEND;
    if (arriving_.kind != MessageKind::PAD ||
        header.total > (send ? limits::MESSAGE : limits::RDMA))
        return Taken::NONSENSE;
    if (send && !take_buffer())
        return Taken::LATER;
    arriving_ = {.kind = header.kind,
                 .solicited = (header.flags & message_flags::SOLICITED) != 0,
                 .context = header.context,
                 .address = header.address,
                 .total = header.total,
                 .moved = 0};
    if (send && header.total > buffers()[*current_].length) {
        complete_current(CompletionStatus::LOCAL_LENGTH);
        fault(CompletionStatus::REMOTE_RESPONDER, executed_);
    }
    return Taken::YES;
}

// Only the last piece completes the total; only an empty message has an empty piece.
bool RsmReceives::fits(const Message &message) const noexcept {
    const std::uint64_t left = arriving_.total - arriving_.moved;
    const std::uint64_t length = message.payload.size();
    if (is_last(message.header))
        return length == left && (length > 0 || is_first(message.header));
    return length > 0 && length < left;
}

RsmReceives::Taken RsmReceives::take_piece(const Message &message) noexcept {
    if (arriving_.kind == MessageKind::SEND)
        fill(message);
    else
        write(message);
    if (fault_)
        return Taken::YES;
    arriving_.moved += message.payload.size();
    if (!is_last(message.header))
        return Taken::YES;
    if (arriving_.kind == MessageKind::SEND)
        complete_current(CompletionStatus::OK);
    arriving_ = {};
    ++executed_;
    return Taken::YES;
}

// Check the registration for each piece: it may have ended since the one before.
void RsmReceives::fill(const Message &message) noexcept {
    if (contexts_of(ep_.ia()).fill(pz(), buffers().pieces(*current_), arriving_.moved,
                                   message.payload))
        return;
    complete_current(CompletionStatus::LOCAL_PROTECTION);
    fault(CompletionStatus::REMOTE_RESPONDER, executed_);
}

void RsmReceives::write(const Message &message) noexcept {
    if (arriving_.total == 0)
        return;
    const auto target = contexts_of(ep_.ia()).reach(ep_.pz, arriving_.context, arriving_.address,
                                                    arriving_.total, rights::REMOTE_WRITE);
    if (!target)
        return fault(CompletionStatus::REMOTE_ACCESS, executed_);
    const auto part = target->bytes.subspan(arriving_.moved, message.payload.size());
    copy_last_bytes_last(part.data(), message.payload.data(), part.size());
    if (!target->pinned->intact())
        fault(CompletionStatus::REMOTE_ACCESS, executed_);
}

RsmReceives::Taken RsmReceives::take_read(const MessageHeader &header) noexcept {
    if (header.length != 0 || header.total == 0 || header.total > limits::RDMA)
        return Taken::NONSENSE;
    if (reads_.size() >= ep_.link->max_rdma_read_in || reads_.full())
        fault(CompletionStatus::REMOTE_RESPONDER, executed_);
    else
        reads_.push({header.context, header.address, header.total, executed_++});
    return Taken::YES;
}

namespace {

// The time that a peer has to take the message that tells why the connection ends.
constexpr std::chrono::milliseconds PATIENCE{200};

using Copied = std::array<std::byte, 4096>;

} // namespace

bool RsmReceives::take_ask(const MessageHeader &header) noexcept {
    if (ask_ || !channel_.local())
        return false;
    ask_ = header.context;
    return true;
}

// In the order of the requests: a fault comes after what was asked for before it.
void RsmReceives::answer() noexcept {
    if (ask_)
        answer_ask();
    answer_reads();
    if (fault_ && reads_.empty())
        report_fault();
    budget_exhausted_ = budget_exhausted_ || (held_back_ && reads_.empty());
}

void RsmReceives::answer_reads() noexcept {
    while (!reads_.empty() && answer_read(reads_.front()))
        reads_.pop();
}

void RsmReceives::answer_ask() noexcept {
    RsmContexts &contexts = contexts_of(ep_.ia());
    const auto grant = contexts.tickets.grant(contexts, ep_, ep_.pz, *ask_);
    MessageHeader header{};
    header.kind = MessageKind::GRANT;
    header.status = grant ? std::uint16_t{0} : on_wire(CompletionStatus::REMOTE_ACCESS);
    header.context = *ask_;
    header.length = grant ? sizeof(Grant) : 0;
    const std::array parts{grant ? std::as_bytes(std::span(&*grant, 1)) : SgPiece{}};
    if (channel_.send(NotifyingChannel::Ring::RESPONSE, header, parts))
        ask_.reset();
}

// True if the read is answered. The data are copied twice, because they must be known to come from
// the memory before they are sent.
bool RsmReceives::answer_read(Read &read) noexcept {
    Copied copied; // NOLINT(*-member-init): as much of it is read as was written
    MessageHeader header{};
    header.kind = MessageKind::READ_DATA;
    while (read.left > 0) {
        const std::span block = std::span(copied).first(
            std::min({read.left, channel_.limit(NotifyingChannel::Ring::RESPONSE), copied.size()}));
        if (!copy_out(read, block)) {
            fault(CompletionStatus::REMOTE_ACCESS, read.number);
            return false;
        }
        const std::array part{SgPiece(block)};
        header.length = static_cast<std::uint32_t>(block.size());
        if (!channel_.send(NotifyingChannel::Ring::RESPONSE, header, part))
            return false;
        read.address += block.size();
        read.left -= block.size();
    }
    return true;
}

bool RsmReceives::copy_out(const Read &read, std::span<std::byte> to) const noexcept {
    const auto source = contexts_of(ep_.ia()).reach(ep_.pz, read.context, read.address, read.left,
                                                    rights::REMOTE_READ);
    if (!source)
        return false;
    std::memcpy(to.data(), source->bytes.data(), to.size());
    return source->pinned->intact();
}

// Carries out no more requests, and drops the answers that wait.
void RsmReceives::fault(CompletionStatus status, std::uint64_t number) noexcept {
    if (!reads_.empty() && number == reads_.front().number)
        reads_.clear();
    fault_ = {status, number};
    arriving_ = {};
    if (patience_ != 0)
        return;
    try {
        patience_ = ep_.ia().engine->at(Engine::Clock::now() + PATIENCE, [this] {
            patience_ = 0;
            failed_ = true;
            transfer_of(ep_).progress();
        });
    } catch (const std::bad_alloc &) {
        failed_ = true;
    }
}

void RsmReceives::report_fault() noexcept {
    MessageHeader header{};
    header.kind = MessageKind::FAULT;
    header.status = on_wire(fault_->status);
    header.total = fault_->number;
    failed_ |= channel_.send(NotifyingChannel::Ring::RESPONSE, header);
}

void RsmReceives::last_words() noexcept {
    MessageHeader header{};
    header.kind = MessageKind::DONE;
    header.total = executed_;
    (void)channel_.send(NotifyingChannel::Ring::RESPONSE, header);
}

namespace {

constexpr unsigned WHOLE = message_flags::FIRST | message_flags::LAST;

} // namespace

bool RsmReceives::take_at_once(const Message &message) noexcept {
    const MessageHeader &header = message.header;
    const std::size_t length = message.payload.size();
    if (header.kind != MessageKind::SEND || (header.flags & WHOLE) != WHOLE ||
        header.total != length || length == 0 || arriving_.kind != MessageKind::PAD || fault_ ||
        ep_.srq || own_.waiting() == 0)
        return false;
    const ReceiveQueue::Slot slot = own_.peek(0);
    const auto pieces = own_.pieces(slot);
    if (pieces.size() != 1 || length > pieces[0].length)
        return false;
    const RsmRegion *region = contexts_of(ep_.ia()).usable(ep_.pz, pieces[0], rights::LOCAL_WRITE);
    if (!region)
        return false;
    const RsmPinned &pinned = region->memory();
    copy_last_bytes_last(pinned.at(pieces[0].address), message.payload.data(), length);
    if (!pinned.intact())
        return false;
    complete(own_.take(), CompletionStatus::OK, length,
             (header.flags & message_flags::SOLICITED) != 0);
    ++executed_;
    return true;
}

RsmReceives::~RsmReceives() {
    if (ep_.srq)
        srq_of(ep_)->leave(*this);
    if (patience_ != 0)
        ep_.ia().engine->cancel(patience_);
}

void RsmReceives::resize() {
    reads_.reserve(static_cast<std::size_t>(std::max(ep_.attributes.max_rdma_read_in, 1)));
    Receives::resize();
}

const Pz *RsmReceives::pz() const noexcept {
    return ep_.srq ? ep_.srq->pz : ep_.pz;
}

bool RsmReceives::take_buffer() noexcept {
    RsmSrq *srq = srq_of(ep_);
    if (buffers().waiting() == 0) {
        starving_ = true;
        if (srq)
            srq->wait(*this);
        return false;
    }
    current_ = srq ? srq->take() : own_.take();
    check_watermarks();
    return true;
}

void RsmReceives::buffer_posted() noexcept {
    transfer_of(ep_).progress();
}

void RsmReceives::complete_current(CompletionStatus status) noexcept {
    const ReceiveQueue::Slot slot = *current_;
    current_.reset();
    complete(slot, status, arriving_.total, arriving_.solicited);
}

void RsmReceives::flush() noexcept {
    live_ = failed_ = budget_exhausted_ = starving_ = false;
    ask_.reset();
    fault_.reset();
    reads_.clear();
    if (ep_.srq)
        srq_of(ep_)->leave(*this);
    if (patience_ != 0)
        ep_.ia().engine->cancel(std::exchange(patience_, 0));
    if (current_)
        complete_current(CompletionStatus::FLUSHED);
    while (own_.waiting() > 0)
        complete(own_.take(), CompletionStatus::FLUSHED, 0, true);
    arriving_ = {};
}

} // namespace rsmengine
