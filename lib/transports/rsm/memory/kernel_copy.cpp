// SPDX-License-Identifier: MIT
#include "memory/kernel_copy.h"

#include <algorithm>

namespace rsmengine {

namespace {

using Outcome = RemoteRegion::Outcome;

// A kernel agent that does not report how much of an entry it has copied restarts the entry after a
// signal, which it takes between pages. Entries of one page complete however often signals come.
constexpr std::uint64_t LARGEST_ENTRY = 4096;

// The rest that is to be copied: all but the last bytes, then these.
struct Rest {
    std::uint64_t offset;
    std::uint64_t body;
    std::uint64_t tail;
};

struct Batch {
    std::array<rsm_transfer_entry, RSM_MAX_SGIOREQS> entries;
    std::uint32_t count;
};

// False if the pieces end too early.
bool add_entry(Batch &batch, Rest &rest, PieceCursor &cursor) noexcept {
    std::uint64_t &part = rest.body > 0 ? rest.body : rest.tail;
    const auto bytes = cursor.next(std::min(part, LARGEST_ENTRY));
    rsm_transfer_entry entry{};
    entry.type = RSM_VA_TYPE;
    entry.fd = -1;
    entry.addr = reinterpret_cast<std::uintptr_t>(bytes.data());
    entry.remote_offset = rest.offset;
    entry.length = bytes.size();
    batch.entries[batch.count++] = entry;
    part -= bytes.size();
    rest.offset += bytes.size();
    return !bytes.empty();
}

Outcome outcome_of(int status) noexcept {
    switch (status) {
    case RSM_SUCCESS:
        return Outcome::DONE;
    case RSMERR_PERM_DENIED:
    case RSMERR_BAD_OFFSET:
    case RSMERR_BAD_LENGTH:
        return Outcome::DENIED;
    case RSMERR_BAD_ADDR:
    case RSMERR_INSUFFICIENT_MEM:
        return Outcome::FAULT;
    default:
        return Outcome::GONE;
    }
}

// Entries are copied in order.
Outcome run(const KernelCopy &how, Batch &batch) noexcept {
    using rsmdev::Direction;
    rsm_transfer request{};
    return outcome_of(how.import.transfer(how.write ? Direction::put : Direction::get,
                                          std::span(batch.entries).first(batch.count), request));
}

} // namespace

Outcome copy_by_kernel(const KernelCopy &how, std::uint64_t offset, PieceCursor &cursor,
                       std::uint64_t length) noexcept {
    const bool split = how.write && how.ends_request && length > 0;
    const std::uint64_t tail = split ? last_bytes(offset + length, length) : 0;
    Rest rest{offset, length - tail, tail};
    Outcome outcome = Outcome::DONE;
    while (outcome == Outcome::DONE && rest.body + rest.tail > 0) {
        Batch batch{};
        while (batch.count < batch.entries.size() && rest.body + rest.tail > 0) {
            if (!add_entry(batch, rest, cursor))
                return Outcome::FAULT;
        }
        outcome = run(how, batch);
    }
    return outcome;
}

} // namespace rsmengine
