// SPDX-License-Identifier: GPL-2.0
// Registered memory of libdat's provider rsm, below uDAPL: regions in one Contexts, and what the
// holder of a grant reaches of them.
#pragma once

#include "support/system.hpp"

#include "memory/contexts.h"
#include "memory/pin.h"

#include <gtest/gtest.h>
#include <vector>

namespace rsmtest {

using Contexts = rsmengine::RsmContexts;
using rsmengine::Device;
using rsmengine::Grant;
using rsmengine::Pinned;
using Region = rsmengine::RsmRegion;
using rsmengine::RemoteRegion;
using Outcome = rsmengine::RemoteRegion::Outcome;

inline constexpr unsigned remote_read = rsmengine::rights::REMOTE_READ;
inline constexpr unsigned remote_write = rsmengine::rights::REMOTE_WRITE;
inline constexpr unsigned remote_both = remote_read | remote_write;

// Stands for an object of the provider of which only the address counts.
class alignas(64) Stranger {
public:
    template <class T> T &as() { return reinterpret_cast<T &>(*this); }

private:
    [[maybe_unused]] std::byte inside_[64];
};

inline std::uint64_t address(const Pages &pages, std::size_t offset = 0)
{
    return reinterpret_cast<std::uintptr_t>(pages.data()) + offset;
}

inline rsmengine::Segment piece(const void *start, std::size_t length)
{
    return {1, 0, reinterpret_cast<std::uintptr_t>(start), length};
}

// Bytes of which neighbours differ, as those of other seeds do.
inline std::vector<std::byte> pattern(std::size_t length, std::size_t seed)
{
    std::vector<std::byte> bytes(length);
    for (std::size_t i = 0; i < length; ++i)
        bytes[i] = static_cast<std::byte>(i * 13 + i / 251 + seed);
    return bytes;
}

class MemoryTest : public testing::Test {
protected:
    rsmengine::Status pin(const Pages &pages, bool writable, std::shared_ptr<Pinned> &pinned)
    {
        return rsmengine::pin(device, {address(pages), pages.size()}, writable, pinned);
    }
    Region &region(const Pages &pages, std::size_t start, std::size_t length, unsigned privileges,
                   bool writable = true)
    {
        std::shared_ptr<Pinned> pinned;
        EXPECT_EQ(pin(pages, writable, pinned), rsmengine::Status::OK);
        return *contexts.create(zone.as<rsmengine::Pz>(), pinned, address(pages, start), length,
                                privileges, true);
    }
    std::optional<Grant> grant(const Region &target, Stranger &to)
    {
        return contexts.tickets.grant(contexts, to.as<rsmengine::Ep>(), &zone.as<rsmengine::Pz>(),
                                      target.context);
    }
    std::optional<Grant> grant(const Region &target) { return grant(target, peer); }
    std::unique_ptr<RemoteRegion> open(const Region &target)
    {
        const auto granted = grant(target);
        EXPECT_TRUE(granted);
        return granted ? RemoteRegion::open(device, *granted) : nullptr;
    }

    const std::size_t page = page_size();
    Device device;
    Stranger zone, peer;
    Contexts contexts;
};

} // namespace rsmtest
