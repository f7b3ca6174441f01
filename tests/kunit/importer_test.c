// SPDX-License-Identifier: GPL-2.0
/* The state of an importing node: single rules, and all short sequences of events. */

#include <kunit/test.h>

#include "../../kernel/agent/importer.c"

#define NOW	(ULONG_MAX - 1)	/* jiffies wrap meanwhile */

static struct rsm_importer_output step(struct rsm_importer_machine *importer, unsigned long now,
				       enum rsm_importer_event event, enum rsm_message_type type)
{
	struct rsm_importer_input input = { .event = event, .type = type };

	return rsm_importer_step(importer, now, &input);
}

static void a_request_waits_is_sent_and_is_answered(struct kunit *test)
{
	struct rsm_importer_machine importer = {};
	struct rsm_importer_output output;

	output = step(&importer, NOW, RSM_IMPORTER_ASK, RSM_MSG_MOVE);
	KUNIT_EXPECT_EQ(test, output.queue, RSM_QUEUE_UNSENT);
	KUNIT_EXPECT_EQ(test, importer.since, NOW);
	KUNIT_EXPECT_FALSE(test, rsm_importer_is_idle(&importer));
	output = step(&importer, NOW + 5, RSM_IMPORTER_SENT, RSM_MSG_MOVE);
	KUNIT_EXPECT_EQ(test, output.queue, RSM_QUEUE_UNANSWERED);
	KUNIT_EXPECT_EQ(test, importer.since, NOW + 5);
	output = step(&importer, NOW + 9, RSM_IMPORTER_FULFILLED, 0);
	KUNIT_EXPECT_EQ(test, output.queue, RSM_QUEUE_NONE);
	KUNIT_EXPECT_TRUE(test, output.answered);
	KUNIT_EXPECT_TRUE(test, rsm_importer_is_idle(&importer));
}

static void unpublish_takes_the_place_of_a_move_that_waits(struct kunit *test)
{
	struct rsm_importer_machine importer = {};

	step(&importer, NOW, RSM_IMPORTER_ASK, RSM_MSG_MOVE);
	step(&importer, NOW, RSM_IMPORTER_ASK, RSM_MSG_UNPUBLISH);
	KUNIT_EXPECT_EQ(test, importer.request, RSM_MSG_UNPUBLISH);
	step(&importer, NOW, RSM_IMPORTER_SENT, RSM_MSG_UNPUBLISH);
	KUNIT_EXPECT_EQ(test, step(&importer, NOW, RSM_IMPORTER_FULFILLED, 0).queue,
			RSM_QUEUE_NONE);
}

static void unpublish_follows_a_move_that_is_under_way(struct kunit *test)
{
	struct rsm_importer_machine importer = {};
	struct rsm_importer_output output;

	step(&importer, NOW, RSM_IMPORTER_ASK, RSM_MSG_MOVE);
	step(&importer, NOW, RSM_IMPORTER_SENT, RSM_MSG_MOVE);
	step(&importer, NOW, RSM_IMPORTER_ASK, RSM_MSG_UNPUBLISH);
	KUNIT_EXPECT_EQ(test, importer.request, RSM_MSG_MOVE);
	output = step(&importer, NOW + 7, RSM_IMPORTER_FULFILLED, 0);
	KUNIT_EXPECT_EQ(test, output.queue, RSM_QUEUE_UNSENT);
	KUNIT_EXPECT_TRUE(test, output.answered);
	KUNIT_EXPECT_EQ(test, importer.request, RSM_MSG_UNPUBLISH);
	KUNIT_EXPECT_EQ(test, importer.since, NOW + 7);
	KUNIT_EXPECT_FALSE(test, importer.asked);
}

/* The task that sends has read MOVE; UNPUBLISH comes before the task notes that MOVE is sent. */
static void unpublish_that_comes_while_a_move_is_being_sent_is_not_lost(struct kunit *test)
{
	struct rsm_importer_machine importer = {};

	step(&importer, NOW, RSM_IMPORTER_ASK, RSM_MSG_MOVE);
	step(&importer, NOW, RSM_IMPORTER_ASK, RSM_MSG_UNPUBLISH);
	step(&importer, NOW, RSM_IMPORTER_SENT, RSM_MSG_MOVE);
	KUNIT_EXPECT_EQ(test, importer.request, RSM_MSG_MOVE);
	KUNIT_EXPECT_EQ(test, step(&importer, NOW, RSM_IMPORTER_FULFILLED, 0).queue,
			RSM_QUEUE_UNSENT);
	KUNIT_EXPECT_EQ(test, importer.request, RSM_MSG_UNPUBLISH);
}

static void unpublish_is_asked_once(struct kunit *test)
{
	struct rsm_importer_machine importer = {};

	step(&importer, NOW, RSM_IMPORTER_ASK, RSM_MSG_UNPUBLISH);
	step(&importer, NOW, RSM_IMPORTER_SENT, RSM_MSG_UNPUBLISH);
	step(&importer, NOW, RSM_IMPORTER_ASK, RSM_MSG_UNPUBLISH);
	KUNIT_EXPECT_EQ(test, step(&importer, NOW, RSM_IMPORTER_FULFILLED, 0).queue,
			RSM_QUEUE_NONE);
}

static void a_node_that_leaves_is_asked_nothing_more(struct kunit *test)
{
	struct rsm_importer_machine importer = {};

	step(&importer, NOW, RSM_IMPORTER_ASK, RSM_MSG_MOVE);
	step(&importer, NOW, RSM_IMPORTER_SENT, RSM_MSG_MOVE);
	step(&importer, NOW, RSM_IMPORTER_ASK, RSM_MSG_UNPUBLISH);
	step(&importer, NOW, RSM_IMPORTER_LEAVE, 0);
	KUNIT_EXPECT_EQ(test, step(&importer, NOW, RSM_IMPORTER_FULFILLED, 0).queue,
			RSM_QUEUE_NONE);
	KUNIT_EXPECT_FALSE(test, rsm_importer_is_idle(&importer));
}

static void keys_are_made_once_for_an_idle_node_only(struct kunit *test)
{
	struct rsm_importer_machine importer = {};

	KUNIT_EXPECT_TRUE(test, step(&importer, NOW, RSM_IMPORTER_PLACE, 0).make_keys);
	KUNIT_EXPECT_TRUE(test, importer.is_placing);
	KUNIT_EXPECT_FALSE(test, step(&importer, NOW, RSM_IMPORTER_PLACE, 0).make_keys);
	KUNIT_EXPECT_FALSE(test, step(&importer, NOW, RSM_IMPORTER_PLACED, 0).remove);
	step(&importer, NOW, RSM_IMPORTER_ASK, RSM_MSG_UNPUBLISH);
	KUNIT_EXPECT_FALSE(test, step(&importer, NOW, RSM_IMPORTER_PLACE, 0).make_keys);
	KUNIT_EXPECT_FALSE(test, importer.is_placing);
}

static void a_node_that_left_meanwhile_is_removed_after_its_keys_are_made(struct kunit *test)
{
	struct rsm_importer_machine importer = {};

	step(&importer, NOW, RSM_IMPORTER_PLACE, 0);
	step(&importer, NOW, RSM_IMPORTER_LEAVE, 0);
	KUNIT_EXPECT_TRUE(test, step(&importer, NOW, RSM_IMPORTER_PLACED, 0).remove);
}

/* Events that the driver reports in a state: it sends what waits, and ends what it has begun. */
static bool can_happen(const struct rsm_importer_machine *importer, enum rsm_importer_event event,
		       enum rsm_message_type type)
{
	switch (event) {
	case RSM_IMPORTER_ASK:
		return !importer->leaving;
	case RSM_IMPORTER_SENT:
		return importer->request && !importer->asked &&
		       (type == importer->request || type == RSM_MSG_MOVE);
	case RSM_IMPORTER_PLACED:
		return importer->is_placing;
	default:
		return true;
	}
}

static void check_step(struct kunit *test, const struct rsm_importer_machine *old,
		       const struct rsm_importer_machine *new,
		       const struct rsm_importer_output *output, bool *unpublish)
{
	enum rsm_importer_queue expected = !new->request ? RSM_QUEUE_NONE :
					   new->asked ? RSM_QUEUE_UNANSWERED : RSM_QUEUE_UNSENT;

	/* The queue is the one that the state stands for. */
	if (output->queue != RSM_QUEUE_KEEP)
		KUNIT_ASSERT_EQ(test, output->queue, expected);
	else
		KUNIT_ASSERT_TRUE(test, !old->request == !new->request && old->asked == new->asked);
	KUNIT_ASSERT_EQ(test, output->answered, old->asked && !new->asked);
	/* An UNPUBLISH that was asked for stays asked for until it is sent, or the node leaves. */
	if (*unpublish && !new->leaving)
		KUNIT_ASSERT_TRUE(test, new->request == RSM_MSG_UNPUBLISH || new->unpublish_next);
	if (new->request == RSM_MSG_UNPUBLISH && new->asked)
		*unpublish = false;
}

static const struct rsm_importer_input happenings[] = {
	{ RSM_IMPORTER_ASK, RSM_MSG_MOVE }, { RSM_IMPORTER_ASK, RSM_MSG_UNPUBLISH },
	{ RSM_IMPORTER_SENT, RSM_MSG_MOVE }, { RSM_IMPORTER_SENT, RSM_MSG_UNPUBLISH },
	{ RSM_IMPORTER_FULFILLED }, { RSM_IMPORTER_LEAVE }, { RSM_IMPORTER_PLACE },
	{ RSM_IMPORTER_PLACED },
};

/* An answer to a request that is not under way is dropped by the driver, unless the node leaves. */
static bool is_answer_to_nothing(const struct rsm_importer_machine *importer,
				 enum rsm_importer_event event)
{
	return event == RSM_IMPORTER_FULFILLED && !importer->asked && !importer->leaving;
}

static void explore(struct kunit *test, const struct rsm_importer_machine *importer,
		    bool unpublish, int depth)
{
	for (int i = 0; i < ARRAY_SIZE(happenings); i++) {
		struct rsm_importer_machine next = *importer;
		struct rsm_importer_output output;
		bool wanted = unpublish;

		if (!can_happen(importer, happenings[i].event, happenings[i].type) ||
		    is_answer_to_nothing(importer, happenings[i].event))
			continue;
		wanted |= happenings[i].event == RSM_IMPORTER_ASK &&
			  happenings[i].type == RSM_MSG_UNPUBLISH &&
			  !(importer->asked && importer->request == RSM_MSG_UNPUBLISH);
		output = rsm_importer_step(&next, NOW, &happenings[i]);
		check_step(test, importer, &next, &output, &wanted);
		if (depth)
			explore(test, &next, wanted, depth - 1);
	}
}

static void all_short_sequences(struct kunit *test)
{
	struct rsm_importer_machine importer = {};

	explore(test, &importer, false, 6);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(a_request_waits_is_sent_and_is_answered),
	KUNIT_CASE(unpublish_takes_the_place_of_a_move_that_waits),
	KUNIT_CASE(unpublish_follows_a_move_that_is_under_way),
	KUNIT_CASE(unpublish_that_comes_while_a_move_is_being_sent_is_not_lost),
	KUNIT_CASE(unpublish_is_asked_once),
	KUNIT_CASE(a_node_that_leaves_is_asked_nothing_more),
	KUNIT_CASE(keys_are_made_once_for_an_idle_node_only),
	KUNIT_CASE(a_node_that_left_meanwhile_is_removed_after_its_keys_are_made),
	KUNIT_CASE(all_short_sequences),
	{}
};

static struct kunit_suite suite = {
	.name = "rsm_importer",
	.test_cases = cases,
};

kunit_test_suite(suite);
