// SPDX-License-Identifier: MIT
// The registry: what dat.conf lists, what is registered, and which of it is in
// use by which open interface adapter.
//
// Order of locks: the registry's (held while a provider's library is loaded and
// while its init or fini runs), the dynamic registry's, the open adapters'.
// None is held while a provider opens or closes an adapter.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "api.h"
#include "dynamic_registry.h"
#include "fork_lock.h"
#include "known_provider.h"
#include "open_adapters.h"
#include "reference.h"
#include "static_registry.h"

namespace dat {

// Whether the provider is registered now. The function only reads a table.
inline bool known_provider(const DAT_PROVIDER *provider) noexcept {
    return known_providers.contains(provider);
}

class Registry {
  public:
    // Made by the first call, and never destroyed: threads may be using it when
    // the process ends.
    static Registry &instance();

    DAT_RETURN add(const DAT_PROVIDER &provider, const DAT_PROVIDER_INFO &info);
    DAT_RETURN remove(const DAT_PROVIDER &provider, const DAT_PROVIDER_INFO &info);

    // The keys of dat.conf in its order; they stay as they are.
    std::span<const StaticRegistry::Record> list();

    // Finds the entry that serves the key, its library loaded.
    DAT_RETURN acquire(const Key &wanted, Reference &reference);

    OpenAdapters &adapters() noexcept { return adapters_; }

  private:
    friend class Reference;

    Registry();
    static void lock_all() noexcept;
    static void unlock_all() noexcept;

    StaticRegistry &configured();
    void release(StaticRegistry::Record *record, DynamicRegistry::Entry &entry) noexcept;

    ForkLock lock_;
    DynamicRegistry dynamic_;
    std::optional<StaticRegistry> static_;
    OpenAdapters adapters_;
};

// Whether the library's destructor has run: nothing of the registry works then.
bool is_torn_down() noexcept;

} // namespace dat
