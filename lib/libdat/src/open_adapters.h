// SPDX-License-Identifier: MIT
// The interface adapters that are open, by their handle.
#pragma once

#include <map>
#include <mutex>

#include "api.h"
#include "reference.h"

namespace dat {

class OpenAdapters {
    // A provider may give the same handle to several opens.
    using Map = std::multimap<DAT_IA_HANDLE, Reference>;

  public:
    using Node = Map::node_type;

    // A place for an adapter, made before it is opened, as it needs memory.
    static Node make(Reference &&reference);

    void put(Node &&node) noexcept;

    // Nothing for a handle of no open adapter.
    Node take(DAT_IA_HANDLE handle) noexcept;

    // For fork().
    std::mutex &lock() noexcept { return lock_; }

  private:
    std::mutex lock_;
    Map map_;
};

} // namespace dat
