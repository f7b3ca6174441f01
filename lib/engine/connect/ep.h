// SPDX-License-Identifier: MIT
// Endpoints: what the consumer configured, the state machine of udapl-functions.md section 4, and
// the two objects of the transport that do the work: Connector with its Link (connection), and
// Transfer (data).
#pragma once

#include "engine/connect/attributes.h"
#include "engine/core/ia.h"
#include "engine/core/status.h"
#include "engine/core/types.h"
#include "engine/event/evd.h"
#include "engine/event/event.h"
#include "engine/loop/engine.h"
#include "engine/memory/pz.h"
#include "engine/transport.h"

#include <memory>
#include <span>
#include <vector>

namespace rsmengine {

class Cr;
class Rsp;
class Srq;

class Ep final : public Object {
  public:
    static constexpr ObjectKind KIND = ObjectKind::EP;

    Ep(Ia &ia, const EpAttributes &attributes, Srq *srq = nullptr);
    ~Ep() override; // tells the peer, leaves the EVDs

    // Roles; null detaches. Keep the counts of Pz and Evd right.
    void set_pz(Pz *other) noexcept;
    void set_recv_evd(Evd *evd) noexcept;
    void set_request_evd(Evd *evd) noexcept;
    void set_connect_evd(Evd *evd) noexcept;
    // Detaches the Ep from the EVDs in its roles. If it has any, first ends the connection, or the
    // attempt to make one, with the events of the end.
    void leave_evds_of(const Ia &closing) noexcept override;
    // The same for the attributes. Throws std::bad_alloc and changes nothing then.
    void set_attributes(const EpAttributes &changed);

    // State machine. Ia::lock held in all.
    Status disconnect(Close how) noexcept;
    Status reset() noexcept;
    // Called by Transfer: an operation failed, or the peer broke the protocol. Makes the state
    // DISCONNECTED, flushes all work, notifies the peer, and delivers BROKEN. No effect unless
    // CONNECTED or DISCONNECT_PENDING.
    void broken() noexcept;
    // Called by Transfer in DISCONNECT_PENDING: no request is outstanding any more.
    void drained() noexcept;

    // Called by Connector: from now on the EVDs poll it. May throw std::bad_alloc when only some of
    // the EVDs poll it.
    void feed();
    void unfeed() noexcept;
    // Called by Connector: if the attempt is not over after `timeout`, it fails with the event
    // `late`. Throws std::bad_alloc.
    void limit(Timeout timeout, EventKind late);
    // Changes the event of that timeout.
    void blame(EventKind late) noexcept { late_ = late; }
    void unlimit() noexcept;
    // Called by Connector: the connection is established. prepare() has reserved memory for that
    // much data.
    void prepare();
    void establish(std::span<const std::byte> private_data) noexcept;
    // Called by Connector: the attempt has failed; also if it ended before there was a link.
    void fail(EventKind event) noexcept;
    // Called by Connector: the connection has ended.
    void end(EventKind event, Ending ending) noexcept;
    [[nodiscard]] bool transferring() const noexcept {
        return state == EpState::CONNECTED || state == EpState::DISCONNECT_PENDING;
    }

    // The state, as the error of a call that it forbids.
    [[nodiscard]] Status wrong_state() const noexcept;
    // The connection, or that of the request for it; null if there is neither.
    [[nodiscard]] const Link *known_link() const noexcept;

    EpState state = EpState::UNCONNECTED;
    EpAttributes attributes;
    Pz *pz = nullptr;
    Evd *recv_evd = nullptr;
    Evd *request_evd = nullptr;
    Evd *connect_evd = nullptr;
    Srq *srq = nullptr;
    Cr *request = nullptr; // PASSIVE, TENTATIVE: the request that holds this Ep
    Rsp *rsp = nullptr;    // the service point that this Ep is or was reserved for
    std::unique_ptr<Link> link;
    const std::unique_ptr<Transfer> transfer;
    const std::unique_ptr<Connector> connector;
    bool lost_event = false; // an event was lost: Transfer breaks the connection when it can
    std::vector<std::byte> established_data; // peer's private data, for the ESTABLISHED event

  private:
    void report(EventKind event) noexcept;
    void give_up() noexcept;

    bool feeding_ = false;
    Engine::Alarm limit_ = 0; // of an attempt
    EventKind late_{};        // the event of that timeout
};

} // namespace rsmengine
