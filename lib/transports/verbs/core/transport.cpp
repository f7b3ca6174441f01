// SPDX-License-Identifier: MIT
#include "core/transport.h"
#include "engine/core/own.h"

#include "connect/connector.h"
#include "connect/manager.h"
#include "connect/service_point_listener.h"
#include "memory/keys.h"
#include "memory/rmr.h"
#include "transfer/srq.h"
#include "transfer/transfer.h"
#include "wire/completion_queue.h"
#include "wire/device_events.h"
#include "wire/rdma_device.h"

namespace rsmengine {
namespace {

bool accepts(std::string_view options) {
    return parse_verbs_options(options).has_value();
}

std::unique_ptr<Transport> open(std::string_view options) {
    return std::make_unique<VerbsTransport>(parse_verbs_options(options).value());
}

} // namespace

VerbsTransport::VerbsTransport(const VerbsOptions &options)
    : Transport(regions), inline_limit(options.inline_limit),
      device(std::make_unique<RdmaDevice>(options)),
      queues(std::make_unique<CompletionQueues>(*device)), manager(std::make_unique<Manager>()),
      device_events(std::make_unique<DeviceEvents>(*device)) {}

VerbsTransport::~VerbsTransport() = default;

void VerbsTransport::start(Ia &ia) {
    manager->start(*ia.engine);
    device_events->start(ia);
}

const sockaddr_storage &VerbsTransport::address() const noexcept {
    return device->address();
}

LimitSet VerbsTransport::limits() const noexcept {
    return device->limits();
}

std::unique_ptr<Pz> VerbsTransport::make_pz(Ia &ia) {
    return std::make_unique<VerbsPz>(ia);
}

std::unique_ptr<Rmr> VerbsTransport::make_rmr(Pz &pz) {
    return std::make_unique<VerbsRmr>(pz);
}

std::unique_ptr<Srq> VerbsTransport::make_srq(Pz &pz, const SrqAttributes &asked) {
    return std::make_unique<VerbsSrq>(pz, asked);
}

std::unique_ptr<Transfer> VerbsTransport::make_transfer(Ep &ep) {
    return std::make_unique<VerbsTransfer>(ep);
}

std::unique_ptr<Connector> VerbsTransport::make_connector(Ep &ep) {
    return std::make_unique<VerbsConnector>(ep);
}

Status VerbsTransport::listen(Ia &ia, Qualifier qualifier,
                              std::unique_ptr<ServicePointListener> &listener) {
    auto made = std::make_unique<VerbsServicePointListener>();
    const Status result = made->listen(ia, qualifier);
    if (result == Status::OK)
        listener = std::move(made);
    return result;
}

void VerbsTransport::refuse(Ia & /*ia*/, std::unique_ptr<Link> link, Refusal how) noexcept {
    rsmengine::refuse(own<VerbsLink>(*link), how);
}

// Each region has keys of its own: they say which protection zone, which bytes and which rights.
bool VerbsTransport::serves(const Pinned & /*others*/, const Wanted & /*wanted*/) const noexcept {
    return false;
}

Status VerbsTransport::get_memory(const Pz &pz, const Wanted &wanted,
                                  std::shared_ptr<Pinned> &result) {
    return register_memory(own<VerbsPz>(pz), wanted, result);
}

constinit const TransportKind transport_kind{.name = "verbs", .accepts = accepts, .open = open};

} // namespace rsmengine
