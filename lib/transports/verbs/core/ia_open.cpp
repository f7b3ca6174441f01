// SPDX-License-Identifier: MIT
// How an IA begins.
#include "connect/manager.h"
#include "engine/core/ia.h"
#include "engine/loop/engine.h"
#include "memory/contexts.h"
#include "wire/channel.h"
#include "wire/device.h"
#include "wire/news.h"

namespace rsmdat {

Means::Means(const Options &options)
    : device(std::make_unique<Device>(options)), channels(std::make_unique<Channels>(*device)),
      contexts(std::make_unique<Contexts>()), manager(std::make_unique<Manager>()),
      news(std::make_unique<News>(*device)) {}

Means::~Means() = default;

const sockaddr_storage &Means::address() const noexcept {
    return device->address();
}

Ia::Ia(DAT_PROVIDER &of, std::string as, Options with)
    : Object(of, KIND, *this), Means(with), provider(of), lock(*pooled_lock_), name(std::move(as)),
      options(std::move(with)), limits(device->limits()), engine(std::make_unique<Engine>(*this)) {
    const Guard guard(lock);
    manager->start(*engine);
    news->start(*this);
    publish(lock);
}

} // namespace rsmdat
