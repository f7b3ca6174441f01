// SPDX-License-Identifier: MIT
// Which of the entries serves a program that asks for a name and a version.
#pragma once

#include <optional>
#include <utility>

#include "api.h"
#include "key.h"

namespace dat {

// The caller passes every entry, in any order, and the Matcher keeps the best. An entry serves a
// request for its name, its major version and its or a smaller minor version. A thread-safe entry
// also serves a request without thread safety, but an entry without thread safety serves it better;
// among equals the smallest minor version is best.
class Matcher {
  public:
    explicit Matcher(Key wanted) : wanted_(std::move(wanted)) {}

    void consider(const Key &entry);

    [[nodiscard]] const std::optional<Key> &best() const noexcept { return best_; }

    // The reason why no entry serves the request: the subtype for DAT_PROVIDER_NOT_FOUND.
    [[nodiscard]] DAT_RETURN_SUBTYPE reason() const noexcept { return reason_; }

  private:
    [[nodiscard]] DAT_RETURN_SUBTYPE obstacle(const Key &entry) const noexcept;

    Key wanted_;
    std::optional<Key> best_;
    DAT_RETURN_SUBTYPE reason_ = DAT_NAME_NOT_REGISTERED;
};

} // namespace dat
