// SPDX-License-Identifier: MIT
// The peer's requests: the shortest way.
#include "transfer/inbound.h"

#include "engine/connect/ep.h"
#include "memory/copy.h"

namespace rsmdat {
namespace {

constexpr unsigned WHOLE = message_flags::FIRST | message_flags::LAST;

} // namespace

bool Inbound::take_at_once(const Message &message) noexcept {
    const MessageHeader &header = message.header;
    const std::size_t length = message.payload.size();
    if (header.kind != MessageKind::SEND || (header.flags & WHOLE) != WHOLE ||
        header.total != length || length == 0 || arriving_.kind != MessageKind::PAD || fault_ ||
        ep_.srq || own_.waiting() == 0)
        return false;
    const Buffers::Slot slot = own_.peek(0);
    const auto pieces = own_.pieces(slot);
    if (pieces.size() != 1 || length > pieces[0].segment_length)
        return false;
    const Region *region =
        ep_.ia().contexts->usable(ep_.pz, pieces[0], DAT_MEM_PRIV_LOCAL_WRITE_FLAG);
    if (!region)
        return false;
    const Pinned &pinned = *region->pinned;
    copy_last_bytes_last(pinned.at(pieces[0].virtual_address), message.payload.data(), length);
    if (!pinned.intact())
        return false;
    complete(own_.take(), DAT_DTO_SUCCESS, length, (header.flags & message_flags::SOLICITED) != 0);
    ++executed_;
    return true;
}

} // namespace rsmdat
