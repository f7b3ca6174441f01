// SPDX-License-Identifier: MIT
// Opening and closing an IA, and what all objects have.
#include "libdat/api/functions.h"

#include "engine/core/ia.h"
#include "engine/event/evd.h"
#include "engine/transport.h"
#include "libdat/api/provider.h"
#include "libdat/api/types.h"

#include <string_view>

namespace rsmdat {

namespace {

DAT_RETURN check_open(const Record &record, const char *name, DAT_COUNT qlen,
                      const DAT_EVD_HANDLE *async_evd) noexcept {
    if (!name || std::string_view(name) != record.info.ia_name)
        return invalid_parameter(1);
    if (!async_evd)
        return invalid_parameter(3);
    if (!*async_evd && qlen <= 0)
        return invalid_parameter(2);
    if (!*async_evd && qlen > EVENT_QUEUE_LENGTH)
        return no_resource(DAT_RESOURCE_TEVD);
    return record.options ? DAT_RETURN{DAT_SUCCESS} : no_resource(DAT_RESOURCE_DEVICE);
}

// Sets the async EVD of the new IA as requested: a new one, another IA's, or none.
DAT_RETURN provide_async_evd(Ia &ia, DAT_COUNT qlen, DAT_EVD_HANDLE asked) {
    if (asked == async_exists() || asked == out_of_scope())
        return DAT_SUCCESS;
    if (asked)
        return ia.use_foreign_async_evd(asked) ? DAT_RETURN{DAT_SUCCESS}
                                               : invalid_handle(DAT_INVALID_HANDLE_EVD_ASYNC);
    const Guard guard(ia.lock);
    ia.use_async_evd(ia.adopt(std::make_unique<Evd>(ia, qlen, set_of(Stream::ASYNC), nullptr)));
    return DAT_SUCCESS;
}

DAT_RETURN open(Record &record, DAT_COUNT qlen, DAT_EVD_HANDLE &async_evd, DAT_IA_HANDLE &handle) {
    auto ia = std::make_unique<Ia>(&record.table, record.info.ia_name,
                                   transport_kind.open(*record.options));
    const DAT_RETURN result = provide_async_evd(*ia, qlen, async_evd);
    if (result != DAT_SUCCESS)
        return result;
    async_evd = async_evd_of(*ia);
    handle = ia.release()->handle();
    return DAT_SUCCESS;
}

} // namespace

DAT_RETURN ia_open(Record &record, const char *name, DAT_COUNT async_evd_qlen,
                   DAT_EVD_HANDLE *async_evd, DAT_IA_HANDLE *ia) noexcept {
    if (!ia)
        return invalid_parameter(4);
    *ia = DAT_HANDLE_NULL;
    const DAT_RETURN result = check_open(record, name, async_evd_qlen, async_evd);
    if (result != DAT_SUCCESS)
        return result;
    return guarded([&] {
        try {
            return open(record, async_evd_qlen, *async_evd, *ia);
        } catch (const Unavailable &) {
            return no_resource(DAT_RESOURCE_DEVICE);
        }
    });
}

DAT_RETURN ia_close(DAT_IA_HANDLE ia, DAT_CLOSE_FLAGS flags) noexcept {
    auto locked = enter<Ia>(ia);
    if (!locked)
        return invalid_handle(DAT_INVALID_HANDLE_IA);
    if (flags != DAT_CLOSE_ABRUPT_FLAG && flags != DAT_CLOSE_GRACEFUL_FLAG)
        return invalid_parameter(2);
    if (flags == DAT_CLOSE_GRACEFUL_FLAG && locked->consumer_objects() > 0)
        return invalid_state(DAT_INVALID_STATE_IA_IN_USE);
    locked->close(); // no other thread can lock it from now on
    locked.guard.unlock();
    const std::unique_ptr<Ia> last(locked.get());
    return DAT_SUCCESS;
}

DAT_RETURN set_consumer_context(DAT_HANDLE handle, DAT_CONTEXT context) noexcept {
    const auto object = enter_object(handle);
    if (!object)
        return invalid_handle(DAT_INVALID_HANDLE1);
    object->cookie = to_cookie(context);
    return DAT_SUCCESS;
}

DAT_RETURN get_consumer_context(DAT_HANDLE handle, DAT_CONTEXT *context) noexcept {
    const auto object = enter_object(handle);
    if (!object)
        return invalid_handle(DAT_INVALID_HANDLE1);
    if (!context)
        return invalid_parameter(2);
    *context = to_context(object->cookie);
    return DAT_SUCCESS;
}

DAT_RETURN get_handle_type(DAT_HANDLE handle, DAT_HANDLE_TYPE *type) noexcept {
    const auto object = enter_object(handle);
    if (!object)
        return invalid_handle(DAT_INVALID_HANDLE1);
    if (!type)
        return invalid_parameter(2);
    *type = to_type(object->kind());
    return DAT_SUCCESS;
}

} // namespace rsmdat
