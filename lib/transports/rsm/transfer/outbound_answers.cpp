// SPDX-License-Identifier: MIT
// Our requests: straight into the memory of a peer on the same node, and what peers answer.
#include "transfer/outbound.h"

#include "engine/connect/ep.h"
#include "memory/copy.h"

#include <algorithm>
#include <cstring>

namespace rsmdat {

// Only the target may say why its memory can't be reached: then the request goes through
// the ring, and the answer decides.
Outbound::Way Outbound::direct(Request &request) noexcept {
    Remotes::Entry *entry = remotes_.find(request.context);
    if (!entry)
        return ask(request.context);
    if (!entry->region)
        return Way::RING;
    Pieces room; // NOLINT(*-member-init): as much of it is read as was written
    const auto pieces = reachable(request, room);
    if (pieces.empty()) {
        fail(request, DAT_DTO_ERR_LOCAL_PROTECTION);
        return Way::DONE;
    }
    auto outcome = request.kind == Request::Kind::WRITE
                       ? entry->region->write(request.address, pieces, request.length)
                       : entry->region->read(request.address, pieces, request.length);
    if (outcome == RemoteRegion::Outcome::DONE && !still_intact(request))
        outcome = RemoteRegion::Outcome::FAULT;
    if (outcome == RemoteRegion::Outcome::DONE)
        return Way::DONE;
    if (outcome == RemoteRegion::Outcome::DENIED)
        return Way::RING;
    if (outcome == RemoteRegion::Outcome::FAULT) {
        fail(request, DAT_DTO_ERR_LOCAL_PROTECTION);
        return Way::DONE;
    }
    remotes_.forget(*entry);
    if (std::exchange(request.asked_again, true))
        return Way::RING;
    return ask(request.context);
}

// Only the first request that has not started asks, so there is never more than one question.
Outbound::Way Outbound::ask(DAT_RMR_CONTEXT context) noexcept {
    if (asked_)
        return Way::WAIT;
    MessageHeader header{};
    header.kind = MessageKind::ASK;
    header.context = context;
    if (line_.send(Line::Ring::RESPONSE, header))
        asked_ = context;
    return Way::WAIT;
}

bool Outbound::take(const Message &message) noexcept {
    switch (message.header.kind) {
    case MessageKind::READ_DATA:
        return take_data(message);
    case MessageKind::GRANT:
        return take_grant(message);
    case MessageKind::FAULT:
        return take_fault(message.header);
    case MessageKind::DONE:
        return take_done(message.header);
    default:
        return false;
    }
}

bool Outbound::take_data(const Message &message) noexcept {
    const std::uint64_t length = message.payload.size();
    if (reads_.empty() || length == 0)
        return false;
    Request &request = *reads_.front();
    if (length > request.length - request.moved)
        return false;
    if (!ep_.ia().contexts->fill(ep_.pz, queue_.pieces(request), request.moved, message.payload)) {
        fail(request, DAT_DTO_ERR_LOCAL_PROTECTION);
        return true;
    }
    request.moved += length;
    if (request.moved == request.length) {
        reads_.pop();
        succeed(request);
    }
    return true;
}

bool Outbound::take_grant(const Message &message) noexcept {
    if (asked_ != message.header.context)
        return false;
    asked_.reset();
    Grant grant{};
    std::unique_ptr<RemoteRegion> region;
    if (message.header.status == 0) {
        if (message.payload.size() != sizeof(grant))
            return false;
        std::memcpy(&grant, message.payload.data(), sizeof(grant));
        try {
            region = RemoteRegion::open(*ep_.ia().device, grant);
        } catch (const std::bad_alloc &) {
            region.reset(); // the ring will do
        }
    }
    remotes_.insert(message.header.context, std::move(region));
    return true;
}

// The peer has carried out all that is ahead of the fault; its own word of that may be gone.
bool Outbound::take_fault(const MessageHeader &header) noexcept {
    acknowledge();
    retire();
    Request *request = queue_.on_wire(header.total);
    if (!request || request->done)
        return false;
    executed_ = std::max(executed_, header.total);
    retire();
    const bool known =
        header.status == DAT_DTO_ERR_REMOTE_ACCESS || header.status == DAT_DTO_ERR_REMOTE_RESPONDER;
    fail(*request,
         known ? static_cast<DAT_DTO_COMPLETION_STATUS>(header.status) : DAT_DTO_ERR_BAD_RESPONSE);
    return true;
}

// The peer ends the connection; its own word of how far it has come goes with its segment.
bool Outbound::take_done(const MessageHeader &header) noexcept {
    if (header.total < executed_ || header.total > sent_)
        return false;
    executed_ = header.total;
    return true;
}

} // namespace rsmdat
