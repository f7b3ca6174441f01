// SPDX-License-Identifier: GPL-2.0
#include "shared_copy.hpp"

#include <cstring>

namespace rsmperf {

SharedCopy::SharedCopy(const Settings &settings)
    : size_(settings.point.size), shared_(whole_pages(size_)), source_(whole_pages(size_)) {}

void SharedCopy::run(std::size_t count) const {
    const auto *const from = source_.apart_from(shared_.data());
    for (; count > 0; count--) {
        std::memcpy(shared_.data(), from, size_);
        touched(shared_.data());
    }
}

} // namespace rsmperf
