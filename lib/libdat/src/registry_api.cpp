// SPDX-License-Identifier: MIT
// dat_registry_add_provider, dat_registry_remove_provider and
// dat_registry_list_providers.
#include <algorithm>
#include <span>

#include "info.h"
#include "registry.h"

namespace dat {
namespace {

using Change = DAT_RETURN (Registry::*)(const DAT_PROVIDER &, const DAT_PROVIDER_INFO &);

DAT_RETURN change(Change what, const DAT_PROVIDER *provider, const DAT_PROVIDER_INFO *info) {
    if (provider == nullptr)
        return error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1);
    if (info == nullptr)
        return error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    if (is_torn_down())
        return error(DAT_INVALID_STATE);
    return guarded([&] { return (Registry::instance().*what)(*provider, *info); });
}

DAT_RETURN fill(DAT_COUNT max, DAT_COUNT &entries, DAT_PROVIDER_INFO **list) {
    const auto records = Registry::instance().list();
    const auto total = static_cast<DAT_COUNT>(records.size());
    entries = total;
    // Also how a program asks for the number.
    if (max <= 0)
        return error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1);
    if (list == nullptr)
        return error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
    const std::span room(list, static_cast<std::size_t>(std::min(max, total)));
    if (std::ranges::find(room, nullptr) != room.end()) {
        entries = 0;
        return error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
    }
    for (std::size_t i = 0; i < room.size(); ++i)
        *room[i] = info_of(records[i].key());
    if (max < total)
        return error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1);
    return DAT_SUCCESS;
}

} // namespace
} // namespace dat

DAT_RETURN dat_registry_add_provider(const DAT_PROVIDER *provider, const DAT_PROVIDER_INFO *info) {
    return dat::change(&dat::Registry::add, provider, info);
}

DAT_RETURN dat_registry_remove_provider(const DAT_PROVIDER *provider,
                                        const DAT_PROVIDER_INFO *info) {
    return dat::change(&dat::Registry::remove, provider, info);
}

DAT_RETURN dat_registry_list_providers(DAT_COUNT max_to_return, DAT_COUNT *entries_returned,
                                       DAT_PROVIDER_INFO *(list[])) {
    if (entries_returned == nullptr)
        return dat::error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    if (dat::is_torn_down())
        return dat::error(DAT_INVALID_STATE);
    return dat::guarded([&] { return dat::fill(max_to_return, *entries_returned, list); });
}
