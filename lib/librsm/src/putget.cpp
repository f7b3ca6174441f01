// SPDX-License-Identifier: MIT
// rsm_memseg_import_put* and get*.
//
// On a mapped segment they cost no system call, no lock and no atomic
// read-modify-write: compare the range with the limits of the data path, copy,
// and in implicit mode look at the generation word behind a full memory barrier.
// A check before the copy would change nothing: pages that are mapped after an abort can be
// written and read without harm. All other cases are on the slow path.
#include <cstring>

#include "import_segment.h"
#include "kernel_transport.h"

namespace rsm {
namespace {

template <class Item>
[[gnu::always_inline]] inline void copy_items(volatile Item *to, const volatile Item *from,
                                              std::size_t count) noexcept {
    if (count == 1) [[likely]] {
        *to = *from;
        return;
    }
    for (; count != 0; --count)
        *to++ = *from++;
}

// One access of the item's width per item.
template <Direction direction, class Item>
struct ItemCopy {
    static constexpr std::size_t item_size = sizeof(Item);
    Item *data;
    std::size_t count;

    void operator()(std::byte *remote) const noexcept {
        auto *items = reinterpret_cast<Item *>(remote);
        if constexpr (direction == Direction::put)
            copy_items<Item>(items, data, count);
        else
            copy_items<Item>(data, items, count);
    }
};

template <Direction direction>
struct RangeCopy {
    static constexpr std::size_t item_size = 1;
    void *data;
    std::size_t count;

    void operator()(std::byte *remote) const noexcept {
        if constexpr (direction == Direction::put)
            std::memcpy(remote, data, count);
        else
            std::memcpy(data, remote, count);
    }
};

// A count whose bytes overflow exceeds every limit.
std::size_t bytes_of(std::size_t count, std::size_t item_size) noexcept {
    return count <= SIZE_MAX / item_size ? count * item_size : SIZE_MAX;
}

template <class Copy>
[[gnu::always_inline]] inline int copy_mapped(const DataPath &path, std::uint64_t offset,
                                              const Copy &copy) noexcept {
    auto *remote = path.base.load(std::memory_order_relaxed) + offset;
    if (!path.implicit.load(std::memory_order_relaxed)) {
        copy(remote);
        return RSM_SUCCESS;
    }
    copy(remote);
    return path.confirm() ? RSM_SUCCESS : RSMERR_CONN_ABORTED;
}

// Takes its arguments in registers, so that the fast path needs no stack frame.
template <Direction direction, class Copy>
[[gnu::noinline, gnu::cold]] int transfer_slowly(ImportSegment &segment, off_t offset,
                                                 Copy copy) noexcept {
    const Transfer transfer{static_cast<std::uint64_t>(offset),
                            bytes_of(copy.count, Copy::item_size), offset < 0};
    return guarded([&] {
        if (const int status = segment.admit(direction, transfer); status != RSM_SUCCESS)
            return status;
        if (!segment.mappable())
            return transfer_by_kernel(segment, direction, transfer, copy.data);
        return copy_mapped(segment.data_path(), transfer.offset, copy);
    });
}

template <Direction direction, class Copy>
[[gnu::always_inline]] inline int transfer(const void *handle, off_t offset,
                                           const Copy &copy) noexcept {
    auto *segment = find<ImportSegment>(handle);
    if (segment == nullptr) [[unlikely]]
        return RSMERR_BAD_SEG_HNDL;
    if (copy.data == nullptr) [[unlikely]]
        return RSMERR_BAD_ADDR;
    // A negative offset exceeds every limit.
    const auto position = static_cast<std::uint64_t>(offset);
    if ((reinterpret_cast<std::uintptr_t>(copy.data) | position) % Copy::item_size != 0)
        [[unlikely]]
        return RSMERR_BAD_MEM_ALIGNMENT;
    const auto &path = segment->data_path();
    if (path.admits<direction, Copy::item_size>(position, copy.count)) [[likely]]
        return copy_mapped(path, position, copy);
    return transfer_slowly<direction>(*segment, offset, copy);
}

template <Direction direction, class Item>
[[gnu::always_inline]] inline int transfer_items(const void *handle, off_t offset, Item *data,
                                                 std::size_t count) noexcept {
    return transfer<direction>(handle, offset, ItemCopy<direction, Item>{data, count});
}

template <Direction direction>
[[gnu::always_inline]] inline int transfer_range(const void *handle, off_t offset, void *data,
                                                 std::size_t length) noexcept {
    return transfer<direction>(handle, offset, RangeCopy<direction>{data, length});
}

} // namespace
} // namespace rsm

using rsm::Direction;

int rsm_memseg_import_get8(rsm_memseg_import_handle_t im_memseg, off_t offset, uint8_t *datap,
                           ulong_t rep_cnt) {
    return rsm::transfer_items<Direction::get>(im_memseg, offset, datap, rep_cnt);
}

int rsm_memseg_import_get16(rsm_memseg_import_handle_t im_memseg, off_t offset, uint16_t *datap,
                            ulong_t rep_cnt) {
    return rsm::transfer_items<Direction::get>(im_memseg, offset, datap, rep_cnt);
}

int rsm_memseg_import_get32(rsm_memseg_import_handle_t im_memseg, off_t offset, uint32_t *datap,
                            ulong_t rep_cnt) {
    return rsm::transfer_items<Direction::get>(im_memseg, offset, datap, rep_cnt);
}

int rsm_memseg_import_get64(rsm_memseg_import_handle_t im_memseg, off_t offset, uint64_t *datap,
                            ulong_t rep_cnt) {
    return rsm::transfer_items<Direction::get>(im_memseg, offset, datap, rep_cnt);
}

int rsm_memseg_import_get(rsm_memseg_import_handle_t im_memseg, off_t offset, void *dst_addr,
                          size_t length) {
    return rsm::transfer_range<Direction::get>(im_memseg, offset, dst_addr, length);
}

int rsm_memseg_import_put8(rsm_memseg_import_handle_t im_memseg, off_t offset, uint8_t *datap,
                           ulong_t rep_cnt) {
    return rsm::transfer_items<Direction::put>(im_memseg, offset, datap, rep_cnt);
}

int rsm_memseg_import_put16(rsm_memseg_import_handle_t im_memseg, off_t offset, uint16_t *datap,
                            ulong_t rep_cnt) {
    return rsm::transfer_items<Direction::put>(im_memseg, offset, datap, rep_cnt);
}

int rsm_memseg_import_put32(rsm_memseg_import_handle_t im_memseg, off_t offset, uint32_t *datap,
                            ulong_t rep_cnt) {
    return rsm::transfer_items<Direction::put>(im_memseg, offset, datap, rep_cnt);
}

int rsm_memseg_import_put64(rsm_memseg_import_handle_t im_memseg, off_t offset, uint64_t *datap,
                            ulong_t rep_cnt) {
    return rsm::transfer_items<Direction::put>(im_memseg, offset, datap, rep_cnt);
}

int rsm_memseg_import_put(rsm_memseg_import_handle_t im_memseg, off_t offset, void *src_addr,
                          size_t length) {
    return rsm::transfer_range<Direction::put>(im_memseg, offset, src_addr, length);
}
