// SPDX-License-Identifier: GPL-2.0
// How a fuzz target states what must hold: the program aborts, which libFuzzer takes for a finding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size);

namespace rsmtest::fuzz {

inline void require(bool holds, const char *statement)
{
    if (holds)
        return;
    std::fprintf(stderr, "broken: %s\n", statement);
    std::abort();
}

} // namespace rsmtest::fuzz
