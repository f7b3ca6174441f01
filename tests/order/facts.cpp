// SPDX-License-Identifier: GPL-2.0
#include "order/facts.hpp"

#include <algorithm>

namespace order {

Facts::Facts(const Program &executed, std::span<const Record, sides> seen)
    : program(executed), records(seen), facts_(executed.posts.size()),
      streams_(static_cast<std::size_t>(executed.endpoints) * sides * 2),
      partners_(executed.posts.size(), -1), breaks_(static_cast<std::size_t>(executed.endpoints)),
      ends_(static_cast<std::size_t>(executed.endpoints)) {
    for (auto &side : frees_)
        side.resize(static_cast<std::size_t>(executed.endpoints));
    for (int side = 0; side < sides; side++) {
        const auto &log = records[static_cast<std::size_t>(side)].log;
        for (std::size_t i = 0; i < log.size(); i++)
            note(side, static_cast<int>(i), log[i]);
    }
    find_partners();
    find_breaks();
    find_refusals();
}

void Facts::note_posted(int side, int entry, int index) {
    Fact &own = facts_[static_cast<std::size_t>(index)];
    Stream &stream = streams_[static_cast<std::size_t>(stream_of(post(index)))];
    own.posted = entry;
    own.place = static_cast<int>(stream.size());
    stream.push_back(index);
    if (post(index).refused)
        breaks_[static_cast<std::size_t>(post(index).endpoint)].push_back({side, entry});
}

void Facts::note(int side, int entry, const Entry &what) {
    const auto index = static_cast<std::size_t>(what.index);
    switch (what.what) {
    case What::POSTED:
        return note_posted(side, entry, what.index);
    case What::REJECTED:
        facts_[index].rejected = entry;
        return;
    case What::COMPLETED:
        if (facts_[index].completed < 0) {
            facts_[index].completed = entry;
            facts_[index].status = what.status;
            facts_[index].length = what.length;
        }
        return;
    case What::FREES:
        frees_[static_cast<std::size_t>(side)][index] = true;
        [[fallthrough]];
    case What::ENDS:
    case What::ENDS_GRACEFULLY:
        ends_[index].push_back({side, entry});
        return;
    case What::FREES_LMR:
        region_freed_[static_cast<std::size_t>(side)] = entry;
        return;
    default:
        return;
    }
}

std::uint32_t Facts::length(int index) const {
    const Post &own = post(index);
    return own.buffer < 0 ? 0 : buffer(own.buffer).length();
}

void Facts::find_partners() {
    for (int endpoint = 0; endpoint < program.endpoints; endpoint++)
        for (int side = 0; side < sides; side++) {
            const Stream &receives = stream(stream_of(1 - side, endpoint, false));
            std::size_t place = 0;
            for (const int request : stream(stream_of(side, endpoint, true))) {
                if (post(request).work != Work::SEND || place == receives.size())
                    continue;
                partners_[static_cast<std::size_t>(request)] = receives[place];
                partners_[static_cast<std::size_t>(receives[place])] = request;
                place++;
            }
        }
}

// Messages that are too long, and RDMA with a region that was freed; note_posted() has the requests
// that name no region.
void Facts::find_breaks() {
    for (int index = 0; index < count(); index++) {
        const Post &own = post(index);
        auto &found = breaks_[static_cast<std::size_t>(own.endpoint)];
        if (fact(index).posted < 0)
            continue;
        if (own.work == Work::SEND && partner(index) >= 0 && length(index) > length(partner(index)))
            found.push_back({own.side, fact(index).posted});
        if (own.target >= 0 && buffer(own.target).doomed && region_freed(1 - own.side) >= 0)
            found.push_back({1 - own.side, region_freed(1 - own.side)});
    }
}

void Facts::find_refusals() {
    for (const Stream &stream : streams_) {
        const auto first = std::ranges::find_if(stream, [&](int index) {
            return post(index).refused ||
                   (fact(index).completed >= 0 && fact(index).status == Status::REMOTE_ACCESS);
        });
        refusals_.push_back(static_cast<int>(first - stream.begin()));
    }
}

Outcome Facts::outcome(int index) const {
    const Fact &own = fact(index);
    if (own.posted < 0)
        return Outcome::FAILED;
    if (own.completed >= 0)
        return own.status == Status::SUCCESS ? Outcome::SUCCEEDED : Outcome::FAILED;
    if (freed(post(index).side, post(index).endpoint))
        return Outcome::UNKNOWN;
    return post(index).suppressed ? Outcome::SUCCEEDED : Outcome::UNKNOWN;
}

bool Facts::seen_before(int read, int later) const {
    return std::ranges::any_of(requests_beside(post(read)), [&](int each) {
        return fact(each).place >= fact(read).place && fact(each).completed >= 0 &&
               fact(each).completed < fact(later).posted;
    });
}

} // namespace order
