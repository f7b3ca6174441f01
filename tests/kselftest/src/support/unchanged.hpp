// SPDX-License-Identifier: GPL-2.0
// Proof that failed calls changed nothing in the kernel.
#pragma once

#include "support/system.hpp"

#include <gtest/gtest.h>

namespace rsmtest {

// Remembers pinned pages, published ids and grants; they must be the same at the end.
class Unchanged {
public:
    Unchanged() : before_(counters()) {}
    ~Unchanged()
    {
        EXPECT_TRUE(eventually([&] { return counters() == before_; }))
            << "pins, published ids or grants changed";
    }
    Unchanged(const Unchanged &) = delete;
    Unchanged &operator=(const Unchanged &) = delete;

private:
    static Counters counters()
    {
        Counters all = kernel_counters();
        Counters some;
        for (const char *name : {"pinned_pages", "published", "grants"})
            some[name] = all[name];
        return some;
    }
    Counters before_;
};

} // namespace rsmtest
