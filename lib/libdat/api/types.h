// SPDX-License-Identifier: MIT
// From the types of uDAPL to those of the engine, and back. Numbers and layouts that agree pass
// without a translation; here is asserted that they do.
#pragma once

#include "engine/core/ia.h"
#include "engine/core/view.h"
#include "engine/event/event.h"
#include "libdat/api/face.h"

#include <dat/udat.h>

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace rsmdat {

template <class One, class Other>
constexpr bool same(One one, Other other) noexcept {
    return static_cast<std::uint64_t>(one) == static_cast<std::uint64_t>(other);
}

// ---- Objects ------------------------------------------------------------------------------------

static_assert(
    same(ObjectKind::CR, DAT_HANDLE_TYPE_CR) && same(ObjectKind::EP, DAT_HANDLE_TYPE_EP) &&
    same(ObjectKind::EVD, DAT_HANDLE_TYPE_EVD) && same(ObjectKind::IA, DAT_HANDLE_TYPE_IA) &&
    same(ObjectKind::LMR, DAT_HANDLE_TYPE_LMR) && same(ObjectKind::PSP, DAT_HANDLE_TYPE_PSP) &&
    same(ObjectKind::PZ, DAT_HANDLE_TYPE_PZ) && same(ObjectKind::RMR, DAT_HANDLE_TYPE_RMR) &&
    same(ObjectKind::RSP, DAT_HANDLE_TYPE_RSP) && same(ObjectKind::CNO, DAT_HANDLE_TYPE_CNO) &&
    same(ObjectKind::SRQ, DAT_HANDLE_TYPE_SRQ));

constexpr DAT_HANDLE_TYPE to_type(ObjectKind kind) noexcept {
    return static_cast<DAT_HANDLE_TYPE>(kind);
}

inline DAT_HANDLE handle_of(const Object *object) noexcept {
    return object != nullptr ? object->handle() : DAT_HANDLE_NULL;
}

static_assert(sizeof(DAT_CONTEXT) == sizeof(Cookie));

inline Cookie to_cookie(DAT_CONTEXT context) noexcept {
    return std::bit_cast<Cookie>(context);
}
inline DAT_CONTEXT to_context(Cookie cookie) noexcept {
    return std::bit_cast<DAT_CONTEXT>(cookie);
}

// ---- Endpoints ----------------------------------------------------------------------------------

constexpr DAT_EP_STATE to_state(EpState state) noexcept {
    switch (state) {
    case EpState::UNCONNECTED:
        return DAT_EP_STATE_UNCONNECTED;
    case EpState::RESERVED:
        return DAT_EP_STATE_RESERVED;
    case EpState::PASSIVE_PENDING:
        return DAT_EP_STATE_PASSIVE_CONNECTION_PENDING;
    case EpState::ACTIVE_PENDING:
        return DAT_EP_STATE_ACTIVE_CONNECTION_PENDING;
    case EpState::TENTATIVE_PENDING:
        return DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING;
    case EpState::CONNECTED:
        return DAT_EP_STATE_CONNECTED;
    case EpState::DISCONNECT_PENDING:
        return DAT_EP_STATE_DISCONNECT_PENDING;
    case EpState::DISCONNECTED:
        return DAT_EP_STATE_DISCONNECTED;
    case EpState::COMPLETION_PENDING:
        return DAT_EP_STATE_COMPLETION_PENDING;
    }
    return DAT_EP_STATE_ERROR;
}

static_assert(same(CompletionFlags::DEFAULT, DAT_COMPLETION_DEFAULT_FLAG) &&
              same(CompletionFlags::SUPPRESS, DAT_COMPLETION_SUPPRESS_FLAG) &&
              same(CompletionFlags::SOLICITED, DAT_COMPLETION_SOLICITED_WAIT_FLAG) &&
              same(CompletionFlags::UNSIGNALLED, DAT_COMPLETION_UNSIGNALLED_FLAG) &&
              same(CompletionFlags::FENCE, DAT_COMPLETION_BARRIER_FENCE_FLAG) &&
              same(CompletionFlags::THRESHOLD, DAT_COMPLETION_EVD_THRESHOLD_FLAG));

constexpr CompletionFlags to_flags(DAT_COMPLETION_FLAGS flags) noexcept {
    return static_cast<CompletionFlags>(flags);
}

constexpr Close to_close(DAT_CLOSE_FLAGS flags) noexcept {
    return flags == DAT_CLOSE_GRACEFUL_FLAG ? Close::GRACEFUL : Close::ABRUPT;
}

constexpr EndpointsBy to_endpoints(DAT_PSP_FLAGS flags) noexcept {
    return flags == DAT_PSP_PROVIDER_FLAG ? EndpointsBy::ENGINE : EndpointsBy::PROGRAM;
}
constexpr DAT_PSP_FLAGS to_psp_flags(EndpointsBy endpoints) noexcept {
    return endpoints == EndpointsBy::ENGINE ? DAT_PSP_PROVIDER_FLAG : DAT_PSP_CONSUMER_FLAG;
}

static_assert(UNLIMITED == DAT_WATERMARK_INFINITE && UNLIMITED == DAT_HW_DEFAULT);

inline Timeout to_timeout(DAT_TIMEOUT timeout) noexcept {
    if (timeout == DAT_TIMEOUT_INFINITE)
        return {};
    return std::chrono::microseconds(timeout);
}

// ---- Memory -------------------------------------------------------------------------------------

static_assert(rights::NONE == DAT_MEM_PRIV_NONE_FLAG &&
              rights::LOCAL_READ == DAT_MEM_PRIV_LOCAL_READ_FLAG &&
              rights::REMOTE_READ == DAT_MEM_PRIV_REMOTE_READ_FLAG &&
              rights::LOCAL_WRITE == DAT_MEM_PRIV_LOCAL_WRITE_FLAG &&
              rights::REMOTE_WRITE == DAT_MEM_PRIV_REMOTE_WRITE_FLAG &&
              rights::ALL == DAT_MEM_PRIV_ALL_FLAG &&
              rights::STRICT_ORDER == DAT_MEM_PRIV_RO_DISABLE_FLAG);

static_assert(offsetof(Segment, key) == offsetof(DAT_LMR_TRIPLET, lmr_context) &&
              offsetof(Segment, address) == offsetof(DAT_LMR_TRIPLET, virtual_address) &&
              offsetof(Segment, length) == offsetof(DAT_LMR_TRIPLET, segment_length));
static_assert(offsetof(RemoteSegment, key) == offsetof(DAT_RMR_TRIPLET, rmr_context) &&
              offsetof(RemoteSegment, address) == offsetof(DAT_RMR_TRIPLET, target_address) &&
              offsetof(RemoteSegment, length) == offsetof(DAT_RMR_TRIPLET, segment_length));

// Null stays null.
inline View<Segment> to_segments(const DAT_LMR_TRIPLET *triplets) noexcept {
    return View<Segment>::of(triplets);
}
inline View<RemoteSegment> to_segments(const DAT_RMR_TRIPLET *triplet) noexcept {
    return View<RemoteSegment>::of(triplet);
}
inline DAT_LMR_TRIPLET to_triplet(const Segment &segment) noexcept {
    return std::bit_cast<DAT_LMR_TRIPLET>(segment);
}

// ---- Events -------------------------------------------------------------------------------------

static_assert(same(Stream::SOFTWARE, DAT_EVD_SOFTWARE_FLAG) &&
              same(Stream::REQUESTS, DAT_EVD_CR_FLAG) &&
              same(Stream::TRANSFERS, DAT_EVD_DTO_FLAG) &&
              same(Stream::CONNECTIONS, DAT_EVD_CONNECTION_FLAG) &&
              same(Stream::BINDS, DAT_EVD_RMR_BIND_FLAG) &&
              same(Stream::ASYNC, DAT_EVD_ASYNC_FLAG));

static_assert(same(CompletionStatus::OK, DAT_DTO_SUCCESS) &&
              same(CompletionStatus::FLUSHED, DAT_DTO_ERR_FLUSHED) &&
              same(CompletionStatus::LOCAL_LENGTH, DAT_DTO_ERR_LOCAL_LENGTH) &&
              same(CompletionStatus::LOCAL_ENDPOINT, DAT_DTO_ERR_LOCAL_EP) &&
              same(CompletionStatus::LOCAL_PROTECTION, DAT_DTO_ERR_LOCAL_PROTECTION) &&
              same(CompletionStatus::BAD_RESPONSE, DAT_DTO_ERR_BAD_RESPONSE) &&
              same(CompletionStatus::REMOTE_ACCESS, DAT_DTO_ERR_REMOTE_ACCESS) &&
              same(CompletionStatus::REMOTE_RESPONDER, DAT_DTO_ERR_REMOTE_RESPONDER) &&
              same(CompletionStatus::TRANSPORT, DAT_DTO_ERR_TRANSPORT) &&
              same(CompletionStatus::RECEIVER_NOT_READY, DAT_DTO_ERR_RECEIVER_NOT_READY) &&
              same(CompletionStatus::BIND_FAILED, DAT_RMR_OPERATION_FAILED));

static_assert(same(EventKind::TRANSFER, DAT_DTO_COMPLETION_EVENT) &&
              same(EventKind::BIND, DAT_RMR_BIND_COMPLETION_EVENT) &&
              same(EventKind::REQUEST, DAT_CONNECTION_REQUEST_EVENT) &&
              same(EventKind::ESTABLISHED, DAT_CONNECTION_EVENT_ESTABLISHED) &&
              same(EventKind::PEER_REJECTED, DAT_CONNECTION_EVENT_PEER_REJECTED) &&
              same(EventKind::NON_PEER_REJECTED, DAT_CONNECTION_EVENT_NON_PEER_REJECTED) &&
              same(EventKind::ACCEPT_FAILED, DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR) &&
              same(EventKind::DISCONNECTED, DAT_CONNECTION_EVENT_DISCONNECTED) &&
              same(EventKind::BROKEN, DAT_CONNECTION_EVENT_BROKEN) &&
              same(EventKind::TIMED_OUT, DAT_CONNECTION_EVENT_TIMED_OUT) &&
              same(EventKind::UNREACHABLE, DAT_CONNECTION_EVENT_UNREACHABLE) &&
              same(EventKind::EVD_OVERFLOW, DAT_ASYNC_ERROR_EVD_OVERFLOW) &&
              same(EventKind::IA_FAILED, DAT_ASYNC_ERROR_IA_CATASTROPHIC) &&
              same(EventKind::EP_WARNING, DAT_ASYNC_ERROR_EP_BROKEN) &&
              same(EventKind::INTERNAL_ERROR, DAT_ASYNC_ERROR_PROVIDER_INTERNAL_ERROR) &&
              same(EventKind::SOFTWARE, DAT_SOFTWARE_EVENT));

static_assert(same(Reason::FAILURE, DAT_EVD_OVERFLOW_ERROR) &&
              same(Reason::FAILURE, DAT_SRQ_TRANSFER_TO_ERROR) &&
              same(Reason::FAILURE, DAT_IA_CATASTROPHIC_ERROR) &&
              same(Reason::WATERMARK, DAT_SRQ_LOW_WATERMARK_EVENT) &&
              same(Reason::WATERMARK, DAT_SRQ_SOFT_HIGH_WATERMARK_EVENT));

static_assert(sizeof(Event) == sizeof(DAT_EVENT) &&
              offsetof(Event, kind) == offsetof(DAT_EVENT, event_number) &&
              offsetof(Event, evd) == offsetof(DAT_EVENT, evd_handle) &&
              offsetof(Event, transfer) == offsetof(DAT_EVENT, event_data));
static_assert(
    offsetof(TransferEnd, cookie) == offsetof(DAT_DTO_COMPLETION_EVENT_DATA, user_cookie) &&
    offsetof(TransferEnd, status) == offsetof(DAT_DTO_COMPLETION_EVENT_DATA, status) &&
    offsetof(TransferEnd, length) == offsetof(DAT_DTO_COMPLETION_EVENT_DATA, transfered_length) &&
    offsetof(BindEnd, cookie) == offsetof(DAT_RMR_BIND_COMPLETION_EVENT_DATA, user_cookie) &&
    offsetof(BindEnd, status) == offsetof(DAT_RMR_BIND_COMPLETION_EVENT_DATA, status));
static_assert(
    offsetof(RequestArrival, local_address) ==
        offsetof(DAT_CR_ARRIVAL_EVENT_DATA, local_ia_address_ptr) &&
    offsetof(RequestArrival, qualifier) == offsetof(DAT_CR_ARRIVAL_EVENT_DATA, conn_qual) &&
    offsetof(RequestArrival, request) == offsetof(DAT_CR_ARRIVAL_EVENT_DATA, cr_handle) &&
    offsetof(ConnectionChange, size) == offsetof(DAT_CONNECTION_EVENT_DATA, private_data_size) &&
    offsetof(ConnectionChange, private_data) == offsetof(DAT_CONNECTION_EVENT_DATA, private_data) &&
    offsetof(AsyncError, reason) == offsetof(DAT_ASYNCH_ERROR_EVENT_DATA, reason));

inline void give(DAT_EVENT &to, const Event &event) noexcept {
    std::memcpy(&to, &event, sizeof to);
}

inline Agent to_agent(const DAT_OS_WAIT_PROXY_AGENT &agent) noexcept {
    return {agent.instance_data, agent.proxy_agent_func};
}

// The special EVDs of dat.h, whose macros use C casts.
inline DAT_EVD_HANDLE async_exists() noexcept {
    return reinterpret_cast<DAT_EVD_HANDLE>(std::uintptr_t{1});
}
inline DAT_EVD_HANDLE out_of_scope() noexcept {
    return reinterpret_cast<DAT_EVD_HANDLE>(std::uintptr_t{2});
}

// The asynchronous EVD, as programs are told it.
inline DAT_EVD_HANDLE async_evd_of(const Ia &ia) noexcept {
    return ia.async_handle != nullptr ? ia.async_handle : out_of_scope();
}

} // namespace rsmdat
