// SPDX-License-Identifier: MIT
// Registered memory: what an lmr_context or rmr_context stands for, who may touch it, and how the
// peer on the same node is let in.
#pragma once

#include "core/ia.h"
#include "wire/device.h"
#include "wire/layout.h"

#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace rsmdat {

class Ep;
class Pz;

// Pinned pages, shared by an LMR, the LMRs of type LMR made over it, and RMRs bound to it.
struct Pinned {
    Export handle;
    std::uint64_t start;  // page-rounded
    std::uint64_t length; // page-rounded
};

// Memory that a context names. Ia::lock guards it.
struct Region {
    DAT_LMR_CONTEXT context = 0;
    Pz *pz = nullptr;
    std::uint64_t address = 0; // byte-exact
    std::uint64_t length = 0;
    unsigned privileges = 0; // DAT_MEM_PRIV_*; of an RMR the two remote ones only
    bool local = true;       // may be used in an LMR triplet: not an RMR's
    bool open = true;        // peers may reach it; false until an RMR's bind takes effect
    std::shared_ptr<Pinned> pinned;
    struct Given {
        const Ep *to;
        Ticket ticket;
    };
    std::vector<Given> given; // tickets, revoked when the region or the connection ends
};

class Contexts {
  public:
    explicit Contexts(Ia &ia) noexcept;
    ~Contexts();

    // A region under a context never used lately; throws std::bad_alloc; null when all are in use.
    Region *create(Pz &pz, std::shared_ptr<Pinned> pinned, std::uint64_t address,
                   std::uint64_t length, unsigned privileges, bool local);
    void destroy(Region &region) noexcept; // revokes
    [[nodiscard]] Region *find(std::uint32_t context) const noexcept;

    // Local side. Checks the vector of a post as udapl-functions.md 8.4 says (zero-length triplets are skipped,
    // unvalidated) and appends the pieces. `privilege`: DAT_MEM_PRIV_LOCAL_READ_FLAG or _WRITE_FLAG.
    // DAT_SUCCESS, or the post's error (bad vectors are argument 3). Adds to `total`, overflow-safe.
    DAT_RETURN gather(const Pz *pz, DAT_COUNT segments, const DAT_LMR_TRIPLET *iov,
                      unsigned privilege, std::span<DAT_LMR_TRIPLET> pieces, DAT_COUNT &used,
                      DAT_VLEN &total) const noexcept;
    // The same check for one stored triplet, at execution: false -> LOCAL_PROTECTION.
    [[nodiscard]] bool still_good(const Pz *pz, const DAT_LMR_TRIPLET &piece,
                                  unsigned privilege) const noexcept;

    // Target side: may the peer of an EP in `pz` touch these bytes? `privilege`:
    // DAT_MEM_PRIV_REMOTE_READ_FLAG or _WRITE_FLAG. The bytes, or nothing.
    [[nodiscard]] std::optional<std::span<std::byte>> reach(const Pz *pz, std::uint32_t context,
                                                            std::uint64_t address,
                                                            std::uint64_t length,
                                                            unsigned privilege) const noexcept;
    // Target side, same node: a ticket for the peer of `ep`. Nothing if it may not.
    std::optional<Grant> grant(const Ep &ep, const Pz *pz, std::uint32_t context) noexcept;
    // The connection of `ep` has ended: its tickets are void.
    void revoke(const Ep &ep) noexcept;

  private:
    // P2 decides
    Ia &ia_;
};

// Initiator side, same node: memory of the peer that a Grant lets us reach.
class RemoteRegion {
  public:
    // Null if the ticket is dead (the region is gone).
    static std::unique_ptr<RemoteRegion> open(const Device &device, const Grant &grant);
    ~RemoteRegion();

    enum class Outcome { DONE, DENIED, GONE };
    // Pages that are wholly granted are copied through a mapping, the edges by the kernel. The last bytes
    // of a write become visible last. Local pieces are trusted memory of this process.
    Outcome write(std::uint64_t address, std::span<const DAT_LMR_TRIPLET> pieces,
                  std::uint64_t length) const noexcept;
    Outcome read(std::uint64_t address, std::span<const DAT_LMR_TRIPLET> pieces,
                 std::uint64_t length) const noexcept;

  private:
    RemoteRegion();
    struct Inside;
    std::unique_ptr<Inside> inside_;
};

} // namespace rsmdat
