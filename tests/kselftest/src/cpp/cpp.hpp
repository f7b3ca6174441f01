// SPDX-License-Identifier: GPL-2.0
// Common parts of the tests of <rsm/rsm.hpp>.
#pragma once

#include <gtest/gtest.h>
#include <rsm/rsm.hpp>

namespace rsmtest {

// The RSMERR_* that a call throws, RSM_SUCCESS if none.
template <class Call>
int thrown_by(Call &&call)
{
    try {
        call();
    } catch (const rsm::Error &error) {
        EXPECT_EQ(&error.code().category(), &rsm::category());
        return error.status();
    }
    return RSM_SUCCESS;
}

// A segment of four pages that everybody may connect to, and a connection to it.
class CppTest : public testing::Test {
protected:
    static constexpr std::size_t page = 4096;

    rsm::Controller loopback;
    rsm::Pages memory{4 * page};
    rsm::Export segment{loopback, memory.bytes(), rsm::Rebind::allowed};
    const rsm::SegmentId id = segment.publish();
    rsm::Import connection{loopback, rsm::local_node(), id};

    std::span<std::uint64_t> words() { return memory.as<std::uint64_t>(); }
};

} // namespace rsmtest
