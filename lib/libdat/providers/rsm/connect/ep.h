// SPDX-License-Identifier: MIT
// Endpoints: what the consumer configured, the state machine of udapl-functions.md section 4, and
// the two halves that do the work: Link (connection) and Transfer (data).
#pragma once

#include "connect/link.h"
#include "core/ia.h"
#include "event/evd.h"
#include "memory/pz.h"
#include "transfer/transfer.h"

#include <memory>
#include <span>
#include <vector>

namespace rsmdat {

class Cr;
class Rsp;
class Srq;

// What Ep::connect is told when nobody knows which node has an address.
constexpr std::uint32_t NO_NODE = UINT32_MAX;

class Ep final : public Object, public Source, public Feeder {
  public:
    static constexpr DAT_HANDLE_TYPE KIND = DAT_HANDLE_TYPE_EP;

    Ep(Ia &ia, const DAT_EP_ATTR &attributes, Srq *srq = nullptr);
    ~Ep() override; // as dat_ep_free: tells the peer, leaves the EVDs

    // Roles; null detaches. Keep the counts of Pz and Evd right.
    void set_pz(Pz *other) noexcept;
    void set_recv_evd(Evd *evd) noexcept;
    void set_request_evd(Evd *evd) noexcept;
    void set_connect_evd(Evd *evd) noexcept;
    // The same for the attributes. Throws std::bad_alloc and changes nothing then.
    void set_attributes(const DAT_EP_ATTR &changed);

    // State machine. Ia::lock held in all.
    // Asks `node` for `qualifier`; the outcome comes as an event. DAT_SUCCESS or the post's error.
    DAT_RETURN connect(const sockaddr_storage &remote, std::uint32_t node, DAT_CONN_QUAL qualifier,
                       DAT_TIMEOUT timeout, std::span<const std::byte> private_data);
    // Takes over a request's link and accepts. Throws std::bad_alloc; the link is left then.
    void accept(std::unique_ptr<Link> &from, std::span<const std::byte> private_data);
    DAT_RETURN disconnect(DAT_CLOSE_FLAGS flags) noexcept;
    DAT_RETURN reset() noexcept;
    // Transfer says: an operation failed, or the peer broke the rules. DISCONNECTED, everything is
    // flushed, the peer is told, BROKEN. No effect unless CONNECTED or DISCONNECT_PENDING.
    void broken() noexcept;
    // Transfer says: no request is outstanding any more (for DISCONNECT_PENDING).
    void drained() noexcept;

    // Source: a doorbell of, or the end of, the channel. Feeder: polled by an EVD's dequeue and
    // wait.
    void ready(std::uint32_t events) noexcept override;
    void poll() noexcept override;
    void disarm() noexcept override;

    [[nodiscard]] DAT_RETURN_SUBTYPE state_subtype() const noexcept; // 4.5
    [[nodiscard]] DAT_RETURN wrong_state() const noexcept { return invalid_state(state_subtype()); }
    // The connection, or that of the request for it; null if there is neither.
    [[nodiscard]] const Link *known_link() const noexcept;

    DAT_EP_STATE state = DAT_EP_STATE_UNCONNECTED;
    DAT_EP_ATTR attributes; // named attributes always empty
    Pz *pz = nullptr;
    Evd *recv_evd = nullptr;
    Evd *request_evd = nullptr;
    Evd *connect_evd = nullptr;
    Srq *srq = nullptr;
    Cr *request = nullptr; // PASSIVE, TENTATIVE: whose it is
    Rsp *rsp = nullptr;    // that it is or was reserved for
    std::unique_ptr<Link> link;
    Transfer transfer;
    std::vector<std::byte> established_data; // peer's private data, for the ESTABLISHED event

  private:
    [[nodiscard]] bool transferring() const noexcept {
        return state == DAT_EP_STATE_CONNECTED || state == DAT_EP_STATE_DISCONNECT_PENDING;
    }

    // ep_setup.cpp: until it is connected.
    void start(std::unique_ptr<Link> &from, DAT_TIMEOUT timeout, DAT_EVENT_NUMBER late);
    void stop() noexcept;
    void call();
    void called(int status) noexcept;
    void call_again() noexcept;
    void call_again_soon() noexcept;
    void arrived() noexcept;
    void attach(const SegmentAddress &peer);
    void attached(int status) noexcept;
    void set_up_active(LinkState said, bool gone) noexcept;
    void set_up_passive(LinkState said, bool gone) noexcept;
    void accepted() noexcept;
    void establish(std::span<const std::byte> private_data) noexcept;
    void fail(DAT_EVENT_NUMBER event) noexcept;

    // ep_state.cpp
    void step() noexcept;
    void carry_on(LinkState said, bool gone) noexcept;
    void end(DAT_EVENT_NUMBER event, LinkState tell) noexcept;
    void tell_peer(LinkState what) const noexcept;
    void drop_link() noexcept;
    void report(DAT_EVENT_NUMBER event) noexcept;

    void feed();
    void unfeed() noexcept;
    [[nodiscard]] Engine &engine() const noexcept { return *ia().engine; }

    bool feeding_ = false;
    unsigned polls_ = 0;
    std::shared_ptr<Channel> buried_; // ended, and not gone yet for want of memory
};

} // namespace rsmdat
