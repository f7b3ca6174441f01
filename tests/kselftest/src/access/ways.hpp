// SPDX-License-Identifier: GPL-2.0
// Every way to the bytes of a segment, as an importing process goes it.
#pragma once

#include "support/raw.hpp"

#include <array>
#include <functional>
#include <rsmapi.h>
#include <span>

namespace rsmtest::access {

enum class Kind { CALL, VIEW, MAP, OPEN };

// Where a way has led. STORED: something was written, and the exporter knows whether it was the
// segment. WRONG: to other bytes than any that it may lead to. ABSENT: this machine does not have
// the way.
enum class Outcome : std::uint64_t { REFUSED, SEGMENT, OWN, STORED, WRONG, ABSENT };

const char *name_of(Outcome outcome);

// Takes O_DIRECT, which no file system of the guests does.
inline constexpr const char *ram_disk = "/dev/ram0";

// With which rights a connection is made; see matrix.def.
enum Rights : std::size_t { NONE, READ, WRITE, BLIND, BOTH };
inline constexpr std::array ALL_RIGHTS{NONE, READ, WRITE, BLIND, BOTH};
struct RightsInfo {
    const char *name;
    std::uint32_t asked;
    std::uint32_t mode; // of the segment, for others
};
const RightsInfo &info_of(Rights rights);

// A process's connection, and what it is to find: `secret` at the start of the segment. It may
// write `token` at `slot`.
struct Importer {
    rsm_memseg_import_handle_t library = nullptr; // another connection of the same rights, or none
    Fd handle;
    std::byte *base = nullptr; // the mapping of the handle with all rights that it gets, or null
    std::size_t size = 0;
    std::function<Fd()> connect_again;
    std::uint64_t secret = 0;
    std::uint64_t token = 0;
    std::size_t slot = 0;
};

struct Way {
    const char *name;
    Kind kind;
    Outcome (*go)(Importer &importer);
    std::array<Outcome, ALL_RIGHTS.size()> connected;
    Outcome ended;
    bool needs_library;
};

// As matrix.def has them.
std::span<const Way> all_ways();

// The target of a way.
struct Phase {
    const char *name;
    bool closed; // to new connections
    bool ended;
};
Outcome expected(const Way &way, Rights rights, const Phase &phase, bool mappable);

// The word that may be written by a way.
inline std::size_t slot_of(std::size_t way)
{
    return 64 + 8 * way;
}

} // namespace rsmtest::access
