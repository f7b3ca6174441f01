// SPDX-License-Identifier: GPL-2.0
/* The state of a link: single rules, and all short sequences of events. */

#include <kunit/test.h>

#include "../../kernel/agent/link.c"

#define START		(ULONG_MAX - 500)	/* jiffies wrap meanwhile */
#define OURS_MS		1000U
#define INTERVAL	msecs_to_jiffies(OURS_MS)
#define NODE		7U
#define OWN		0x1111ULL
#define PEER		0x2222ULL
#define REBOOTED	0x3333ULL

static struct rsm_link_output step(struct rsm_link_machine *link, unsigned long now,
				   enum rsm_link_event event)
{
	struct rsm_link_input input = { .event = event, .heartbeat_ms = OURS_MS, .why = "test" };

	return rsm_link_step(link, now, &input);
}

static struct rsm_link_output begin(struct rsm_link_machine *link, u64 expected)
{
	struct rsm_link_peer peer = { .node = NODE, .incarnation = expected, .own = OWN };
	struct rsm_link_input input = {
		.event = RSM_ON_START, .heartbeat_ms = OURS_MS, .peer = &peer,
	};

	return rsm_link_step(link, START, &input);
}

static struct rsm_link_output receive(struct rsm_link_machine *link, unsigned long now,
				      const struct rsm_msg_hello *message)
{
	struct rsm_link_input input = {
		.event = RSM_ON_MESSAGE, .heartbeat_ms = OURS_MS, .message = &message->header,
	};

	return rsm_link_step(link, now, &input);
}

static struct rsm_msg_hello message(enum rsm_message_type type, u64 from, u64 to)
{
	return (struct rsm_msg_hello) {
		.header.version = cpu_to_le16(RSM_PROTOCOL_VERSION),
		.header.type = cpu_to_le16(type),
		.header.len = cpu_to_le32(sizeof(struct rsm_msg_hello)),
		.header.from = cpu_to_le64(from),
		.header.to = cpu_to_le64(to),
		.node = cpu_to_le32(NODE),
		.interval_ms = cpu_to_le32(OURS_MS),
	};
}

/* A link that is active since START. */
static struct rsm_link_machine active(void)
{
	struct rsm_msg_hello hello = message(RSM_MSG_HELLO, PEER, 0);
	struct rsm_link_machine link = {};

	begin(&link, 0);
	receive(&link, START, &hello);
	step(&link, START, RSM_ON_GREETED);
	return link;
}

static void a_start_greets_and_sets_the_timer(struct kunit *test)
{
	struct rsm_link_machine link = {};
	struct rsm_link_output output = begin(&link, 0);

	KUNIT_EXPECT_TRUE(test, output.taken);
	KUNIT_EXPECT_EQ(test, output.send, RSM_MSG_HELLO);
	KUNIT_EXPECT_TRUE(test, output.arm);
	KUNIT_EXPECT_EQ(test, output.expires, START + INTERVAL / 2);
	KUNIT_EXPECT_EQ(test, link.state, RSM_LINK_GREETING);
}

static void a_link_that_is_not_down_is_not_started(struct kunit *test)
{
	struct rsm_link_machine link = active();
	struct rsm_link_machine before = link;
	struct rsm_link_output output = begin(&link, REBOOTED);

	KUNIT_EXPECT_FALSE(test, output.taken);
	KUNIT_EXPECT_EQ(test, output.send, 0);
	KUNIT_EXPECT_EQ(test, memcmp(&link, &before, sizeof(link)), 0);
}

static void both_greetings_make_it_active(struct kunit *test)
{
	enum rsm_message_type types[] = { RSM_MSG_HELLO, RSM_MSG_WELCOME };

	for (int i = 0; i < ARRAY_SIZE(types); i++) {
		struct rsm_msg_hello hello = message(types[i], PEER, OWN);
		struct rsm_link_machine link = {};

		begin(&link, 0);
		KUNIT_EXPECT_EQ(test, receive(&link, START, &hello).verdict, RSM_MESSAGE_QUEUE);
		KUNIT_EXPECT_EQ(test, link.state, RSM_LINK_GREETING);
		KUNIT_EXPECT_TRUE(test, step(&link, START, RSM_ON_GREETED).taken);
		KUNIT_EXPECT_EQ(test, link.state, RSM_LINK_ACTIVE);
		KUNIT_EXPECT_FALSE(test, step(&link, START, RSM_ON_GREETED).taken);
	}
}

/* The messages of a peer that has greeted may be under way: only a greeting without answer ends. */
static void a_greeting_stops_until_the_peer_has_greeted(struct kunit *test)
{
	struct rsm_msg_hello hello = message(RSM_MSG_HELLO, PEER, 0);
	struct rsm_link_machine link = {};

	KUNIT_EXPECT_FALSE(test, step(&link, START, RSM_ON_STOP_GREETING).work);
	begin(&link, 0);
	KUNIT_EXPECT_TRUE(test, step(&link, START, RSM_ON_STOP_GREETING).work);
	KUNIT_EXPECT_EQ(test, link.state, RSM_LINK_ENDING);
	KUNIT_EXPECT_FALSE(test, step(&link, START, RSM_ON_STOP_GREETING).work);
	step(&link, START, RSM_ON_CLEARED);

	begin(&link, 0);
	receive(&link, START, &hello);
	KUNIT_EXPECT_FALSE(test, step(&link, START, RSM_ON_STOP_GREETING).work);
	KUNIT_EXPECT_EQ(test, link.state, RSM_LINK_GREETING);
	step(&link, START, RSM_ON_GREETED);
	KUNIT_EXPECT_FALSE(test, step(&link, START, RSM_ON_STOP_GREETING).work);
	KUNIT_EXPECT_EQ(test, link.state, RSM_LINK_ACTIVE);
}

/* WELCOME answers our HELLO, so it names our incarnation; HELLO cannot know it. */
static void a_welcome_to_another_incarnation_is_foreign(struct kunit *test)
{
	struct rsm_msg_hello hello = message(RSM_MSG_WELCOME, PEER, OWN + 1);
	struct rsm_link_machine link = {};

	begin(&link, 0);
	KUNIT_EXPECT_EQ(test, receive(&link, START, &hello).verdict, RSM_MESSAGE_FOREIGN);
	KUNIT_EXPECT_EQ(test, link.peer, 0);
}

static void a_greeting_of_a_stranger_is_used_up(struct kunit *test)
{
	struct rsm_msg_hello hello = message(RSM_MSG_HELLO, REBOOTED, 0);
	struct rsm_link_machine link = {};

	begin(&link, PEER);
	KUNIT_EXPECT_EQ(test, receive(&link, START, &hello).verdict, RSM_MESSAGE_USED);
	KUNIT_EXPECT_EQ(test, link.peer, 0);
}

static void messages_before_the_greeting_are_foreign(struct kunit *test)
{
	struct rsm_msg_hello bell = message(RSM_MSG_BELL, PEER, OWN);
	struct rsm_link_machine link = {};

	begin(&link, PEER);
	KUNIT_EXPECT_EQ(test, receive(&link, START, &bell).verdict, RSM_MESSAGE_FOREIGN);
	link = active();
	KUNIT_EXPECT_EQ(test, receive(&link, START, &bell).verdict, RSM_MESSAGE_DELIVER);
	bell.header.from = cpu_to_le64(REBOOTED);
	KUNIT_EXPECT_EQ(test, receive(&link, START, &bell).verdict, RSM_MESSAGE_FOREIGN);
}

static void a_foreign_message_is_no_sign_of_life(struct kunit *test)
{
	struct rsm_msg_hello beat = message(RSM_MSG_HEARTBEAT, REBOOTED, OWN);
	struct rsm_link_machine link = active();

	receive(&link, START + 10, &beat);
	KUNIT_EXPECT_EQ(test, link.silence.heard, START);
	beat.header.from = cpu_to_le64(PEER);
	KUNIT_EXPECT_EQ(test, receive(&link, START + 10, &beat).verdict, RSM_MESSAGE_USED);
	KUNIT_EXPECT_EQ(test, link.silence.heard, START + 10);
}

static void a_restarted_peer_ends_the_link(struct kunit *test)
{
	struct rsm_msg_hello hello = message(RSM_MSG_HELLO, REBOOTED, 0);
	struct rsm_link_machine link = active();
	struct rsm_link_output output = receive(&link, START, &hello);

	KUNIT_EXPECT_TRUE(test, output.work);
	KUNIT_EXPECT_EQ(test, output.verdict, RSM_MESSAGE_USED);
	KUNIT_EXPECT_EQ(test, link.state, RSM_LINK_ENDING);
	KUNIT_EXPECT_STREQ(test, link.why, "restarted");
}

static void another_version_is_remarked_once(struct kunit *test)
{
	struct rsm_msg_hello hello = message(RSM_MSG_HELLO, PEER, 0);
	struct rsm_link_machine link = {};

	hello.header.version = cpu_to_le16(RSM_PROTOCOL_VERSION + 1);
	begin(&link, 0);
	KUNIT_EXPECT_EQ(test, receive(&link, START, &hello).remark, RSM_REMARK_VERSION);
	KUNIT_EXPECT_EQ(test, receive(&link, START, &hello).remark, RSM_REMARK_NONE);
	KUNIT_EXPECT_TRUE(test, link.refused);
	KUNIT_EXPECT_EQ(test, link.state, RSM_LINK_GREETING);
}

/* The peer repeats its HELLO at its own interval, and is not dead meanwhile. */
static void an_interval_that_does_not_fit_is_refused(struct kunit *test)
{
	u32 theirs = (RSM_INTERVAL_FACTOR + 1) * OURS_MS;
	struct rsm_msg_hello hello = message(RSM_MSG_HELLO, PEER, 0);
	struct rsm_link_machine link = {};

	hello.interval_ms = cpu_to_le32(theirs);
	begin(&link, 0);
	KUNIT_EXPECT_EQ(test, receive(&link, START, &hello).remark, RSM_REMARK_INTERVAL);
	KUNIT_EXPECT_EQ(test, receive(&link, START, &hello).remark, RSM_REMARK_NONE);
	KUNIT_EXPECT_EQ(test, link.peer, 0);
	KUNIT_EXPECT_EQ(test, link.interval, msecs_to_jiffies(theirs));
}

/* The controller has read a longer interval than the peer greets with. */
static void the_timer_follows_an_interval_that_does_not_fit(struct kunit *test)
{
	u32 theirs = (RSM_INTERVAL_FACTOR + 1) * OURS_MS;
	struct rsm_msg_hello hello = message(RSM_MSG_HELLO, PEER, 0);
	struct rsm_link_peer peer = { .node = NODE, .own = OWN, .interval_ms = RSM_HEARTBEAT_MAX };
	struct rsm_link_input input = {
		.event = RSM_ON_START, .heartbeat_ms = OURS_MS, .peer = &peer,
	};
	struct rsm_link_machine link = {};
	struct rsm_link_output output;

	hello.interval_ms = cpu_to_le32(theirs);
	rsm_link_step(&link, START, &input);
	output = receive(&link, START, &hello);
	KUNIT_EXPECT_TRUE(test, output.arm);
	KUNIT_EXPECT_EQ(test, output.expires, START + msecs_to_jiffies(theirs) / 2);
}

/* A peer that greets again so answers nobody who does not fit: half of a link would be left. */
static void an_active_link_ends_when_the_interval_does_not_fit_any_more(struct kunit *test)
{
	struct rsm_msg_hello hello = message(RSM_MSG_HELLO, PEER, 0);
	struct rsm_link_machine link = active();

	hello.interval_ms = cpu_to_le32((RSM_INTERVAL_FACTOR + 1) * OURS_MS);
	KUNIT_EXPECT_TRUE(test, receive(&link, START, &hello).work);
	KUNIT_EXPECT_EQ(test, link.state, RSM_LINK_ENDING);
	KUNIT_EXPECT_STREQ(test, link.why, "its heartbeat_ms does not fit");
}

/* The link's work has not handled the first greeting yet when the second one comes. */
static void a_greeted_link_ends_when_the_interval_does_not_fit_any_more(struct kunit *test)
{
	struct rsm_msg_hello hello = message(RSM_MSG_HELLO, PEER, 0);
	struct rsm_link_machine link = {};

	begin(&link, 0);
	KUNIT_EXPECT_EQ(test, receive(&link, START, &hello).verdict, RSM_MESSAGE_QUEUE);
	hello.interval_ms = cpu_to_le32((RSM_INTERVAL_FACTOR + 1) * OURS_MS);
	KUNIT_EXPECT_TRUE(test, receive(&link, START, &hello).work);
	KUNIT_EXPECT_EQ(test, link.state, RSM_LINK_ENDING);
	KUNIT_EXPECT_FALSE(test, step(&link, START, RSM_ON_GREETED).taken);
}

/* Two intervals in turn make each look late, and a late look gives the peer its time again. */
static void a_peer_that_changes_its_interval_ends_the_link(struct kunit *test)
{
	enum rsm_message_type types[] = { RSM_MSG_HELLO, RSM_MSG_WELCOME };

	for (int i = 0; i < ARRAY_SIZE(types); i++) {
		struct rsm_msg_hello hello = message(types[i], PEER, OWN);
		struct rsm_link_machine link = active();

		KUNIT_EXPECT_EQ(test, receive(&link, START, &hello).verdict, RSM_MESSAGE_QUEUE);
		hello.interval_ms = cpu_to_le32(RSM_INTERVAL_FACTOR * OURS_MS);
		KUNIT_EXPECT_TRUE(test, receive(&link, START, &hello).work);
		KUNIT_EXPECT_EQ(test, link.interval, INTERVAL);
		KUNIT_EXPECT_EQ(test, link.state, RSM_LINK_ENDING);
		KUNIT_EXPECT_STREQ(test, link.why, "its heartbeat_ms has changed");
	}
}

/* Both of its intervals are shorter than ours, which counts. */
static void an_interval_that_does_not_count_may_change(struct kunit *test)
{
	struct rsm_msg_hello hello = message(RSM_MSG_WELCOME, PEER, OWN);
	struct rsm_link_machine link = active();

	hello.interval_ms = cpu_to_le32(OURS_MS / 2);
	KUNIT_EXPECT_EQ(test, receive(&link, START, &hello).verdict, RSM_MESSAGE_QUEUE);
	KUNIT_EXPECT_EQ(test, link.state, RSM_LINK_ACTIVE);
}

static void a_longer_interval_of_the_peer_is_used(struct kunit *test)
{
	struct rsm_msg_hello hello = message(RSM_MSG_HELLO, PEER, 0);
	struct rsm_link_machine link = {};

	hello.interval_ms = cpu_to_le32(2 * OURS_MS);
	begin(&link, 0);
	receive(&link, START, &hello);
	KUNIT_EXPECT_EQ(test, link.interval, msecs_to_jiffies(2 * OURS_MS));
}

/* Calls at each jiffy, and returns the first one at which the link ends. */
static unsigned long time_of_death(struct rsm_link_machine *link, unsigned long from)
{
	for (unsigned long now = from; now != from + 10 * INTERVAL; now++)
		if (step(link, now, RSM_ON_TICK).work)
			return now;
	return 0;
}

static void a_silent_peer_is_dead_after_two_intervals(struct kunit *test)
{
	struct rsm_link_machine link = active();

	KUNIT_EXPECT_EQ(test, time_of_death(&link, START), START + 2 * INTERVAL);
	KUNIT_EXPECT_STREQ(test, link.why, "heartbeat lost");
	memset(&link, 0, sizeof(link));
	begin(&link, 0);
	KUNIT_EXPECT_EQ(test, time_of_death(&link, START), START + 2 * INTERVAL);
	KUNIT_EXPECT_STREQ(test, link.why, "no answer");
}

static void heartbeats_go_out_twice_per_interval(struct kunit *test)
{
	struct rsm_link_machine link = active();
	unsigned int beats = 0;

	for (unsigned long now = START; now != START + 10 * INTERVAL; now++) {
		struct rsm_msg_hello beat = message(RSM_MSG_HEARTBEAT, PEER, OWN);

		receive(&link, now, &beat);
		beats += step(&link, now, RSM_ON_TICK).send == RSM_MSG_HEARTBEAT;
	}
	KUNIT_EXPECT_EQ(test, beats, 19);
}

/* The peer that hears of it may be faster with the end of the connection. */
static void a_link_that_is_left_has_that_reason(struct kunit *test)
{
	struct rsm_link_input leave = { .event = RSM_ON_LEAVE, .why = "leaving" };
	struct rsm_link_machine link = active();

	KUNIT_EXPECT_EQ(test, rsm_link_step(&link, START, &leave).send, RSM_MSG_BYE);
	KUNIT_EXPECT_EQ(test, link.state, RSM_LINK_ACTIVE);
	step(&link, START, RSM_ON_FAIL);
	KUNIT_EXPECT_STREQ(test, link.why, "leaving");
	KUNIT_EXPECT_EQ(test, rsm_link_step(&link, START, &leave).send, 0);
	step(&link, START, RSM_ON_CLEARED);
	begin(&link, 0);
	KUNIT_EXPECT_EQ(test, rsm_link_step(&link, START, &leave).send, 0);
	step(&link, START, RSM_ON_FAIL);
	KUNIT_EXPECT_STREQ(test, link.why, "test");
}

static void the_configuration_of_a_node_is_kept(struct kunit *test)
{
	struct rsm_link_machine link = {};
	struct rsm_link_input expect = { .event = RSM_ON_EXPECT, .node = NODE };

	rsm_link_step(&link, START, &expect);
	begin(&link, 0);
	step(&link, START, RSM_ON_FAIL);
	step(&link, START, RSM_ON_CLEARED);
	KUNIT_EXPECT_TRUE(test, link.expected_node);
	KUNIT_EXPECT_TRUE(test, link.known);
	KUNIT_EXPECT_STREQ(test, link.why, "test");
	step(&link, START, RSM_ON_FORGET);
	KUNIT_EXPECT_FALSE(test, link.expected_node);
	KUNIT_EXPECT_FALSE(test, link.known);
	KUNIT_EXPECT_NULL(test, link.why);
}

/* Each sequence of four of these events, each at once and an interval and a bit later. */
static const struct {
	enum rsm_link_event event;
	enum rsm_message_type type;
	u64 from;
} happenings[] = {
	{ RSM_ON_START }, { RSM_ON_TICK }, { RSM_ON_GREETED }, { RSM_ON_FAIL },
	{ RSM_ON_CLEARED }, { RSM_ON_MESSAGE, RSM_MSG_HELLO, PEER },
	{ RSM_ON_MESSAGE, RSM_MSG_WELCOME, PEER }, { RSM_ON_MESSAGE, RSM_MSG_HELLO, REBOOTED },
	{ RSM_ON_MESSAGE, RSM_MSG_BELL, PEER }, { RSM_ON_MESSAGE, RSM_MSG_BYE, PEER },
	{ RSM_ON_STOP_GREETING }, { RSM_ON_LEAVE },
};

#define HAPPENINGS	(2 * ARRAY_SIZE(happenings))
#define DEPTH		4

static struct rsm_link_output happen(struct rsm_link_machine *link, unsigned long now, int which)
{
	struct rsm_msg_hello hello = message(happenings[which].type, happenings[which].from, OWN);
	struct rsm_link_peer peer = { .node = NODE, .own = OWN };
	struct rsm_link_input input = {
		.event = happenings[which].event, .heartbeat_ms = OURS_MS, .why = "test",
		.peer = &peer, .message = &hello.header,
	};

	return rsm_link_step(link, now, &input);
}

/* Which states may follow a state, and by which event? */
static bool may_follow(enum rsm_link_state old, enum rsm_link_state new, enum rsm_link_event event)
{
	if (old == new)
		return true;
	switch (new) {
	case RSM_LINK_GREETING:
		return old == RSM_LINK_DOWN && event == RSM_ON_START;
	case RSM_LINK_ACTIVE:
		return old == RSM_LINK_GREETING && event == RSM_ON_GREETED;
	case RSM_LINK_ENDING:
		return old != RSM_LINK_DOWN && event != RSM_ON_START && event != RSM_ON_LEAVE &&
		       (event != RSM_ON_STOP_GREETING || old == RSM_LINK_GREETING);
	case RSM_LINK_DOWN:
		return event == RSM_ON_CLEARED;
	}
	return false;
}

static void check_step(struct kunit *test, const struct rsm_link_machine *old,
		       const struct rsm_link_machine *new, enum rsm_link_event event,
		       const struct rsm_link_output *output)
{
	bool started = rsm_link_is_started(new);

	KUNIT_ASSERT_TRUE(test, may_follow(old->state, new->state, event));
	KUNIT_ASSERT_EQ(test, output->work,
			new->state == RSM_LINK_ENDING && old->state != RSM_LINK_ENDING);
	/* A started link has a timer: the timer is set at its start, and again when it expires. */
	if (event == RSM_ON_TICK || output->taken)
		KUNIT_ASSERT_EQ(test, output->arm, started);
	if (output->send == RSM_MSG_HELLO)
		KUNIT_ASSERT_EQ(test, new->state, RSM_LINK_GREETING);
	else if (output->send)
		KUNIT_ASSERT_EQ(test, new->state, RSM_LINK_ACTIVE);
	if (output->verdict == RSM_MESSAGE_DELIVER || output->verdict == RSM_MESSAGE_QUEUE)
		KUNIT_ASSERT_TRUE(test, started && new->peer);
	/* An incarnation is learned once: another one ends the link. */
	if (old->peer && new->state != RSM_LINK_DOWN)
		KUNIT_ASSERT_EQ(test, new->peer, old->peer);
}

static void explore(struct kunit *test, const struct rsm_link_machine *link, unsigned long now,
		    int depth)
{
	for (int i = 0; i < HAPPENINGS; i++) {
		int which = i % ARRAY_SIZE(happenings);
		unsigned long then = now + (i < ARRAY_SIZE(happenings) ? 0 : INTERVAL + 1);
		struct rsm_link_machine once = *link, again = *link;
		struct rsm_link_output output = happen(&once, then, which);

		if (link->state != RSM_LINK_ENDING &&
		    happenings[which].event == RSM_ON_CLEARED)
			continue;
		happen(&again, then, which);
		KUNIT_ASSERT_EQ(test, memcmp(&once, &again, sizeof(once)), 0);
		check_step(test, link, &once, happenings[which].event, &output);
		if (depth)
			explore(test, &once, then, depth - 1);
	}
}

static void all_short_sequences(struct kunit *test)
{
	struct rsm_link_machine link = {}, greeted = active();

	explore(test, &link, START, DEPTH - 1);
	explore(test, &greeted, START, DEPTH - 1);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(a_start_greets_and_sets_the_timer),
	KUNIT_CASE(a_link_that_is_not_down_is_not_started),
	KUNIT_CASE(both_greetings_make_it_active),
	KUNIT_CASE(a_greeting_stops_until_the_peer_has_greeted),
	KUNIT_CASE(a_welcome_to_another_incarnation_is_foreign),
	KUNIT_CASE(a_greeting_of_a_stranger_is_used_up),
	KUNIT_CASE(messages_before_the_greeting_are_foreign),
	KUNIT_CASE(a_foreign_message_is_no_sign_of_life),
	KUNIT_CASE(a_restarted_peer_ends_the_link),
	KUNIT_CASE(another_version_is_remarked_once),
	KUNIT_CASE(an_interval_that_does_not_fit_is_refused),
	KUNIT_CASE(the_timer_follows_an_interval_that_does_not_fit),
	KUNIT_CASE(an_active_link_ends_when_the_interval_does_not_fit_any_more),
	KUNIT_CASE(a_greeted_link_ends_when_the_interval_does_not_fit_any_more),
	KUNIT_CASE(a_peer_that_changes_its_interval_ends_the_link),
	KUNIT_CASE(an_interval_that_does_not_count_may_change),
	KUNIT_CASE(a_longer_interval_of_the_peer_is_used),
	KUNIT_CASE(a_silent_peer_is_dead_after_two_intervals),
	KUNIT_CASE(heartbeats_go_out_twice_per_interval),
	KUNIT_CASE(a_link_that_is_left_has_that_reason),
	KUNIT_CASE(the_configuration_of_a_node_is_kept),
	KUNIT_CASE(all_short_sequences),
	{}
};

static struct kunit_suite suite = {
	.name = "rsm_link",
	.test_cases = cases,
};

kunit_test_suite(suite);
