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

// An entry whose fields have been checked, and read once: another thread that
// changes the caller's array can't make it invalid again.
struct Piece {
    std::byte *local;
    std::uint64_t offset;
    std::size_t length;
    rsm_transfer_entry kernel_form;
};

struct Request {
    std::array<Piece, RSM_MAX_SGIOREQS> pieces{};
    std::size_t count = 0;

    [[nodiscard]] std::span<const Piece> all() const noexcept {
        return std::span(pieces).first(count);
    }
};

bool fits(std::uint64_t offset, std::uint64_t length, std::uint64_t size) noexcept {
    return offset <= size && length <= size - offset;
}

int take_virtual(const rsm_iovec_t &entry, Piece &piece) noexcept {
    const auto base = address_of(entry.local.vaddr);
    if (base == 0 || entry.local_offset > SIZE_MAX - base)
        return RSMERR_BAD_ADDR;
    const auto start = base + entry.local_offset;
    if (entry.transfer_length > SIZE_MAX - start)
        return RSMERR_BAD_ADDR;
    piece.local = reinterpret_cast<std::byte *>(static_cast<std::uintptr_t>(start));
    piece.kernel_form.fd = -1;
    piece.kernel_form.addr = base;
    return RSM_SUCCESS;
}

int take_handle(const rsm_iovec_t &entry, Piece &piece) noexcept {
    const auto *memory = find<LocalMemory>(entry.local.handle);
    if (memory == nullptr)
        return RSMERR_BAD_SGIO;
    if (!fits(entry.local_offset, entry.transfer_length, memory->length))
        return RSMERR_BAD_LENGTH;
    piece.local = memory->base + entry.local_offset;
    piece.kernel_form.fd = memory->device.get();
    return RSM_SUCCESS;
}

int take_local(const rsm_iovec_t &entry, Piece &piece) noexcept {
    switch (entry.io_type) {
    case RSM_VA_TYPE:
        return take_virtual(entry, piece);
    case RSM_HANDLE_TYPE:
        return take_handle(entry, piece);
    default:
        return RSMERR_BAD_SGIO;
    }
}

int take_entry(const ImportSegment &segment, const rsm_iovec_t &entry, Piece &piece) noexcept {
    if (const int status = take_local(entry, piece); status != RSM_SUCCESS)
        return status;
    piece.offset = entry.remote_offset;
    piece.length = entry.transfer_length;
    if (piece.offset > segment.size())
        return RSMERR_BAD_OFFSET;
    if (!fits(piece.offset, piece.length, segment.size()))
        return RSMERR_BAD_LENGTH;
    piece.kernel_form.type = static_cast<std::uint32_t>(entry.io_type);
    piece.kernel_form.local_offset = entry.local_offset;
    piece.kernel_form.remote_offset = piece.offset;
    piece.kernel_form.length = piece.length;
    return RSM_SUCCESS;
}

int take_request(const ImportSegment &segment, Direction direction, const rsm_scat_gath_t &io,
                 Request &request) noexcept {
    if (io.iovec == nullptr)
        return RSMERR_BAD_ADDR;
    if ((segment.rights() & right_for(direction)) == 0)
        return RSMERR_PERM_DENIED;
    for (const auto &entry : std::span(io.iovec, io.io_request_count)) {
        const int status = take_entry(segment, entry, request.pieces[request.count]);
        if (status != RSM_SUCCESS)
            return status;
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
    rsm_post argument{};
    argument.flags = flags & RSM_SIGPOST_NO_ACCUMULATE;
    return command(segment.device(), RSM_IOC_POST, argument);
}

int transfer_mapped(const ImportSegment &segment, Direction direction, const Request &request,
                    rsm_scat_gath_t &io) noexcept {
    const int status = copy_pieces(segment.data_path(), direction, request, io.io_residual_count);
    const bool signal = (io.flags & RSM_IMPLICIT_SIGPOST) != 0;
    return status == RSM_SUCCESS && signal ? post(segment, io.flags) : status;
}

int transfer_unmapped(const ImportSegment &segment, Direction direction, const Request &request,
                      rsm_scat_gath_t &io) noexcept {
    std::array<rsm_transfer_entry, RSM_MAX_SGIOREQS> entries{};
    auto *entry = entries.begin();
    for (const auto &piece : request.all())
        *entry++ = piece.kernel_form;
    rsm_transfer argument{};
    argument.count = static_cast<std::uint32_t>(request.count);
    argument.residual = argument.count;
    argument.flags = io.flags & (RSM_IMPLICIT_SIGPOST | RSM_SIGPOST_NO_ACCUMULATE);
    argument.entries = address_of(entries.data());
    const int status = transfer_by_kernel(segment, direction, argument);
    io.io_residual_count = argument.residual;
    return status;
}

int scatter_gather(Direction direction, rsm_scat_gath_t *io) {
    if (io == nullptr)
        return RSMERR_BAD_SGIO;
    auto *segment = find<ImportSegment>(io->remote_handle);
    if (segment == nullptr)
        return RSMERR_BAD_SEG_HNDL;
    if (io->io_request_count == 0 || io->io_request_count > RSM_MAX_SGIOREQS)
        return RSMERR_BAD_SGIO;
    io->io_residual_count = io->io_request_count;
    if (segment->mappable())
        if (const int status = segment->prepare_mapping(); status != RSM_SUCCESS)
            return status;
    Request request;
    if (const int status = take_request(*segment, direction, *io, request); status != RSM_SUCCESS)
        return status;
    return segment->mappable() ? transfer_mapped(*segment, direction, request, *io)
                               : transfer_unmapped(*segment, direction, request, *io);
}

} // namespace
} // namespace rsm

int rsm_memseg_import_putv(rsm_scat_gath_t *sg_io) {
    return rsm::guarded([&] { return rsm::scatter_gather(rsm::Direction::put, sg_io); });
}

int rsm_memseg_import_getv(rsm_scat_gath_t *sg_io) {
    return rsm::guarded([&] { return rsm::scatter_gather(rsm::Direction::get, sg_io); });
}
