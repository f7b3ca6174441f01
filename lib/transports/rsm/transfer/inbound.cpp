// SPDX-License-Identifier: MIT
// The peer's requests: sends and RDMA writes as they arrive, piece by piece.
#include "transfer/inbound.h"

#include "engine/connect/ep.h"
#include "memory/copy.h"

namespace rsmdat {
namespace {

constexpr int TURNS = 1024; // as Outbound's

bool is_first(const MessageHeader &header) noexcept {
    return (header.flags & message_flags::FIRST) != 0;
}

bool is_last(const MessageHeader &header) noexcept {
    return (header.flags & message_flags::LAST) != 0;
}

} // namespace

void Inbound::connected() noexcept {
    executed_ = 0;
    arriving_ = {};
    live_ = true;
    check_watermarks();
}

void Inbound::take_requests() noexcept {
    const std::uint64_t before = executed_;
    tired_ = starving_ = held_back_ = false;
    int turns = TURNS;
    for (Message message{}; !failed_ && !fault_;) {
        tired_ = turns-- == 0;
        if (tired_)
            break;
        const Arrived arrived = line_.receive(Line::Ring::REQUEST, message);
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
        line_.consume(Line::Ring::REQUEST);
    }
    if (executed_ != before)
        line_.set_executed(executed_);
}

// A read may be refused up to its last byte, and then nothing behind it may have happened.
bool Inbound::waits_for_reads(const MessageHeader &header) noexcept {
    if (reads_.empty() || header.kind == MessageKind::READ)
        return false;
    answer_reads();
    return fault_ || !reads_.empty();
}

Inbound::Taken Inbound::take(const Message &message) noexcept {
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

Inbound::Taken Inbound::begin(const MessageHeader &header) noexcept {
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
        complete_current(DAT_DTO_ERR_LOCAL_LENGTH);
        fault(DAT_DTO_ERR_REMOTE_RESPONDER, executed_);
    }
    return Taken::YES;
}

// The last piece, and no other, brings the rest; only a message without any bytes has a piece
// without any.
bool Inbound::fits(const Message &message) const noexcept {
    const std::uint64_t left = arriving_.total - arriving_.moved;
    const std::uint64_t length = message.payload.size();
    if (is_last(message.header))
        return length == left && (length > 0 || is_first(message.header));
    return length > 0 && length < left;
}

Inbound::Taken Inbound::take_piece(const Message &message) noexcept {
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
        complete_current(DAT_DTO_SUCCESS);
    arriving_ = {};
    ++executed_;
    return Taken::YES;
}

// The registration is looked at anew for each piece: it may have ended since the one before.
void Inbound::fill(const Message &message) noexcept {
    if (ep_.ia().contexts->fill(pz(), buffers().pieces(*current_), arriving_.moved,
                                message.payload))
        return;
    complete_current(DAT_DTO_ERR_LOCAL_PROTECTION);
    fault(DAT_DTO_ERR_REMOTE_RESPONDER, executed_);
}

void Inbound::write(const Message &message) noexcept {
    if (arriving_.total == 0)
        return;
    const auto target = ep_.ia().contexts->reach(ep_.pz, arriving_.context, arriving_.address,
                                                 arriving_.total, DAT_MEM_PRIV_REMOTE_WRITE_FLAG);
    if (!target)
        return fault(DAT_DTO_ERR_REMOTE_ACCESS, executed_);
    const auto part = target->bytes.subspan(arriving_.moved, message.payload.size());
    copy_last_bytes_last(part.data(), message.payload.data(), part.size());
    if (!target->pinned->intact())
        fault(DAT_DTO_ERR_REMOTE_ACCESS, executed_);
}

Inbound::Taken Inbound::take_read(const MessageHeader &header) noexcept {
    if (header.length != 0 || header.total == 0 || header.total > limits::RDMA)
        return Taken::NONSENSE;
    if (reads_.size() >= ep_.link->max_rdma_read_in || reads_.full())
        fault(DAT_DTO_ERR_REMOTE_RESPONDER, executed_);
    else
        reads_.push({header.context, header.address, header.total, executed_++});
    return Taken::YES;
}

} // namespace rsmdat
