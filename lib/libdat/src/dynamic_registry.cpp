// SPDX-License-Identifier: MIT
#include "dynamic_registry.h"

#include <algorithm>
#include <utility>

#include "debug.h"

namespace dat {

DAT_RETURN DynamicRegistry::add(Key key, const DAT_PROVIDER &provider, const void *owner) {
    const std::scoped_lock guard(lock_);
    const auto [at, is_new] = entries_.try_emplace(std::move(key), Entry{&provider, owner});
    if (!is_new)
        return error(DAT_PROVIDER_ALREADY_REGISTERED);
    try {
        known_providers.add(&provider);
    } catch (...) {
        entries_.erase(at);
        throw;
    }
    debug(Debug::dynamic_registry, {at->first.name, ": registered"});
    return DAT_SUCCESS;
}

// A provider can't remove what another has registered under the same key.
DAT_RETURN DynamicRegistry::remove(const Key &key, const DAT_PROVIDER &provider) {
    const std::scoped_lock guard(lock_);
    const auto at = entries_.find(key);
    if (at == entries_.end() || at->second.provider != &provider)
        return error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    if (at->second.references != 0)
        return error(DAT_PROVIDER_IN_USE);
    debug(Debug::dynamic_registry, {key.name, ": removed"});
    erase(at);
    return DAT_SUCCESS;
}

// One provider may be there under several keys.
DynamicRegistry::Entries::iterator DynamicRegistry::erase(Entries::iterator at) noexcept {
    const auto *provider = at->second.provider;
    const auto next = entries_.erase(at);
    if (std::ranges::none_of(entries_,
                             [&](const auto &entry) { return entry.second.provider == provider; }))
        known_providers.remove(provider);
    return next;
}

void DynamicRegistry::offer_to(Matcher &matcher) {
    const std::scoped_lock guard(lock_);
    for (const auto &[key, entry] : entries_)
        matcher.consider(key);
}

DynamicRegistry::Entry *DynamicRegistry::open(const Key &key) noexcept {
    const std::scoped_lock guard(lock_);
    const auto at = entries_.find(key);
    if (at == entries_.end())
        return nullptr;
    ++at->second.references;
    return &at->second;
}

void DynamicRegistry::close(Entry &entry) noexcept {
    const std::scoped_lock guard(lock_);
    --entry.references;
}

bool DynamicRegistry::forget(const void *owner) noexcept {
    const std::scoped_lock guard(lock_);
    bool none_left = true;
    for (auto at = entries_.begin(); at != entries_.end();) {
        const bool leftover = at->second.owner == owner;
        const bool open = leftover && at->second.references != 0;
        none_left = none_left && !open;
        at = leftover && !open ? erase(at) : std::next(at);
    }
    return none_left;
}

} // namespace dat
