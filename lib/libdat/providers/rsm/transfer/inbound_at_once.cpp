// SPDX-License-Identifier: MIT
// The peer's requests: the shortest way.
#include "transfer/inbound.h"

#include "connect/ep.h"
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
    if (pieces.size() != 1 || length > pieces[0].segment_length ||
        !ep_.ia().contexts->still_good(ep_.pz, pieces[0], DAT_MEM_PRIV_LOCAL_WRITE_FLAG))
        return false;
    auto *to = reinterpret_cast<std::byte *>(pieces[0].virtual_address);
    copy_last_bytes_last(to, message.payload.data(), length);
    complete(own_.take(), DAT_DTO_SUCCESS, length, (header.flags & message_flags::SOLICITED) != 0);
    ++executed_;
    return true;
}

} // namespace rsmdat
