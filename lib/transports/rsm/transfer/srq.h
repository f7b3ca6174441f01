// SPDX-License-Identifier: MIT
// Shared receive queues.
#pragma once

#include "engine/core/ia.h"
#include "engine/transfer/buffers.h"
#include "memory/pz.h"

namespace rsmdat {

class Srq final : public Object {
  public:
    static constexpr DAT_HANDLE_TYPE KIND = DAT_HANDLE_TYPE_SRQ;

    // An EP with a message and no buffer for it.
    class Waiter {
      public:
        Waiter() noexcept = default;
        Waiter(const Waiter &) = delete;
        Waiter &operator=(const Waiter &) = delete;
        virtual void buffer_posted() noexcept = 0;

        // The Srq's.
        Waiter *behind = nullptr;
        bool waits = false;

      protected:
        ~Waiter() = default;
    };

    // Throws std::bad_alloc.
    Srq(Ia &ia, Pz &its, const DAT_SRQ_ATTR &asked);
    ~Srq() override;

    DAT_RETURN post(DAT_COUNT segments, const DAT_LMR_TRIPLET *iov, DAT_DTO_COOKIE cookie) noexcept;
    DAT_RETURN resize(DAT_COUNT max_recv_dtos);
    DAT_RETURN set_low_watermark(DAT_COUNT count) noexcept;

    [[nodiscard]] DAT_COUNT available() const noexcept {
        return static_cast<DAT_COUNT>(buffers.waiting());
    }
    // The oldest buffer; there is one.
    Buffers::Slot take() noexcept;
    // buffer_posted() is called, once, when there is a buffer.
    void wait(Waiter &waiter) noexcept;
    void leave(Waiter &waiter) noexcept;

    Pz *pz;
    int eps = 0; // attached
    DAT_SRQ_ATTR attributes;
    Buffers buffers;
    int outstanding = 0; // posted, and their events not dequeued

  private:
    [[nodiscard]] DAT_RETURN posted() noexcept; // there is a buffer: those that wait get it
    void check_low_watermark() noexcept;

    Waiter *first_ = nullptr; // who has waited longest
    bool low_armed_ = false;
};

} // namespace rsmdat
