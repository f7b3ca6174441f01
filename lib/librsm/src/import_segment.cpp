// SPDX-License-Identifier: MIT
#include "import_segment.h"

#include <array>
#include <mutex>

#include "device.h"
#include "locks.h"

namespace rsm {
namespace {

int protection_for(std::uint32_t rights) noexcept {
    return ((rights & RSM_PERM_READ) != 0 ? PROT_READ : PROT_NONE) |
           ((rights & RSM_PERM_WRITE) != 0 ? PROT_WRITE : PROT_NONE);
}

int status_of_map_error(int error) noexcept {
    switch (error) {
    case ENODEV:
        return RSMERR_CONN_ABORTED;
    case EACCES:
    case EPERM:
        return RSMERR_BAD_PERMS;
    case ENXIO:
    case ENOMEM:
        return RSMERR_BAD_LENGTH;
    case EAGAIN:
        return RSMERR_INSUFFICIENT_RESOURCES;
    default:
        return RSMERR_MAP_FAILED;
    }
}

std::byte *page_end_of(const Mapping &mapping) noexcept {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    return mapping.data() + (mapping.size() + page - 1) / page * page;
}

// Whether a range that begins at a page boundary has a page in common with the mapping.
bool overlaps(const std::byte *begin, const std::byte *end, const Mapping &mapping) noexcept {
    return begin < page_end_of(mapping) && mapping.data() < end;
}

} // namespace

ImportSegment::ImportSegment(rsmdev::Import connection) noexcept
    : Segment(import_), import_(std::move(connection)),
      mappable_(import_.mappable()), window_{0, import_.length()} {
    path_.generation_word = import_.generation_word();
    path_.generation = import_.generation();
}

std::mutex &ImportSegment::lock() const noexcept {
    return locks.of_segment(slot_index(this));
}

// Called after each change: recomputes the limits of the data path.
void ImportSegment::refresh() noexcept {
    const bool implicit = path_.implicit.load(std::memory_order_relaxed);
    const bool ready = implicitly_mapped_ && (!implicit || current_barrier_ != nullptr);
    const auto end_for = [&](std::uint32_t right) {
        return ready && (rights() & right) != 0 ? window_.end : 0;
    };
    path_.window_begin.store(window_.begin, std::memory_order_relaxed);
    path_.put_end.store(end_for(RSM_PERM_WRITE), std::memory_order_release);
    path_.get_end.store(end_for(RSM_PERM_READ), std::memory_order_release);
}

int ImportSegment::ensure_mapping() noexcept {
    if (!mapping_) {
        Mapping mapping = import_.view(0, size(), protection_for(rights()));
        if (!mapping && errno == EACCES) {
            // A forked child of the process that connected for writing only.
            mappable_.store(false, std::memory_order_relaxed);
            return RSM_SUCCESS;
        }
        if (!mapping)
            return rsmdev::status_of_mapping_error(errno);
        mapping_ = std::move(mapping);
    }
    path_.base.store(mapping_.data(), std::memory_order_relaxed);
    implicitly_mapped_.store(true, std::memory_order_release);
    refresh();
    return RSM_SUCCESS;
}

int ImportSegment::prepare_mapping() {
    if (implicitly_mapped_.load(std::memory_order_acquire)) [[likely]]
        return RSM_SUCCESS;
    const std::lock_guard guard(lock());
    return ensure_mapping();
}

int ImportSegment::check_range(const Transfer &transfer) const noexcept {
    if (transfer.negative_offset || transfer.offset > size())
        return RSMERR_BAD_OFFSET;
    const bool inside = transfer.offset >= window_.begin && transfer.offset <= window_.end &&
                        transfer.length <= window_.end - transfer.offset;
    if (inside)
        return RSM_SUCCESS;
    return mappable() ? RSMERR_BAD_OFFSET : RSMERR_BAD_LENGTH;
}

int ImportSegment::admit(Direction direction, const Transfer &transfer) {
    const std::lock_guard guard(lock());
    if (mappable())
        if (const int status = ensure_mapping(); status != RSM_SUCCESS)
            return status;
    if ((rights() & right_for(direction)) == 0)
        return RSMERR_PERM_DENIED;
    if (const int status = check_range(transfer); status != RSM_SUCCESS)
        return status;
    const bool implicit = path_.implicit.load(std::memory_order_relaxed);
    return implicit && current_barrier_ == nullptr ? RSMERR_BARRIER_UNINITIALIZED : RSM_SUCCESS;
}

// Maps at an address of the kernel's choice, outside of the target, to which it is moved next.
// Replaces the program's mapping at the address only by a mapping that is known to be possible.
bool ImportSegment::make_view(const MapRequest &request, Mapping &result) const noexcept {
    // The kernel maps each below the former one, so at most two of them overlap the target.
    std::array<Mapping, 3> views;
    for (Mapping &view : views) {
        view = import_.view(request.offset, request.length, protection_for(request.permission));
        if (!view)
            return false;
        const auto *target = static_cast<const std::byte *>(request.address);
        if (request.fixed && overlaps(target, target + request.length, view))
            continue;
        result = std::move(view);
        return true;
    }
    errno = ENOMEM;
    return false;
}

int ImportSegment::map(const MapRequest &request, void **address) {
    const std::lock_guard guard(lock());
    if (mapped_)
        return RSMERR_SEG_ALREADY_MAPPED;
    Mapping mapping;
    if (!make_view(request, mapping) ||
        (request.fixed && !rsmdev::move_to(request.address, mapping)))
        return status_of_map_error(errno);
    void *mapped = request.fixed ? request.address : mapping.release();
    mapped_ = true;
    address_ = mapped;
    length_ = request.length;
    window_ = {request.offset, request.offset + request.length};
    refresh();
    *address = mapped;
    return RSM_SUCCESS;
}

void ImportSegment::remove_views(std::byte *begin, std::byte *end) noexcept {
    if (begin >= end)
        return;
    import_.unmap(begin, static_cast<std::size_t>(end - begin));
}

// The program may have unmapped the range itself and mapped something else there: so unmap only
// mappings of this segment, except for the mapping of the transfers.
void ImportSegment::remove_explicit_mapping() noexcept {
    auto *begin = static_cast<std::byte *>(address_);
    auto *end = begin + length_;
    if (!mapping_ || !overlaps(begin, end, mapping_))
        return remove_views(begin, end);
    remove_views(begin, mapping_.data());
    remove_views(page_end_of(mapping_), end);
}

int ImportSegment::unmap() {
    const std::lock_guard guard(lock());
    if (!mapped_ && !implicitly_mapped_)
        return RSMERR_SEG_NOT_MAPPED;
    if (mapped_)
        remove_explicit_mapping();
    mapped_ = false;
    implicitly_mapped_ = false;
    window_ = {0, size()};
    refresh();
    return RSM_SUCCESS;
}

bool ImportSegment::explicitly_mapped() {
    const std::lock_guard guard(lock());
    return mapped_;
}

rsm_barrier_mode_t ImportSegment::mode() const noexcept {
    return path_.implicit.load(std::memory_order_relaxed) ? RSM_BARRIER_MODE_IMPLICIT
                                                          : RSM_BARRIER_MODE_EXPLICIT;
}

void ImportSegment::set_mode(rsm_barrier_mode_t mode) {
    const std::lock_guard guard(lock());
    path_.implicit.store(mode == RSM_BARRIER_MODE_IMPLICIT, std::memory_order_relaxed);
    refresh();
}

void ImportSegment::set_current_barrier(const rsmapi_barrier_t *barrier) {
    const std::lock_guard guard(lock());
    current_barrier_ = barrier;
    refresh();
}

void ImportSegment::forget_barrier(const rsmapi_barrier_t *barrier) {
    const std::lock_guard guard(lock());
    if (current_barrier_ != barrier)
        return;
    current_barrier_ = nullptr;
    refresh();
}

} // namespace rsm
