/* SPDX-License-Identifier: MIT */
#pragma once

// The namespace of the face uDAPL. Its functions name the objects of the engine without a prefix.

namespace rsmengine {}

namespace rsmdat {

using namespace rsmengine;

} // namespace rsmdat
