// SPDX-License-Identifier: MIT
// Barriers as scopes. Programs include <rsm/rsm.hpp>.
#ifndef _RSM_BARRIER_HPP
#define _RSM_BARRIER_HPP

#include <memory>
#include <system_error>
#include <utility>

#include <rsm/error.hpp>
#include <rsm/import.hpp>
#include <rsm/mapping.hpp>

namespace rsm {
inline namespace v1 {

/**
 * An interval in which a put may return before its data has arrived.
 *
 * Call close(): it reports whether all data since the scope began, or since the last order(), has
 * arrived. The destructor closes a scope that was left, for example by an exception, and drops the
 * result. A connection takes one scope at a time; other threads may put and get meanwhile, and
 * belong to it.
 */
class [[nodiscard]] BarrierScope {
  public:
    BarrierScope(const BarrierScope &) = delete;
    BarrierScope(BarrierScope &&) = delete;
    BarrierScope &operator=(const BarrierScope &) = delete;
    BarrierScope &operator=(BarrierScope &&) = delete;
    ~BarrierScope() {
        if (state_)
            static_cast<void>(try_close());
    }

    /**
     * Data that was put before arrives before data that is put after.
     *
     * Errc::conn_aborted, Errc::barrier_failure: nothing since the scope began may be relied on.
     */
    void order() { detail::check(try_order(), "rsm_memseg_import_order_barrier"); }
    [[nodiscard]] std::error_code try_order() noexcept {
        return detail::code(rsm_memseg_import_order_barrier(barrier()));
    }

    /** Ends the scope. All data has arrived, or the call throws the errors of order(). */
    void close() { detail::check(try_close(), "rsm_memseg_import_close_barrier"); }
    [[nodiscard]] std::error_code try_close() noexcept {
        const int status = rsm_memseg_import_close_barrier(barrier());
        if (state_)
            rsm_memseg_import_set_mode(state_->handle, before_);
        state_.reset();
        return detail::code(status);
    }

  private:
    friend class Import;

    explicit BarrierScope(std::shared_ptr<detail::ImportState> state) : state_(std::move(state)) {
        auto *handle = state_ ? state_->handle : nullptr;
        detail::check(rsm_memseg_import_get_mode(handle, &before_), "rsm_memseg_import_get_mode");
        detail::check(rsm_memseg_import_open_barrier(&state_->barrier),
                      "rsm_memseg_import_open_barrier");
        detail::check(rsm_memseg_import_set_mode(handle, RSM_BARRIER_MODE_EXPLICIT),
                      "rsm_memseg_import_set_mode");
    }

    [[nodiscard]] rsmapi_barrier_t *barrier() const noexcept {
        return state_ ? &state_->barrier : nullptr;
    }

    std::shared_ptr<detail::ImportState> state_;
    rsm_barrier_mode_t before_ = RSM_BARRIER_MODE_IMPLICIT;
};

inline BarrierScope Import::barrier() {
    return BarrierScope(state_);
}

} // namespace v1
} // namespace rsm

#endif // _RSM_BARRIER_HPP
