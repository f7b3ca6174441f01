// SPDX-License-Identifier: MIT
#include "known_provider.h"

namespace dat {

constinit KnownProviders known_providers;

const KnownProviders::Slot *KnownProviders::find(const DAT_PROVIDER *provider) const noexcept {
    for (const auto *chunk = &first_; chunk != nullptr;
         chunk = chunk->next.load(std::memory_order_acquire))
        for (const auto &slot : chunk->slots)
            if (slot.load(std::memory_order_acquire) == provider)
                return &slot;
    return nullptr;
}

void KnownProviders::add(const DAT_PROVIDER *provider) {
    if (find(provider) != nullptr)
        return;
    if (const auto *slot = find(nullptr)) {
        const_cast<Slot *>(slot)->store(provider, std::memory_order_release);
        return;
    }
    auto chunk = std::make_unique<Chunk>();
    chunk->slots[0].store(provider, std::memory_order_relaxed);
    auto *last = &first_;
    while (auto *next = last->next.load(std::memory_order_relaxed))
        last = next;
    last->next.store(chunk.release(), std::memory_order_release);
}

void KnownProviders::remove(const DAT_PROVIDER *provider) noexcept {
    if (const auto *slot = find(provider))
        const_cast<Slot *>(slot)->store(nullptr, std::memory_order_release);
}

} // namespace dat
