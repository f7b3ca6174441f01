// SPDX-License-Identifier: MIT
// Local memory regions.
#pragma once

#include "engine/core/ia.h"
#include "engine/core/types.h"
#include "engine/loop/job.h"
#include "engine/memory/contexts.h"

namespace rsmengine {

// How the program named the memory of a region.
enum class MemoryKind : std::uint8_t { ADDRESS, LMR, SHARED, ORDERED_ADDRESS };
struct MemoryOrigin {
    MemoryKind kind = MemoryKind::ADDRESS;
    void *start = nullptr; // of ADDRESS, ORDERED_ADDRESS and SHARED
    Handle lmr = nullptr;  // of LMR: the one that has registered the memory before
    SharedId id{};         // of SHARED
};

class Lmr final : public Object {
  public:
    static constexpr ObjectKind KIND = ObjectKind::LMR;

    // Takes over the region if it does not throw (std::bad_alloc).
    Lmr(Ia &ia, const MemoryOrigin &from, Region &its);
    ~Lmr() override; // its pages are given back without Ia::lock, soon
    // The same for a caller that destroys the result without Ia::lock. The pages are given back
    // when the result is destroyed.
    [[nodiscard]] std::unique_ptr<Job> take_end() noexcept;

    MemoryOrigin origin;
    Region *region;
    int bound_rmrs = 0; // RMRs that are bound to it, and posted binds

  private:
    std::unique_ptr<SharedJob<Pinned>> end_; // the pages' last owner
};

} // namespace rsmengine
