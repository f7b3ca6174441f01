// SPDX-License-Identifier: MIT
// rsm_memseg_import_putv and getv.
#include <array>
#include <cstring>
#include <span>

#include "device.h"
#include "import_segment.h"
#include "kernel_transport.h"
#include "local_memory.h"

namespace rsm {
namespace {

// An entry that has been checked.
struct Piece {
    std::byte *local; // of no meaning for a handle
    std::uint64_t offset;
    std::size_t length;
    rsm_transfer_entry kernel_form;
};

struct Request {
    std::array<Piece, RSM_MAX_SGIOREQS> pieces{};
    std::size_t count = 0;
    // An entry names its memory by a handle. Only the kernel agent touches such memory: the program
    // may have unmapped, protected or truncated it, or have mapped something else at its address.
    bool names_handle = false;

    [[nodiscard]] std::span<const Piece> all() const noexcept {
        return std::span(pieces).first(count);
    }
};

bool fits(std::uint64_t offset, std::uint64_t length, std::uint64_t size) noexcept {
    return offset <= size && length <= size - offset;
}

// The local end of an entry: where it begins and, for a handle, how far it goes.
struct LocalEnd {
    std::uintptr_t base; // 0 for a handle
    std::size_t size;
    int overrun; // the error if the entry reaches beyond that
};

int find_local(const rsm_iovec_t &entry, rsm_transfer_entry &kernel_form, LocalEnd &end) noexcept {
    if (entry.io_type == RSM_VA_TYPE) {
        const auto base = reinterpret_cast<std::uintptr_t>(entry.local.vaddr);
        end = {base, UINTPTR_MAX - base, RSMERR_BAD_ADDR};
        kernel_form.fd = -1;
        kernel_form.addr = base;
        return base == 0 ? RSMERR_BAD_ADDR : RSM_SUCCESS;
    }
    if (entry.io_type != RSM_HANDLE_TYPE)
        return RSMERR_BAD_SGIO;
    const auto *memory = find<LocalMemory>(entry.local.handle);
    if (memory == nullptr)
        return RSMERR_BAD_SGIO;
    end = {0, memory->length, RSMERR_BAD_LENGTH};
    kernel_form.fd = memory->pinned.fd();
    return RSM_SUCCESS;
}

int take_entry(const ImportSegment &segment, const rsm_iovec_t &entry, Piece &piece) noexcept {
    LocalEnd local{};
    if (const int status = find_local(entry, piece.kernel_form, local); status != RSM_SUCCESS)
        return status;
    if (entry.remote_offset > segment.size())
        return RSMERR_BAD_OFFSET;
    if (!fits(entry.remote_offset, entry.transfer_length, segment.size()))
        return RSMERR_BAD_LENGTH;
    if (!fits(entry.local_offset, entry.transfer_length, local.size))
        return local.overrun;
    piece.local = reinterpret_cast<std::byte *>(local.base + entry.local_offset);
    piece.offset = entry.remote_offset;
    piece.length = entry.transfer_length;
    piece.kernel_form.type = static_cast<std::uint32_t>(entry.io_type);
    piece.kernel_form.local_offset = entry.local_offset;
    piece.kernel_form.remote_offset = entry.remote_offset;
    piece.kernel_form.length = entry.transfer_length;
    return RSM_SUCCESS;
}

int take_request(const ImportSegment &segment, Direction direction, const rsm_scat_gath_t &io,
                 Request &request) noexcept {
    if (io.iovec == nullptr)
        return RSMERR_BAD_ADDR;
    if ((segment.rights() & right_for(direction)) == 0)
        return RSMERR_PERM_DENIED;
    // Copy each entry: the program can't change the copy after the check.
    for (const auto entry : std::span(io.iovec, io.io_request_count)) {
        Piece &piece = request.pieces[request.count];
        if (const int status = take_entry(segment, entry, piece); status != RSM_SUCCESS)
            return status;
        request.names_handle |= piece.kernel_form.type == RSM_HANDLE_TYPE;
        ++request.count;
    }
    return RSM_SUCCESS;
}

// Each entry is confirmed before the next is started.
int copy_pieces(const DataPath &path, Direction direction, const Request &request,
                ulong_t &residual) noexcept {
    auto *base = path.base.load(std::memory_order_relaxed);
    if (!path.connected())
        return RSMERR_CONN_ABORTED;
    for (const auto &piece : request.all()) {
        if (direction == Direction::put)
            std::memcpy(base + piece.offset, piece.local, piece.length);
        else
            std::memcpy(piece.local, base + piece.offset, piece.length);
        if (!path.confirm())
            return RSMERR_CONN_ABORTED;
        --residual;
    }
    return RSM_SUCCESS;
}

int post(const ImportSegment &segment, uint_t flags) noexcept {
    return segment.handle().post(flags & RSM_SIGPOST_NO_ACCUMULATE);
}

int transfer_mapped(const ImportSegment &segment, Direction direction, const Request &request,
                    rsm_scat_gath_t &io) noexcept {
    const int status = copy_pieces(segment.data_path(), direction, request, io.io_residual_count);
    const bool signal = (io.flags & RSM_IMPLICIT_SIGPOST) != 0;
    return status == RSM_SUCCESS && signal ? post(segment, io.flags) : status;
}

// The barriers of a mapped segment, which make no call, find every transfer complete.
std::uint32_t completion_flag(const ImportSegment &segment, Direction direction) noexcept {
    return segment.mappable() ? 0U : asynchronous_if_explicit(segment, direction);
}

int transfer_by_kernel(const ImportSegment &segment, Direction direction, const Request &request,
                       rsm_scat_gath_t &io) noexcept {
    std::array<rsm_transfer_entry, RSM_MAX_SGIOREQS> entries{};
    auto *entry = entries.begin();
    for (const auto &piece : request.all())
        *entry++ = piece.kernel_form;
    rsm_transfer argument{};
    argument.flags = (io.flags & (RSM_IMPLICIT_SIGPOST | RSM_SIGPOST_NO_ACCUMULATE)) |
                     completion_flag(segment, direction);
    const int status =
        transfer_by_kernel(segment, direction, std::span(entries).first(request.count), argument);
    io.io_residual_count = argument.residual;
    return status;
}

int scatter_gather(Direction direction, rsm_scat_gath_t *io) {
    if (io == nullptr)
        return RSMERR_BAD_SGIO;
    auto *segment = find<ImportSegment>(io->remote_handle);
    if (segment == nullptr)
        return RSMERR_BAD_SEG_HNDL;
    // A copy: the program can't change it after the check.
    const rsm_scat_gath_t asked = *io;
    if (asked.io_request_count == 0 || asked.io_request_count > RSM_MAX_SGIOREQS)
        return RSMERR_BAD_SGIO;
    io->io_residual_count = asked.io_request_count;
    if (segment->mappable())
        if (const int status = segment->prepare_mapping(); status != RSM_SUCCESS)
            return status;
    Request request;
    if (const int status = take_request(*segment, direction, asked, request); status != RSM_SUCCESS)
        return status;
    return segment->mappable() && !request.names_handle
               ? transfer_mapped(*segment, direction, request, *io)
               : transfer_by_kernel(*segment, direction, request, *io);
}

} // namespace
} // namespace rsm

int rsm_memseg_import_putv(rsm_scat_gath_t *sg_io) {
    return rsm::guarded([&] { return rsm::scatter_gather(rsm::Direction::put, sg_io); });
}

int rsm_memseg_import_getv(rsm_scat_gath_t *sg_io) {
    return rsm::guarded([&] { return rsm::scatter_gather(rsm::Direction::get, sg_io); });
}
