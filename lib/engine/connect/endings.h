// SPDX-License-Identifier: MIT
// Messages to peers when there is no connection, or none any more.
#pragma once

namespace rsmdat {

enum class Ending { CLOSED, BROKEN };

enum class Refusal { BY_CONSUMER, BY_PROVIDER };

} // namespace rsmdat
