// SPDX-License-Identifier: MIT
// dat_ia_openv and dat_ia_close.
#include <cstring>
#include <string_view>
#include <utility>

#include "debug.h"
#include "gate.h"
#include "info.h"
#include "registry.h"

namespace dat {
namespace {

constexpr std::string_view relaxed_order_prefix = "RO_AWARE_";

// The arguments of dat_ia_openv().
struct Request {
    Key key;
    DAT_BOOLEAN relaxed_order_aware = DAT_FALSE;
    DAT_COUNT queue_length = 0;
    DAT_EVD_HANDLE *async_evd = nullptr;
};

DAT_RETURN open_provider(const DAT_PROVIDER &provider, const Request &request,
                         DAT_IA_HANDLE &adapter) {
    if (provider.ia_open_func == nullptr)
        return error(DAT_NOT_IMPLEMENTED);
    auto name = request.key.name; // the type of the name lets the provider write to it
    const auto status = provider.ia_open_func(name.data(), request.queue_length, request.async_evd,
                                              &adapter, request.relaxed_order_aware);
    if (status == DAT_SUCCESS && !is_handle(adapter))
        return error(DAT_INTERNAL_ERROR);
    return status;
}

// The node of an adapter has to be there before the adapter is: putting it into
// the table must not fail. Without one, the reference in the node ends.
DAT_RETURN open_adapter(const Request &request, DAT_IA_HANDLE &adapter) {
    auto &registry = Registry::instance();
    Reference reference;
    if (const auto status = registry.acquire(request.key, reference); status != DAT_SUCCESS)
        return status;
    auto node = OpenAdapters::make(std::move(reference));
    DAT_IA_HANDLE opened = DAT_HANDLE_NULL;
    const auto status = open_provider(node.mapped().provider(), request, opened);
    if (status != DAT_SUCCESS)
        return status;
    node.key() = adapter = opened;
    registry.adapters().put(std::move(node));
    return DAT_SUCCESS;
}

Request make_request(std::string_view name, DAT_COUNT queue_length, DAT_EVD_HANDLE *async_evd,
                     Key key) {
    const bool aware = name.starts_with(relaxed_order_prefix);
    if (aware)
        name.remove_prefix(relaxed_order_prefix.size());
    key.name = name;
    return {std::move(key), aware ? DAT_TRUE : DAT_FALSE, queue_length, async_evd};
}

DAT_RETURN check_open(const char *name, const DAT_IA_HANDLE *adapter,
                      const DAT_BOOLEAN &thread_safety) {
    if (name == nullptr || ::strnlen(name, DAT_NAME_MAX_LENGTH) == DAT_NAME_MAX_LENGTH)
        return error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1);
    if (adapter == nullptr)
        return error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
    if (!is_boolean(thread_safety))
        return error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG7);
    if (is_torn_down())
        return error(DAT_INVALID_STATE);
    return DAT_SUCCESS;
}

// Taken out of the table while the provider closes it, so that a handle that is
// used again by then is not mistaken for this one. Put back if it stays open.
DAT_RETURN close_adapter(DAT_IA_HANDLE adapter, DAT_CLOSE_FLAGS flags) {
    auto &adapters = Registry::instance().adapters();
    auto node = adapters.take(adapter);
    if (node.empty())
        return error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
    const auto close = node.mapped().provider().ia_close_func;
    const auto status = close == nullptr ? error(DAT_NOT_IMPLEMENTED) : close(adapter, flags);
    if (status != DAT_SUCCESS)
        adapters.put(std::move(node));
    return status;
}

void say_result(const char *what, const char *name, DAT_RETURN status) noexcept {
    debug(Debug::consumer_api, {what, name, status == DAT_SUCCESS ? ": done" : ": failed"});
}

} // namespace
} // namespace dat

DAT_RETURN dat_ia_openv(const DAT_NAME_PTR ia_name, // NOLINT(misc-misplaced-const)
                        DAT_COUNT async_evd_min_qlen, DAT_EVD_HANDLE *async_evd, DAT_IA_HANDLE *ia,
                        DAT_UINT32 dapl_major, DAT_UINT32 dapl_minor, DAT_BOOLEAN thread_safety) {
    if (ia != nullptr)
        *ia = DAT_HANDLE_NULL;
    if (const auto status = dat::check_open(ia_name, ia, thread_safety); status != DAT_SUCCESS)
        return status;
    const auto status = dat::guarded([&] {
        const dat::Key version{{}, dapl_major, dapl_minor, thread_safety == DAT_TRUE};
        return dat::open_adapter(dat::make_request(ia_name, async_evd_min_qlen, async_evd, version),
                                 *ia);
    });
    dat::say_result("dat_ia_open ", ia_name, status);
    return status;
}

DAT_RETURN dat_ia_close(DAT_IA_HANDLE ia, DAT_CLOSE_FLAGS flags) {
    if (!dat::is_handle(ia))
        return dat::error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
    if (dat::is_torn_down())
        return dat::error(DAT_INVALID_STATE);
    const auto status = dat::guarded([&] { return dat::close_adapter(ia, flags); });
    dat::say_result("dat_ia_close", "", status);
    return status;
}
