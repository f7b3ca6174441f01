// SPDX-License-Identifier: GPL-2.0
// The checker of what uDAPL promises about order: histories that keep the rules, and for each rule
// a history that breaks it.
#include "order/check.hpp"
#include "order/generate.hpp"
#include "order/packing.hpp"
#include "simulator.h"

#include <gtest/gtest.h>
#include <set>

using namespace order;

namespace {

// Two sides with up to two endpoints each, whose streams share one EVD at each side. Posts come
// first, then what the sides did and saw.
class History : public testing::Test {
  protected:
    void SetUp() override {
        program.endpoints = 2;
        for (auto &side : program.streams)
            side.assign(2, Streams{0, 0, 0});
        program.evds[0] = program.evds[1] = 1;
    }
    int buffer(int side, Token token, std::uint32_t length = 2) {
        program.buffers.push_back({side, 0, token, false, {{0, length}}});
        return static_cast<int>(program.buffers.size()) - 1;
    }
    int add(Post post) {
        program.posts.push_back(post);
        return static_cast<int>(program.posts.size()) - 1;
    }
    int send(int side, int endpoint = 0, int from = -1) {
        return add({side, endpoint, Work::SEND, from});
    }
    int receive(int side, int endpoint = 0, int into = -1) {
        return add({side, endpoint, Work::RECEIVE, into});
    }
    int write(int side, int from, int to) { return add({side, 0, Work::WRITE, from, to}); }
    int read(int side, int into, int from) { return add({side, 0, Work::READ, into, from}); }
    Post &post(int index) { return program.posts[static_cast<std::size_t>(index)]; }

    void log(int side, Entry entry) {
        records[static_cast<std::size_t>(side)].log.push_back(std::move(entry));
    }
    void posted(int index) { log(post(index).side, {.what = What::POSTED, .index = index}); }
    void rejected(int index) { log(post(index).side, {.what = What::REJECTED, .index = index}); }
    void completed(int index, Status status = Status::SUCCESS,
                   std::vector<Snapshot> snapshots = {}) {
        const int from = post(index).work == Work::RECEIVE ? sender(index) : index;
        const int bytes = from < 0 ? -1 : post(from).buffer;
        const std::uint32_t length =
            bytes < 0 ? 0 : program.buffers[static_cast<std::size_t>(bytes)].length();
        log(post(index).side, {What::COMPLETED, index, status,
                               status == Status::SUCCESS ? length : 0, 0, std::move(snapshots)});
    }
    void did(int side, What what, int endpoint = 0) {
        log(side, {.what = what, .index = endpoint});
    }
    void ended(int side, What what, int endpoint = 0) {
        log(side, {.what = what, .index = endpoint, .evd = 0});
    }
    // Side 0 disconnects both endpoints, and both sides see it.
    void finish(std::set<int> without = {}) {
        for (int endpoint = 0; endpoint < 2; endpoint++) {
            if (without.contains(endpoint))
                continue;
            did(0, What::ENDS, endpoint);
            for (int side = 0; side < sides; side++)
                ended(side, What::DISCONNECTED, endpoint);
        }
    }
    void in_the_end(int buffer, std::vector<Token> tokens) {
        const auto side =
            static_cast<std::size_t>(program.buffers[static_cast<std::size_t>(buffer)].side);
        records[side].end.push_back({buffer, std::move(tokens)});
    }
    void expect_kept() const {
        const auto found = check(program, records);
        EXPECT_FALSE(found) << name_of(found->rule) << ": " << found->why;
    }
    void expect_broken(Rule rule) const {
        const auto found = check(program, records);
        ASSERT_TRUE(found) << "the history passes";
        EXPECT_STREQ(name_of(found->rule), name_of(rule)) << found->why;
    }

    Program program;
    Record records[sides];

  private:
    // Good enough for these histories: the n-th send of the endpoint is the n-th receive's.
    int sender(int receive) {
        int place = 0;
        for (int i = 0; i < receive; i++)
            place += post(i).work == Work::RECEIVE && post(i).endpoint == post(receive).endpoint;
        for (int i = 0; i < static_cast<int>(program.posts.size()); i++)
            if (post(i).work == Work::SEND && post(i).endpoint == post(receive).endpoint &&
                place-- == 0)
                return i;
        return -1;
    }
};

// One message of two bytes, received and completed.
class Message : public History {
  protected:
    void exchange() {
        from = buffer(0, 5);
        into = buffer(1, untouched, 3);
        taken = receive(1, 0, into);
        sent = send(0, 0, from);
        posted(taken);
        posted(sent);
    }
    int from = -1, into = -1, taken = -1, sent = -1;
};

TEST_F(Message, that_arrives_keeps_the_rules) {
    exchange();
    completed(taken, Status::SUCCESS, {{into, {5, 5, untouched}}});
    completed(sent);
    finish();
    in_the_end(into, {5, 5, untouched});
    in_the_end(from, {5, 5});
    expect_kept();
}

TEST_F(Message, without_an_event_breaks_one_event) {
    exchange();
    completed(taken);
    finish();
    expect_broken(Rule::ONE_EVENT);
}

TEST_F(Message, with_two_events_breaks_one_event) {
    exchange();
    completed(taken);
    completed(sent);
    completed(sent);
    finish();
    expect_broken(Rule::ONE_EVENT);
}

TEST_F(Message, that_succeeds_suppressed_has_no_event) {
    exchange();
    post(sent).suppressed = true;
    completed(taken);
    finish();
    expect_kept();
    records[0].log.clear();
    posted(sent);
    completed(sent);
    finish();
    expect_broken(Rule::ONE_EVENT);
}

TEST_F(Message, of_nobody_breaks_one_event) {
    did(0, What::STRANGE);
    finish();
    expect_broken(Rule::ONE_EVENT);
}

TEST_F(Message, of_a_freed_endpoint_needs_no_event) {
    exchange();
    did(0, What::FREES);
    ended(1, What::DISCONNECTED);
    records[1].log.insert(records[1].log.end() - 1,
                          {What::COMPLETED, taken, Status::FLUSHED, 0, 0, {}});
    finish({0});
    expect_kept();
}

TEST_F(Message, whose_bytes_are_wrong_breaks_matching) {
    exchange();
    completed(taken, Status::SUCCESS, {{into, {5, 6, untouched}}});
    completed(sent);
    finish();
    expect_broken(Rule::MATCHING);
}

TEST_F(Message, of_another_length_breaks_matching) {
    exchange();
    completed(taken);
    records[1].log.back().length = 1;
    completed(sent);
    finish();
    expect_broken(Rule::MATCHING);
}

TEST_F(Message, that_succeeds_without_its_receive_breaks_matching) {
    exchange();
    completed(sent);
    did(0, What::ENDS);
    completed(taken, Status::FLUSHED);
    ended(0, What::DISCONNECTED);
    ended(1, What::DISCONNECTED);
    finish({0});
    expect_broken(Rule::MATCHING);
}

TEST_F(Message, that_writes_behind_its_end_breaks_canary) {
    exchange();
    completed(taken, Status::SUCCESS, {{into, {5, 5, 5}}});
    completed(sent);
    finish();
    expect_broken(Rule::CANARY);
}

TEST_F(Message, that_changes_its_source_breaks_canary) {
    exchange();
    completed(taken);
    completed(sent);
    finish();
    in_the_end(from, {5, 9});
    expect_broken(Rule::CANARY);
}

TEST_F(Message, whose_guards_changed_breaks_canary) {
    exchange();
    completed(taken);
    completed(sent);
    finish();
    records[1].damage = {17};
    expect_broken(Rule::CANARY);
}

TEST_F(Message, that_is_too_long_fails_on_both_sides) {
    from = buffer(0, 5, 4);
    into = buffer(1, untouched, 3);
    posted(taken = receive(1, 0, into));
    posted(sent = send(0, 0, from));
    completed(taken, Status::LOCAL_LENGTH);
    completed(sent, Status::REMOTE_RESPONDER);
    ended(0, What::BROKEN);
    ended(1, What::BROKEN);
    finish({0});
    expect_kept();
}

TEST_F(Message, that_fails_with_an_error_of_another_kind_breaks_status) {
    exchange();
    did(0, What::ENDS);
    completed(taken, Status::LOCAL_LENGTH);
    completed(sent, Status::FLUSHED);
    ended(0, What::DISCONNECTED);
    ended(1, What::DISCONNECTED);
    finish({0});
    expect_broken(Rule::STATUS);
}

TEST_F(Message, that_is_flushed_before_anything_ends_breaks_no_cause) {
    exchange();
    completed(taken, Status::FLUSHED);
    completed(sent, Status::FLUSHED);
    did(1, What::NOTIFIES);
    did(0, What::AWAITS_NOTICE);
    finish();
    expect_broken(Rule::NO_CAUSE);
}

TEST_F(Message, that_is_rejected_breaks_rejected) {
    exchange();
    records[0].log.clear();
    rejected(sent);
    did(0, What::ENDS);
    completed(taken, Status::FLUSHED);
    ended(0, What::DISCONNECTED);
    ended(1, What::DISCONNECTED);
    finish({0});
    expect_broken(Rule::REJECTED);
}

TEST_F(Message, may_be_rejected_behind_a_graceful_disconnect) {
    exchange();
    records[0].log.clear();
    did(0, What::ENDS_GRACEFULLY);
    rejected(sent);
    completed(taken, Status::FLUSHED);
    ended(0, What::DISCONNECTED);
    ended(1, What::DISCONNECTED);
    finish({0});
    expect_kept();
}

TEST_F(Message, that_fails_before_a_graceful_disconnect_breaks_graceful) {
    exchange();
    did(0, What::ENDS_GRACEFULLY);
    completed(taken, Status::FLUSHED);
    completed(sent, Status::FLUSHED);
    ended(0, What::DISCONNECTED);
    ended(1, What::DISCONNECTED);
    finish({0});
    expect_broken(Rule::GRACEFUL);
}

TEST_F(Message, that_succeeds_behind_the_end_breaks_end_last) {
    exchange();
    did(0, What::ENDS);
    ended(1, What::DISCONNECTED);
    completed(taken);
    completed(sent);
    ended(0, What::DISCONNECTED);
    finish({0});
    expect_broken(Rule::END_LAST);
}

TEST_F(History, that_ends_twice_breaks_one_end) {
    finish();
    ended(1, What::DISCONNECTED);
    expect_broken(Rule::ONE_END);
}

TEST_F(History, without_an_end_breaks_one_end) {
    finish({1});
    expect_broken(Rule::ONE_END);
}

TEST_F(History, broken_by_nobody_breaks_one_end) {
    did(0, What::ENDS);
    ended(0, What::DISCONNECTED);
    ended(1, What::BROKEN);
    finish({0});
    expect_broken(Rule::ONE_END);
}

TEST_F(History, that_ends_before_its_cause_breaks_no_cause) {
    ended(0, What::DISCONNECTED);
    did(0, What::ENDS);
    ended(1, What::DISCONNECTED);
    finish({0});
    expect_broken(Rule::NO_CAUSE);
}

TEST_F(History, whose_events_swap_breaks_posting_order) {
    const int first = receive(1), second = receive(1), one = send(0), two = send(0);
    for (const int each : {first, second, one, two})
        posted(each);
    completed(second);
    completed(first);
    completed(one);
    completed(two);
    finish();
    expect_broken(Rule::POSTING_ORDER);
}

TEST_F(History, that_goes_on_behind_a_failure_breaks_flush) {
    const int refused = write(0, buffer(0, 5), buffer(1, 6));
    const int behind = write(0, buffer(0, 7), buffer(1, 8));
    post(refused).refused = true;
    posted(refused);
    posted(behind);
    completed(refused, Status::REMOTE_ACCESS);
    completed(behind);
    ended(0, What::BROKEN);
    ended(1, What::BROKEN);
    finish({0});
    expect_broken(Rule::FLUSH);
}

// With two endpoints: what the first message's completion caused is dequeued before the first
// message.
class Effect : public History {
  protected:
    void run(bool in_order) {
        const int first = receive(1, 0), second = receive(1, 1), cause = send(0, 0),
                  effect = send(0, 1);
        posted(first);
        posted(second);
        posted(cause);
        completed(cause);
        posted(effect);
        completed(effect);
        completed(in_order ? first : second);
        completed(in_order ? second : first);
        finish();
    }
};

TEST_F(Effect, behind_its_cause_keeps_the_rules) {
    run(true);
    expect_kept();
}

TEST_F(Effect, before_its_cause_breaks_effect_after_cause) {
    run(false);
    expect_broken(Rule::EFFECT_AFTER_CAUSE);
}

TEST_F(Effect, before_its_cause_is_free_on_another_evd) {
    program.evds[1] = 2;
    program.streams[1][1] = {1, 1, 1};
    run(false);
    for (Entry &entry : records[1].log)
        if (entry.what == What::COMPLETED && post(entry.index).endpoint == 1)
            entry.evd = 1;
    expect_kept();
}

TEST_F(Effect, of_no_cause_may_be_dequeued_first) {
    const int first = receive(1, 0), second = receive(1, 1), one = send(0, 0), two = send(0, 1);
    for (const int each : {first, second, one, two})
        posted(each);
    completed(one);
    completed(two);
    completed(second);
    completed(first);
    finish();
    expect_kept();
}

// A write that its target must refuse, and a write and a message behind it.
class Refusal : public History {
  protected:
    void SetUp() override {
        History::SetUp();
        taken = receive(1);
        refused = write(0, buffer(0, 5), buffer(1, 6));
        target = buffer(1, 8);
        behind = write(0, buffer(0, 7), target);
        sent = send(0);
        post(refused).refused = true;
        for (const int each : {taken, refused, behind, sent})
            posted(each);
    }
    void flush(bool received = false) {
        completed(refused, Status::REMOTE_ACCESS);
        completed(behind, Status::FLUSHED);
        completed(sent, Status::FLUSHED);
        completed(taken, received ? Status::SUCCESS : Status::FLUSHED);
        ended(0, What::BROKEN);
        ended(1, What::BROKEN);
        finish({0});
    }
    int taken = -1, refused = -1, behind = -1, sent = -1, target = -1;
};

TEST_F(Refusal, that_flushes_all_behind_it_keeps_the_rules) {
    flush();
    in_the_end(target, {8, 8});
    expect_kept();
}

TEST_F(Refusal, behind_which_a_write_is_in_place_breaks_behind_refusal) {
    flush();
    in_the_end(target, {8, 7});
    expect_broken(Rule::BEHIND_REFUSAL);
}

TEST_F(Refusal, behind_which_a_message_arrives_breaks_behind_refusal) {
    flush(true);
    expect_broken(Rule::BEHIND_REFUSAL);
}

TEST_F(Refusal, that_does_not_come_breaks_refused) {
    for (const int each : {refused, behind, taken, sent})
        completed(each);
    finish();
    expect_broken(Rule::REFUSED);
}

// The program knows that the region is gone when it posts.
TEST_F(History, that_writes_to_a_freed_region_breaks_refused) {
    const int target = buffer(1, 6);
    program.buffers.back().doomed = true;
    const int late = write(0, buffer(0, 5), target);
    did(1, What::FREES_LMR);
    did(1, What::NOTIFIES);
    did(0, What::AWAITS_NOTICE);
    posted(late);
    completed(late);
    finish();
    expect_broken(Rule::REFUSED);
}

// A write to a region that its owner frees, before or after it is posted.
class WriteToFreed : public History {
  protected:
    void SetUp() override {
        History::SetUp();
        target = buffer(1, 6);
        program.buffers.back().doomed = true;
        late = write(0, buffer(0, 5), target);
    }
    void refuse_it() {
        completed(late, Status::REMOTE_ACCESS);
        ended(0, What::BROKEN);
        ended(1, What::BROKEN);
        finish({0});
    }
    int target = -1;
    int late = -1;
};

TEST_F(WriteToFreed, which_the_free_overtakes_may_have_come_so_far) {
    posted(late);
    did(1, What::FREES_LMR);
    refuse_it();
    in_the_end(target, {5, 6});
    expect_kept();
}

TEST_F(WriteToFreed, which_comes_too_late_leaves_no_byte) {
    did(1, What::FREES_LMR);
    did(1, What::NOTIFIES);
    did(0, What::AWAITS_NOTICE);
    posted(late);
    refuse_it();
    in_the_end(target, {5, 6});
    expect_broken(Rule::BEHIND_REFUSAL);
}

// A write, then a message that says so.
class Written : public History {
  protected:
    void run(std::vector<Token> seen) {
        const int target = buffer(1, 6), put = write(0, buffer(0, 5), target), taken = receive(1),
                  sent = send(0);
        for (const int each : {put, taken, sent})
            posted(each);
        completed(taken, Status::SUCCESS, {{target, std::move(seen)}});
        completed(put);
        completed(sent);
        finish();
        in_the_end(target, {5, 5});
    }
};

TEST_F(Written, data_in_place_keeps_the_rules) {
    run({5, 5});
    expect_kept();
}

TEST_F(Written, data_behind_the_message_breaks_visible) {
    run({5, 6});
    expect_broken(Rule::VISIBLE);
}

TEST_F(Written, data_that_is_lost_breaks_visible) {
    run({5, 5});
    records[1].end.back().tokens = {5, 6};
    expect_broken(Rule::VISIBLE);
}

TEST_F(Written, data_that_the_next_message_does_not_cover_may_come_late) {
    const int target = buffer(1, 6), taken = receive(1), sent = send(0),
              put = write(0, buffer(0, 5), target);
    for (const int each : {taken, sent, put})
        posted(each);
    completed(taken, Status::SUCCESS, {{target, {5, 6}}});
    completed(sent);
    completed(put);
    finish();
    expect_kept();
}

// A write, a read of the same place, and a write behind it that is fenced or not.
class Read : public History {
  protected:
    void run(bool fenced, std::vector<Token> brought) {
        const int target = buffer(1, 6), into = buffer(0, untouched);
        const int before = write(0, buffer(0, 5), target), fetch = read(0, into, target),
                  behind = write(0, buffer(0, 7), target);
        post(behind).fenced = fenced;
        for (const int each : {before, fetch, behind})
            posted(each);
        completed(before);
        completed(fetch, Status::SUCCESS, {{into, std::move(brought)}});
        completed(behind);
        finish();
    }
};

TEST_F(Read, of_what_was_written_before_keeps_the_rules) {
    run(true, {5, 5});
    expect_kept();
}

TEST_F(Read, may_bring_what_is_written_behind_it_without_a_fence) {
    run(false, {7, 5});
    expect_kept();
}

TEST_F(Read, that_brings_what_is_written_behind_a_fence_breaks_fence) {
    run(true, {7, 5});
    expect_broken(Rule::FENCE);
}

TEST_F(Read, that_misses_a_write_before_it_breaks_read) {
    run(true, {6, 5});
    expect_broken(Rule::READ);
}

// A message made of what a read brings.
class Relay : public History {
  protected:
    void run(bool fenced, std::vector<Token> received) {
        const int into = buffer(0, untouched), arrives = buffer(1, untouched);
        const int taken = receive(1, 0, arrives), fetch = read(0, into, buffer(1, 6)),
                  sent = send(0, 0, into);
        post(sent).fenced = fenced;
        for (const int each : {taken, fetch, sent})
            posted(each);
        completed(taken, Status::SUCCESS, {{arrives, std::move(received)}});
        completed(fetch);
        completed(sent);
        finish();
    }
};

TEST_F(Relay, behind_a_fence_sends_what_was_read) {
    run(true, {6, 6});
    expect_kept();
}

TEST_F(Relay, without_a_fence_may_send_either) {
    run(false, {untouched, 6});
    expect_kept();
}

TEST_F(Relay, behind_a_fence_that_sends_what_was_there_before_breaks_fence) {
    run(true, {untouched, 6});
    expect_broken(Rule::FENCE);
}

// Where ends are vague, the peer's error may flush what it would refuse.
TEST_F(Message, that_fails_otherwise_passes_where_ends_are_vague) {
    exchange();
    did(0, What::ENDS);
    completed(taken, Status::FLUSHED);
    completed(sent, Status::OTHER);
    ended(0, What::DISCONNECTED);
    ended(1, What::BROKEN);
    finish({0});
    expect_broken(Rule::STATUS);
    EXPECT_FALSE(check(program, records, {.vague_ends = true}));
}

// Random programs on a network that makes no mistakes, and on networks that do.
constexpr int programs = 300;

TEST(OrderSimulator, random_programs_keep_the_rules) {
    std::uint64_t seed = 1;
    for (int i = 0; i < programs; i++, seed = next_seed(seed)) {
        const Program program = generate(seed);
        const auto records = Simulator(program).run();
        const auto found = check(program, records);
        ASSERT_FALSE(found) << "seed " << seed << ": " << name_of(found->rule) << ": "
                            << found->why;
    }
}

// Whether one of the random programs shows that; a mistake may also keep a program from ending.
bool breaks(Mistake mistake, Rule rule) {
    std::uint64_t seed = 1;
    for (int i = 0; i < programs; i++, seed = next_seed(seed)) {
        const Program program = generate(seed);
        try {
            const auto found = check(program, Simulator(program, mistake).run());
            if (found && found->rule == rule)
                return true;
        } catch (const std::runtime_error &) {
        }
    }
    return false;
}

struct Finding {
    Mistake mistake;
    Rule rule;
};

class OrderMistake : public testing::TestWithParam<Finding> {};

TEST_P(OrderMistake, is_found_by_random_programs) {
    const auto [mistake, rule] = GetParam();
    EXPECT_TRUE(breaks(mistake, rule)) << name_of(rule);
}

constexpr Finding findings[] = {
    {Mistake::LOSES_AN_EVENT, Rule::ONE_EVENT},
    {Mistake::REPEATS_AN_EVENT, Rule::ONE_EVENT},
    {Mistake::REPORTS_SUPPRESSED, Rule::ONE_EVENT},
    {Mistake::SWAPS_EVENTS, Rule::POSTING_ORDER},
    {Mistake::GOES_ON_BEHIND_ERROR, Rule::FLUSH},
    {Mistake::LEAVES_REFUSALS_OUT, Rule::REFUSED},
    {Mistake::FLUSHES_WITHOUT_CAUSE, Rule::NO_CAUSE},
    {Mistake::WRITES_TOO_FAR, Rule::CANARY},
    {Mistake::LOSES_WRITES, Rule::VISIBLE},
    {Mistake::SHIFTS_MESSAGES, Rule::MATCHING},
    {Mistake::SWAPS_RECEIVES, Rule::POSTING_ORDER},
    {Mistake::READS_LATE, Rule::FENCE},
    {Mistake::ENDS_TWICE, Rule::ONE_END},
    {Mistake::BREAKS_INSTEAD_OF_DISCONNECTING, Rule::ONE_END},
    {Mistake::REJECTS, Rule::REJECTED},
    {Mistake::SWAPS_ENDPOINTS, Rule::EFFECT_AFTER_CAUSE},
    {Mistake::GOES_ON_BEHIND_ERROR, Rule::BEHIND_REFUSAL},
    {Mistake::ENDS_EARLY, Rule::END_LAST},
    {Mistake::READS_LATE, Rule::READ},
    {Mistake::REPORTS_ANOTHER_LENGTH, Rule::STATUS},
};

INSTANTIATE_TEST_SUITE_P(All, OrderMistake, testing::ValuesIn(findings), [](const auto &each) {
    std::string name = "breaks_" + std::string(name_of(each.param.rule)) + '_';
    std::ranges::replace(name, '-', '_');
    return name + std::to_string(each.index);
});

TEST(OrderPacking, records_survive) {
    const Program program = generate(7);
    for (const Record &record : Simulator(program).run()) {
        const auto packed = pack(record);
        EXPECT_EQ(pack(unpack(packed)), packed);
        const auto shorter = std::span(packed).first(packed.size() / 2);
        EXPECT_THROW(unpack(shorter), std::runtime_error);
    }
}

TEST(OrderGenerator, a_seed_stands_for_one_program) {
    const Program one = generate(42), other = generate(42);
    ASSERT_EQ(one.steps.size(), other.steps.size());
    ASSERT_EQ(one.posts.size(), other.posts.size());
    for (std::size_t i = 0; i < one.posts.size(); i++)
        EXPECT_EQ(describe(one, static_cast<int>(i)), describe(other, static_cast<int>(i)));
}

} // namespace
