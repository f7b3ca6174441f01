// SPDX-License-Identifier: MIT
// How an IA begins.
#include "connect/nodes.h"
#include "core/limits.h"
#include "engine/core/ia.h"
#include "engine/loop/engine.h"
#include "memory/contexts.h"
#include "wire/device.h"

#include <algorithm>
#include <sys/resource.h>

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

// The room that the hard limit of descriptors leaves, to which the library raises the soft one: an
// endpoint takes three while it asks for its connection, a region one. Some are left to the
// program.
LimitSet limits_of_process() noexcept {
    constexpr rlim_t OTHERS = 64;
    constexpr rlim_t OF_EP = 3;
    LimitSet limits = limits::ALL;
    rlimit descriptors{};
    if (::getrlimit(RLIMIT_NOFILE, &descriptors) != 0)
        return limits;
    const rlim_t room = descriptors.rlim_max > OTHERS ? descriptors.rlim_max - OTHERS : 0;
    limits.eps = static_cast<DAT_COUNT>(std::clamp<rlim_t>(room / OF_EP, 1, limits::EPS));
    limits.lmrs = static_cast<DAT_COUNT>(std::clamp<rlim_t>(room, 1, limits::LMRS));
    return limits;
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
      options(std::move(with)), limits(limits_of_process()),
      engine(std::make_unique<Engine>(*this)) {
    publish(lock);
}

} // namespace rsmdat
