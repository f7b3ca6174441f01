// SPDX-License-Identifier: GPL-2.0
#include "order/check.hpp"

#include "order/contents.hpp"
#include "order/facts.hpp"

#include <algorithm>

namespace order {
namespace {

using Verdict = std::optional<Violation>;

class Checker {
  public:
    Checker(const Program &program, std::span<const Record, sides> records,
            const Latitude &latitude)
        : program_(program), records_(records), latitude_(latitude), facts_(program, records),
          clock_(facts_), memory_(facts_, [this](int post) { return must_be_refused(post); }) {}
    Verdict run();

  private:
    std::string name(int post) const { return describe(program_, post); }
    const std::vector<Entry> &log(int side) const {
        return records_[static_cast<std::size_t>(side)].log;
    }
    int evd_of(int post) const;
    Moment event_of(int post) const {
        return {facts_.post(post).side, facts_.fact(post).completed};
    }

    Verdict one_event() const;
    Verdict one_event_of(int post) const;
    Verdict streams() const;
    Verdict stream(const Stream &stream) const;
    Verdict effects() const;
    Verdict effect(int post) const;
    Verdict statuses() const;
    Verdict status(int post) const;
    Verdict failure(int post) const;
    bool explained(int post) const;
    bool may_be_refused(int post) const;
    bool must_be_refused(int post) const;
    bool has_cause(const std::vector<Moment> &causes, Moment effect) const;
    bool may_fail(int endpoint, Moment effect) const;
    Verdict messages() const;
    Verdict received(int receive) const;
    Verdict sent(int send) const;
    Verdict ends() const;
    Verdict end(int side, int endpoint) const;
    Verdict end_last(int side, int endpoint, int entry) const;
    Verdict graceful(int side, int endpoint, int entry) const;
    Verdict snapshots() const;
    Verdict snapshot(int post, const Snapshot &snapshot) const;
    Verdict received_bytes(int receive, const Snapshot &snapshot) const;
    Verdict read_bytes(int read, const Snapshot &snapshot) const;
    Verdict target_bytes(const Snapshot &snapshot, const Contents &allowed,
                         const std::string &when) const;
    Verdict memory_at_end(int side) const;
    Verdict buffer_at_end(const Snapshot &snapshot) const;
    Rule rule_of_bytes(int post, Rule otherwise) const;

    const Program &program_;
    std::span<const Record, sides> records_;
    Latitude latitude_;
    Facts facts_;
    Clock clock_;
    Memory memory_;
};

Verdict violation(Rule rule, const std::string &why) {
    return Violation{rule, why};
}

int Checker::evd_of(int index) const {
    const Post &post = facts_.post(index);
    const Streams &streams = program_.streams[post.side][static_cast<std::size_t>(post.endpoint)];
    return is_request(post.work) ? streams.requests : streams.receives;
}

// Each event has a post, and no post has two.
Verdict Checker::one_event() const {
    for (int side = 0; side < sides; side++)
        for (int i = 0; i < static_cast<int>(log(side).size()); i++) {
            const Entry &entry = log(side)[static_cast<std::size_t>(i)];
            if (entry.what == What::STRANGE)
                return violation(Rule::ONE_EVENT,
                                 "side " + std::to_string(side) + " dequeued event number " +
                                     std::to_string(entry.index) + ", which no post has");
            if (entry.what != What::COMPLETED)
                continue;
            const Fact &fact = facts_.fact(entry.index);
            if (facts_.post(entry.index).side != side || fact.posted < 0 || fact.posted > i)
                return violation(Rule::ONE_EVENT,
                                 name(entry.index) + " was not posted when its event was dequeued");
            if (fact.completed != i)
                return violation(Rule::ONE_EVENT, name(entry.index) + " has two events");
            if (entry.evd != evd_of(entry.index))
                return violation(Rule::ONE_EVENT,
                                 name(entry.index) + " has its event on the EVD of another stream");
        }
    for (int index = 0; index < facts_.count(); index++)
        if (const Verdict found = one_event_of(index))
            return found;
    return {};
}

Verdict Checker::one_event_of(int index) const {
    const Post &post = facts_.post(index);
    const Fact &fact = facts_.fact(index);
    const bool freed = facts_.freed(post.side, post.endpoint);
    if (fact.posted >= 0 && fact.completed < 0 && !post.suppressed && !freed)
        return violation(Rule::ONE_EVENT, name(index) + " has no event");
    if (fact.completed >= 0 && post.suppressed && fact.status == Status::SUCCESS)
        return violation(Rule::ONE_EVENT, name(index) + " succeeded and has an event all the same");
    const auto graceful = [&](const Moment &moment) {
        return moment.side == post.side && moment.entry < fact.rejected &&
               log(post.side)[static_cast<std::size_t>(moment.entry)].what == What::ENDS_GRACEFULLY;
    };
    if (fact.rejected >= 0 &&
        (!is_request(post.work) || std::ranges::none_of(facts_.ends(post.endpoint), graceful)))
        return violation(Rule::REJECTED, name(index) + " was rejected");
    return {};
}

Verdict Checker::streams() const {
    for (int i = 0; i < facts_.stream_count(); i++)
        if (const Verdict found = stream(facts_.stream(i)))
            return found;
    return {};
}

Verdict Checker::stream(const Stream &stream) const {
    int last = -1;
    int failed = -1;
    for (const int index : stream) {
        const Fact &fact = facts_.fact(index);
        const Outcome outcome = facts_.outcome(index);
        if (fact.completed >= 0 && last >= 0 && fact.completed < facts_.fact(last).completed)
            return violation(Rule::POSTING_ORDER,
                             "the event of " + name(index) + " came before that of " + name(last));
        if (failed >= 0 && outcome == Outcome::SUCCEEDED)
            return violation(Rule::FLUSH,
                             name(index) + " succeeded behind the failure of " + name(failed));
        if (failed >= 0 && outcome == Outcome::FAILED && fact.status != Status::FLUSHED &&
            !latitude_.vague_ends)
            return violation(Rule::FLUSH, name(index) + " completed " + name_of(fact.status) +
                                              " behind the failure of " + name(failed));
        if (fact.completed >= 0)
            last = index;
        if (failed < 0 && outcome == Outcome::FAILED)
            failed = index;
    }
    return {};
}

Verdict Checker::effects() const {
    if (const auto circle = clock_.circle())
        return violation(Rule::EFFECT_AFTER_CAUSE, "side " + std::to_string(circle->side) +
                                                       ", entry " + std::to_string(circle->entry) +
                                                       " of the log comes before its own cause");
    for (int index = 0; index < facts_.count(); index++)
        if (facts_.fact(index).completed >= 0)
            if (const Verdict found = effect(index))
                return found;
    return {};
}

Verdict Checker::effect(int index) const {
    const Post &post = facts_.post(index);
    for (int i = 0; i < facts_.stream_count(); i++) {
        const Stream &stream = facts_.stream(i);
        if (stream.empty() || facts_.post(stream.front()).side != post.side ||
            evd_of(stream.front()) != evd_of(index))
            continue;
        for (int place = 0; place < clock_.known(index, i); place++) {
            const int cause = stream[static_cast<std::size_t>(place)];
            if (cause != index && facts_.fact(cause).completed > facts_.fact(index).completed)
                return violation(Rule::EFFECT_AFTER_CAUSE,
                                 "the event of " + name(index) + " came before that of " +
                                     name(cause) + ", which had completed before, on EVD " +
                                     std::to_string(evd_of(index)));
        }
    }
    return {};
}

bool Checker::has_cause(const std::vector<Moment> &causes, Moment effect) const {
    return std::ranges::any_of(causes,
                               [&](const Moment &cause) { return !clock_.before(effect, cause); });
}

bool Checker::may_fail(int endpoint, Moment effect) const {
    return has_cause(facts_.breaks(endpoint), effect) || has_cause(facts_.ends(endpoint), effect);
}

Verdict Checker::statuses() const {
    for (int index = 0; index < facts_.count(); index++)
        if (const Verdict found = status(index))
            return found;
    return {};
}

bool Checker::may_be_refused(int index) const {
    const Post &post = facts_.post(index);
    return post.refused || (post.target >= 0 && facts_.buffer(post.target).doomed &&
                            facts_.region_freed(1 - post.side) >= 0);
}

bool Checker::must_be_refused(int index) const {
    const Post &post = facts_.post(index);
    if (post.refused)
        return true;
    return may_be_refused(index) &&
           clock_.before({1 - post.side, facts_.region_freed(1 - post.side)},
                         {post.side, facts_.fact(index).posted});
}

Verdict Checker::status(int index) const {
    const Post &post = facts_.post(index);
    const Fact &fact = facts_.fact(index);
    if (fact.posted < 0)
        return {};
    if (facts_.outcome(index) == Outcome::SUCCEEDED && must_be_refused(index))
        return violation(Rule::REFUSED,
                         name(index) + " succeeded though its target does not exist");
    if (fact.completed < 0)
        return {};
    if (fact.status != Status::SUCCESS)
        return failure(index);
    if (post.marker)
        return violation(Rule::STATUS, name(index) + " succeeded behind the end of the connection");
    if (is_request(post.work) && fact.length != facts_.length(index))
        return violation(Rule::STATUS, name(index) + " has the length " +
                                           std::to_string(fact.length) + " instead of " +
                                           std::to_string(facts_.length(index)));
    return {};
}

bool Checker::explained(int index) const {
    const Post &post = facts_.post(index);
    const int other = facts_.partner(index);
    switch (facts_.fact(index).status) {
    case Status::FLUSHED:
        return true;
    case Status::REMOTE_ACCESS:
        return may_be_refused(index);
    case Status::LOCAL_LENGTH:
        return post.work == Work::RECEIVE && other >= 0 &&
               facts_.length(other) > facts_.length(index);
    case Status::REMOTE_RESPONDER:
        return post.work == Work::SEND && other >= 0 && facts_.length(index) > facts_.length(other);
    default:
        return false;
    }
}

Verdict Checker::failure(int index) const {
    const std::string what = name(index) + " completed " + name_of(facts_.fact(index).status);
    if (!may_fail(facts_.post(index).endpoint, event_of(index)))
        return violation(Rule::NO_CAUSE, what + ", and nothing had ended the connection");
    if (!explained(index) && !latitude_.vague_ends)
        return violation(Rule::STATUS, what);
    return {};
}

Verdict Checker::messages() const {
    for (int index = 0; index < facts_.count(); index++) {
        const Post &post = facts_.post(index);
        if (facts_.outcome(index) != Outcome::SUCCEEDED ||
            is_request(post.work) != (post.work == Work::SEND))
            continue;
        if (const Verdict found = post.work == Work::SEND ? sent(index) : received(index))
            return found;
    }
    return {};
}

Verdict Checker::received(int receive) const {
    const int send = facts_.partner(receive);
    if (send < 0)
        return violation(Rule::MATCHING, name(receive) + " succeeded without a send");
    const int requests = Facts::stream_of(facts_.post(send));
    if (facts_.fact(send).place > facts_.refusal(requests))
        return violation(Rule::BEHIND_REFUSAL, name(receive) + " got the message of " + name(send) +
                                                   ", which is behind a refused request");
    if (facts_.fact(receive).length != facts_.length(send) ||
        facts_.length(send) > facts_.length(receive))
        return violation(Rule::MATCHING, name(receive) + " has the length " +
                                             std::to_string(facts_.fact(receive).length) +
                                             ", and " + name(send) + " has " +
                                             std::to_string(facts_.length(send)));
    return {};
}

Verdict Checker::sent(int send) const {
    const int receive = facts_.partner(send);
    if (receive < 0)
        return violation(Rule::MATCHING, name(send) + " succeeded without a receive");
    if (facts_.outcome(receive) == Outcome::FAILED)
        return violation(Rule::MATCHING,
                         name(send) + " succeeded, and " + name(receive) + " did not");
    return {};
}

Verdict Checker::ends() const {
    for (int side = 0; side < sides; side++)
        for (int endpoint = 0; endpoint < program_.endpoints; endpoint++)
            if (const Verdict found = end(side, endpoint))
                return found;
    return {};
}

Verdict Checker::end(int side, int endpoint) const {
    const std::string where =
        "endpoint " + std::to_string(endpoint) + " of side " + std::to_string(side);
    int count = 0;
    for (int i = 0; i < static_cast<int>(log(side).size()); i++) {
        const Entry &entry = log(side)[static_cast<std::size_t>(i)];
        if (entry.index != endpoint)
            continue;
        if (entry.what == What::ENDS_GRACEFULLY)
            if (const Verdict found = graceful(side, endpoint, i))
                return found;
        if (entry.what != What::BROKEN && entry.what != What::DISCONNECTED)
            continue;
        if (++count > 1)
            return violation(Rule::ONE_END, where + " has two ends");
        if (!may_fail(endpoint, {side, i}))
            return violation(Rule::NO_CAUSE,
                             where + " ended, and nothing had ended the connection");
        const auto &causes =
            entry.what == What::BROKEN ? facts_.breaks(endpoint) : facts_.ends(endpoint);
        if (!has_cause(causes, {side, i}) && !latitude_.vague_ends)
            return violation(Rule::ONE_END,
                             where + (entry.what == What::BROKEN
                                          ? " is BROKEN, and nothing failed"
                                          : " is DISCONNECTED, and nobody disconnected"));
        if (const Verdict found = end_last(side, endpoint, i))
            return found;
    }
    if (count == 0 && !facts_.freed(side, endpoint))
        return violation(Rule::ONE_END, where + " has no end");
    return {};
}

Verdict Checker::end_last(int side, int endpoint, int entry) const {
    const int evd = program_.streams[side][static_cast<std::size_t>(endpoint)].connections;
    for (const bool requests : {true, false})
        for (const int index : facts_.stream(Facts::stream_of(side, endpoint, requests))) {
            const Fact &fact = facts_.fact(index);
            if (evd_of(index) == evd && fact.completed > entry && fact.status == Status::SUCCESS)
                return violation(Rule::END_LAST,
                                 name(index) + " succeeded behind the end of its connection");
        }
    return {};
}

Verdict Checker::graceful(int side, int endpoint, int entry) const {
    if (!facts_.breaks(endpoint).empty() || facts_.ends(endpoint).size() != 1)
        return {};
    for (const int index : facts_.stream(Facts::stream_of(side, endpoint, true)))
        if (facts_.fact(index).posted < entry && facts_.outcome(index) == Outcome::FAILED)
            return violation(Rule::GRACEFUL,
                             name(index) +
                                 " failed though it was posted before a graceful disconnect");
    return {};
}

// The first index at which a snapshot has what it may not have; -1 if there is none.
int difference(const Snapshot &snapshot, const Contents &allowed) {
    for (std::size_t i = 0; i < std::min(snapshot.tokens.size(), allowed.size()); i++)
        if (!allowed[i].test(snapshot.tokens[i]))
            return static_cast<int>(i);
    return -1;
}

std::string byte_of(const Snapshot &snapshot, int at) {
    return "byte " + std::to_string(at) + " of buffer " + std::to_string(snapshot.buffer) +
           " has token " + std::to_string(snapshot.tokens[static_cast<std::size_t>(at)]);
}

// Wrong bytes that a read should have brought before the request started are a matter of fences.
Rule Checker::rule_of_bytes(int index, Rule otherwise) const {
    const Post &post = facts_.post(index);
    const int read = post.buffer < 0 ? -1 : memory_.read_into(post.buffer);
    return post.work != Work::READ && read >= 0 && memory_.ordered(read, index) ? Rule::FENCE
                                                                                : otherwise;
}

Verdict Checker::received_bytes(int receive, const Snapshot &snapshot) const {
    const int send = facts_.partner(receive);
    Contents allowed = memory_.carried(send);
    const std::size_t length = allowed.size();
    Tokens own;
    own.set(facts_.buffer(snapshot.buffer).token);
    allowed.resize(snapshot.tokens.size(), own);
    const int at = difference(snapshot, allowed);
    if (at < 0)
        return {};
    const Rule rule =
        static_cast<std::size_t>(at) < length ? rule_of_bytes(send, Rule::MATCHING) : Rule::CANARY;
    return violation(rule, name(receive) + " got the message of " + name(send) + ": " +
                               byte_of(snapshot, at));
}

Verdict Checker::read_bytes(int read, const Snapshot &snapshot) const {
    const int at = difference(snapshot, memory_.carried(read));
    if (at < 0)
        return {};
    const auto &writes = memory_.writes_to(facts_.post(read).target);
    const auto later = std::ranges::find_if(writes, [&](int write) {
        return facts_.fact(write).place > facts_.fact(read).place && memory_.ordered(read, write) &&
               static_cast<std::size_t>(at) < memory_.carried(write).size() &&
               memory_.carried(write)[static_cast<std::size_t>(at)].test(
                   snapshot.tokens[static_cast<std::size_t>(at)]);
    });
    return violation(later == writes.end() ? Rule::READ : Rule::FENCE,
                     name(read) + ": " + byte_of(snapshot, at));
}

Verdict Checker::target_bytes(const Snapshot &snapshot, const Contents &allowed,
                              const std::string &when) const {
    const int at = difference(snapshot, allowed);
    if (at < 0)
        return {};
    const auto index = static_cast<std::size_t>(at);
    Rule rule = Rule::CANARY;
    for (const int write : memory_.writes_to(snapshot.buffer)) {
        if (index >= facts_.length(write))
            continue;
        rule = rule == Rule::CANARY ? rule_of_bytes(write, Rule::VISIBLE) : rule;
        if (memory_.refused(write) && memory_.carried(write)[index].test(snapshot.tokens[index]))
            return violation(Rule::BEHIND_REFUSAL,
                             name(write) + " is in place " + when + ": " + byte_of(snapshot, at));
    }
    return violation(rule, "target of RDMA, " + when + ": " + byte_of(snapshot, at));
}

Verdict Checker::snapshot(int index, const Snapshot &snapshot) const {
    const Post &post = facts_.post(index);
    if (snapshot.buffer == post.buffer)
        return post.work == Work::RECEIVE ? received_bytes(index, snapshot)
                                          : read_bytes(index, snapshot);
    if (post.work != Work::RECEIVE)
        return {};
    const int send = facts_.partner(index);
    return target_bytes(snapshot, memory_.when_received(snapshot.buffer, send),
                        "when the message of " + name(send) + " was received");
}

Verdict Checker::snapshots() const {
    for (int side = 0; side < sides; side++)
        for (const Entry &entry : log(side)) {
            if (entry.what != What::COMPLETED || entry.status != Status::SUCCESS)
                continue;
            for (const Snapshot &each : entry.snapshots)
                if (const Verdict found = snapshot(entry.index, each))
                    return found;
        }
    return {};
}

Verdict Checker::buffer_at_end(const Snapshot &snapshot) const {
    for (int index = 0; index < facts_.count(); index++) {
        const Post &post = facts_.post(index);
        const bool filled = post.work == Work::RECEIVE || post.work == Work::READ;
        if (!filled || post.buffer != snapshot.buffer)
            continue;
        if (facts_.fact(index).posted >= 0 && facts_.outcome(index) != Outcome::SUCCEEDED)
            return {}; // undefined
        if (facts_.fact(index).posted >= 0)
            return post.work == Work::RECEIVE ? received_bytes(index, snapshot)
                                              : read_bytes(index, snapshot);
    }
    return target_bytes(snapshot, memory_.at_end(snapshot.buffer), "in the end");
}

Verdict Checker::memory_at_end(int side) const {
    const Record &record = records_[static_cast<std::size_t>(side)];
    if (!record.damage.empty())
        return violation(Rule::CANARY,
                         "side " + std::to_string(side) + ": a guard byte at offset " +
                             std::to_string(record.damage.front()) + " of the arena has changed");
    for (const Snapshot &snapshot : record.end)
        if (const Verdict found = buffer_at_end(snapshot))
            return found;
    return {};
}

Verdict Checker::run() {
    for (const auto rule :
         {&Checker::one_event, &Checker::streams, &Checker::statuses, &Checker::messages,
          &Checker::effects, &Checker::ends, &Checker::snapshots})
        if (const Verdict found = (this->*rule)())
            return found;
    for (int side = 0; side < sides; side++)
        if (const Verdict found = memory_at_end(side))
            return found;
    return {};
}

} // namespace

const char *name_of(Rule rule) {
    constexpr const char *names[] = {
        "one-event", "posting-order", "effect-after-cause", "flush",    "status",  "no-cause",
        "rejected",  "refused",       "behind-refusal",     "matching", "visible", "read",
        "fence",     "canary",        "graceful",           "one-end",  "end-last"};
    return names[static_cast<std::size_t>(rule)];
}

Verdict check(const Program &program, std::span<const Record, sides> records,
              const Latitude &latitude) {
    return Checker(program, records, latitude).run();
}

} // namespace order
