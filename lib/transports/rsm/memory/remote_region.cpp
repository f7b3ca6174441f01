// SPDX-License-Identifier: MIT
#include "engine/loop/blocking.h"
#include "engine/memory/pages.h"
#include "memory/contexts.h"
#include "memory/copy.h"
#include "memory/kernel_copy.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <sys/mman.h>

namespace rsmengine {

// Offsets are those in the exporter's segment.
struct RemoteRegion::Inside {
    Import import;
    std::uint64_t address = 0; // the peer's of the first byte
    std::uint64_t offset = 0;  // its offset
    std::uint64_t length = 0;
    std::uint64_t mapped_from = UINT64_MAX; // the mapped part; empty: the kernel copies all
    std::uint64_t mapped_to = UINT64_MAX;
    std::uint32_t permission = 0;

    void map_pages() noexcept;
    [[nodiscard]] Outcome copy(bool write, std::uint64_t at, std::span<const Segment> pieces,
                               std::uint64_t bytes) const noexcept;
    [[nodiscard]] Outcome copy_range(bool write, std::uint64_t from, std::uint64_t to,
                                     PieceCursor &cursor) const noexcept;
    void copy_mapped(bool write, std::uint64_t from, std::uint64_t to,
                     PieceCursor &cursor) const noexcept;
    [[nodiscard]] bool arrived(bool write) const noexcept;
};

namespace {

// The grant is untrusted: wrong values can only lead to accesses that the kernel refuses.
bool makes_sense(const Grant &grant) noexcept {
    std::uint64_t end = 0;
    return grant.length != 0 && !__builtin_add_overflow(grant.address, grant.length, &end) &&
           !__builtin_add_overflow(grant.offset, grant.length, &end);
}

} // namespace

RemoteRegion::RemoteRegion(std::unique_ptr<Inside> inside) noexcept : inside_(std::move(inside)) {}

RemoteRegion::~RemoteRegion() {
    about_to_block("end of a peer's region"); // its mapping may be large
}

std::unique_ptr<RemoteRegion> RemoteRegion::open(const Device &device, const Grant &grant) {
    if (!makes_sense(grant))
        return nullptr;
    auto inside = std::make_unique<Inside>();
    const Ticket ticket{grant.ticket[0], grant.ticket[1]};
    if (Import::redeem(device, ticket, inside->import) != RSM_SUCCESS)
        return nullptr;
    inside->address = grant.address;
    inside->offset = grant.offset;
    inside->length = grant.length;
    inside->permission = grant.permission;
    inside->map_pages();
    return std::make_unique<RemoteRegion>(std::move(inside));
}

// Maps memory with the right to read, or to read and write. If the kernel refuses, let it copy
// instead.
void RemoteRegion::Inside::map_pages() noexcept {
    const PageRange pages = pages_inside(offset, length);
    if (pages.length == 0 || (permission & RSM_PERM_READ) == 0)
        return;
    const int writing = (permission & RSM_PERM_WRITE) != 0 ? PROT_WRITE : 0;
    if (import.map(pages.start, pages.length, PROT_READ | writing) != RSM_SUCCESS)
        return;
    mapped_from = pages.start;
    mapped_to = pages.start + pages.length;
}

RemoteRegion::Window RemoteRegion::window() const noexcept {
    const Inside &in = *inside_;
    if (in.mapped_from == UINT64_MAX || (in.permission & RSM_PERM_WRITE) == 0)
        return {};
    return {in.import.mapping().data(), in.address + (in.mapped_from - in.offset),
            in.mapped_to - in.mapped_from, &in.import};
}

void RemoteRegion::Inside::copy_mapped(bool write, std::uint64_t from, std::uint64_t to,
                                       PieceCursor &cursor) const noexcept {
    std::byte *remote = import.mapping().data() + (from - mapped_from);
    std::uint64_t left = to - from;
    for (auto local = cursor.next(left); !local.empty(); local = cursor.next(left)) {
        if (write)
            copy_last_bytes_last(remote, local.data(), local.size());
        else
            std::memcpy(local.data(), remote, local.size());
        remote += local.size();
        left -= local.size();
    }
}

// Up to three parts: before the mapping, in it, behind it.
RemoteRegion::Outcome RemoteRegion::Inside::copy_range(bool write, std::uint64_t from,
                                                       std::uint64_t to,
                                                       PieceCursor &cursor) const noexcept {
    const std::uint64_t first = std::clamp(mapped_from, from, to);
    const std::uint64_t last = std::clamp(mapped_to, first, to);
    if (from < first) {
        const auto outcome =
            copy_by_kernel({import, write, first == to}, from, cursor, first - from);
        if (outcome != Outcome::DONE)
            return outcome;
    }
    if (first < last)
        copy_mapped(write, first, last, cursor);
    return last < to ? copy_by_kernel({import, write, true}, last, cursor, to - last)
                     : Outcome::DONE;
}

// True if the accesses through the mapping reached the segment.
bool RemoteRegion::Inside::arrived(bool write) const noexcept {
    if (write)
        return import.alive();
    std::atomic_thread_fence(std::memory_order_acquire);
    return import.connected();
}

RemoteRegion::Outcome RemoteRegion::Inside::copy(bool write, std::uint64_t at,
                                                 std::span<const Segment> pieces,
                                                 std::uint64_t bytes) const noexcept {
    const std::uint32_t needed = write ? RSM_PERM_WRITE : RSM_PERM_READ;
    if ((permission & needed) == 0 || at < address || bytes > length ||
        at - address > length - bytes)
        return Outcome::DENIED;
    PieceCursor cursor(pieces, 0);
    const std::uint64_t from = offset + (at - address);
    const Outcome outcome = copy_range(write, from, from + bytes, cursor);
    if (outcome != Outcome::DONE)
        return outcome;
    return arrived(write) ? Outcome::DONE : Outcome::GONE;
}

RemoteRegion::Outcome RemoteRegion::write(std::uint64_t address, std::span<const Segment> pieces,
                                          std::uint64_t length) const noexcept {
    return inside_->copy(true, address, pieces, length);
}

RemoteRegion::Outcome RemoteRegion::read(std::uint64_t address, std::span<const Segment> pieces,
                                         std::uint64_t length) const noexcept {
    return inside_->copy(false, address, pieces, length);
}

} // namespace rsmengine
