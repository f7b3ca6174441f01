// SPDX-License-Identifier: MIT
// How an IA begins.
#include "connect/nodes.h"
#include "core/ia.h"
#include "core/limits.h"
#include "memory/contexts.h"
#include "wire/device.h"
#include "wire/engine.h"

namespace rsmdat {

namespace {

bool reaches(const Device &opened, const Options &options) noexcept {
    return options.controller == Options().controller || opened.has_controller(options.controller);
}

std::unique_ptr<Device> open_device(const Options &options) {
    auto device = std::make_unique<Device>();
    if (!reaches(*device, options))
        throw Unavailable("no controller " + options.controller);
    return device;
}

} // namespace

Means::Means(const Options &options)
    : device(open_device(options)), contexts(std::make_unique<Contexts>()),
      nodes(std::make_unique<NodeTable>(options.nodes, device->node())) {}

Means::~Means() = default;

const sockaddr_storage &Means::address() const noexcept {
    return nodes->own_address();
}

Ia::Ia(DAT_PROVIDER &of, std::string as, Options with)
    : Object(of, KIND, *this), Means(with), provider(of), lock(*pooled_lock_), name(std::move(as)),
      options(std::move(with)), limits(limits::ALL), engine(std::make_unique<Engine>(*this)) {
    publish(lock);
}

} // namespace rsmdat
