// SPDX-License-Identifier: MIT
// Attributes of an endpoint, as uDAPL has them: the engine's, and those that no transport offers.
#pragma once

#include "engine/connect/attributes.h"
#include "libdat/api/face.h"

#include <dat/udat.h>

namespace rsmdat {

EpAttributes to_attributes(const DAT_EP_ATTR &attr) noexcept;
DAT_EP_ATTR to_attr(const EpAttributes &attributes) noexcept;

// DAT_SUCCESS, or what is wrong with them: the argument at `position`, or something that could be
// and is not supported. With an SRQ the receive side's are those of the SRQ, but for the
// watermarks.
DAT_RETURN check_attributes(const LimitSet &limits, const DAT_EP_ATTR &attr, bool with_srq,
                            int position) noexcept;

} // namespace rsmdat
