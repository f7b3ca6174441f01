// SPDX-License-Identifier: MIT
// Connections to segments of other processes. Programs include <rsm/rsm.hpp>.
#ifndef _RSM_IMPORT_HPP
#define _RSM_IMPORT_HPP

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <poll.h>
#include <ranges>
#include <span>
#include <system_error>
#include <type_traits>
#include <utility>

#include <rsm/controller.hpp>
#include <rsm/error.hpp>
#include <rsm/event.hpp>
#include <rsm/mapping.hpp>
#include <rsm/transfer.hpp>

namespace rsm {
inline namespace v2 {

/** Rights of a connection. */
enum class Access : rsm_permission_t {
    none = RSM_PERM_NONE,
    read = RSM_PERM_READ,
    write = RSM_PERM_WRITE,
    read_write = RSM_PERM_RDWR,
};

class BarrierScope;

/**
 * A connection to a published segment.
 *
 * May be used by several threads at once; the destructor and disconnect() must not run while
 * another thread uses it. Mappings, event descriptors and barrier scopes of a connection keep it
 * alive, so the order in which they go does not matter.
 *
 * Offsets and lengths are bytes from the start of the segment. Outside a BarrierScope the success
 * of a put or get means that all of it arrived.
 */
class Import : public EventSource<Import> {
  public:
    /**
     * @node: the node that exports it
     * @access: rights asked for
     *
     * Errc::perm_denied, Errc::ctlr_not_present (also: loopback and another node),
     * Errc::remote_node_unreachable, Errc::seg_not_published, Errc::seg_not_published_to_node,
     * Errc::conn_aborted, Errc::bad_driver_version, Errc::interrupted.
     */
    Import(const Controller &controller, NodeId node, SegmentId segment,
           Access access = Access::read_write)
        : Import(try_connect(controller, node, segment, access).value()) {}
    Import(Import &&) noexcept = default;
    Import &operator=(Import &&) noexcept = default;
    Import(const Import &) = delete;
    Import &operator=(const Import &) = delete;
    ~Import() = default;

    static Result<Import> try_connect(const Controller &controller, NodeId node, SegmentId segment,
                                      Access access = Access::read_write) noexcept {
        try {
            auto state = std::make_shared<detail::ImportState>();
            const int status = state->connect(controller.handle(), node, segment,
                                              static_cast<rsm_permission_t>(access));
            if (status != RSM_SUCCESS)
                return {detail::code(status), "rsm_memseg_import_connect"};
            return Import(std::move(state));
        } catch (const std::bad_alloc &) {
            return {make_error_code(Errc::insufficient_mem), "rsm_memseg_import_connect"};
        }
    }

    // These functions access shared memory, although they change no member.
    // NOLINTBEGIN(readability-make-member-function-const)

    /**
     * Writes items to the segment, each by one access of its width.
     *
     * @offset: a multiple of the item's size
     * @items: contiguous items of 1, 2, 4 or 8 bytes
     *
     * put and get share these errors: Errc::perm_denied (connected without the right),
     * Errc::bad_offset or Errc::bad_length (beyond the segment or the part that is mapped),
     * Errc::bad_mem_alignment, Errc::conn_aborted, Errc::barrier_failure, Errc::map_failed.
     */
    template <detail::ItemRange Items>
    void put(std::size_t offset, const Items &items) {
        detail::check(try_put(offset, items), "rsm_memseg_import_put");
    }
    template <detail::ItemRange Items>
    [[nodiscard]] std::error_code try_put(std::size_t offset, const Items &items) noexcept {
        return detail::code(detail::put_items(handle(), offset, std::ranges::data(items),
                                              std::ranges::size(items)));
    }

    /** Reads items from the segment into contiguous ones; rules as for put(). */
    template <detail::MutableItemRange Items>
    void get(std::size_t offset, Items &&items) {
        detail::check(try_get(offset, items), "rsm_memseg_import_get");
    }
    template <detail::MutableItemRange Items>
    [[nodiscard]] std::error_code try_get(std::size_t offset, Items &&items) noexcept {
        return detail::code(detail::get_items(handle(), offset, std::ranges::data(items),
                                              std::ranges::size(items)));
    }

    /** Writes one item. */
    template <detail::Item T>
    void store(std::size_t offset, T item) {
        detail::check(detail::put_items(handle(), offset, &item, 1), "rsm_memseg_import_put");
    }
    /** Reads one item. */
    template <detail::Item T>
    [[nodiscard]] T load(std::size_t offset) {
        T item{};
        detail::check(detail::get_items(handle(), offset, &item, 1), "rsm_memseg_import_get");
        return item;
    }

    /** Writes bytes: no alignment is needed and no width of access promised. */
    void put_bytes(std::size_t offset, std::span<const std::byte> bytes) {
        detail::check(try_put_bytes(offset, bytes), "rsm_memseg_import_put");
    }
    [[nodiscard]] std::error_code try_put_bytes(std::size_t offset,
                                                std::span<const std::byte> bytes) noexcept {
        return detail::code(rsm_memseg_import_put(handle(), static_cast<off_t>(offset),
                                                  const_cast<std::byte *>(bytes.data()),
                                                  bytes.size()));
    }

    /** Reads bytes, as put_bytes() writes them. */
    void get_bytes(std::size_t offset, std::span<std::byte> bytes) {
        detail::check(try_get_bytes(offset, bytes), "rsm_memseg_import_get");
    }
    [[nodiscard]] std::error_code try_get_bytes(std::size_t offset,
                                                std::span<std::byte> bytes) noexcept {
        return detail::code(rsm_memseg_import_get(handle(), static_cast<off_t>(offset),
                                                  bytes.data(), bytes.size()));
    }

    /**
     * Writes pieces of local memory to the segment, in order; see rsm::piece().
     *
     * @pieces: 1 to RSM_MAX_SGIOREQS
     * @signal: whether the exporter gets an event at the end
     *
     * Errc::bad_sgio, Errc::bad_offset, Errc::bad_length and the errors of put(). What
     * try_putv() returns says how many pieces were left.
     */
    void putv(std::span<const Piece> pieces, Signal signal = Signal::none) {
        detail::check(try_putv(pieces, signal).error, "rsm_memseg_import_putv");
    }
    [[nodiscard]] Transferred try_putv(std::span<const Piece> pieces,
                                       Signal signal = Signal::none) noexcept {
        return detail::scatter_gather(rsm_memseg_import_putv, handle(), pieces, signal);
    }

    /** Reads pieces of the segment into local memory, as putv() writes them. */
    void getv(std::span<const Piece> pieces, Signal signal = Signal::none) {
        detail::check(try_getv(pieces, signal).error, "rsm_memseg_import_getv");
    }
    [[nodiscard]] Transferred try_getv(std::span<const Piece> pieces,
                                       Signal signal = Signal::none) noexcept {
        return detail::scatter_gather(rsm_memseg_import_getv, handle(), pieces, signal);
    }

    // NOLINTEND(readability-make-member-function-const)

    /**
     * Maps part of the segment for loads and stores; a connection takes one mapping at a time.
     *
     * @length: bytes; the last page is mapped whole
     * @offset: page aligned
     *
     * Meanwhile put and get are restricted to that part. Needs Access::read_write.
     *
     * Errc::seg_already_mapped, Errc::bad_perms, Errc::bad_length, Errc::bad_mem_alignment,
     * Errc::conn_aborted, Errc::map_failed (also: the controller can't).
     */
    [[nodiscard]] Mapping map(std::size_t length, std::size_t offset = 0) {
        return {state_, length, offset};
    }
    /** The same for loads only; needs Access::read. */
    [[nodiscard]] ReadMapping map_read(std::size_t length, std::size_t offset = 0) {
        return {state_, length, offset};
    }

    /** Begins an interval in which put and get do not wait for each other; see BarrierScope. */
    [[nodiscard]] BarrierScope barrier();

    /** Bytes of the whole segment, as its exporter created it. */
    [[nodiscard]] std::size_t size() const {
        std::size_t bytes = 0;
        detail::check(rsm_memseg_import_get_length(handle(), &bytes),
                      "rsm_memseg_import_get_length");
        return bytes;
    }

    /** Whether the connection is broken: it never becomes whole again. */
    [[nodiscard]] bool aborted() const {
        const EventDescriptor descriptor = event_descriptor();
        pollfd entry{descriptor.fd(), detail::hangup, 0};
        return ::poll(&entry, 1, 0) == 1 && (entry.revents & detail::hangup) != 0;
    }

    /**
     * Disconnects as the destructor does, at once, and throws the error.
     *
     * Errc::seg_still_mapped (a mapping lives), Errc::pollfd_in_use (an EventDescriptor lives).
     */
    void disconnect() {
        detail::check(rsm_memseg_import_disconnect(handle()), "rsm_memseg_import_disconnect");
        state_->handle = nullptr;
        state_.reset();
    }

    /** For functions of <rsmapi.h>; NULL after a move or disconnect(). */
    [[nodiscard]] rsm_memseg_import_handle_t handle() const noexcept {
        return state_ ? state_->handle : nullptr;
    }

  private:
    friend class EventSource<Import>;

    explicit Import(std::shared_ptr<detail::ImportState> state) noexcept
        : state_(std::move(state)) {}

    std::shared_ptr<detail::ImportState> state_;
};

} // namespace v2
} // namespace rsm

#include <rsm/barrier.hpp>

#endif // _RSM_IMPORT_HPP
