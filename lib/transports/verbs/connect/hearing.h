// SPDX-License-Identifier: MIT
// How a service point hears of requests, and turns them down.
#pragma once

#include "connect/link.h"
#include "engine/connect/endings.h"
#include "engine/core/error.h"

#include <memory>

namespace rsmdat {

class Ia;
class Sp;

// Bound to the IA's address and the port that is the qualifier.
using Listener = Identifier;

// DAT_SUCCESS, DAT_CONN_QUAL_IN_USE, or why else there is no listener.
DAT_RETURN listen(const Ia &ia, DAT_CONN_QUAL qualifier, Listener &listener) noexcept;

// Takes what the listener hears to a service point, for as long as it exists.
class Hearing final : public Party {
  public:
    Hearing(Sp &sp, Listener listener) noexcept;
    ~Hearing(); // whoever comes from now on finds nobody
    Hearing(const Hearing &) = delete;
    Hearing &operator=(const Hearing &) = delete;

    void happened(Happening &event) noexcept override;

  private:
    Sp &sp_;
    Listener listener_;
};

// Ends a request that will not be accepted.
void refuse(Ia &ia, std::unique_ptr<Link> link, Refusal how) noexcept;

} // namespace rsmdat
