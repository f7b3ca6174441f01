// SPDX-License-Identifier: GPL-2.0
// Findings of the kernel about a test: its log, the counters of rsm.ko, and the objects it has
// lost.
#pragma once

#include "support/system.hpp"

#include <map>
#include <optional>
#include <regex.h>
#include <string>
#include <vector>

namespace rsmrun {

using Lines = std::vector<std::string>;

// The kernel log from now on, read record by record: no record is read twice or missed unseen.
class KernelLog {
public:
    explicit KernelLog(const std::string &root);
    ~KernelLog();
    KernelLog(const KernelLog &) = delete;
    KernelLog &operator=(const KernelLog &) = delete;

    // Adds a line, for those who read the whole log.
    void write(const std::string &line) const;
    // Passes over all that is in the log. The kernel then warns again of what it warns of once.
    void skip();
    // The messages since the last call.
    Lines read();
    // Whether messages hold a report of something wrong.
    bool has_report(const Lines &messages) const;

private:
    void take(const std::string &record, Lines &messages);

    rsmtest::Fd file_;
    rsmtest::Fd once_;
    regex_t reports_;
    regex_t harmless_;
    std::optional<std::uint64_t> last_;
};

// Counters of rsm.ko that are the same after a test as before.
class Counters {
public:
    explicit Counters(const std::string &root);

    const std::string &path() const { return path_; }
    bool readable() const;
    // " NAME VALUE" for each; empty when they can't be read.
    std::string read() const;

private:
    std::string path_;
};

// kmemleak, where the kernel has it.
class LeakScan {
public:
    explicit LeakScan(const std::string &root);

    // Forgets objects that were lost before; false when there is no kmemleak.
    bool clear() const;
    // The objects that modules of the project have allocated and lost.
    Lines scan() const;

private:
    std::string path_;
};

// Places of the modules that were reached, where these are compiled for rsm_cov.ko: see
// tools/build-modules --coverage.
class Coverage {
public:
    explicit Coverage(const std::string &root);

    // "module NAME ADDRESS" where it is loaded, and "reached ADDRESS..." since the last call; nothing
    // without rsm_cov.ko.
    Lines read() const;

private:
    std::string root_;
};

} // namespace rsmrun
