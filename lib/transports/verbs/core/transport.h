// SPDX-License-Identifier: MIT
// The transport verbs: over libibverbs and librdmacm.
#pragma once

#include "core/verbs_options.h"
#include "engine/core/ia.h"
#include "engine/core/own.h"
#include "engine/core/status.h"
#include "engine/core/types.h"
#include "engine/transport.h"
#include "memory/contexts.h"

#include <memory>

namespace rsmengine {

class CompletionQueues;
class Manager;
class DeviceEvents;
class RdmaDevice;

class VerbsTransport final : public Transport {
  public:
    explicit VerbsTransport(const VerbsOptions &options); // throws std::bad_alloc, and Unavailable
    ~VerbsTransport() override;

    void start(Ia &ia) override;
    [[nodiscard]] const sockaddr_storage &address() const noexcept override;
    [[nodiscard]] LimitSet limits() const noexcept override;
    std::unique_ptr<Pz> make_pz(Ia &ia) override;
    std::unique_ptr<Rmr> make_rmr(Pz &pz) override;
    std::unique_ptr<Srq> make_srq(Pz &pz, const SrqAttributes &asked) override;
    std::unique_ptr<Transfer> make_transfer(Ep &ep) override;
    std::unique_ptr<Connector> make_connector(Ep &ep) override;
    Status listen(Ia &ia, Qualifier qualifier,
                  std::unique_ptr<ServicePointListener> &listener) override;
    void acknowledge(Link & /*link*/) noexcept override {} // the answer is soon enough
    void refuse(Ia &ia, std::unique_ptr<Link> link, Refusal how) noexcept override;
    [[nodiscard]] bool serves(const Pinned &others, const Wanted &wanted) const noexcept override;
    Status get_memory(const Pz &pz, const Wanted &wanted, std::shared_ptr<Pinned> &result) override;

    const std::uint32_t inline_limit;               // see VerbsOptions
    const std::unique_ptr<RdmaDevice> device;       // wire/rdma_device.h
    const std::unique_ptr<CompletionQueues> queues; // wire/completion_queue.h
    VerbsContexts regions;
    const std::unique_ptr<Manager> manager;            // connect/manager.h
    const std::unique_ptr<DeviceEvents> device_events; // wire/device_events.h
};

inline VerbsTransport &transport_of(const Ia &ia) noexcept {
    return own<VerbsTransport>(*ia.transport);
}

} // namespace rsmengine
