// SPDX-License-Identifier: MIT
// Segments of this process's memory. Programs include <rsm/rsm.hpp>.
#ifndef _RSM_EXPORT_HPP
#define _RSM_EXPORT_HPP

#include <atomic>
#include <climits>
#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <system_error>
#include <utility>

#include <rsm/controller.hpp>
#include <rsm/error.hpp>
#include <rsm/event.hpp>

namespace rsm {
inline namespace v2 {

/** The rights of one node's users: a node and octal digits as for a file, 4 read and 2 write. */
using AccessEntry = rsmapi_access_entry_t;

/** Whether other memory may be put behind a segment. */
enum class Rebind : bool { refused, allowed };

namespace detail {

struct ExportState {
    rsm_memseg_export_handle_t handle = nullptr;
    // Held while the segment is published and unpublished, so that id is the one it is published
    // under.
    std::mutex publishing;
    std::atomic<SegmentId> id = 0;

    ExportState() = default;
    ExportState(const ExportState &) = delete;
    ExportState(ExportState &&) = delete;
    ExportState &operator=(const ExportState &) = delete;
    ExportState &operator=(ExportState &&) = delete;
    ~ExportState() {
        if (handle != nullptr)
            rsm_memseg_export_destroy(handle);
    }
};

} // namespace detail

/**
 * A segment of the caller's memory, resident and locked while the object lives.
 *
 * May be used by several threads at once; the destructor and destroy() must not run while another
 * thread uses it. Its memory and its controller are the caller's business: the memory must stay
 * mapped until the segment is gone.
 */
class Export : public EventSource<Export> {
  public:
    /**
     * @memory: page aligned, whole pages, private (see Pages)
     *
     * Errc::bad_addr, Errc::bad_length, Errc::bad_mem_alignment, Errc::perm_denied,
     * Errc::insufficient_mem (also: a limit on locked or exported memory), Errc::interrupted.
     */
    Export(const Controller &controller, std::span<std::byte> memory,
           Rebind rebind = Rebind::refused)
        : Export(try_create(controller, memory, rebind).value()) {}
    Export(Export &&) noexcept = default;
    Export &operator=(Export &&) noexcept = default;
    // Event descriptors share the state of a segment; two segments do not.
    Export(const Export &) = delete;
    Export &operator=(const Export &) = delete;
    ~Export() = default;

    static Result<Export> try_create(const Controller &controller, std::span<std::byte> memory,
                                     Rebind rebind = Rebind::refused) noexcept {
        try {
            auto state = std::make_shared<detail::ExportState>();
            const uint_t flags = rebind == Rebind::allowed ? RSM_ALLOW_REBIND : 0;
            const int status = rsm_memseg_export_create(controller.handle(), &state->handle,
                                                        memory.data(), memory.size(), flags);
            if (status != RSM_SUCCESS)
                return {detail::code(status), "rsm_memseg_export_create"};
            return Export(std::move(state));
        } catch (const std::bad_alloc &) {
            return {make_error_code(Errc::insufficient_mem), "rsm_memseg_export_create"};
        }
    }

    /**
     * Lets everybody connect, with 0666 less the umask that the process had when the segment was
     * made.
     *
     * @wanted: an id from RSM_HPC_ID_BASE to 0x7FFFFFFF, or 0 to have one assigned
     *
     * Return: the id. Errc::bad_segid, Errc::reserved_segid, Errc::segid_in_use,
     * Errc::seg_already_published, Errc::not_creator, Errc::interrupted.
     */
    SegmentId publish(SegmentId wanted = 0) { return publish_list(wanted, nullptr, 0); }

    /**
     * Lets the nodes and users of the list connect.
     *
     * @access: 1 to 64 entries, on loopback one, for this node. An empty list would admit
     *	everybody, so it is refused.
     *
     * As publish(), and Errc::bad_acl.
     */
    SegmentId publish(SegmentId wanted, std::span<const AccessEntry> access) {
        check_list(access);
        return publish_list(wanted, access.data(), access.size());
    }

    /** Replaces the list; connections that exist keep their rights. Errors as for publish(). */
    void republish(std::span<const AccessEntry> access) {
        check_list(access);
        detail::check(rsm_memseg_export_republish(handle(),
                                                  const_cast<AccessEntry *>(access.data()),
                                                  static_cast<uint_t>(access.size())),
                      "rsm_memseg_export_republish");
    }

    /**
     * Breaks all connections and frees the id; the segment can be published again.
     *
     * Errc::seg_not_published, Errc::pollfd_in_use (an EventDescriptor lives, or a thread waits for
     * an event), Errc::not_creator.
     */
    void unpublish() { detail::check(try_unpublish(), "rsm_memseg_export_unpublish"); }
    [[nodiscard]] std::error_code try_unpublish() noexcept {
        const auto lock = lock_publishing();
        const int status = rsm_memseg_export_unpublish(handle());
        if (status == RSM_SUCCESS)
            state_->id = 0;
        return detail::code(status);
    }

    /**
     * Puts other memory behind the segment; connections and mappings stay and reach it.
     *
     * @memory: as for the constructor, of the size of the segment
     *
     * Errc::rebind_not_allowed, Errc::bad_length, Errc::bad_addr, Errc::perm_denied,
     * Errc::not_creator, Errc::interrupted.
     */
    // NOLINTNEXTLINE(readability-make-member-function-const): another memory is another segment.
    void rebind(std::span<std::byte> memory) {
        detail::check(rsm_memseg_export_rebind(handle(), memory.data(), 0, memory.size()),
                      "rsm_memseg_export_rebind");
    }

    /**
     * Destroys the export as the destructor does, with its error: Errc::pollfd_in_use (an
     * EventDescriptor lives, or a thread waits for an event).
     */
    void destroy() {
        detail::check(rsm_memseg_export_destroy(handle()), "rsm_memseg_export_destroy");
        state_->handle = nullptr;
        state_.reset();
    }

    /** The id it is published under, or 0. */
    [[nodiscard]] SegmentId id() const noexcept { return state_ ? state_->id.load() : 0; }

    /** For functions of <rsmapi.h>; NULL after a move or destroy(). */
    [[nodiscard]] rsm_memseg_export_handle_t handle() const noexcept {
        return state_ ? state_->handle : nullptr;
    }

  private:
    friend class EventSource<Export>;

    explicit Export(std::shared_ptr<detail::ExportState> state) noexcept
        : state_(std::move(state)) {}

    static void check_list(std::span<const AccessEntry> access) {
        if (access.empty() || access.size() > UINT_MAX)
            throw Error(make_error_code(Errc::bad_acl), "rsm::Export");
    }

    // An object that has been moved from has nothing to lock; the library refuses its handle.
    [[nodiscard]] std::unique_lock<std::mutex> lock_publishing() const {
        return state_ ? std::unique_lock(state_->publishing) : std::unique_lock<std::mutex>();
    }

    SegmentId publish_list(SegmentId wanted, const AccessEntry *access, std::size_t count) {
        const auto lock = lock_publishing();
        detail::check(rsm_memseg_export_publish(handle(), &wanted,
                                                const_cast<AccessEntry *>(access),
                                                static_cast<uint_t>(count)),
                      "rsm_memseg_export_publish");
        state_->id = wanted;
        return wanted;
    }

    std::shared_ptr<detail::ExportState> state_;
};

} // namespace v2
} // namespace rsm

#endif // _RSM_EXPORT_HPP
