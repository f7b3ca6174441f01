// SPDX-License-Identifier: MIT
#include "matching.h"

#include <algorithm>
#include <tuple>

namespace dat {

// The subtypes are numbered in the order in which an entry comes closer.
static_assert(DAT_NO_SUBTYPE < DAT_NAME_NOT_REGISTERED &&
              DAT_NAME_NOT_REGISTERED < DAT_MAJOR_NOT_FOUND &&
              DAT_MAJOR_NOT_FOUND < DAT_MINOR_NOT_FOUND &&
              DAT_MINOR_NOT_FOUND < DAT_THREAD_SAFETY_NOT_FOUND);

DAT_RETURN_SUBTYPE Matcher::obstacle(const Key &entry) const noexcept {
    if (entry.name != wanted_.name)
        return DAT_NAME_NOT_REGISTERED;
    if (entry.version_major != wanted_.version_major)
        return DAT_MAJOR_NOT_FOUND;
    if (entry.version_minor < wanted_.version_minor)
        return DAT_MINOR_NOT_FOUND;
    if (wanted_.thread_safe && !entry.thread_safe)
        return DAT_THREAD_SAFETY_NOT_FOUND;
    return DAT_NO_SUBTYPE;
}

void Matcher::consider(const Key &entry) {
    const auto rank = [](const Key &key) { return std::tie(key.thread_safe, key.version_minor); };
    const auto what = obstacle(entry);
    if (what != DAT_NO_SUBTYPE)
        reason_ = std::max(reason_, what);
    else if (!best_ || rank(entry) < rank(*best_))
        best_ = entry;
}

} // namespace dat
