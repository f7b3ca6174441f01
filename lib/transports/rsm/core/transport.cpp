// SPDX-License-Identifier: MIT
#include "core/transport.h"
#include "engine/core/own.h"

#include "connect/connector.h"
#include "connect/nodes.h"
#include "connect/service_point_listener.h"
#include "core/limits.h"
#include "memory/pin.h"
#include "memory/rmr.h"
#include "transfer/srq.h"
#include "transfer/transfer.h"
#include "wire/device.h"

#include <algorithm>
#include <sys/resource.h>

namespace rsmengine {

namespace {

bool reaches(const Device &opened, const RsmOptions &options) noexcept {
    return options.controller == RsmOptions().controller ||
           opened.has_controller(options.controller);
}

std::unique_ptr<Device> open_device(const RsmOptions &options) {
    auto device = std::make_unique<Device>();
    if (!reaches(*device, options))
        throw Unavailable("no controller " + options.controller);
    return device;
}

// The room that the hard limit of descriptors leaves, to which the library raises the soft one: an
// endpoint takes three while it asks for its connection, a region one. The rest is for the program.
LimitSet limits_of_process() noexcept {
    constexpr rlim_t OTHERS = 64;
    constexpr rlim_t OF_EP = 3;
    LimitSet limits = limits::ALL;
    rlimit descriptors{};
    if (::getrlimit(RLIMIT_NOFILE, &descriptors) != 0)
        return limits;
    const rlim_t room = descriptors.rlim_max > OTHERS ? descriptors.rlim_max - OTHERS : 0;
    limits.eps = static_cast<Count>(std::clamp<rlim_t>(room / OF_EP, 1, limits::EPS));
    limits.lmrs = static_cast<Count>(std::clamp<rlim_t>(room, 1, limits::LMRS));
    return limits;
}

bool may_write(const Wanted &wanted) noexcept {
    return (wanted.privileges & rights::WRITE) != 0;
}

bool accepts(std::string_view options) {
    return parse_rsm_options(options).has_value();
}

std::unique_ptr<Transport> open(std::string_view options) {
    return std::make_unique<RsmTransport>(parse_rsm_options(options).value());
}

} // namespace

RsmTransport::RsmTransport(RsmOptions with)
    : Transport(regions), options(std::move(with)), device(open_device(options)),
      nodes(std::make_unique<NodeTable>(options.nodes, device->node())) {}

RsmTransport::~RsmTransport() = default;

const sockaddr_storage &RsmTransport::address() const noexcept {
    return nodes->own_address();
}

LimitSet RsmTransport::limits() const noexcept {
    return limits_of_process();
}

std::unique_ptr<Pz> RsmTransport::make_pz(Ia &ia) {
    return std::make_unique<Pz>(ia);
}

std::unique_ptr<Rmr> RsmTransport::make_rmr(Pz &pz) {
    return std::make_unique<RsmRmr>(pz);
}

std::unique_ptr<Srq> RsmTransport::make_srq(Pz &pz, const SrqAttributes &asked) {
    return std::make_unique<RsmSrq>(pz, asked);
}

std::unique_ptr<Transfer> RsmTransport::make_transfer(Ep &ep) {
    return std::make_unique<RsmTransfer>(ep);
}

std::unique_ptr<Connector> RsmTransport::make_connector(Ep &ep) {
    return std::make_unique<RsmConnector>(ep);
}

Status RsmTransport::listen(Ia &ia, Qualifier qualifier,
                            std::unique_ptr<ServicePointListener> &listener) {
    auto made = std::make_unique<RsmServicePointListener>(ia);
    const int status = made->open(*device, options.controller, qualifier);
    if (status == RSM_SUCCESS) {
        listener = std::move(made);
        return Status::OK;
    }
    ia.engine->end_aside(std::move(made));
    return status == RSMERR_SEGID_IN_USE ? Status::QUALIFIER_IN_USE : Status::NO_MEMORY;
}

void RsmTransport::acknowledge(Link &link) noexcept {
    rsmengine::acknowledge(own<RsmLink>(link));
}

void RsmTransport::refuse(Ia &ia, std::unique_ptr<Link> link, Refusal how) noexcept {
    rsmengine::refuse(ia, std::move(link), how);
}

// The pages are the same; only the right to write may be missing.
bool RsmTransport::serves(const Pinned &others, const Wanted &wanted) const noexcept {
    return own<RsmPinned>(others).writable || !may_write(wanted);
}

Status RsmTransport::get_memory(const Pz & /*pz*/, const Wanted &wanted,
                                std::shared_ptr<Pinned> &result) {
    return pin(*device, wanted.pages, may_write(wanted), result);
}

constinit const TransportKind transport_kind{.name = "rsm", .accepts = accepts, .open = open};

} // namespace rsmengine
