// SPDX-License-Identifier: MIT
// Results of RSMAPI in C++. Programs include <rsm/rsm.hpp>.
//
// Each operation comes twice: NAME throws rsm::Error, try_NAME returns the error and throws
// nothing. try_NAME of what has no result is a std::error_code; of what makes something, a
// rsm::Result.
#ifndef _RSM_ERROR_HPP
#define _RSM_ERROR_HPP

#include <optional>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>

#include <rsmapi.h>

// librsm itself has a namespace rsm, which is hidden. v2 keeps the two apart even where a
// program is linked with librsm's objects.
namespace rsm {
inline namespace v2 {

/** RSMERR_* that programs see, to compare an error with. */
enum class Errc : int {
    bad_library_version = RSMERR_BAD_LIBRARY_VERSION,
    bad_topology_ptr = RSMERR_BAD_TOPOLOGY_PTR,
    bad_ctlr_hndl = RSMERR_BAD_CTLR_HNDL,
    ctlr_not_present = RSMERR_CTLR_NOT_PRESENT,
    bad_seg_hndl = RSMERR_BAD_SEG_HNDL,
    seg_already_published = RSMERR_SEG_ALREADY_PUBLISHED,
    seg_not_published = RSMERR_SEG_NOT_PUBLISHED,
    seg_not_published_to_node = RSMERR_SEG_NOT_PUBLISHED_TO_NODE,
    seg_already_mapped = RSMERR_SEG_ALREADY_MAPPED,
    seg_still_mapped = RSMERR_SEG_STILL_MAPPED,
    seg_not_mapped = RSMERR_SEG_NOT_MAPPED,
    not_creator = RSMERR_NOT_CREATOR,
    bad_barrier_ptr = RSMERR_BAD_BARRIER_PTR,
    bad_sgio = RSMERR_BAD_SGIO,
    bad_localmem_hndl = RSMERR_BAD_LOCALMEM_HNDL,
    bad_addr = RSMERR_BAD_ADDR,
    bad_mem_alignment = RSMERR_BAD_MEM_ALIGNMENT,
    bad_offset = RSMERR_BAD_OFFSET,
    misaligned_offset = RSMERR_MISALIGNED_OFFSET,
    bad_length = RSMERR_BAD_LENGTH,
    bad_acl = RSMERR_BAD_ACL,
    bad_segid = RSMERR_BAD_SEGID,
    reserved_segid = RSMERR_RESERVED_SEGID,
    segid_in_use = RSMERR_SEGID_IN_USE,
    bad_mode = RSMERR_BAD_MODE,
    bad_perms = RSMERR_BAD_PERMS,
    perm_denied = RSMERR_PERM_DENIED,
    locks_not_supported = RSMERR_LOCKS_NOT_SUPPORTED,
    locks_not_enabled = RSMERR_LOCKS_NOT_ENABLED,
    rebind_not_allowed = RSMERR_REBIND_NOT_ALLOWED,
    insufficient_resources = RSMERR_INSUFFICIENT_RESOURCES,
    insufficient_mem = RSMERR_INSUFFICIENT_MEM,
    map_failed = RSMERR_MAP_FAILED,
    pollfd_in_use = RSMERR_POLLFD_IN_USE,
    barrier_uninitialized = RSMERR_BARRIER_UNINITIALIZED,
    barrier_open_failed = RSMERR_BARRIER_OPEN_FAILED,
    barrier_not_opened = RSMERR_BARRIER_NOT_OPENED,
    barrier_failure = RSMERR_BARRIER_FAILURE,
    remote_node_unreachable = RSMERR_REMOTE_NODE_UNREACHABLE,
    conn_aborted = RSMERR_CONN_ABORTED,
    interrupted = RSMERR_INTERRUPTED,
    timeout = RSMERR_TIMEOUT,
    bad_appid = RSMERR_BAD_APPID,
    bad_conf = RSMERR_BAD_CONF,
    seg_not_connected = RSMERR_SEG_NOT_CONNECTED,
    internal_error = RSMERR_INTERNAL_ERROR,
    bad_driver_version = RSMERR_BAD_DRIVER_VERSION,
    bad_args_errors = RSMERR_BAD_ARGS_ERRORS,
};

namespace detail {

class Category final : public std::error_category {
  public:
    constexpr Category() noexcept = default;

    [[nodiscard]] const char *name() const noexcept override { return "rsm"; }

    [[nodiscard]] std::string message(int status) const override {
        return rsm_strerror(status);
    }

    /** So that error == std::errc::timed_out and its like are true. */
    [[nodiscard]] std::error_condition default_error_condition(int status) const noexcept override {
        switch (status) {
        case RSMERR_PERM_DENIED:
        case RSMERR_NOT_CREATOR:
            return std::errc::permission_denied;
        case RSMERR_INSUFFICIENT_MEM:
            return std::errc::not_enough_memory;
        case RSMERR_CONN_ABORTED:
            return std::errc::connection_aborted;
        case RSMERR_REMOTE_NODE_UNREACHABLE:
            return std::errc::host_unreachable;
        case RSMERR_INTERRUPTED:
            return std::errc::interrupted;
        case RSMERR_TIMEOUT:
            return std::errc::timed_out;
        case RSMERR_SEGID_IN_USE:
            return std::errc::address_in_use;
        case RSMERR_CTLR_NOT_PRESENT:
            return std::errc::no_such_device;
        default:
            return {status, *this};
        }
    }
};

inline constinit const Category category_object;

// Success equals std::error_code(), which is of another category.
inline std::error_code code(int status) noexcept {
    if (status == RSM_SUCCESS) [[likely]]
        return {};
    return {status, category_object};
}

} // namespace detail

/** The category of all errors here. */
inline const std::error_category &category() noexcept {
    return detail::category_object;
}

inline std::error_code make_error_code(Errc error) noexcept {
    return detail::code(static_cast<int>(error));
}

/** Thrown by every operation but try_*: code() compares with rsm::Errc, what() names the call. */
class Error : public std::system_error {
  public:
    Error(std::error_code error, const char *call) : std::system_error(error, call) {}

    /** The RSMERR_*. */
    [[nodiscard]] int status() const noexcept { return code().value(); }
};

namespace detail {

inline void check(std::error_code error, const char *call) {
    if (error) [[unlikely]]
        throw Error(error, call);
}

inline void check(int status, const char *call) {
    if (status != RSM_SUCCESS) [[unlikely]]
        throw Error(code(status), call);
}

} // namespace detail

/** A T, or why there is none. */
template <class T>
class [[nodiscard]] Result {
  public:
    // NOLINTNEXTLINE(google-explicit-constructor): a function returns one or the other
    Result(T value) noexcept(std::is_nothrow_move_constructible_v<T>) : value_(std::move(value)) {}
    // NOLINTNEXTLINE(google-explicit-constructor)
    Result(std::error_code error, const char *call = "rsm::Result::value") noexcept
        : error_(error), call_(call) {}

    [[nodiscard]] explicit operator bool() const noexcept { return value_.has_value(); }
    /** No error if there is a value. */
    [[nodiscard]] std::error_code error() const noexcept { return error_; }

    /** The value; throws Error if there is none, whose what() names the C function that failed. */
    [[nodiscard]] T &value() & {
        detail::check(error_, call_);
        return *value_;
    }
    [[nodiscard]] const T &value() const & {
        detail::check(error_, call_);
        return *value_;
    }
    [[nodiscard]] T &&value() && { return std::move(value()); }

    /** The value, which there must be. */
    [[nodiscard]] T &operator*() &noexcept { return *value_; }
    [[nodiscard]] const T &operator*() const &noexcept { return *value_; }
    [[nodiscard]] T &&operator*() &&noexcept { return std::move(*value_); }
    [[nodiscard]] T *operator->() noexcept { return &*value_; }
    [[nodiscard]] const T *operator->() const noexcept { return &*value_; }

  private:
    std::optional<T> value_;
    std::error_code error_;
    const char *call_ = nullptr; // a literal: the function that returned error_
};

} // namespace v2
} // namespace rsm

template <>
struct std::is_error_code_enum<rsm::Errc> : std::true_type {};

#endif // _RSM_ERROR_HPP
