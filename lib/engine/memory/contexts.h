// SPDX-License-Identifier: MIT
// Contract (transport.h): registered memory, what an lmr_context or rmr_context stands for.
#pragma once

#include "engine/core/status.h"
#include "engine/core/types.h"
#include "engine/core/view.h"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>

namespace rsmengine {

class Lmr;
class Pz;

// Memory that a transport has made ready; LMRs and RMRs share it.
class Pinned {
  public:
    Pinned(std::uint64_t its_start, std::uint64_t its_length) noexcept
        : start(its_start), length(its_length) {}
    virtual ~Pinned() = default;
    Pinned(const Pinned &) = delete;
    Pinned &operator=(const Pinned &) = delete;

    const std::uint64_t start; // as the program is told it
    const std::uint64_t length;
};

// The name of memory that processes share; all of it counts.
using SharedId = std::array<char, 40>;

// Memory that a context names. Ia::lock guards it.
struct Region {
    LocalKey context = 0;
    RemoteKey rmr_context = 0; // for peers
    Pz *pz = nullptr;
    std::uint64_t address = 0; // byte-exact
    std::uint64_t length = 0;
    unsigned privileges = 0; // rights; of an RMR the two remote ones only
    bool local = true;       // may be used in an LMR triplet: not an RMR's
    Lmr *lmr = nullptr;      // the LMR; null: the context is an RMR's
    std::shared_ptr<Pinned> pinned;

    [[nodiscard]] bool contains(std::uint64_t start, std::uint64_t bytes) const noexcept {
        return start >= address && bytes <= length && start - address <= length - bytes;
    }
};

class Contexts {
  public:
    virtual ~Contexts() = default;
    Contexts(const Contexts &) = delete;
    Contexts &operator=(const Contexts &) = delete;

    // A region under a context never used lately; throws std::bad_alloc; null if there is none.
    virtual Region *create(Pz &pz, std::shared_ptr<Pinned> pinned, std::uint64_t address,
                           std::uint64_t length, unsigned privileges, bool local) = 0;
    virtual void destroy(Region &region) noexcept = 0; // no peer reaches it on return
    [[nodiscard]] virtual const Region *find(LocalKey context) const noexcept = 0;

    // Checks the vector of a post as udapl-functions.md 8.4 says (zero-length triplets are skipped,
    // unvalidated) and appends the pieces. `privilege`: rights::LOCAL_READ or
    // LOCAL_WRITE. OK, or the post's error (BAD_SEGMENT_COUNT also if there are more than fit in
    // `pieces`). Adds to `total`, overflow-safe.
    Status gather(const Pz *pz, Count segments, View<Segment> iov, unsigned privilege,
                  std::span<Segment> pieces, Count &used, std::uint64_t &total) const noexcept;

    // The LMRs of memory that has a SharedId.
    std::multimap<SharedId, const Lmr *> shared;

  protected:
    Contexts() = default;

  private:
    [[nodiscard]] Status check(const Pz *pz, const Segment &piece,
                               unsigned privilege) const noexcept;
};

} // namespace rsmengine
