// SPDX-License-Identifier: GPL-2.0
// The side of a test binary that takes orders from the runner (runner/area.hpp).
#pragma once

#include <string>
#include <vector>

namespace rsmtest {

// Messages between the runner and a test binary: packets of a SOCK_SEQPACKET socket.
// The binary begins with one packet for each of its tests, Suite.Name, and an empty-name packet.
// The runner sends the name of a test; the binary answers with the process id of the test's process
// and, when that process has ended, with its wait status. The runner sends `orphans_request`; the
// binary reaps what it can and answers 1 when it has children left, otherwise 0.
inline constexpr char end_of_list[] = ".";
inline constexpr char orphans_request[] = "?";
inline constexpr int longest_name = 4096;

// The tests of a binary.
class Tests {
public:
    virtual ~Tests() = default;
    virtual std::vector<std::string> names() const = 0;
    // Runs one in this process, and returns its exit status.
    virtual int run(const std::string &name) const = 0;
};

// Obeys the runner at descriptor `control` until the runner goes. Each test runs in a process forked
// from this one, in a session of its own, and writes to descriptor `output`. Returns the exit status
// of the process: of the binary in the end, or of a test in the test's process.
int serve(int control, int output, const Tests &tests);

} // namespace rsmtest
