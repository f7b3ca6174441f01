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
inline namespace v2 {

/**
 * An interval in which a put may return before its data has arrived.
 *
 * Call close(): it reports whether all data since the scope began, or since the last order(), has
 * arrived. The destructor closes a scope that was left, for example by an exception, and drops the
 * result. Scopes of a connection may overlap, as those of several threads: each reports on its own.
 * While there is one, a put of any thread may return before its data has arrived. One scope is for
 * one thread at a time.
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
        return detail::code(rsm_memseg_import_order_barrier(state_ ? &barrier_ : nullptr));
    }

    /** Ends the scope. All data has arrived, or the call throws the errors of order(). */
    void close() { detail::check(try_close(), "rsm_memseg_import_close_barrier"); }
    [[nodiscard]] std::error_code try_close() noexcept {
        const int status =
            state_ ? state_->close_scope(barrier_) : rsm_memseg_import_close_barrier(nullptr);
        state_.reset();
        return detail::code(status);
    }

  private:
    friend class Import;

    explicit BarrierScope(std::shared_ptr<detail::ImportState> state) : state_(std::move(state)) {
        detail::check(state_ ? state_->open_scope(barrier_) : RSMERR_BAD_SEG_HNDL,
                      "rsm_memseg_import_open_barrier");
    }

    std::shared_ptr<detail::ImportState> state_;
    rsmapi_barrier_t barrier_{};
};

inline BarrierScope Import::barrier() {
    return BarrierScope(state_);
}

} // namespace v2
} // namespace rsm

#endif // _RSM_BARRIER_HPP
