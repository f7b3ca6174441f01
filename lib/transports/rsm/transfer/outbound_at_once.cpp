// SPDX-License-Identifier: MIT
// Our requests: the shortest ways.
#include "transfer/outbound.h"

#include "engine/connect/ep.h"
#include "memory/copy.h"
#include "transfer/parts.h"

#include <array>

namespace rsmdat {
namespace {

// Where the peer's bytes are, if all of them are in the window.
std::byte *place_of(const RemoteRegion::Window &window, std::uint64_t address,
                    std::uint64_t length) noexcept {
    const std::uint64_t offset = address - window.address;
    return offset <= window.length && length <= window.length - offset ? window.start + offset
                                                                       : nullptr;
}

} // namespace

// Without room for its event a write goes the long way, which breaks the connection. A suppressed
// one has none.
bool Outbound::write_at_once(const Post &post, const DAT_RMR_TRIPLET *remote) noexcept {
    const bool silent = post.flags == DAT_COMPLETION_SUPPRESS_FLAG;
    if (post.segments != 1 || (!silent && post.flags != DAT_COMPLETION_DEFAULT_FLAG) || !post.iov ||
        !remote || ep_.state != DAT_EP_STATE_CONNECTED || !queue_.empty() || full() || failed_ ||
        (!silent && !ep_.request_evd->has_room()))
        return false;
    const DAT_LMR_TRIPLET &piece = *post.iov;
    const std::uint64_t length = piece.segment_length;
    const Remotes::Entry *target = remotes_.last(remote->rmr_context);
    if (!target || length == 0 || ep_.attributes.max_rdma_write_iov < 1 ||
        length > remote->segment_length || length > ep_.attributes.max_rdma_size ||
        !ep_.ia().contexts->still_good(ep_.pz, piece, DAT_MEM_PRIV_LOCAL_READ_FLAG))
        return false;
    std::byte *to = place_of(target->window, remote->target_address, length);
    if (!to)
        return false;
    copy_last_bytes_last(to, reinterpret_cast<const std::byte *>(piece.virtual_address), length);
    // If not, the write is done again, the long way, which tells what becomes of it.
    if (!target->window.import->alive())
        return false;
    if (silent)
        return true;
    ++in_use_;
    ep_.request_evd->deliver(
        Completion{ep_.handle(), post.cookie, DAT_DTO_SUCCESS, length, false, &in_use_});
    return true;
}

bool Outbound::send_at_once(const Post &post) noexcept {
    const bool plain =
        post.flags == DAT_COMPLETION_DEFAULT_FLAG || post.flags == DAT_COMPLETION_SUPPRESS_FLAG;
    if (post.segments != 1 || !plain || !post.iov || ep_.state != DAT_EP_STATE_CONNECTED ||
        queue_.has_unstarted() || full() || failed_ || !line_)
        return false;
    const DAT_LMR_TRIPLET &piece = *post.iov;
    const std::uint64_t length = piece.segment_length;
    if (length == 0 || ep_.attributes.max_request_iov < 1 ||
        length > ep_.attributes.max_message_size || length > line_.limit(Line::Ring::REQUEST) ||
        !ep_.ia().contexts->still_good(ep_.pz, piece, DAT_MEM_PRIV_LOCAL_READ_FLAG))
        return false;
    MessageHeader header{};
    header.kind = MessageKind::SEND;
    header.flags = message_flags::FIRST | message_flags::LAST;
    header.total = length;
    const std::array part{part_of(piece, 0, length)};
    if (!line_.send(Line::Ring::REQUEST, header, part))
        return false;
    queue_.vacant() = {.kind = Request::Kind::SEND,
                       .done = false,
                       .wired = true,
                       .waited = false,
                       .asked_again = false,
                       .status = DAT_DTO_SUCCESS,
                       .flags = post.flags,
                       .pieces = 0,
                       .cookie = post.cookie,
                       .length = length,
                       .moved = length,
                       .number = sent_++,
                       .address = 0,
                       .context = 0,
                       .rmr = nullptr};
    queue_.push();
    queue_.started();
    ++in_use_;
    return true;
}

} // namespace rsmdat
