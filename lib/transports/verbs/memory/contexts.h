// SPDX-License-Identifier: MIT
// Registered memory: what an lmr_context, which is the device's key, stands for. The device checks,
// too; but what it finds ends the connection, and what is found here is an error of the post.
#pragma once

#include "engine/core/ia.h"

#include <array>
#include <cstdint>
#include <infiniband/verbs.h>
#include <map>
#include <memory>
#include <span>
#include <unordered_map>

namespace rsmdat {

class Lmr;
class Pz;

// The device's part of an LMR.
struct Pinned {
    std::shared_ptr<ibv_pd> domain; // goes after the keys
    std::shared_ptr<ibv_mr> keys;
    std::uint64_t start;
    std::uint64_t length;
    bool bindable; // to RMRs
};

// Memory that a context names. Ia::lock guards it.
struct Region {
    DAT_LMR_CONTEXT context = 0;
    Pz *pz = nullptr;
    std::uint64_t address = 0; // byte-exact
    std::uint64_t length = 0;
    unsigned privileges = 0; // DAT_MEM_PRIV_*
    bool local = true;       // all are: may be used in an LMR triplet
    Lmr *lmr = nullptr;      // whose it is
    std::shared_ptr<Pinned> pinned;

    [[nodiscard]] DAT_RMR_CONTEXT rmr_context() const noexcept { return pinned->keys->rkey; }
    [[nodiscard]] bool contains(std::uint64_t start, std::uint64_t bytes) const noexcept {
        return start >= address && bytes <= length && start - address <= length - bytes;
    }
};

class Contexts {
  public:
    // Throws std::bad_alloc; null if the device has given out a key twice.
    Region *create(Pz &pz, std::shared_ptr<Pinned> pinned, std::uint64_t address,
                   std::uint64_t length, unsigned privileges, bool local);
    void destroy(Region &region) noexcept;
    [[nodiscard]] const Region *find(DAT_LMR_CONTEXT context) const noexcept {
        const auto found = regions_.find(context);
        return found == regions_.end() ? nullptr : &found->second;
    }

    // Checks the vector of a post as udapl-functions.md 8.4 says (zero-length triplets are skipped,
    // unvalidated) and appends the pieces. `privilege`: DAT_MEM_PRIV_LOCAL_READ_FLAG or
    // _WRITE_FLAG. DAT_SUCCESS, or the post's error (a bad count, or more than fits in `pieces`, is
    // argument 2; bad vectors are argument 3). Adds to `total`, overflow-safe.
    DAT_RETURN gather(const Pz *pz, DAT_COUNT segments, const DAT_LMR_TRIPLET *iov,
                      unsigned privilege, std::span<DAT_LMR_TRIPLET> pieces, DAT_COUNT &used,
                      DAT_VLEN &total) const noexcept;

    // LMRs of type SHARED_VIRTUAL, kept by themselves.
    using Cookie = std::array<char, DAT_LMR_COOKIE_SIZE>;
    std::multimap<Cookie, const Lmr *> shared;

  private:
    [[nodiscard]] DAT_RETURN check(const Pz *pz, const DAT_LMR_TRIPLET &piece,
                                   unsigned privilege) const noexcept;

    std::unordered_map<DAT_LMR_CONTEXT, Region> regions_;
};

} // namespace rsmdat
