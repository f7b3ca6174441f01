// SPDX-License-Identifier: GPL-2.0
// Tracepoints rsm:*, as trace-cmd and bpftrace find them: in tracefs.
#pragma once

#include <string>
#include <vector>

namespace rsmtest {

// All of them are on as long as this lives.
class Tracing {
public:
    Tracing();
    ~Tracing();
    Tracing(const Tracing &) = delete;
    Tracing &operator=(const Tracing &) = delete;

    // A file of tracefs.
    static std::string contents(const std::string &name);
    static bool write(const std::string &name, const std::string &text);
    // There is one line with the event and all of the words.
    void expect(const std::string &event, const std::vector<std::string> &words) const;
};

} // namespace rsmtest
