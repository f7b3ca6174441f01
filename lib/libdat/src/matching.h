// SPDX-License-Identifier: MIT
// Which of the entries serves a program that asks for a name and a version.
#pragma once

#include <optional>

#include "api.h"
#include "key.h"

namespace dat {

// Is shown every entry, in any order, and remembers the best. An entry serves
// who asks for its name, its major version and its or a smaller minor version.
// One that is thread-safe also serves who does not ask for that, though one
// that is no more than asked for is better; then the smallest minor version is.
class Matcher {
  public:
    explicit Matcher(Key wanted) : wanted_(std::move(wanted)) {}

    void consider(const Key &entry);

    [[nodiscard]] const std::optional<Key> &best() const noexcept { return best_; }

    // Why there is no best one: the subtype for DAT_PROVIDER_NOT_FOUND.
    [[nodiscard]] DAT_RETURN_SUBTYPE reason() const noexcept { return reason_; }

  private:
    [[nodiscard]] DAT_RETURN_SUBTYPE obstacle(const Key &entry) const noexcept;

    Key wanted_;
    std::optional<Key> best_;
    DAT_RETURN_SUBTYPE reason_ = DAT_NAME_NOT_REGISTERED;
};

} // namespace dat
