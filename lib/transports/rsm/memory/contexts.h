// SPDX-License-Identifier: MIT
// Registered memory: the regions behind lmr_context and rmr_context, their rights, and the tickets
// that give a peer on the same node access.
#pragma once

#include "core/limits.h"
#include "engine/core/own.h"
#include "engine/core/types.h"
#include "engine/loop/job.h"
#include "engine/memory/contexts.h"
#include "wire/device.h"
#include "wire/layout.h"

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace rsmengine {

class Ep;
class Pz;

// Pinned pages, shared by an LMR, the LMRs of type LMR made over it, and RMRs bound to it.
//
// The consumer may unmap its memory, or map something else in its place, without notifying the
// library. So no request, of the peer or of this side, accesses the pages by their address: all use
// `view`, a mapping of the pages that the kernel replaces by a page of zeros when the pinned range
// ends. An access through `view` never faults; intact() tells afterwards whether it reached the
// memory.
class RsmPinned final : public Pinned {
  public:
    RsmPinned(std::uint64_t its_start, std::uint64_t its_length, bool for_writing) noexcept
        : Pinned(its_start, its_length), writable(for_writing) {}

    const bool writable; // peers may get the right to write
    Export handle;
    std::optional<Import> view; // none without a kernel, in tests

    [[nodiscard]] std::byte *at(std::uint64_t address) const noexcept {
        return view ? view->mapping().data() + (address - start)
                    : reinterpret_cast<std::byte *>(address);
    }
    // True if all accesses through at() so far reached the memory.
    [[nodiscard]] bool intact() const noexcept { return !view || view->alive(); }
    // True if all loads through at() so far read the memory.
    [[nodiscard]] bool was_read() const noexcept {
        std::atomic_thread_fence(std::memory_order_acquire);
        return there();
    }
    // The same for those that have a barrier behind their accesses, or look before them.
    [[nodiscard]] bool there() const noexcept { return !view || view->connected(); }
};

struct RsmRegion : Region {
    bool open = true;                // peers may reach it; false until an RMR's bind takes effect
    std::vector<const Ep *> holders; // EPs whose peers have tickets to it

    [[nodiscard]] const RsmPinned &memory() const noexcept { return own<RsmPinned>(*pinned); }
};

using Pieces = std::array<Segment, limits::IOV>;

class RsmContexts;

// The tickets of peers on this node: grants and revokes them.
class Tickets {
  public:
    // A ticket for the peer of `ep`, always the same one for a region. Nothing if it may not.
    std::optional<Grant> grant(RsmContexts &contexts, const Ep &ep, const Pz *pz,
                               std::uint32_t context) noexcept;
    // Revokes the tickets of `ep`, whose connection has ended.
    void revoke(const Ep &ep) noexcept;
    // Removes a region that ends from the regions that the peer of `ep` has a ticket to.
    void revoke(const Ep &ep, RsmRegion &region) noexcept;

  private:
    using Holding = std::pair<const Ep *, RsmRegion *>;

    const Ticket *ticket_of(const Ep &ep, RsmRegion &region, std::uint32_t permission);

    std::map<Holding, Ticket> all_;
};

class RsmContexts final : public Contexts {
  public:
    RsmContexts() noexcept;
    ~RsmContexts() override;

    // Null when all contexts are in use.
    RsmRegion *create(Pz &pz, std::shared_ptr<Pinned> pinned, std::uint64_t address,
                      std::uint64_t length, unsigned privileges, bool local) override;
    void destroy(Region &which) noexcept override; // revokes
    [[nodiscard]] const RsmRegion *find(LocalKey context) const noexcept override {
        return slot_of(context);
    }
    [[nodiscard]] RsmRegion *find(LocalKey context) noexcept { return slot_of(context); }

    // Checks one triplet as gather() does, at execution, and whose it is; null if it is not good ->
    // LOCAL_PROTECTION. Inline: the posts of small transfers begin with it.
    [[nodiscard, gnu::always_inline]] const RsmRegion *usable(const Pz *pz, const Segment &piece,
                                                              unsigned privilege) const noexcept {
        const RsmRegion *region = slot_of(piece.key);
        const bool good = region && region->local && region->pz == pz &&
                          (region->privileges & privilege) != 0 &&
                          region->contains(piece.address, piece.length);
        return good ? region : nullptr;
    }
    // Translates pieces to the views of their regions. False if a piece is invalid. The caller must
    // check intact() after the access.
    bool view(const Pz *pz, std::span<const Segment> pieces, unsigned privilege,
              Pieces &seen) const noexcept;
    [[nodiscard]] bool intact(std::span<const Segment> pieces) const noexcept;
    // Copies into a vector from `offset` on, through views. False -> LOCAL_PROTECTION.
    bool fill(const Pz *pz, std::span<const Segment> pieces, std::uint64_t offset,
              std::span<const std::byte> from) const noexcept;

    // Target side: may the peer of an EP in `pz` touch these bytes? `privilege`:
    // rights::REMOTE_READ or _WRITE_FLAG. The bytes, through the region's view, or
    // nothing.
    struct Reached {
        std::span<std::byte> bytes;
        const RsmPinned *pinned; // check its intact() after the access
    };
    [[nodiscard]] std::optional<Reached> reach(const Pz *pz, std::uint32_t context,
                                               std::uint64_t address, std::uint64_t length,
                                               unsigned privilege) const noexcept;
    Tickets tickets; // to regions

  private:
    // A context is the slot's number and, above that, how often the slot has been used. A slot is
    // reused only when many are free, so a stale context stays invalid for long.
    struct Slot : RsmRegion {
        std::uint32_t uses = 0;
        std::uint32_t next = 0; // waiting slot behind this one
    };
    static constexpr unsigned INDEX_BITS = 17;
    static constexpr std::uint32_t MOST_SLOTS = 1U << INDEX_BITS;
    static constexpr std::uint32_t CHUNK = 1024;
    static constexpr std::uint32_t LEAST_WAITING = 4096;

    [[nodiscard]] Slot &slot(std::uint32_t index) const noexcept {
        return chunks_[index / CHUNK][index % CHUNK];
    }
    [[nodiscard, gnu::always_inline]] RsmRegion *slot_of(std::uint32_t context) const noexcept {
        const std::uint32_t index = context % MOST_SLOTS;
        if (context == 0 || index >= used_)
            return nullptr;
        Slot &region = slot(index);
        return region.context == context ? &region : nullptr;
    }
    std::optional<std::uint32_t> take_slot();
    void give_back(std::uint32_t index) noexcept;

    std::vector<std::unique_ptr<Slot[]>> chunks_;
    std::uint32_t used_ = 0; // slots that have ever been used
    std::uint32_t first_waiting_ = 0;
    std::uint32_t last_waiting_ = 0;
    std::uint32_t waiting_ = 0;
};

// Initiator side, same node: memory of the peer that a Grant gives access to.
class RemoteRegion final : public Job {
  public:
    // Null if the ticket is revoked (the region has ended) or the grant is malformed. Throws
    // std::bad_alloc.
    static std::unique_ptr<RemoteRegion> open(const Device &device, const Grant &grant);
    ~RemoteRegion() override;

    // DENIED: outside what was granted. GONE: the region, or the peer. FAULT: our own memory can't
    // be read or written any more.
    enum class Outcome { DONE, DENIED, GONE, FAULT };
    // The part of the peer's memory that is mapped, for writes that need no more than that; empty
    // if it is not mapped for writing. After the stores the caller must check that `import` is
    // connected.
    struct Window {
        std::byte *start = nullptr;
        std::uint64_t address = 0; // the peer's
        std::uint64_t length = 0;
        const Import *import = nullptr;
    };
    [[nodiscard]] Window window() const noexcept;

    // Pages that are wholly granted are copied through a mapping, the edges by the kernel. The last
    // bytes of a write become visible last. Local pieces are trusted memory of this process.
    [[nodiscard]] Outcome write(std::uint64_t address, std::span<const Segment> pieces,
                                std::uint64_t length) const noexcept;
    [[nodiscard]] Outcome read(std::uint64_t address, std::span<const Segment> pieces,
                               std::uint64_t length) const noexcept;

  private:
    struct Inside;
    std::unique_ptr<Inside> inside_;

  public:
    explicit RemoteRegion(std::unique_ptr<Inside> inside) noexcept; // for open() only
};

} // namespace rsmengine
