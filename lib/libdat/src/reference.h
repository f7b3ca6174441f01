// SPDX-License-Identifier: MIT
// A reference of an open interface adapter to its registry entry.
#pragma once

#include <utility>

#include "dynamic_registry.h"
#include "static_registry.h"

namespace dat {

// Keeps a provider registered, and its library loaded if dat.conf has it.
class Reference {
  public:
    Reference() = default;
    Reference(StaticRegistry::Record *record, DynamicRegistry::Entry *entry) noexcept
        : record_(record), entry_(entry) {}
    Reference(Reference &&other) noexcept
        : record_(std::exchange(other.record_, nullptr)),
          entry_(std::exchange(other.entry_, nullptr)) {}
    Reference &operator=(Reference &&other) noexcept {
        std::swap(record_, other.record_);
        std::swap(entry_, other.entry_);
        return *this;
    }
    Reference(const Reference &) = delete;
    Reference &operator=(const Reference &) = delete;
    ~Reference();

    [[nodiscard]] const DAT_PROVIDER &provider() const noexcept { return *entry_->provider; }

  private:
    StaticRegistry::Record *record_ = nullptr;
    DynamicRegistry::Entry *entry_ = nullptr;
};

} // namespace dat
