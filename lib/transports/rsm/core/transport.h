// SPDX-License-Identifier: MIT
// The transport rsm: over /dev/rsm, between processes of this node and of others.
#pragma once

#include "core/rsm_options.h"
#include "engine/core/ia.h"
#include "engine/core/own.h"
#include "engine/core/status.h"
#include "engine/core/types.h"
#include "engine/transport.h"
#include "memory/contexts.h"

#include <memory>

namespace rsmengine {

class Device;
class NodeTable;

class RsmTransport final : public Transport {
  public:
    explicit RsmTransport(RsmOptions with); // throws std::bad_alloc, and Unavailable
    ~RsmTransport() override;

    void start(Ia & /*ia*/) override {}
    [[nodiscard]] const sockaddr_storage &address() const noexcept override;
    [[nodiscard]] LimitSet limits() const noexcept override;
    std::unique_ptr<Pz> make_pz(Ia &ia) override;
    std::unique_ptr<Rmr> make_rmr(Pz &pz) override;
    std::unique_ptr<Srq> make_srq(Pz &pz, const SrqAttributes &asked) override;
    std::unique_ptr<Transfer> make_transfer(Ep &ep) override;
    std::unique_ptr<Connector> make_connector(Ep &ep) override;
    Status listen(Ia &ia, Qualifier qualifier,
                  std::unique_ptr<ServicePointListener> &listener) override;
    void acknowledge(Link &link) noexcept override;
    void refuse(Ia &ia, std::unique_ptr<Link> link, Refusal how) noexcept override;
    [[nodiscard]] bool serves(const Pinned &others, const Wanted &wanted) const noexcept override;
    Status get_memory(const Pz &pz, const Wanted &wanted, std::shared_ptr<Pinned> &result) override;

    const RsmOptions options;
    const std::unique_ptr<Device> device;   // wire/device.h
    const std::unique_ptr<NodeTable> nodes; // connect/nodes.h
    RsmContexts regions;
};

inline RsmTransport &transport_of(const Ia &ia) noexcept {
    return own<RsmTransport>(*ia.transport);
}
inline RsmContexts &contexts_of(const Ia &ia) noexcept {
    return transport_of(ia).regions;
}

} // namespace rsmengine
