// SPDX-License-Identifier: MIT
#include "memory/pz.h"

namespace rsmdat {

Pz::Pz(Ia &ia) : Object(KIND, ia) {}

} // namespace rsmdat
