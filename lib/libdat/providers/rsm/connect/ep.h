// SPDX-License-Identifier: MIT
// Endpoints: what the consumer configured, the state machine of udapl-functions.md section 4, and the
// two halves that do the work: Link (connection) and Transfer (data).
#pragma once

#include "core/ia.h"
#include "event/evd.h"
#include "memory/pz.h"
#include "transfer/transfer.h"
#include "wire/channel.h"
#include "wire/engine.h"

#include <memory>
#include <sys/socket.h>

namespace rsmdat {

class Srq;
class Sp;

// The connection of an Ep, from connect or accept on until it has ended.
struct Link {
    std::unique_ptr<Channel> channel;
    bool active = false;              // we asked
    std::uint64_t local_port = 0;
    std::uint64_t remote_port = 0;
    DAT_CONN_QUAL qualifier = 0;      // active: what we asked for
    sockaddr_storage remote{};        // peer's IA address
    std::uint32_t remote_node = 0;
    std::uint32_t max_rdma_read_out = 0; // agreed
    std::uint32_t max_rdma_read_in = 0;
    Engine::Alarm timeout = 0;        // active: the consumer's
    Engine::Alarm resend = 0;         // active: until the listener has seen the request
    bool arrived = false;             // active: it has
};

class Ep final : public Object, public Source, public Feeder {
  public:
    static constexpr DAT_HANDLE_TYPE KIND = DAT_HANDLE_TYPE_EP;

    Ep(Ia &ia, const DAT_EP_ATTR &attributes);
    ~Ep() override; // as dat_ep_free: tells the peer, leaves the EVDs

    // Roles; null detaches. Keep the counts of Pz and Evd right.
    void set_pz(Pz *pz) noexcept;
    void set_recv_evd(Evd *evd);
    void set_request_evd(Evd *evd);
    void set_connect_evd(Evd *evd);

    // State machine. Ia::lock held in all.
    // Asks `node` for `qualifier`; the outcome comes as an event. DAT_SUCCESS or the post's error.
    DAT_RETURN connect(const sockaddr_storage &remote, std::uint32_t node, DAT_CONN_QUAL qualifier,
                       DAT_TIMEOUT timeout, std::span<const std::byte> private_data);
    DAT_RETURN disconnect(DAT_CLOSE_FLAGS flags) noexcept;
    DAT_RETURN reset() noexcept;
    // Transfer says: an operation failed, or the peer broke the rules. DISCONNECTED, everything is
    // flushed, the peer is told, BROKEN. No effect unless CONNECTED or DISCONNECT_PENDING.
    void broken() noexcept;
    // Transfer says: no request is outstanding any more (for DISCONNECT_PENDING).
    void drained() noexcept;

    // Source: a doorbell of, or the end of, the channel. Feeder: polled by an EVD's dequeue and wait.
    void ready(std::uint32_t events) noexcept override;
    void poll() noexcept override;
    void disarm() noexcept override;

    [[nodiscard]] DAT_RETURN_SUBTYPE state_subtype() const noexcept; // 4.5

    DAT_EP_STATE state = DAT_EP_STATE_UNCONNECTED;
    DAT_EP_ATTR attributes; // named attributes always empty
    Pz *pz = nullptr;
    Evd *recv_evd = nullptr;
    Evd *request_evd = nullptr;
    Evd *connect_evd = nullptr;
    Srq *srq = nullptr;
    std::unique_ptr<Link> link;
    Transfer transfer;
    std::vector<std::byte> established_data; // peer's private data, for the ESTABLISHED event

  private:
    // P4 decides
};

} // namespace rsmdat
