// SPDX-License-Identifier: GPL-2.0
// Goes all ways of matrix.def, and compares.
#pragma once

#include "access/ways.hpp"
#include "support/child.hpp"

#include <gtest/gtest.h>

namespace rsmtest::access {

// How a segment, or a connection to it, ends.
enum class End { UNPUBLISH, DESTROY, REVOKE, DEATH };
const char *name_of(End end);

// The process that has the segment. A failure is a test failure.
class Exporter {
public:
    virtual ~Exporter() = default;
    // Lets others do what the mode says; what they connect to, with these rights, is there then.
    virtual void open(Rights rights) = 0;
    // From now on nobody else may connect with rights. False: there is no such thing.
    virtual bool close() = 0;
    virtual void rebind() = 0;
    virtual void end(End end) = 0;
    // A word of the memory that is behind the segment, also after its end if the exporter lives.
    virtual void poke(std::size_t offset, std::uint64_t value) = 0;
    virtual std::vector<std::uint64_t> words(std::size_t count) = 0;
    virtual bool lives() const = 0;
    // In the process of the importer.
    virtual Fd connect(Rights rights) const = 0;
    virtual rsm_memseg_import_handle_t connect_library(Rights rights) const = 0;
    virtual std::size_t size() const = 0;
};

// All ways with each of the rights. A kind of end that comes first is looked at in all phases before.
void go_all_ways(const std::string &where, Exporter &exporter, std::span<const Rights> rights, End end,
                 bool mappable);

// The machine as the ways need it: cores are written to where the way "core" looks for them, and where
// the kernel has brd.ko there is a disk that everybody may write.
class Surroundings {
public:
    Surroundings();
    ~Surroundings();
    Surroundings(const Surroundings &) = delete;
    Surroundings &operator=(const Surroundings &) = delete;

private:
    std::string before_;
};

} // namespace rsmtest::access
