// SPDX-License-Identifier: MIT
// The registered providers, to be looked at with every call of the API: without
// a lock, and in no time if the provider is the first, which is the rule.
#pragma once

#include <array>
#include <atomic>
#include <memory>

#include "api.h"

namespace dat {

class KnownProviders {
  public:
    bool contains(const DAT_PROVIDER *provider) const noexcept {
        return provider != nullptr && (is_first(provider) || find(provider) != nullptr);
    }

    // Part of contains() that needs no call. Not for NULL.
    bool is_first(const DAT_PROVIDER *provider) const noexcept {
        return first_.slots[0].load(std::memory_order_acquire) == provider;
    }

    // The callers of these two functions ensure that only one thread executes them.
    void add(const DAT_PROVIDER *provider);
    void remove(const DAT_PROVIDER *provider) noexcept;

  private:
    using Slot = std::atomic<const DAT_PROVIDER *>;

    // An entry stays in the chain for ever, because another thread may be reading it.
    struct Chunk {
        std::array<Slot, 16> slots{};
        std::atomic<Chunk *> next{nullptr};
    };

    const Slot *find(const DAT_PROVIDER *provider) const noexcept;

    Chunk first_;
};

extern constinit KnownProviders known_providers;

} // namespace dat
