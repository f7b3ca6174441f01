// SPDX-License-Identifier: MIT
// Items and pieces that put and get move. Programs include <rsm/rsm.hpp>.
#ifndef _RSM_TRANSFER_HPP
#define _RSM_TRANSFER_HPP

#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <system_error>
#include <type_traits>

#include <rsm/controller.hpp>
#include <rsm/error.hpp>

namespace rsm {
inline namespace v2 {

/** One piece of a scatter-gather transfer; made by rsm::piece(). */
using Piece = rsm_iovec_t;

/** Whether a scatter-gather transfer ends with an event for the exporter. */
enum class Signal : uint_t {
    none = 0,
    post = RSM_IMPLICIT_SIGPOST,
    post_unless_pending = RSM_IMPLICIT_SIGPOST | RSM_SIGPOST_NO_ACCUMULATE,
};

/** The outcome of a scatter-gather transfer. */
struct [[nodiscard]] Transferred {
    std::error_code error;    /**< none: all of it was moved */
    std::size_t residual = 0; /**< pieces that were not completed */
};

/**
 * A piece by address.
 *
 * @local: must live until the transfer is over; putv does not modify it
 * @remote_offset: bytes from the start of the segment
 */
inline Piece piece(std::span<const std::byte> local, std::size_t remote_offset) noexcept {
    Piece piece{};
    piece.io_type = RSM_VA_TYPE;
    piece.local.vaddr = reinterpret_cast<caddr_t>(const_cast<std::byte *>(local.data()));
    piece.remote_offset = remote_offset;
    piece.transfer_length = local.size();
    return piece;
}

/** A piece of prepared memory: @length bytes from @local_offset on. */
inline Piece piece(const LocalMemory &local, std::size_t local_offset, std::size_t length,
                   std::size_t remote_offset) noexcept {
    Piece piece{};
    piece.io_type = RSM_HANDLE_TYPE;
    piece.local.handle = local.handle();
    piece.local_offset = local_offset;
    piece.remote_offset = remote_offset;
    piece.transfer_length = length;
    return piece;
}

namespace detail {

/** A type that one access can move: 1, 2, 4 or 8 bytes with alignment to match. */
template <class T> // NOLINTNEXTLINE(misc-redundant-expression)
concept Item = std::is_trivially_copyable_v<T> && alignof(T) == sizeof(T) && sizeof(T) <= 8 &&
               (sizeof(T) & (sizeof(T) - 1)) == 0;

template <class Range>
concept ItemRange = std::ranges::contiguous_range<Range> && std::ranges::sized_range<Range> &&
    Item<std::ranges::range_value_t<Range>>;

/** Items that get() may write to. */
template <class Range>
concept MutableItemRange = ItemRange<Range> &&
    !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<Range>>>;

// The prototypes of RSMAPI lack const, but the functions do not modify data that is put.
template <class Width, class T>
Width *as(T *items) noexcept {
    return reinterpret_cast<Width *>(const_cast<std::remove_const_t<T> *>(items));
}

template <Item T>
int put_items(rsm_memseg_import_handle_t handle, std::size_t where, const T *items,
              std::size_t count) noexcept {
    const auto offset = static_cast<off_t>(where);
    if constexpr (sizeof(T) == 1)
        return rsm_memseg_import_put8(handle, offset, as<std::uint8_t>(items), count);
    else if constexpr (sizeof(T) == 2)
        return rsm_memseg_import_put16(handle, offset, as<std::uint16_t>(items), count);
    else if constexpr (sizeof(T) == 4)
        return rsm_memseg_import_put32(handle, offset, as<std::uint32_t>(items), count);
    else
        return rsm_memseg_import_put64(handle, offset, as<std::uint64_t>(items), count);
}

template <Item T>
requires(!std::is_const_v<T>) int get_items(rsm_memseg_import_handle_t handle, std::size_t where,
                                            T *items, std::size_t count) noexcept {
    const auto offset = static_cast<off_t>(where);
    if constexpr (sizeof(T) == 1)
        return rsm_memseg_import_get8(handle, offset, as<std::uint8_t>(items), count);
    else if constexpr (sizeof(T) == 2)
        return rsm_memseg_import_get16(handle, offset, as<std::uint16_t>(items), count);
    else if constexpr (sizeof(T) == 4)
        return rsm_memseg_import_get32(handle, offset, as<std::uint32_t>(items), count);
    else
        return rsm_memseg_import_get64(handle, offset, as<std::uint64_t>(items), count);
}

inline Transferred scatter_gather(int (*transfer)(rsm_scat_gath_t *),
                                  rsm_memseg_import_handle_t handle, std::span<const Piece> pieces,
                                  Signal signal) noexcept {
    rsm_scat_gath_t request{};
    request.io_request_count = pieces.size();
    request.io_residual_count = pieces.size();
    request.flags = static_cast<uint_t>(signal);
    request.remote_handle = handle;
    request.iovec = const_cast<Piece *>(pieces.data());
    const std::error_code error = code(transfer(&request));
    return {error, request.io_residual_count};
}

} // namespace detail
} // namespace v2
} // namespace rsm

#endif // _RSM_TRANSFER_HPP
