// SPDX-License-Identifier: MIT
#include "open_adapters.h"

namespace dat {

OpenAdapters::Node OpenAdapters::make(Reference &&reference) {
    Map single;
    single.emplace(nullptr, std::move(reference));
    return single.extract(single.begin());
}

void OpenAdapters::put(Node &&node) noexcept {
    const std::scoped_lock guard(lock_);
    map_.insert(std::move(node));
}

OpenAdapters::Node OpenAdapters::take(DAT_IA_HANDLE handle) noexcept {
    const std::scoped_lock guard(lock_);
    const auto at = map_.find(handle);
    return at == map_.end() ? Node() : map_.extract(at);
}

} // namespace dat
