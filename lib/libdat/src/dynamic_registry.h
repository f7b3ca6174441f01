// SPDX-License-Identifier: MIT
// The providers that are there: registered by their libraries or by anyone else.
#pragma once

#include <map>
#include <mutex>

#include "api.h"
#include "known_provider.h"
#include "matching.h"

namespace dat {

class DynamicRegistry {
  public:
    struct Entry {
        const DAT_PROVIDER *provider = nullptr;
        const void *owner = nullptr; // the library that brought it, if one is known
        unsigned references = 0;
    };

    DAT_RETURN add(Key key, const DAT_PROVIDER &provider, const void *owner);
    DAT_RETURN remove(const Key &key, const DAT_PROVIDER &provider);

    void offer_to(Matcher &matcher);

    // A reference to an entry, nullptr if there is none. It stays till close().
    Entry *open(const Key &key) noexcept;
    void close(Entry &entry) noexcept;

    // Takes out what a library that is about to go has left behind. False if
    // some of it is open, and the library has to stay.
    bool forget(const void *owner) noexcept;

    // For fork().
    std::mutex &lock() noexcept { return lock_; }

  private:
    using Entries = std::map<Key, Entry>;

    Entries::iterator erase(Entries::iterator at) noexcept;

    std::mutex lock_;
    Entries entries_;
};

} // namespace dat
