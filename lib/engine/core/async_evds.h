// SPDX-License-Identifier: MIT
// Which asynchronous EVDs the open IAs of this process use: each async event of an adapter goes to
// all those of its opens.
#pragma once

#include "engine/core/types.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace rsmengine {

// An EVD of any Ia; the EVD may be destroyed meanwhile.
struct AsyncEvd {
    Handle handle = nullptr;
    std::uint32_t generation = 0;

    friend bool operator==(const AsyncEvd &, const AsyncEvd &) = default;
};

// One open Ia's entry in the list, for as long as it exists. The list has a mutex of its own, which
// is taken with or without an Ia::lock.
class AsyncListener {
  public:
    // An Ia that uses no EVD yet, of that adapter. The name must outlive the entry.
    explicit AsyncListener(std::string_view adapter) noexcept;
    ~AsyncListener();
    AsyncListener(const AsyncListener &) = delete;
    AsyncListener &operator=(const AsyncListener &) = delete;

    void use(const AsyncEvd &evd) noexcept;
    // The EVDs of all opens of the adapter, each once, without this one. Throws std::bad_alloc.
    [[nodiscard]] std::vector<AsyncEvd> others(const AsyncEvd &but) const;

  private:
    friend struct AsyncListeners;
    const std::string_view adapter_;
    AsyncEvd evd_;
    AsyncListener *next_ = nullptr;
    AsyncListener *previous_ = nullptr;
};

} // namespace rsmengine
