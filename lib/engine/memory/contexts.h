// SPDX-License-Identifier: MIT
// Contract (transport.h): registered memory, what an lmr_context or rmr_context stands for.
#pragma once

#include <dat/udat.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>

namespace rsmdat {

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

    const std::uint64_t start; // as dat_lmr_create answers it
    const std::uint64_t length;
};

// Memory that a context names. Ia::lock guards it.
struct Region {
    DAT_LMR_CONTEXT context = 0;
    DAT_RMR_CONTEXT rmr_context = 0; // for peers
    Pz *pz = nullptr;
    std::uint64_t address = 0; // byte-exact
    std::uint64_t length = 0;
    unsigned privileges = 0; // DAT_MEM_PRIV_*; of an RMR the two remote ones only
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
    [[nodiscard]] virtual const Region *find(DAT_LMR_CONTEXT context) const noexcept = 0;

    // Checks the vector of a post as udapl-functions.md 8.4 says (zero-length triplets are skipped,
    // unvalidated) and appends the pieces. `privilege`: DAT_MEM_PRIV_LOCAL_READ_FLAG or
    // _WRITE_FLAG. DAT_SUCCESS, or the post's error (a bad count, or more than fits in `pieces`, is
    // argument 2; bad vectors are argument 3). Adds to `total`, overflow-safe.
    DAT_RETURN gather(const Pz *pz, DAT_COUNT segments, const DAT_LMR_TRIPLET *iov,
                      unsigned privilege, std::span<DAT_LMR_TRIPLET> pieces, DAT_COUNT &used,
                      DAT_VLEN &total) const noexcept;

    // Registry of the LMRs of type SHARED_VIRTUAL.
    using Cookie = std::array<char, DAT_LMR_COOKIE_SIZE>;
    std::multimap<Cookie, const Lmr *> shared;

  protected:
    Contexts() = default;

  private:
    [[nodiscard]] DAT_RETURN check(const Pz *pz, const DAT_LMR_TRIPLET &piece,
                                   unsigned privilege) const noexcept;
};

} // namespace rsmdat
