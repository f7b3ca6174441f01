// SPDX-License-Identifier: MIT
// Segments mapped for loads and stores. Programs include <rsm/rsm.hpp>.
#ifndef _RSM_MAPPING_HPP
#define _RSM_MAPPING_HPP

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <type_traits>
#include <utility>

#include <rsm/error.hpp>

namespace rsm {
inline namespace v2 {
namespace detail {

// A connection and its barrier, which librsm wants to stay in one place. Puts and gets outside of
// scopes need that barrier, the one that was initialised last.
struct ImportState {
    rsm_memseg_import_handle_t handle = nullptr;
    rsmapi_barrier_t barrier{};
    // Protects what follows, and the choice of the connection's mode.
    std::mutex mutex;
    unsigned scopes = 0;
    rsm_barrier_mode_t before = RSM_BARRIER_MODE_IMPLICIT;

    ImportState() = default;
    ImportState(const ImportState &) = delete;
    ImportState(ImportState &&) = delete;
    ImportState &operator=(const ImportState &) = delete;
    ImportState &operator=(ImportState &&) = delete;
    ~ImportState() {
        if (handle != nullptr)
            rsm_memseg_import_disconnect(handle);
    }

    int connect(rsmapi_controller_handle_t controller, rsm_node_id_t node, rsm_memseg_id_t segment,
                rsm_permission_t permission) noexcept {
        const int status =
            rsm_memseg_import_connect(controller, node, segment, permission, &handle);
        return status == RSM_SUCCESS
                   ? rsm_memseg_import_init_barrier(handle, RSM_BAR_DEFAULT, &barrier)
                   : status;
    }

    // Opens a barrier of its own for a scope. While there is a scope the mode is explicit.
    int open_scope(rsmapi_barrier_t &scope) {
        const std::scoped_lock lock(mutex);
        int status = rsm_memseg_import_init_barrier(handle, RSM_BAR_DEFAULT, &scope);
        if (status == RSM_SUCCESS)
            status = rsm_memseg_import_open_barrier(&scope);
        if (status == RSM_SUCCESS && scopes == 0)
            status = make_explicit();
        if (status == RSM_SUCCESS)
            scopes++;
        else
            forget(scope);
        return status;
    }
    int close_scope(rsmapi_barrier_t &scope) noexcept {
        const std::scoped_lock lock(mutex);
        const int status = rsm_memseg_import_close_barrier(&scope);
        forget(scope);
        if (--scopes == 0)
            rsm_memseg_import_set_mode(handle, before);
        return status;
    }

  private:
    int make_explicit() noexcept {
        const int status = rsm_memseg_import_get_mode(handle, &before);
        return status == RSM_SUCCESS ? rsm_memseg_import_set_mode(handle, RSM_BARRIER_MODE_EXPLICIT)
                                     : status;
    }
    // The other barrier first: there is never none.
    void forget(rsmapi_barrier_t &scope) noexcept {
        rsm_memseg_import_init_barrier(handle, RSM_BAR_DEFAULT, &barrier);
        rsm_memseg_import_destroy_barrier(&scope);
    }
};

} // namespace detail

/**
 * Part of a segment in this process's memory: Mapping, or ReadMapping for loads only.
 *
 * If the connection breaks, the mapping shows zeros and discards stores; it never faults. The
 * mapping keeps the connection alive. Its spans are invalid after its end.
 */
template <class Byte>
class BasicMapping {
  public:
    BasicMapping(BasicMapping &&other) noexcept
        : state_(std::move(other.state_)), bytes_(std::exchange(other.bytes_, {})) {}
    BasicMapping &operator=(BasicMapping &&other) noexcept {
        if (this != &other) {
            release();
            state_ = std::move(other.state_);
            bytes_ = std::exchange(other.bytes_, {});
        }
        return *this;
    }
    BasicMapping(const BasicMapping &) = delete;
    BasicMapping &operator=(const BasicMapping &) = delete;
    ~BasicMapping() { release(); }

    [[nodiscard]] std::span<Byte> bytes() const noexcept { return bytes_; }

    /** The same as objects of T, as many as fit. The other side may change them at any time. */
    template <class T>
    requires std::is_trivially_copyable_v<T>
    [[nodiscard]] auto as() const noexcept {
        using Object = std::conditional_t<std::is_const_v<Byte>, const T, T>;
        return std::span<Object>(reinterpret_cast<Object *>(bytes_.data()),
                                 bytes_.size() / sizeof(T));
    }

  private:
    friend class Import;

    static constexpr rsm_permission_t rights =
        std::is_const_v<Byte> ? RSM_PERM_READ : RSM_PERM_RDWR;

    BasicMapping(std::shared_ptr<detail::ImportState> state, std::size_t length, std::size_t offset)
        : state_(std::move(state)) {
        void *address = nullptr;
        const int status =
            rsm_memseg_import_map(state_ ? state_->handle : nullptr, &address, RSM_MAP_NONE, rights,
                                  static_cast<off_t>(offset), length);
        detail::check(status, "rsm_memseg_import_map");
        bytes_ = {static_cast<Byte *>(address), length};
    }

    void release() noexcept {
        if (state_)
            rsm_memseg_import_unmap(state_->handle);
        state_.reset();
    }

    std::shared_ptr<detail::ImportState> state_;
    std::span<Byte> bytes_;
};

using Mapping = BasicMapping<std::byte>;
using ReadMapping = BasicMapping<const std::byte>;

} // namespace v2
} // namespace rsm

#endif // _RSM_MAPPING_HPP
