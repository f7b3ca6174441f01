// SPDX-License-Identifier: GPL-2.0
/* Membership of a window: single rules, and all short sequences of events. */

#include <kunit/test.h>

#include "../../kernel/ivshmem/membership.c"

#define START		(ULONG_MAX - 500)	/* jiffies wrap meanwhile */
#define BEAT_MS		1000U
#define PERIOD		msecs_to_jiffies(BEAT_MS / 2)
#define GRACE		msecs_to_jiffies(2 * BEAT_MS + 1000)
#define SLOTS		4U
#define OURS		1U
#define THEIRS		2U
#define NODE		7U
#define OTHER_NODE	8U

/**
 * struct guest - this node, and the table that it looks at
 * @machine: its membership
 * @now: the time
 * @lives: how many incarnations there have been
 * @greeting: the links that greet
 * @view: the node table
 */
struct guest {
	struct rsm_membership machine;
	unsigned long now;
	u64 lives;
	u64 greeting;
	struct rsm_slot_view view[SLOTS];
};

static u64 incarnation(u32 slot, u64 number)
{
	return number << 6 | slot;
}

static struct guest *begin(struct kunit *test)
{
	struct guest *guest = kunit_kzalloc(test, sizeof(*guest), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, guest);
	guest->now = START;
	rsm_membership_init(&guest->machine, SLOTS, OURS, START);
	return guest;
}

static void enter(struct guest *guest, u32 slot, u64 number, u32 node)
{
	guest->view[slot] = (struct rsm_slot_view) {
		.incarnation = incarnation(slot, number),
		.beat = 1,
		.node = node,
		.interval_ms = BEAT_MS,
	};
}

/* A LOOK, and what it does to the table. */
static struct rsm_membership_output look(struct guest *guest, unsigned long after)
{
	struct rsm_membership_input input = {
		.event = RSM_MEMBERSHIP_LOOK,
		.node = NODE,
		.heartbeat_ms = BEAT_MS,
		.fresh = incarnation(OURS, 100 + ++guest->lives),
		.view = guest->view,
		.greeting = guest->greeting,
	};
	struct rsm_membership_output output;

	guest->now += after;
	output = rsm_membership_step(&guest->machine, guest->now, &input);
	for (u32 slot = 0; slot < SLOTS; slot++)
		if (output.clear & BIT(slot))
			guest->view[slot].incarnation = 0;
	guest->greeting |= output.start;
	if (output.joined)
		enter(guest, OURS, 100 + guest->lives, NODE);
	return output;
}

static struct rsm_membership_output tell(struct guest *guest, enum rsm_membership_event event,
					 u32 slot)
{
	struct rsm_membership_input input = {
		.event = event, .slot = slot, .own = guest->view[OURS].incarnation,
	};
	struct rsm_membership_output output = rsm_membership_step(&guest->machine, guest->now,
								  &input);

	guest->greeting &= ~BIT_ULL(slot);
	slot = event == RSM_MEMBERSHIP_LEAVE ? OURS : slot;
	if (output.expel && guest->view[slot].incarnation == output.expel)
		guest->view[slot].incarnation = 0;
	return output;
}

/* A member with a link to a node in slot THEIRS. */
static struct guest *connected(struct kunit *test)
{
	struct guest *guest = begin(test);

	enter(guest, THEIRS, 1, OTHER_NODE);
	look(guest, 0);
	return guest;
}

static struct rsm_window_member *theirs(struct guest *guest)
{
	return &guest->machine.member[THEIRS];
}

static void a_node_joins_and_rings_those_that_are_there(struct kunit *test)
{
	struct guest *guest = begin(test);
	struct rsm_membership_output output;

	enter(guest, THEIRS, 1, OTHER_NODE);
	output = look(guest, 0);
	KUNIT_EXPECT_TRUE(test, output.joined);
	KUNIT_EXPECT_TRUE(test, output.keep);
	KUNIT_EXPECT_EQ(test, output.ring, BIT(THEIRS));
	KUNIT_EXPECT_EQ(test, output.start, BIT(THEIRS));
	KUNIT_EXPECT_EQ(test, guest->machine.incarnation, incarnation(OURS, 101));
	output = look(guest, PERIOD);
	KUNIT_EXPECT_FALSE(test, output.joined);
	KUNIT_EXPECT_EQ(test, output.start, 0);
	KUNIT_EXPECT_EQ(test, output.receive, BIT(THEIRS));
}

/* This guest has crashed, and its slot still has its former life. */
static void a_stale_incarnation_in_our_slot_is_replaced(struct kunit *test)
{
	struct guest *guest = begin(test);

	enter(guest, OURS, 1, NODE);
	KUNIT_EXPECT_TRUE(test, look(guest, 0).joined);
	KUNIT_EXPECT_EQ(test, guest->machine.member[OURS].seen, guest->machine.incarnation);
	KUNIT_EXPECT_FALSE(test, look(guest, PERIOD).gave_up);
}

static void a_link_that_is_busy_is_started_again(struct kunit *test)
{
	struct guest *guest = connected(test);

	KUNIT_EXPECT_TRUE(test, tell(guest, RSM_MEMBERSHIP_BUSY, THEIRS).retry);
	KUNIT_EXPECT_EQ(test, look(guest, 1).start, BIT(THEIRS));
}

static void a_dead_node_is_expelled_and_not_started_again(struct kunit *test)
{
	struct guest *guest = connected(test);
	struct rsm_membership_output output = tell(guest, RSM_MEMBERSHIP_DOWN, THEIRS);

	KUNIT_EXPECT_EQ(test, output.expel, incarnation(THEIRS, 1));
	/* Somebody writes it back. */
	enter(guest, THEIRS, 1, OTHER_NODE);
	KUNIT_EXPECT_EQ(test, look(guest, PERIOD).start, 0);
	enter(guest, THEIRS, 2, OTHER_NODE);
	KUNIT_EXPECT_EQ(test, look(guest, PERIOD).start, BIT(THEIRS));
}

/* To a node that has been silent itself, everybody else seems silent. */
static void a_node_that_was_taken_for_dead_expels_nobody(struct kunit *test)
{
	struct guest *guest = connected(test);

	guest->view[OURS].incarnation = 0;
	KUNIT_EXPECT_EQ(test, tell(guest, RSM_MEMBERSHIP_DOWN, THEIRS).expel, 0);
	guest = connected(test);
	enter(guest, OURS, 50, OTHER_NODE);
	KUNIT_EXPECT_EQ(test, tell(guest, RSM_MEMBERSHIP_DOWN, THEIRS).expel, 0);
}

static void it_gives_up_all_links_and_joins_again(struct kunit *test)
{
	struct guest *guest = connected(test);
	struct rsm_membership_output output;

	guest->view[OURS].incarnation = 0;
	output = look(guest, PERIOD);
	KUNIT_EXPECT_TRUE(test, output.gave_up);
	KUNIT_EXPECT_TRUE(test, output.retry);
	KUNIT_EXPECT_FALSE(test, output.keep);
	KUNIT_EXPECT_EQ(test, output.stop, BIT(THEIRS));
	KUNIT_EXPECT_EQ(test, output.start | output.receive | output.left, 0);
	KUNIT_EXPECT_EQ(test, tell(guest, RSM_MEMBERSHIP_DOWN, THEIRS).expel, 0);
	output = look(guest, 1);
	KUNIT_EXPECT_TRUE(test, output.joined);
	/* The node at the other end was not at fault. */
	KUNIT_EXPECT_EQ(test, output.start, BIT(THEIRS));
	KUNIT_EXPECT_EQ(test, guest->machine.incarnation, incarnation(OURS, 103));
}

/* Before it was taken for dead, this node may have given up others that live. */
static void a_new_life_tries_those_that_the_former_gave_up(struct kunit *test)
{
	struct guest *guest = connected(test);

	tell(guest, RSM_MEMBERSHIP_DOWN, THEIRS);
	enter(guest, THEIRS, 1, OTHER_NODE);
	guest->view[OURS].incarnation = 0;
	KUNIT_EXPECT_TRUE(test, look(guest, PERIOD).gave_up);
	KUNIT_EXPECT_EQ(test, look(guest, 1).start, BIT(THEIRS));
}

static void a_node_that_restarts_or_leaves_loses_its_link(struct kunit *test)
{
	struct guest *guest = connected(test);

	enter(guest, THEIRS, 2, OTHER_NODE);
	KUNIT_EXPECT_EQ(test, look(guest, PERIOD).restarted, BIT(THEIRS));
	tell(guest, RSM_MEMBERSHIP_DOWN, THEIRS);
	KUNIT_EXPECT_EQ(test, guest->view[THEIRS].incarnation, incarnation(THEIRS, 2));
	KUNIT_EXPECT_EQ(test, look(guest, 0).start, BIT(THEIRS));
	guest->view[THEIRS].incarnation = 0;
	KUNIT_EXPECT_EQ(test, look(guest, PERIOD).left, BIT(THEIRS));
	tell(guest, RSM_MEMBERSHIP_DOWN, THEIRS);
	KUNIT_EXPECT_EQ(test, look(guest, 0).start, 0);
}

/* A node that has crashed and comes back in another slot before the next LOOK. */
static void a_node_that_changes_its_slot_is_not_refused(struct kunit *test)
{
	struct guest *guest = connected(test);
	struct rsm_membership_output output;

	guest->view[THEIRS].incarnation = 0;
	enter(guest, 3, 1, OTHER_NODE);
	output = look(guest, PERIOD);
	KUNIT_EXPECT_EQ(test, output.left, BIT(THEIRS));
	KUNIT_EXPECT_EQ(test, output.ignored, 0);
	KUNIT_EXPECT_EQ(test, output.start, 0);
	tell(guest, RSM_MEMBERSHIP_DOWN, THEIRS);
	KUNIT_EXPECT_EQ(test, look(guest, 0).start, BIT(3));
}

/* A hostile guest wrote a node id to THEIRS when this node started its link. THEIRS restored it. */
static struct guest *misled(struct kunit *test, u32 id)
{
	struct guest *guest = begin(test);

	enter(guest, THEIRS, 1, id);
	KUNIT_EXPECT_EQ(test, look(guest, 0).start, BIT(THEIRS));
	guest->view[THEIRS].node = OTHER_NODE;
	return guest;
}

static void a_link_to_a_node_id_that_was_misread_starts_anew(struct kunit *test)
{
	struct guest *guest = misled(test, OTHER_NODE + 1);
	struct rsm_membership_output output = look(guest, PERIOD);

	KUNIT_EXPECT_EQ(test, output.misread, BIT(THEIRS));
	KUNIT_EXPECT_EQ(test, output.start | output.restarted | output.left | output.receive, 0);
	/* The node there is not at fault. */
	KUNIT_EXPECT_EQ(test, tell(guest, RSM_MEMBERSHIP_DOWN, THEIRS).expel, 0);
	KUNIT_EXPECT_EQ(test, look(guest, PERIOD).start, BIT(THEIRS));
	KUNIT_EXPECT_EQ(test, theirs(guest)->node, OTHER_NODE);
	KUNIT_EXPECT_EQ(test, look(guest, PERIOD).misread, 0);
}

/* The node whose id a hostile guest wrote to another slot. */
static void the_node_that_has_the_misread_id_is_not_refused(struct kunit *test)
{
	struct guest *guest = misled(test, OTHER_NODE + 1);
	struct rsm_membership_output output;

	enter(guest, 3, 1, OTHER_NODE + 1);
	output = look(guest, PERIOD);
	KUNIT_EXPECT_EQ(test, output.misread, BIT(THEIRS));
	KUNIT_EXPECT_EQ(test, output.ignored | output.start, 0);
	tell(guest, RSM_MEMBERSHIP_DOWN, THEIRS);
	KUNIT_EXPECT_EQ(test, look(guest, PERIOD).start, BIT(THEIRS) | BIT(3));
}

/* Its greeting came after the LOOK, so the link goes on. The node is at fault if it dies later. */
static void a_node_that_greets_in_the_last_moment_is_expelled_when_it_dies(struct kunit *test)
{
	struct guest *guest = misled(test, OTHER_NODE + 1);

	KUNIT_EXPECT_EQ(test, look(guest, PERIOD).misread, BIT(THEIRS));
	tell(guest, RSM_MEMBERSHIP_GREETED, THEIRS);
	KUNIT_EXPECT_TRUE(test, theirs(guest)->running);
	KUNIT_EXPECT_EQ(test, look(guest, PERIOD).receive, BIT(THEIRS));
	KUNIT_EXPECT_EQ(test, tell(guest, RSM_MEMBERSHIP_DOWN, THEIRS).expel,
			incarnation(THEIRS, 1));
}

/* A hostile guest must not end a link by a node id that it writes to the slot of the peer. */
static void an_active_link_goes_on_whatever_node_id_its_slot_has(struct kunit *test)
{
	struct guest *guest = connected(test);
	struct rsm_membership_output output;

	guest->greeting = 0;
	guest->view[THEIRS].node = OTHER_NODE + 1;
	output = look(guest, PERIOD);
	KUNIT_EXPECT_EQ(test, output.misread, 0);
	KUNIT_EXPECT_EQ(test, output.receive, BIT(THEIRS));
}

static void leaving_ends_all_links_and_empties_our_slot(struct kunit *test)
{
	struct guest *guest = connected(test);
	struct rsm_membership_output output = tell(guest, RSM_MEMBERSHIP_LEAVE, 0);

	KUNIT_EXPECT_EQ(test, output.stop, BIT(THEIRS));
	KUNIT_EXPECT_EQ(test, output.expel, incarnation(OURS, 101));
	KUNIT_EXPECT_EQ(test, guest->machine.incarnation, 0);
	KUNIT_EXPECT_EQ(test, tell(guest, RSM_MEMBERSHIP_DOWN, THEIRS).expel, 0);
}

static void expect_ignored(struct kunit *test, struct guest *guest, u32 slot, const char *why)
{
	struct rsm_membership_output output = look(guest, PERIOD);

	KUNIT_EXPECT_EQ(test, output.start & BIT(slot), 0);
	KUNIT_EXPECT_EQ(test, output.ignored, BIT(slot));
	KUNIT_EXPECT_STREQ(test, guest->machine.member[slot].objection, why);
	/* Reported once. */
	KUNIT_EXPECT_EQ(test, look(guest, PERIOD).ignored, 0);
}

static void nodes_that_make_no_sense_are_ignored(struct kunit *test)
{
	struct guest *guest = begin(test);

	look(guest, 0);
	enter(guest, THEIRS, 1, 0);
	expect_ignored(test, guest, THEIRS, "there is no such node id");
	enter(guest, THEIRS, 2, RSM_NODE_MAX + 1);
	expect_ignored(test, guest, THEIRS, "there is no such node id");
	enter(guest, THEIRS, 3, NODE);
	expect_ignored(test, guest, THEIRS, "that is our own node id");
	enter(guest, THEIRS, 4, OTHER_NODE);
	guest->view[THEIRS].incarnation++;
	expect_ignored(test, guest, THEIRS, "its incarnation is another slot's");
	enter(guest, THEIRS, 5, OTHER_NODE);
	KUNIT_EXPECT_EQ(test, look(guest, PERIOD).start, BIT(THEIRS));
	enter(guest, 3, 1, OTHER_NODE);
	expect_ignored(test, guest, 3, "another slot has that node id");
}

static void a_node_with_our_id_that_lives_keeps_us_out(struct kunit *test)
{
	struct guest *guest = begin(test);
	unsigned int reports = 0;

	enter(guest, THEIRS, 1, NODE);
	for (int i = 0; i < 20; i++) {
		struct rsm_membership_output output = look(guest, PERIOD);

		KUNIT_EXPECT_FALSE(test, output.joined || output.clear);
		reports += output.doubled == BIT(THEIRS);
		guest->view[THEIRS].beat++;
	}
	KUNIT_EXPECT_EQ(test, reports, 1);
}

/* This guest has crashed and has come back in another slot. */
static void a_node_with_our_id_that_is_dead_is_cleared(struct kunit *test)
{
	struct guest *guest = begin(test);
	struct rsm_membership_output output = {};
	unsigned long first;

	enter(guest, THEIRS, 1, NODE);
	look(guest, 0);
	first = guest->now;
	while (!output.joined && guest->now - first < 10 * GRACE)
		output = look(guest, PERIOD);
	KUNIT_EXPECT_TRUE(test, output.joined);
	KUNIT_EXPECT_EQ(test, output.clear, BIT(THEIRS));
	KUNIT_EXPECT_EQ(test, output.ring, 0);
	KUNIT_EXPECT_EQ(test, output.doubled, 0);
	KUNIT_EXPECT_EQ(test, guest->now - first, GRACE);
	KUNIT_EXPECT_EQ(test, guest->machine.member[THEIRS].seen, 0);
}

static void all_stand_still_and_nobody_is_found_dead(struct kunit *test)
{
	struct guest *guest = begin(test);

	enter(guest, THEIRS, 1, NODE);
	look(guest, 0);
	KUNIT_EXPECT_EQ(test, look(guest, 10 * GRACE).clear, 0);
	KUNIT_EXPECT_EQ(test, look(guest, PERIOD).clear, 0);
}

/* The time after which chunks of @owner may be used, in LOOKs that come each @each jiffies. */
static unsigned long time_of_release(struct guest *guest, u64 owner, unsigned long each)
{
	unsigned long start = guest->now;

	while (guest->now - start < 100 * GRACE) {
		struct rsm_membership_output output = look(guest, each);
		u64 found = guest->view[owner & RSM_INCARNATION_SLOT].incarnation;

		if (output.sweep &&
		    rsm_membership_is_gone(&guest->machine, output.grace, owner, found, true))
			return guest->now - start;
	}
	return 0;
}

static void chunks_are_free_when_all_have_had_time_to_notice(struct kunit *test)
{
	struct guest *guest = connected(test);
	u64 owner = incarnation(THEIRS, 1);
	unsigned long after;

	KUNIT_EXPECT_EQ(test, time_of_release(guest, owner, PERIOD), 0);
	guest->view[THEIRS].incarnation = 0;
	look(guest, PERIOD);
	tell(guest, RSM_MEMBERSHIP_DOWN, THEIRS);
	after = time_of_release(guest, owner, PERIOD);
	KUNIT_EXPECT_GE(test, after, GRACE);
	KUNIT_EXPECT_LE(test, after, 2 * GRACE);
	/* An incarnation of a slot that no window of this size has. */
	KUNIT_EXPECT_TRUE(test, rsm_membership_is_gone(&guest->machine, GRACE,
						       incarnation(SLOTS, 1), 0, true));
}

/* Another node has found the owner dead after our LOOK, and before the sweep that it asked for. */
static void an_owner_that_the_look_has_seen_is_not_gone(struct kunit *test)
{
	struct guest *guest = connected(test);
	u64 owner = incarnation(THEIRS, 1);

	for (unsigned long t = 0; t < 3 * GRACE; t += PERIOD)
		look(guest, PERIOD);
	KUNIT_EXPECT_FALSE(test, rsm_membership_is_gone(&guest->machine, GRACE, owner, 0, true));
	KUNIT_EXPECT_FALSE(test, rsm_membership_is_gone(&guest->machine, GRACE, owner,
							incarnation(THEIRS, 2), true));
	/* Chunks of a former life in the same slot are free all the same. */
	KUNIT_EXPECT_TRUE(test, rsm_membership_is_gone(&guest->machine, GRACE,
						       incarnation(THEIRS, 9), owner, true));
}

/* The next LOOK asks for a sweep, whatever intervals there are. */
static void let_sweep(struct guest *guest)
{
	guest->machine.swept = guest->now - grace_of(RSM_HEARTBEAT_MAX);
}

/* Others with a longer interval need more time. Their word for it has a bound. */
static void the_longest_interval_counts(struct kunit *test)
{
	struct guest *guest = connected(test);

	let_sweep(guest);
	enter(guest, 3, 1, OTHER_NODE + 1);
	guest->view[3].interval_ms = U32_MAX;
	KUNIT_EXPECT_EQ(test, look(guest, 1).grace,
			msecs_to_jiffies(2 * RSM_HEARTBEAT_MAX + 1000));
	let_sweep(guest);
	guest->view[3].interval_ms = 0;
	guest->view[OURS].interval_ms = U32_MAX;
	KUNIT_EXPECT_EQ(test, look(guest, 1).grace, GRACE);
}

/* An owner that came and went between two LOOKs. Others have seen it, and may not know yet. */
static void an_owner_that_no_look_has_seen_is_not_gone_at_first_sight(struct kunit *test)
{
	struct guest *guest = connected(test);
	u64 owner = incarnation(3, 1);

	for (unsigned long t = 0; t < 3 * GRACE; t += PERIOD)
		look(guest, PERIOD);
	KUNIT_EXPECT_FALSE(test, rsm_membership_is_gone(&guest->machine, GRACE, owner, 0, false));
	KUNIT_EXPECT_TRUE(test, rsm_membership_is_gone(&guest->machine, GRACE, owner, 0, true));
}

static void time_without_a_look_is_no_time_between_sweeps(struct kunit *test)
{
	struct guest *guest = connected(test);
	bool swept = false;

	let_sweep(guest);
	KUNIT_EXPECT_TRUE(test, look(guest, 1).sweep);
	KUNIT_EXPECT_FALSE(test, look(guest, 10 * GRACE).sweep);
	for (unsigned long t = 0; t < GRACE - 3 * PERIOD; t += PERIOD)
		KUNIT_EXPECT_FALSE(test, look(guest, PERIOD).sweep);
	for (int i = 0; i < 3; i++)
		swept |= look(guest, PERIOD).sweep;
	KUNIT_EXPECT_TRUE(test, swept);
}

static void time_without_a_look_is_no_time_of_grace(struct kunit *test)
{
	struct guest *guest = connected(test);
	u64 owner = incarnation(THEIRS, 1);

	guest->view[THEIRS].incarnation = 0;
	look(guest, PERIOD);
	look(guest, 10 * GRACE);
	KUNIT_EXPECT_FALSE(test, rsm_membership_is_gone(&guest->machine, GRACE, owner, 0, true));
}

/* The sweep before gave the chunk's users less time than the new one's interval takes. */
static void a_longer_interval_delays_the_next_sweep(struct kunit *test)
{
	struct guest *guest = connected(test);
	unsigned long longer = grace_of(4 * BEAT_MS), since = 0;

	let_sweep(guest);
	KUNIT_EXPECT_TRUE(test, look(guest, 1).sweep);
	enter(guest, 3, 1, OTHER_NODE + 1);
	guest->view[3].interval_ms = 4 * BEAT_MS;
	for (bool swept = false; !swept; since += PERIOD) {
		KUNIT_ASSERT_LE(test, since, 2 * longer);
		swept = look(guest, PERIOD).sweep;
	}
	KUNIT_EXPECT_GE(test, since, longer);
}

/* Happenings of which all sequences are tried. */
enum happening {
	LOOK_SOON,
	LOOK_LATE,
	BUSY,
	DOWN,
	LEAVE,
	THEY_COME,
	THEY_REBOOT,
	THEY_GO,
	THEY_BEAT,
	THEY_GREET,
	A_LIAR_WRITES,
	A_TWIN_COMES,
	WE_ARE_EXPELLED,
	HAPPENINGS,
};

#define DEPTH	5

/* Can this happen now? The driver reports the end of links that there are. */
static bool can_happen(struct guest *guest, enum happening happening)
{
	switch (happening) {
	case BUSY:
	case DOWN:
		return theirs(guest)->running;
	case THEY_GREET:
		return guest->greeting;
	default:
		return true;
	}
}

static struct rsm_membership_output happen(struct guest *guest, enum happening happening)
{
	switch (happening) {
	case LOOK_SOON:
		return look(guest, PERIOD);
	case LOOK_LATE:
		return look(guest, 2 * GRACE);
	case BUSY:
		return tell(guest, RSM_MEMBERSHIP_BUSY, THEIRS);
	case DOWN:
		return tell(guest, RSM_MEMBERSHIP_DOWN, THEIRS);
	case LEAVE:
		return tell(guest, RSM_MEMBERSHIP_LEAVE, 0);
	case THEY_COME:
		enter(guest, THEIRS, 1, OTHER_NODE);
		break;
	case THEY_REBOOT:
		enter(guest, THEIRS, 2, OTHER_NODE);
		break;
	case THEY_GO:
		guest->view[THEIRS].incarnation = 0;
		break;
	case THEY_BEAT:
		guest->view[THEIRS].beat++;
		break;
	case THEY_GREET:
		guest->greeting = 0;
		break;
	case A_LIAR_WRITES:
		guest->view[THEIRS].node = OTHER_NODE + 1;
		break;
	case A_TWIN_COMES:
		enter(guest, THEIRS, 3, NODE);
		break;
	default:
		guest->view[OURS].incarnation = 0;
	}
	return (struct rsm_membership_output) {};
}

static void judge_look(struct kunit *test, const struct guest *old, const struct guest *new,
		       const struct rsm_membership_output *output)
{
	const struct rsm_membership *before = &old->machine, *after = &new->machine;
	u64 links = output->stop | output->restarted | output->left | output->misread |
		    output->receive | output->start;
	unsigned int sum = hweight64(output->stop) + hweight64(output->restarted) +
			   hweight64(output->left) + hweight64(output->misread) +
			   hweight64(output->receive) + hweight64(output->start);

	KUNIT_ASSERT_EQ(test, output->joined, !before->incarnation && after->incarnation);
	KUNIT_ASSERT_EQ(test, output->gave_up, before->incarnation && !after->incarnation);
	KUNIT_ASSERT_EQ(test, output->keep, !!after->incarnation);
	KUNIT_ASSERT_EQ(test, output->expel, 0);
	KUNIT_ASSERT_EQ(test, (output->joined || output->gave_up) &&
			old->view[OURS].incarnation == before->incarnation &&
			before->incarnation, false);
	/* One thing at a time for a link, and nothing for our own slot. */
	KUNIT_ASSERT_EQ(test, sum, hweight64(links));
	KUNIT_ASSERT_EQ(test, (links | output->clear | output->ring) & ~BIT_ULL(THEIRS), 0);
	/* A twin is cleared only when it keeps us out, and never when we are a member. */
	KUNIT_ASSERT_TRUE(test, !output->clear ||
			  (output->joined && old->view[THEIRS].node == NODE));
	if (output->start)
		KUNIT_ASSERT_TRUE(test, !before->member[THEIRS].running &&
				  old->view[THEIRS].node != NODE &&
				  (output->joined || old->view[THEIRS].incarnation !=
						     before->member[THEIRS].dead));
}

static void judge(struct kunit *test, const struct guest *old, const struct guest *new,
		  enum happening happening, const struct rsm_membership_output *output)
{
	const struct rsm_window_member *before = &old->machine.member[THEIRS];
	const struct rsm_window_member *after = &new->machine.member[THEIRS];
	u64 found = new->view[THEIRS].incarnation;

	if (happening == LOOK_SOON || happening == LOOK_LATE)
		judge_look(test, old, new, output);
	if (after->running != before->running)
		KUNIT_ASSERT_EQ(test, after->running, !!output->start);
	if (happening == DOWN && output->expel)
		KUNIT_ASSERT_TRUE(test, !before->keep && old->machine.incarnation &&
				  old->view[OURS].incarnation == old->machine.incarnation);
	/* A node that is there now has no chunks that are gone. */
	if (found)
		KUNIT_ASSERT_FALSE(test, rsm_membership_is_gone(&new->machine, GRACE, found, found,
								true));
	KUNIT_ASSERT_FALSE(test, new->machine.member[OURS].running);
}

/* @scratch: two guests for each happening that is still to come */
static void explore(struct kunit *test, const struct guest *guest, struct guest *scratch, int depth)
{
	struct guest *one = &scratch[0], *other = &scratch[1];

	for (enum happening happening = 0; happening < HAPPENINGS; happening++) {
		struct rsm_membership_output output;

		*one = *guest;
		*other = *guest;
		if (!can_happen(one, happening))
			continue;
		output = happen(one, happening);
		happen(other, happening);
		KUNIT_ASSERT_EQ(test, memcmp(one, other, sizeof(*one)), 0);
		judge(test, guest, one, happening, &output);
		/* After LEAVE there is only the end of links. */
		if (depth > 1 && happening != LEAVE)
			explore(test, one, scratch + 2, depth - 1);
	}
}

static void all_short_sequences(struct kunit *test)
{
	struct guest *scratch = kunit_kmalloc_array(test, 2 * DEPTH, sizeof(*scratch), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, scratch);
	explore(test, begin(test), scratch, DEPTH);
	explore(test, connected(test), scratch, DEPTH);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(a_node_joins_and_rings_those_that_are_there),
	KUNIT_CASE(a_stale_incarnation_in_our_slot_is_replaced),
	KUNIT_CASE(a_link_that_is_busy_is_started_again),
	KUNIT_CASE(a_dead_node_is_expelled_and_not_started_again),
	KUNIT_CASE(a_node_that_was_taken_for_dead_expels_nobody),
	KUNIT_CASE(it_gives_up_all_links_and_joins_again),
	KUNIT_CASE(a_new_life_tries_those_that_the_former_gave_up),
	KUNIT_CASE(a_node_that_restarts_or_leaves_loses_its_link),
	KUNIT_CASE(a_node_that_changes_its_slot_is_not_refused),
	KUNIT_CASE(a_link_to_a_node_id_that_was_misread_starts_anew),
	KUNIT_CASE(the_node_that_has_the_misread_id_is_not_refused),
	KUNIT_CASE(a_node_that_greets_in_the_last_moment_is_expelled_when_it_dies),
	KUNIT_CASE(an_active_link_goes_on_whatever_node_id_its_slot_has),
	KUNIT_CASE(leaving_ends_all_links_and_empties_our_slot),
	KUNIT_CASE(nodes_that_make_no_sense_are_ignored),
	KUNIT_CASE(a_node_with_our_id_that_lives_keeps_us_out),
	KUNIT_CASE(a_node_with_our_id_that_is_dead_is_cleared),
	KUNIT_CASE(all_stand_still_and_nobody_is_found_dead),
	KUNIT_CASE(chunks_are_free_when_all_have_had_time_to_notice),
	KUNIT_CASE(an_owner_that_the_look_has_seen_is_not_gone),
	KUNIT_CASE(an_owner_that_no_look_has_seen_is_not_gone_at_first_sight),
	KUNIT_CASE(the_longest_interval_counts),
	KUNIT_CASE(time_without_a_look_is_no_time_of_grace),
	KUNIT_CASE(time_without_a_look_is_no_time_between_sweeps),
	KUNIT_CASE(a_longer_interval_delays_the_next_sweep),
	KUNIT_CASE(all_short_sequences),
	{}
};

static struct kunit_suite suite = {
	.name = "rsm_membership",
	.test_cases = cases,
};

kunit_test_suite(suite);
