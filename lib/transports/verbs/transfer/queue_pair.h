// SPDX-License-Identifier: MIT
// A queue pair in state INIT: what an endpoint's attributes ask for.
#pragma once

#include "engine/core/types.h"
#include "memory/pz.h"
#include "wire/rdma_device.h"

namespace rsmengine {

class Ep;

// The capacity of a queue pair.
struct QueueSizes {
    std::uint32_t requests;
    std::uint32_t receives; // 0 with an SRQ
    std::uint32_t request_pieces;
    std::uint32_t receive_pieces;
};

inline std::uint32_t at_least_one(Count count) noexcept {
    return count > 1 ? static_cast<std::uint32_t>(count) : 1;
}

constexpr std::uint32_t PINGS = 1; // beside the consumer's requests

class QueuePair {
  public:
    QueuePair() noexcept = default;

    // False, and errno, if it can't be had; then there is none.
    [[nodiscard]] bool open(Ep &ep, ibv_cq &requests, ibv_cq &receives,
                            const QueueSizes &sizes) noexcept;
    // Nothing touches the program's memory any more. The completions stay where they are.
    void close() noexcept;
    // The device is to stop, and to say what it has done.
    void stop() noexcept;

    [[nodiscard]] ibv_qp &operator*() const noexcept { return *pair_; }
    explicit operator bool() const noexcept { return static_cast<bool>(pair_); }
    // Messages up to this length need not be in registered memory.
    [[nodiscard]] std::uint32_t inline_limit() const noexcept { return inline_limit_; }

  private:
    [[nodiscard]] bool create(ibv_pd &domain, ibv_qp_init_attr &wanted) noexcept;
    [[nodiscard]] bool initialize(std::uint8_t port) noexcept;

    Owned<ibv_qp, ibv_destroy_qp> pair_;
    std::shared_ptr<ibv_pd> domain_;
    std::uint32_t inline_limit_ = 0;
};

} // namespace rsmengine
