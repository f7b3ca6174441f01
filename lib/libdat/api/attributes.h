// SPDX-License-Identifier: MIT
// Attributes of an endpoint, as uDAPL has them: the engine's, and those that no transport offers.
#pragma once

#include "engine/connect/attributes.h"
#include "libdat/api/face.h"

#include <dat/udat.h>

namespace rsmdat {

EpAttributes to_attributes(const DAT_EP_ATTR &attr) noexcept;
DAT_EP_ATTR to_attr(const EpAttributes &attributes) noexcept;

// Whether uDAPL defines every bit of `qos`.
constexpr bool is_known_qos(DAT_QOS qos) noexcept {
    constexpr unsigned DEFINED = 0x0f;
    return (static_cast<unsigned>(qos) & ~DEFINED) == 0;
}

// DAT_SUCCESS, or the error of the attributes: the argument at `position`, or a feature that the
// provider lacks. With an SRQ the attributes of the receive side are those of the SRQ, except the
// watermarks.
DAT_RETURN check_attributes(const LimitSet &limits, const DAT_EP_ATTR &attr, bool with_srq,
                            int position) noexcept;

} // namespace rsmdat
