// SPDX-License-Identifier: MIT
// Registered memory: the region behind an lmr_context, which is the device's key. The device checks
// requests, too, but an error that it finds ends the connection; one found here fails the post.
#pragma once

#include "engine/core/own.h"
#include "engine/core/types.h"
#include "engine/memory/contexts.h"

#include <infiniband/verbs.h>
#include <unordered_map>
#include <utility>

namespace rsmengine {

// The device's part of an LMR.
class VerbsPinned final : public Pinned {
  public:
    VerbsPinned(std::shared_ptr<ibv_pd> of, std::shared_ptr<ibv_mr> its_keys,
                std::uint64_t its_start, std::uint64_t its_length, bool to_rmrs) noexcept
        : Pinned(its_start, its_length), domain(std::move(of)), keys(std::move(its_keys)),
          bindable(to_rmrs) {}

    const std::shared_ptr<ibv_pd> domain; // goes after the keys
    const std::shared_ptr<ibv_mr> keys;
    const bool bindable; // to RMRs
};

inline const VerbsPinned &memory_of(const Region &region) noexcept {
    return own<VerbsPinned>(*region.pinned);
}

class VerbsContexts final : public Contexts {
  public:
    // Null if the device has given out a key twice.
    Region *create(Pz &pz, std::shared_ptr<Pinned> pinned, std::uint64_t address,
                   std::uint64_t length, unsigned privileges, bool local) override;
    void destroy(Region &region) noexcept override;
    [[nodiscard]] const Region *find(LocalKey context) const noexcept override {
        const auto found = regions_.find(context);
        return found == regions_.end() ? nullptr : &found->second;
    }

  private:
    std::unordered_map<LocalKey, Region> regions_;
};

} // namespace rsmengine
