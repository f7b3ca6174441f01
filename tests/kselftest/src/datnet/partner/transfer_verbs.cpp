// SPDX-License-Identifier: GPL-2.0
// Orders about transfers and memory. NAME is a side's.
#include "dat/support/programs.hpp"
#include "datnet/partner/partner.hpp"
#include "datnet/support/bytes.hpp"

namespace rsmtest::datnet {
namespace {

struct Part {
    dat::Side &side;
    std::size_t offset;
    std::size_t size;
    std::span<std::byte> bytes() const { return {side.memory.start + offset, size}; }
};

// NAME OFFSET SIZE
Part part(Partner &partner, Args &args) {
    dat::Side &side = partner.side(args.word());
    const std::size_t offset = args.number();
    const std::size_t size = args.number();
    if (offset > side.memory.length || size > side.memory.length - offset)
        throw net::BadOrder("no such part of the memory");
    return {side, offset, size};
}

// send NAME OFFSET SIZE COOKIE
Answer send(Partner &partner, Args &args) {
    const Part from = part(partner, args);
    return outcome(from.side.send(from.offset, from.size, args.number()));
}

// receive NAME OFFSET SIZE COOKIE
Answer receive(Partner &partner, Args &args) {
    const Part to = part(partner, args);
    return outcome(to.side.receive(to.offset, to.size, args.number()));
}

// CONTEXT ADDRESS
DAT_RMR_TRIPLET remote(std::size_t size, Args &args) {
    DAT_RMR_TRIPLET triplet{};
    triplet.rmr_context = args.as<DAT_RMR_CONTEXT>();
    triplet.target_address = args.number();
    triplet.segment_length = size;
    return triplet;
}

// write NAME OFFSET SIZE COOKIE CONTEXT ADDRESS
Answer write(Partner &partner, Args &args) {
    const Part from = part(partner, args);
    const DAT_UINT64 id = args.number();
    return outcome(from.side.write(from.offset, remote(from.size, args), id));
}

// read NAME OFFSET SIZE COOKIE CONTEXT ADDRESS
Answer read(Partner &partner, Args &args) {
    const Part to = part(partner, args);
    const DAT_UINT64 id = args.number();
    return outcome(to.side.read(to.offset, remote(to.size, args), id));
}

Answer completion(DAT_EVD_HANDLE evd) {
    const DAT_EVENT event = dat::expect_event(evd, DAT_DTO_COMPLETION_EVENT);
    const auto &data = event.event_data.dto_completion_event_data;
    return {
        0,
        {data.user_cookie.as_64, static_cast<std::uint64_t>(data.status), data.transfered_length}};
}

// received NAME: the next completion: cookie, status, length
Answer received(Partner &partner, Args &args) {
    return completion(partner.side(args.word()).receives);
}

// requested NAME: the same
Answer requested(Partner &partner, Args &args) {
    return completion(partner.side(args.word()).requests);
}

// fill NAME OFFSET SIZE SEED
Answer fill_part(Partner &partner, Args &args) {
    const Part target = part(partner, args);
    fill(target.bytes(), args.number());
    return {};
}

// differ NAME OFFSET SIZE SEED: number of bytes that are not the pattern's
Answer differ(Partner &partner, Args &args) {
    const Part target = part(partner, args);
    return {0, {mismatches(target.bytes(), args.number())}};
}

// order NAME SEED COUNT REPEATS: executes programs of posts together with the side that NAME is connected with
Answer join(Partner &partner, Args &args) {
    dat::Side &talk = partner.side(args.word());
    const std::uint64_t seed = args.number();
    const std::uint64_t count = args.number();
    dat::join_programs(talk, {seed, count, args.number()});
    return {};
}

constexpr Verb verbs[] = {
    {"send", send},         {"receive", receive},     {"write", write},    {"read", read},
    {"received", received}, {"requested", requested}, {"fill", fill_part}, {"differ", differ},
    {"order", join},
};

} // namespace

std::span<const Verb> transfer_verbs() {
    return verbs;
}

} // namespace rsmtest::datnet
