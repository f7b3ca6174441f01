// SPDX-License-Identifier: GPL-2.0
// A page whose fault hangs until a test ends it, and calls of another process that wait for it.
#pragma once

#include "support/child.hpp"
#include "support/raw.hpp"

#include <fcntl.h>
#include <functional>
#include <gtest/gtest.h>
#include <unistd.h>

namespace rsmtest {

// A page of /dev/rsm_hanging, which rsm_testctl.ko offers. A thread that touches it first hangs.
class HangingPage {
public:
    HangingPage() : device_(open("/dev/rsm_hanging", O_RDWR | O_CLOEXEC))
    {
        EXPECT_TRUE(device_.valid()) << "is rsm_testctl.ko loaded?";
    }
    // Returns when somebody hangs.
    void wait() const { EXPECT_EQ(read(device_.get(), nullptr, 0), 0); }
    // Nobody hangs any more.
    void give() const { EXPECT_EQ(write(device_.get(), "", 1), 1); }
    // Maps it; a process that hangs on it can't change its mappings meanwhile.
    Pages map() const { return Pages(1, PROT_READ | PROT_WRITE, MAP_PRIVATE, device_.get()); }
    // Maps it there.
    bool map_at(std::byte *address) const
    {
        return mmap(address, page_size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED,
                    device_.get(), 0) == address;
    }

private:
    Fd device_;
};

// A call of a process of its own, which hangs on the page when the constructor returns.
class HangingCall {
public:
    using Call = std::function<raw::Outcome()>;

    HangingCall(const HangingPage &page, Call call)
        : page_(page), child_([call = std::move(call)](Link &link) {
              const auto outcome = call();
              link.send(std::uint64_t(outcome.error) << 32 | outcome.status);
              link.receive();
          })
    {
        page_.wait();
    }
    // Lets it go on; what has come of it. The process keeps what it has.
    raw::Outcome finish()
    {
        page_.give();
        const auto said = child_.receive();
        return {static_cast<int>(said >> 32), static_cast<std::uint32_t>(said)};
    }
    // Ends the process.
    void leave()
    {
        child_.send();
        child_.expect_success();
    }

private:
    const HangingPage &page_;
    Child child_;
};

} // namespace rsmtest
