// SPDX-License-Identifier: MIT
// DAT_RETURN values: class, type and subtype in one word; and what each status of the engine is.
#pragma once

#include "engine/core/status.h"
#include "libdat/api/face.h"

#include <dat/udat.h>

#include <algorithm>
#include <array>
#include <exception>
#include <new>

namespace rsmdat {

constexpr DAT_RETURN failure(DAT_RETURN_TYPE type,
                             DAT_RETURN_SUBTYPE subtype = DAT_NO_SUBTYPE) noexcept {
    return static_cast<DAT_RETURN>(DAT_CLASS_ERROR) | static_cast<DAT_RETURN>(type) |
           static_cast<DAT_RETURN>(subtype);
}

constexpr DAT_RETURN invalid_handle(DAT_RETURN_SUBTYPE subtype) noexcept {
    return failure(DAT_INVALID_HANDLE, subtype);
}

// Position of the argument, from 1 to 10.
constexpr DAT_RETURN invalid_parameter(int position) noexcept {
    return failure(DAT_INVALID_PARAMETER,
                   static_cast<DAT_RETURN_SUBTYPE>(DAT_INVALID_ARG1 + position - 1));
}

constexpr DAT_RETURN invalid_state(DAT_RETURN_SUBTYPE subtype = DAT_NO_SUBTYPE) noexcept {
    return failure(DAT_INVALID_STATE, subtype);
}

constexpr DAT_RETURN no_resource(DAT_RETURN_SUBTYPE subtype) noexcept {
    return failure(DAT_INSUFFICIENT_RESOURCES, subtype);
}

struct Translation {
    Status from;
    DAT_RETURN to;
};

// In the order of Status. An argument has one position in all functions that can refuse it.
constexpr std::array TRANSLATIONS{
    Translation{Status::OK, DAT_SUCCESS},
    Translation{Status::NO_MEMORY, no_resource(DAT_RESOURCE_MEMORY)},
    Translation{Status::NO_DEVICE, no_resource(DAT_RESOURCE_DEVICE)},
    Translation{Status::NO_CONNECTIONS, no_resource(DAT_RESOURCE_TEP)},
    Translation{Status::NO_REGIONS, no_resource(DAT_RESOURCE_MEMORY_REGION)},
    Translation{Status::NO_SRQS, no_resource(DAT_RESOURCE_SRQ)},
    Translation{Status::NO_QUALIFIER, failure(DAT_CONN_QUAL_UNAVAILABLE)},
    Translation{Status::QUALIFIER_IN_USE, failure(DAT_CONN_QUAL_IN_USE)},
    Translation{Status::BAD_QUALIFIER, invalid_parameter(2)},
    Translation{Status::BAD_SEGMENT_COUNT, invalid_parameter(2)},
    Translation{Status::BAD_SEGMENT, invalid_parameter(3)},
    Translation{Status::BAD_REMOTE_SEGMENT, invalid_parameter(5)},
    Translation{Status::BAD_MESSAGE_FLAGS, invalid_parameter(5)},
    Translation{Status::BAD_RDMA_FLAGS, invalid_parameter(6)},
    Translation{Status::BAD_WINDOW, invalid_parameter(2)},
    Translation{Status::BAD_WINDOW_RIGHTS, invalid_parameter(3)},
    Translation{Status::BAD_ADDRESS, invalid_parameter(3)},
    Translation{Status::BAD_LENGTH, invalid_parameter(4)},
    Translation{Status::BAD_RIGHTS, invalid_parameter(6)},
    Translation{Status::BAD_WATERMARK, invalid_parameter(2)},
    Translation{Status::BAD_THRESHOLD, invalid_parameter(3)},
    Translation{Status::LENGTH_MISMATCH, failure(DAT_LENGTH_ERROR)},
    Translation{Status::RIGHT_TO_READ_MISSING,
                failure(DAT_PRIVILEGES_VIOLATION, DAT_PRIVILEGES_READ)},
    Translation{Status::RIGHT_TO_WRITE_MISSING,
                failure(DAT_PRIVILEGES_VIOLATION, DAT_PRIVILEGES_WRITE)},
    Translation{Status::ZONES_DIFFER, failure(DAT_PROTECTION_VIOLATION)},
    Translation{Status::ZONE_OF_READ_DIFFERS,
                failure(DAT_PROTECTION_VIOLATION, DAT_PROTECTION_READ)},
    Translation{Status::ZONE_OF_WRITE_DIFFERS,
                failure(DAT_PROTECTION_VIOLATION, DAT_PROTECTION_WRITE)},
    Translation{Status::WRONG_STATE, invalid_state()},
    Translation{Status::EP_UNCONNECTED, invalid_state(DAT_INVALID_STATE_EP_UNCONNECTED)},
    Translation{Status::EP_RESERVED, invalid_state(DAT_INVALID_STATE_EP_RESERVED)},
    Translation{Status::EP_PASSIVE_PENDING, invalid_state(DAT_INVALID_STATE_EP_PASSCONNPENDING)},
    Translation{Status::EP_ACTIVE_PENDING, invalid_state(DAT_INVALID_STATE_EP_ACTCONNPENDING)},
    Translation{Status::EP_TENTATIVE_PENDING, invalid_state(DAT_INVALID_STATE_EP_TENTCONNPENDING)},
    Translation{Status::EP_CONNECTED, invalid_state(DAT_INVALID_STATE_EP_CONNECTED)},
    Translation{Status::EP_DISCONNECT_PENDING, invalid_state(DAT_INVALID_STATE_EP_DISCPENDING)},
    Translation{Status::EP_DISCONNECTED, invalid_state(DAT_INVALID_STATE_EP_DISCONNECTED)},
    Translation{Status::EP_COMPLETION_PENDING, invalid_state(DAT_INVALID_STATE_EP_COMPLPENDING)},
    Translation{Status::EVD_HAS_WAITER, invalid_state(DAT_INVALID_STATE_EVD_WAITER)},
    Translation{Status::EVD_UNWAITABLE, invalid_state(DAT_INVALID_STATE_EVD_UNWAITABLE)},
    Translation{Status::EVD_NOTIFIES_EACH, invalid_state(DAT_INVALID_STATE_EVD_CONFIG_NOTIFY)},
    Translation{Status::EVD_NOTIFIES_SOLICITED,
                invalid_state(DAT_INVALID_STATE_EVD_CONFIG_SOLICITED)},
    Translation{Status::QUEUE_EMPTY, failure(DAT_QUEUE_EMPTY)},
    Translation{Status::QUEUE_FULL, failure(DAT_QUEUE_FULL)},
    Translation{Status::TIMED_OUT, failure(DAT_TIMEOUT_EXPIRED)},
    Translation{Status::INTERRUPTED, failure(DAT_INTERRUPTED_CALL)},
    Translation{Status::ABORTED, failure(DAT_ABORT)},
    Translation{Status::INTERNAL_ERROR, failure(DAT_INTERNAL_ERROR)},
};

constexpr std::size_t number_of(Status status) noexcept {
    return static_cast<std::size_t>(status);
}
static_assert(TRANSLATIONS.size() == number_of(Status::INTERNAL_ERROR) + 1);
static_assert(std::ranges::is_sorted(TRANSLATIONS, {}, &Translation::from) &&
              std::ranges::adjacent_find(TRANSLATIONS, {}, &Translation::from) ==
                  TRANSLATIONS.end());

constexpr DAT_RETURN to_return(Status status) noexcept {
    return TRANSLATIONS[number_of(status)].to;
}

// Runs the body of an API function: nothing is thrown across the C ABI.
template <class Body>
DAT_RETURN guarded(Body &&body) noexcept {
    try {
        return body();
    } catch (const std::bad_alloc &) {
        return no_resource(DAT_RESOURCE_MEMORY);
    } catch (const std::exception &) {
        return failure(DAT_INTERNAL_ERROR);
    }
}

} // namespace rsmdat
