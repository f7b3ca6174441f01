// SPDX-License-Identifier: MIT
// A connection to another process's segment.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "device.h"
#include "segment.h"

namespace rsm {

constexpr std::uint32_t right_for(Direction direction) noexcept {
    return direction == Direction::put ? RSM_PERM_WRITE : RSM_PERM_READ;
}

// The state that put and get read, once and without a lock, while other threads may map,
// unmap or change the mode. It is arranged so that any mixture of old and new
// values is safe: the limits never leave the segment, and what they admit is
// mapped from the moment they admit it until the handle dies.
struct DataPath {
    std::atomic<std::uint64_t> window_begin = 0;
    // The end of the window for each direction; 0 sends the call to the slow
    // path, because something is missing or has to be done first.
    std::atomic<std::uint64_t> put_end = 0;
    std::atomic<std::uint64_t> get_end = 0;
    std::atomic<std::byte *> base = nullptr; // start of the segment
    const std::uint32_t *generation_word = nullptr;
    std::uint32_t generation = 0;
    std::atomic<bool> implicit = true;

    [[nodiscard]] bool connected() const noexcept {
        return __atomic_load_n(generation_word, __ATOMIC_RELAXED) == generation;
    }

    // Whether all accesses before the call reached the segment.
    [[nodiscard]] bool confirm() const noexcept {
        std::atomic_thread_fence(std::memory_order_seq_cst);
        return connected();
    }

    // Counts items, so that their bytes need not be checked for overflow.
    template <Direction direction, std::size_t item_size>
    [[nodiscard]] bool admits(std::uint64_t offset, std::size_t count) const noexcept {
        const auto &limit = direction == Direction::put ? put_end : get_end;
        const auto end = limit.load(std::memory_order_acquire);
        return offset >= window_begin.load(std::memory_order_relaxed) && offset < end &&
               count <= (end - offset) / item_size;
    }
};

// A range of local memory and of the segment, in bytes.
struct Transfer {
    std::uint64_t offset;
    std::size_t length;
    bool negative_offset;
};

struct MapRequest {
    void *address; // NULL unless fixed
    bool fixed;
    rsm_permission_t permission;
    std::uint64_t offset;
    std::size_t length;
};

class ImportSegment : public Segment {
  public:
    static constexpr Kind kind = Kind::import_segment;

    explicit ImportSegment(rsmdev::Import connection) noexcept;

    [[nodiscard]] const DataPath &data_path() const noexcept { return path_; }
    [[nodiscard]] const rsmdev::Import &import() const noexcept { return import_; }
    [[nodiscard]] std::uint64_t size() const noexcept { return import_.length(); }
    [[nodiscard]] std::uint32_t rights() const noexcept { return import_.permission(); }
    // Whether this process can reach the segment by mapping it; else the kernel moves
    // all data. Turns false when the kernel refuses a mapping for its rights.
    [[nodiscard]] bool mappable() const noexcept {
        return mappable_.load(std::memory_order_relaxed);
    }

    // Checks and prepares a transfer that the data path does not
    // admit. RSM_SUCCESS: the data may be moved now.
    int admit(Direction direction, const Transfer &transfer);

    // Makes the data path usable for the whole segment, as the first transfer does.
    int prepare_mapping();

    int map(const MapRequest &request, void **address);
    int unmap();
    [[nodiscard]] bool explicitly_mapped();

    [[nodiscard]] rsm_barrier_mode_t mode() const noexcept;
    void set_mode(rsm_barrier_mode_t mode);

    // Only the address of the current barrier is used.
    void set_current_barrier(const rsmapi_barrier_t *barrier);
    void forget_barrier(const rsmapi_barrier_t *barrier);

  private:
    [[nodiscard]] std::mutex &lock() const noexcept;
    int ensure_mapping() noexcept;
    bool make_view(const MapRequest &request, Mapping &result) const noexcept;
    void remove_explicit_mapping() noexcept;
    void remove_views(std::byte *begin, std::byte *end) noexcept;
    [[nodiscard]] int check_range(const Transfer &transfer) const noexcept;
    void refresh() noexcept;

    struct Window {
        std::uint64_t begin;
        std::uint64_t end;
    };

    DataPath path_;
    const rsmdev::Import import_;
    std::atomic<bool> mappable_;

    // The rest is guarded by lock().

    // An explicit mapping is in place.
    bool mapped_ = false;
    // For the program, transfers have mapped the segment. Read without the lock by code that only
    // needs mapping_ to be there.
    std::atomic<bool> implicitly_mapped_ = false;
    void *address_ = nullptr; // of the explicit mapping
    std::size_t length_ = 0;
    Window window_;
    const rsmapi_barrier_t *current_barrier_ = nullptr;
    // A mapping of the whole segment with all rights of the connection, made by the first
    // transfer and kept until disconnect: a transfer can't run into an unmap.
    Mapping mapping_;
};

} // namespace rsm
