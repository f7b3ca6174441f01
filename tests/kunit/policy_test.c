// SPDX-License-Identifier: GPL-2.0
/* Verdicts about the peer of a link. */

#include <kunit/test.h>

#include "../../kernel/agent/policy.c"

#define START		(ULONG_MAX - 50)	/* jiffies wrap meanwhile */
#define INTERVAL	50UL
#define PATIENCE	(2 * INTERVAL)

static const char *objection_at(struct rsm_requests requests, unsigned long after)
{
	requests.now = START + after;
	requests.interval = INTERVAL;
	requests.silence.looked = requests.now;
	requests.silence.late = START - 1;
	return rsm_requests_objection(&requests);
}

static void nothing_is_asked(struct kunit *test)
{
	struct rsm_requests none = {
		.drained = true, .blocked = true, .blocked_wait = { START, START },
	};

	KUNIT_EXPECT_NULL(test, objection_at(none, 1000 * PATIENCE));
}

static void an_answer_is_missed_after_one_patience(struct kunit *test)
{
	struct rsm_requests asked = {
		.drained = true, .unanswered = true, .unanswered_since = START,
	};

	KUNIT_EXPECT_NULL(test, objection_at(asked, PATIENCE - 1));
	KUNIT_EXPECT_STREQ(test, "does not answer", objection_at(asked, PATIENCE));
}

/* Its answer may be among what this node has not read; a flood buys some time only. */
static void what_has_arrived_is_read_first(struct kunit *test)
{
	struct rsm_requests asked = { .unanswered = true, .unanswered_since = START };

	KUNIT_EXPECT_NULL(test, objection_at(asked, BACKLOG * PATIENCE - 1));
	KUNIT_EXPECT_STREQ(test, "does not answer", objection_at(asked, BACKLOG * PATIENCE));
}

static void room_is_missed_after_one_patience(struct kunit *test)
{
	struct rsm_requests full = {
		.drained = true, .unsent = true, .unsent_since = START,
		.blocked = true, .blocked_wait = { START + 10, START + 10 },
	};

	KUNIT_EXPECT_NULL(test, objection_at(full, PATIENCE + 9));
	KUNIT_EXPECT_STREQ(test, "takes no messages", objection_at(full, PATIENCE + 10));
}

/* A way that is full again has been emptied meanwhile, if so many messages have passed. */
static void room_that_others_have_had_is_not_missed(struct kunit *test)
{
	struct rsm_room_wait wait;

	rsm_room_wait_begin(&wait, START, U32_MAX - 3);
	rsm_room_wait_look(&wait, START + PATIENCE, RSM_LINK_ROOM - 5);
	KUNIT_EXPECT_EQ(test, wait.since, START);
	rsm_room_wait_look(&wait, START + PATIENCE, RSM_LINK_ROOM - 4);
	KUNIT_EXPECT_EQ(test, wait.since, START + PATIENCE);
	rsm_room_wait_look(&wait, START + 2 * PATIENCE, RSM_LINK_ROOM);
	KUNIT_EXPECT_EQ(test, wait.since, START + PATIENCE);
	KUNIT_EXPECT_EQ(test, wait.first, START);
}

/* A message that this node does not even try to send is not the peer's fault, except for ever. */
static void room_that_was_not_looked_for_is_not_missed(struct kunit *test)
{
	struct rsm_requests requests = { .drained = true, .news = true, .blocked = true };
	struct rsm_room_wait *wait = &requests.blocked_wait;

	rsm_room_wait_begin(wait, START, 0);
	rsm_room_wait_postpone(wait, START + PATIENCE);
	KUNIT_EXPECT_NULL(test, objection_at(requests, 2 * PATIENCE - 1));
	KUNIT_EXPECT_STREQ(test, "takes no messages", objection_at(requests, 2 * PATIENCE));
	rsm_room_wait_postpone(wait, START + BACKLOG * PATIENCE - 1);
	KUNIT_EXPECT_NULL(test, objection_at(requests, BACKLOG * PATIENCE - 1));
	KUNIT_EXPECT_STREQ(test, "takes no messages", objection_at(requests, BACKLOG * PATIENCE));
}

/* Such a peer could let its own questions be answered for ever, and nothing else find room. */
static void room_that_others_always_have_is_missed_in_the_end(struct kunit *test)
{
	struct rsm_requests full = {
		.drained = true, .unsent = true, .unsent_since = START + BACKLOG * PATIENCE,
		.blocked = true, .blocked_wait = { START, START + BACKLOG * PATIENCE - INTERVAL },
	};

	KUNIT_EXPECT_NULL(test, objection_at(full, BACKLOG * PATIENCE - 1));
	KUNIT_EXPECT_STREQ(test, "takes no messages", objection_at(full, BACKLOG * PATIENCE));
}

/* Each answer comes just in time, so that others wait for their turn. */
static void many_requests_take_some_patiences(struct kunit *test)
{
	struct rsm_requests slow = {
		.drained = true, .unsent = true, .unsent_since = START,
		.unanswered = true, .unanswered_since = START + (BACKLOG - 1) * PATIENCE + 1,
	};

	KUNIT_EXPECT_NULL(test, objection_at(slow, BACKLOG * PATIENCE - 1));
	KUNIT_EXPECT_STREQ(test, "answers too slowly", objection_at(slow, BACKLOG * PATIENCE));
}

/* Its own node stood still: an answer that is overdue is not missed until the peer had its time. */
static void nothing_is_missed_after_a_standstill(struct kunit *test)
{
	struct rsm_requests requests = {
		.now = START + 5000, .interval = INTERVAL, .drained = true,
		.unanswered = true, .unanswered_since = START,
		.unsent = true, .unsent_since = START,
		.blocked = true, .blocked_wait = { START, START },
		.silence = { .looked = START },
	};

	KUNIT_EXPECT_NULL(test, rsm_requests_objection(&requests));
	requests.silence.looked = START + 5000;
	requests.silence.late = START + 5000;
	KUNIT_EXPECT_NULL(test, rsm_requests_objection(&requests));
	requests.now += PATIENCE;
	requests.silence.looked = requests.now;
	KUNIT_EXPECT_STREQ(test, "does not answer", rsm_requests_objection(&requests));
}

static enum rsm_greeting greeting(u64 expected, u64 known, u32 node, u64 from, u16 version)
{
	struct rsm_link_machine machine = { .node = 7, .expected = expected, .peer = known };
	struct rsm_msg_hello hello = {
		.header.version = cpu_to_le16(version),
		.header.from = cpu_to_le64(from),
		.node = cpu_to_le32(node),
	};

	return rsm_greeting_classify(&machine, &hello);
}

static void greetings(struct kunit *test)
{
	u16 version = RSM_PROTOCOL_VERSION;

	KUNIT_EXPECT_EQ(test, RSM_GREETING_PEER, greeting(0, 0, 7, 5, version));
	KUNIT_EXPECT_EQ(test, RSM_GREETING_PEER, greeting(5, 5, 7, 5, version));
	KUNIT_EXPECT_EQ(test, RSM_GREETING_STRANGER, greeting(0, 0, 7, 0, version));
	KUNIT_EXPECT_EQ(test, RSM_GREETING_STRANGER, greeting(0, 0, 8, 5, version));
	KUNIT_EXPECT_EQ(test, RSM_GREETING_STRANGER, greeting(4, 0, 7, 5, version));
	KUNIT_EXPECT_EQ(test, RSM_GREETING_RESTARTED, greeting(0, 4, 7, 5, version));
	KUNIT_EXPECT_EQ(test, RSM_GREETING_RESTARTED, greeting(0, 4, 7, 5, version + 1));
	KUNIT_EXPECT_EQ(test, RSM_GREETING_OTHER_VERSION, greeting(0, 0, 7, 5, version + 1));
}

static void bells(struct kunit *test)
{
	struct rsm_bells bells = {};

	rsm_bells_add(&bells, RSM_SIGPOST_NO_ACCUMULATE);
	rsm_bells_add(&bells, RSM_SIGPOST_NO_ACCUMULATE);
	KUNIT_EXPECT_TRUE(test, bells.once);
	KUNIT_EXPECT_EQ(test, 0, bells.count);
	rsm_bells_add(&bells, 0);
	rsm_bells_add(&bells, RSM_SIGPOST_NO_ACCUMULATE);
	KUNIT_EXPECT_EQ(test, 1, bells.count);

	bells = (struct rsm_bells) { .count = U32_MAX - 1 };
	rsm_bells_add(&bells, 0);
	rsm_bells_add(&bells, 0);
	rsm_bells_add(&bells, RSM_SIGPOST_NO_ACCUMULATE);
	KUNIT_EXPECT_EQ(test, U32_MAX, bells.count);
	KUNIT_EXPECT_FALSE(test, bells.once);
}

static struct kunit_case policy_cases[] = {
	KUNIT_CASE(nothing_is_asked),
	KUNIT_CASE(an_answer_is_missed_after_one_patience),
	KUNIT_CASE(what_has_arrived_is_read_first),
	KUNIT_CASE(room_is_missed_after_one_patience),
	KUNIT_CASE(room_that_others_have_had_is_not_missed),
	KUNIT_CASE(room_that_others_always_have_is_missed_in_the_end),
	KUNIT_CASE(room_that_was_not_looked_for_is_not_missed),
	KUNIT_CASE(many_requests_take_some_patiences),
	KUNIT_CASE(nothing_is_missed_after_a_standstill),
	KUNIT_CASE(greetings),
	KUNIT_CASE(bells),
	{}
};

static struct kunit_suite policy_suite = {
	.name = "rsm_policy",
	.test_cases = policy_cases,
};

kunit_test_suite(policy_suite);
