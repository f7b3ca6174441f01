// SPDX-License-Identifier: MIT
// From a class of the engine to the class that a transport derives from it. A transport is only
// given objects that it has made itself (lib/engine/transport.h), so these casts cannot meet
// another class.
#pragma once

#include <type_traits>

namespace rsmengine {

template <class Own, class Base>
[[nodiscard, gnu::always_inline]] inline auto &own(Base &object) noexcept {
    static_assert(std::is_base_of_v<std::remove_const_t<Base>, Own>);
    using Result = std::conditional_t<std::is_const_v<Base>, const Own, Own>;
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-static-cast-downcast): see above
    return static_cast<Result &>(object);
}

// Null stays null.
template <class Own, class Base>
[[nodiscard, gnu::always_inline]] inline auto *own_or_null(Base *object) noexcept {
    return object != nullptr ? &own<Own>(*object) : nullptr;
}

} // namespace rsmengine
