// SPDX-License-Identifier: GPL-2.0
/* The connection to a node over RDMA: single rules, and all short sequences of events. */

#include <kunit/test.h>

#include "../../kernel/rdma/reconnect.c"

#define START		(ULONG_MAX - 50)	/* jiffies wrap meanwhile */
#define LONGEST		msecs_to_jiffies(2 * RSM_RECONNECT_PAUSE_MAX)

static const char refused[] = "refused";
static const char no_route[] = "there is no route";

/**
 * struct node - a node, and the work that node.c queues for it
 * @machine: its connection
 * @now: the time
 * @queued: its work is queued
 * @at: the time for which it is queued
 * @trying: the work connects or accepts
 */
struct node {
	struct rsm_reconnect machine;
	unsigned long now;
	bool queued;
	unsigned long at;
	bool trying;
};

static struct node begin(bool connects)
{
	struct node node = { .now = START, .queued = true, .at = START };

	rsm_reconnect_init(&node.machine, START, connects);
	return node;
}

/* A step, and what node.c does about it. */
static struct rsm_reconnect_output tell(struct node *node, const struct rsm_reconnect_input *input)
{
	struct rsm_reconnect_output output = rsm_reconnect_step(&node->machine, node->now, input);

	if (output.wake && (!node->queued || !output.delay)) {
		node->queued = true;
		node->at = node->now + output.delay;
	}
	node->trying |= output.action != RSM_RECONNECT_NOTHING;
	return output;
}

static struct rsm_reconnect_output event(struct node *node, enum rsm_reconnect_event event)
{
	const struct rsm_reconnect_input input = { .event = event, .random = 77 };

	return tell(node, &input);
}

static enum rsm_reconnect_action look(struct node *node, bool requested)
{
	const struct rsm_reconnect_input input = {
		.event = RSM_RECONNECT_LOOK, .requested = requested,
	};

	node->queued = false;
	return tell(node, &input).action;
}

/* The work runs when it is due. */
static enum rsm_reconnect_action run(struct node *node)
{
	if (time_after(node->at, node->now))
		node->now = node->at;
	return look(node, false);
}

static struct rsm_reconnect_output fail(struct node *node, const char *why)
{
	const struct rsm_reconnect_input input = { .event = RSM_RECONNECT_FAILED, .why = why };

	node->trying = false;
	return tell(node, &input);
}

static void succeed(struct node *node)
{
	node->trying = false;
	event(node, RSM_RECONNECT_UP);
}

static void the_node_that_connects_connects(struct kunit *test)
{
	struct node node = begin(true);

	KUNIT_EXPECT_EQ(test, run(&node), RSM_RECONNECT_CONNECT);
	succeed(&node);
	KUNIT_EXPECT_EQ(test, run(&node), RSM_RECONNECT_NOTHING);
	event(&node, RSM_RECONNECT_DOWN);
	KUNIT_EXPECT_EQ(test, run(&node), RSM_RECONNECT_CONNECT);
}

static void the_other_one_accepts(struct kunit *test)
{
	struct node node = begin(false);

	KUNIT_EXPECT_EQ(test, run(&node), RSM_RECONNECT_NOTHING);
	KUNIT_EXPECT_EQ(test, look(&node, true), RSM_RECONNECT_ACCEPT);
	succeed(&node);
	KUNIT_EXPECT_FALSE(test, event(&node, RSM_RECONNECT_DOWN).wake);
	KUNIT_EXPECT_EQ(test, run(&node), RSM_RECONNECT_NOTHING);
}

/* The peer's end of the link may be gone already. */
static void a_request_is_looked_at_beside_a_link(struct kunit *test)
{
	struct node node = begin(false);

	look(&node, true);
	succeed(&node);
	KUNIT_EXPECT_EQ(test, look(&node, true), RSM_RECONNECT_ACCEPT);
}

static void the_pause_doubles_up_to_a_limit(struct kunit *test)
{
	struct node node = begin(true);
	unsigned int ms = RSM_RECONNECT_PAUSE_MIN;

	for (int i = 0; i < 10; i++) {
		KUNIT_EXPECT_EQ(test, run(&node), RSM_RECONNECT_CONNECT);
		KUNIT_EXPECT_EQ(test, fail(&node, refused).delay, msecs_to_jiffies(ms));
		ms = min(2 * ms, RSM_RECONNECT_PAUSE_MAX);
	}
}

static void the_pause_has_a_random_part(struct kunit *test)
{
	struct node node = begin(true);
	const struct rsm_reconnect_input input = {
		.event = RSM_RECONNECT_FAILED, .random = 3 * RSM_RECONNECT_PAUSE_MIN + 50,
	};

	run(&node);
	KUNIT_EXPECT_EQ(test, tell(&node, &input).delay,
			msecs_to_jiffies(RSM_RECONNECT_PAUSE_MIN + 50));
}

static void a_link_alone_does_not_shorten_the_pause(struct kunit *test)
{
	struct node node = begin(true);

	for (int i = 0; i < 3; i++) {
		run(&node);
		fail(&node, refused);
	}
	run(&node);
	succeed(&node);
	KUNIT_EXPECT_TRUE(test, rsm_reconnect_has_waited(&node.machine));
	event(&node, RSM_RECONNECT_DOWN);
	KUNIT_EXPECT_EQ(test, node.machine.pause_ms, 16 * RSM_RECONNECT_PAUSE_MIN);
}

static void an_active_link_shortens_the_pause(struct kunit *test)
{
	struct node node = begin(true);

	run(&node);
	fail(&node, refused);
	run(&node);
	succeed(&node);
	event(&node, RSM_RECONNECT_ACTIVE);
	KUNIT_EXPECT_FALSE(test, rsm_reconnect_has_waited(&node.machine));
	KUNIT_EXPECT_LT(test, event(&node, RSM_RECONNECT_DOWN).delay,
			msecs_to_jiffies(2 * RSM_RECONNECT_PAUSE_MIN));
}

/* The work runs for other reasons, too. It neither connects too early nor forgets to connect. */
static void an_early_look_waits_for_the_rest_of_the_pause(struct kunit *test)
{
	struct node node = begin(true);
	unsigned long due;

	run(&node);
	fail(&node, refused);
	due = node.at;
	node.now++;
	KUNIT_EXPECT_EQ(test, look(&node, false), RSM_RECONNECT_NOTHING);
	KUNIT_EXPECT_TRUE(test, node.queued);
	KUNIT_EXPECT_EQ(test, node.at, due);
	KUNIT_EXPECT_EQ(test, run(&node), RSM_RECONNECT_CONNECT);
}

static void hurry_ends_the_pause(struct kunit *test)
{
	struct node node = begin(true);

	for (int i = 0; i < 8; i++) {
		run(&node);
		fail(&node, refused);
	}
	event(&node, RSM_RECONNECT_HURRY);
	KUNIT_EXPECT_EQ(test, node.at, node.now);
	KUNIT_EXPECT_EQ(test, run(&node), RSM_RECONNECT_CONNECT);
	KUNIT_EXPECT_EQ(test, fail(&node, refused).delay,
			msecs_to_jiffies(RSM_RECONNECT_PAUSE_MIN));
}

static void nodes_that_leave_begin_nothing(struct kunit *test)
{
	struct node node = begin(true);

	run(&node);
	event(&node, RSM_RECONNECT_LEAVE);
	KUNIT_EXPECT_FALSE(test, fail(&node, refused).wake);
	KUNIT_EXPECT_EQ(test, look(&node, true), RSM_RECONNECT_NOTHING);
	KUNIT_EXPECT_FALSE(test, event(&node, RSM_RECONNECT_HURRY).wake);
	KUNIT_EXPECT_TRUE(test, event(&node, RSM_RECONNECT_BEGIN).wake);
	KUNIT_EXPECT_EQ(test, run(&node), RSM_RECONNECT_CONNECT);
}

static void a_reason_is_logged_once(struct kunit *test)
{
	struct node node = begin(true);

	run(&node);
	KUNIT_EXPECT_TRUE(test, fail(&node, refused).log);
	KUNIT_EXPECT_FALSE(test, fail(&node, refused).log);
	KUNIT_EXPECT_TRUE(test, fail(&node, no_route).log);
	run(&node);
	succeed(&node);
	event(&node, RSM_RECONNECT_DOWN);
	KUNIT_EXPECT_TRUE(test, fail(&node, no_route).log);
	event(&node, RSM_RECONNECT_LEAVE);
	KUNIT_EXPECT_FALSE(test, fail(&node, refused).log);
	event(&node, RSM_RECONNECT_BEGIN);
	KUNIT_EXPECT_TRUE(test, fail(&node, refused).log);
}

static void nodes_that_are_not_connected_have_a_complaint(struct kunit *test)
{
	struct node active = begin(true);
	struct node passive = begin(false);

	KUNIT_EXPECT_NULL(test, rsm_reconnect_complaint(&active.machine, NULL));
	KUNIT_EXPECT_NOT_NULL(test, rsm_reconnect_complaint(&passive.machine, NULL));
	fail(&active, refused);
	KUNIT_EXPECT_PTR_EQ(test, rsm_reconnect_complaint(&active.machine, NULL), &refused[0]);
	look(&passive, true);
	fail(&passive, refused);
	KUNIT_EXPECT_PTR_EQ(test, rsm_reconnect_complaint(&passive.machine, NULL), &refused[0]);
	run(&active);
	succeed(&active);
	KUNIT_EXPECT_NULL(test, rsm_reconnect_complaint(&active.machine, NULL));
}

static void a_failed_attempt_is_a_later_complaint_than_the_end_of_the_link(struct kunit *test)
{
	static const char end[] = "no heartbeat";
	struct node active = begin(true);
	struct node passive = begin(false);

	run(&active);
	succeed(&active);
	KUNIT_EXPECT_PTR_EQ(test, rsm_reconnect_complaint(&active.machine, end), &end[0]);
	event(&active, RSM_RECONNECT_DOWN);
	KUNIT_EXPECT_PTR_EQ(test, rsm_reconnect_complaint(&active.machine, end), &end[0]);
	fail(&active, refused);
	KUNIT_EXPECT_PTR_EQ(test, rsm_reconnect_complaint(&active.machine, end), &refused[0]);
	event(&active, RSM_RECONNECT_LEAVE);
	event(&active, RSM_RECONNECT_BEGIN);
	KUNIT_EXPECT_PTR_EQ(test, rsm_reconnect_complaint(&active.machine, end), &end[0]);
	KUNIT_EXPECT_PTR_EQ(test, rsm_reconnect_complaint(&passive.machine, end), &end[0]);
	succeed(&passive);
	look(&passive, true);
	fail(&passive, refused);
	event(&passive, RSM_RECONNECT_DOWN);
	KUNIT_EXPECT_PTR_EQ(test, rsm_reconnect_complaint(&passive.machine, end), &end[0]);
}

static void a_refused_secret_is_replaced_by_the_other_one(struct kunit *test)
{
	struct node node = begin(true);
	const struct rsm_reconnect_input input = {
		.event = RSM_RECONNECT_FAILED, .why = refused, .other_secret = true,
	};

	tell(&node, &input);
	KUNIT_EXPECT_TRUE(test, node.machine.other_secret);
	fail(&node, no_route);
	KUNIT_EXPECT_TRUE(test, node.machine.other_secret);
	tell(&node, &input);
	KUNIT_EXPECT_FALSE(test, node.machine.other_secret);
}

/* Happenings of which all sequences are tried. */
enum happening {
	RUN,
	RUN_EARLY,
	REQUEST,
	LONG_TIME,
	FAIL,
	SUCCEED,
	GREETED,
	DOWN,
	HURRY,
	LEAVE,
	BEGIN,
	HAPPENINGS,
};

#define DEPTH	6

static bool can_happen(const struct node *node, enum happening happening)
{
	switch (happening) {
	case RUN:
		return node->queued && !node->trying;
	case RUN_EARLY:
		return !node->trying;
	case REQUEST:
		return !node->trying && !node->machine.connects && !node->machine.leaving;
	case FAIL:
		return node->trying;
	case SUCCEED:
		/* The former link ends before. */
		return node->trying && !node->machine.linked;
	case GREETED:
	case DOWN:
		return node->machine.linked;
	case BEGIN:
		/* When the work and the link have ended. */
		return node->machine.leaving && !node->trying && !node->machine.linked;
	default:
		return true;
	}
}

static struct rsm_reconnect_output happen(struct node *node, enum happening happening)
{
	struct rsm_reconnect_output none = {};

	switch (happening) {
	case RUN:
		return (struct rsm_reconnect_output) { .action = run(node) };
	case RUN_EARLY:
	case REQUEST:
		return (struct rsm_reconnect_output) { .action = look(node, happening == REQUEST) };
	case LONG_TIME:
		node->now += 2 * LONGEST;
		return none;
	case FAIL:
		return fail(node, refused);
	case SUCCEED:
		succeed(node);
		return none;
	case GREETED:
		return event(node, RSM_RECONNECT_ACTIVE);
	case DOWN:
		return event(node, RSM_RECONNECT_DOWN);
	case HURRY:
		return event(node, RSM_RECONNECT_HURRY);
	case LEAVE:
		return event(node, RSM_RECONNECT_LEAVE);
	default:
		return event(node, RSM_RECONNECT_BEGIN);
	}
}

static void judge(struct kunit *test, const struct node *old, const struct node *new,
		  enum happening happening, const struct rsm_reconnect_output *output)
{
	const struct rsm_reconnect *machine = &new->machine;

	KUNIT_ASSERT_GE(test, machine->pause_ms, RSM_RECONNECT_PAUSE_MIN);
	KUNIT_ASSERT_LE(test, machine->pause_ms, RSM_RECONNECT_PAUSE_MAX);
	if (output->action == RSM_RECONNECT_CONNECT) {
		KUNIT_ASSERT_TRUE(test, machine->connects && !machine->linked);
		KUNIT_ASSERT_FALSE(test, time_before(new->now, old->machine.due));
	}
	if (output->action == RSM_RECONNECT_ACCEPT)
		KUNIT_ASSERT_EQ(test, (int)happening, (int)REQUEST);
	if (machine->leaving) {
		KUNIT_ASSERT_EQ(test, output->action, RSM_RECONNECT_NOTHING);
		KUNIT_ASSERT_FALSE(test, output->wake || output->log);
	}
	/* A node without a link comes to the next attempt, whatever has happened. */
	if (machine->connects && !machine->leaving && !machine->linked && !new->trying) {
		KUNIT_ASSERT_TRUE(test, new->queued);
		KUNIT_ASSERT_FALSE(test, time_after(new->at, new->now + LONGEST));
	}
}

static void explore(struct kunit *test, const struct node *node, int depth)
{
	for (enum happening happening = 0; happening < HAPPENINGS; happening++) {
		struct node next = *node;
		struct rsm_reconnect_output output;

		if (!can_happen(node, happening))
			continue;
		output = happen(&next, happening);
		judge(test, node, &next, happening, &output);
		if (depth)
			explore(test, &next, depth - 1);
	}
}

static void all_short_sequences(struct kunit *test)
{
	struct node connects = begin(true);
	struct node accepts = begin(false);

	explore(test, &connects, DEPTH - 1);
	explore(test, &accepts, DEPTH - 1);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(the_node_that_connects_connects),
	KUNIT_CASE(the_other_one_accepts),
	KUNIT_CASE(a_request_is_looked_at_beside_a_link),
	KUNIT_CASE(the_pause_doubles_up_to_a_limit),
	KUNIT_CASE(the_pause_has_a_random_part),
	KUNIT_CASE(a_link_alone_does_not_shorten_the_pause),
	KUNIT_CASE(an_active_link_shortens_the_pause),
	KUNIT_CASE(an_early_look_waits_for_the_rest_of_the_pause),
	KUNIT_CASE(hurry_ends_the_pause),
	KUNIT_CASE(nodes_that_leave_begin_nothing),
	KUNIT_CASE(a_reason_is_logged_once),
	KUNIT_CASE(nodes_that_are_not_connected_have_a_complaint),
	KUNIT_CASE(a_failed_attempt_is_a_later_complaint_than_the_end_of_the_link),
	KUNIT_CASE(a_refused_secret_is_replaced_by_the_other_one),
	KUNIT_CASE(all_short_sequences),
	{}
};

static struct kunit_suite suite = {
	.name = "rsm_reconnect",
	.test_cases = cases,
};

kunit_test_suite(suite);
