// SPDX-License-Identifier: GPL-2.0
/*
 * Drives membership: reads the node table of the window, and carries out what
 * rsm_membership_step() returns.
 */

#include "../core/compat.h"
#include "ivshmem.h"

#include <linux/bitops.h>
#include <linux/jiffies.h>
#include <linux/random.h>
#include <linux/workqueue.h>
#include <asm/sync_bitops.h>

/* Write a new sign of life into our slot. Any context. */
static void beat(struct window *w)
{
	WRITE_ONCE(window_node(w, w->slot)->beat, cpu_to_le64(get_jiffies_64()));
}

/* Empty a slot, unless another incarnation is in it by now. */
static void free_member(struct window *w, u32 slot, u64 incarnation)
{
	sync_cmpxchg(&window_node(w, slot)->incarnation, cpu_to_le64(incarnation), 0);
}

static struct rsm_membership_output member_step(struct window *w,
						const struct rsm_membership_input *input)
{
	struct rsm_membership_output output;

	spin_lock(&w->membership_lock);
	output = rsm_membership_step(&w->membership, jiffies, input);
	spin_unlock(&w->membership_lock);
	return output;
}

/**
 * window_wake_tick() - let the tick look at the node table now
 * @w: the window
 *
 * Any context.
 */
void window_wake_tick(struct window *w)
{
	mod_delayed_work(system_dfl_wq, &w->tick, 0);
}

static void retry_soon(struct window *w)
{
	mod_delayed_work(system_dfl_wq, &w->tick, msecs_to_jiffies(RSM_MEMBERSHIP_RETRY_MS));
}

/* &rsm_link_ops.down */
void window_link_down(struct rsm_link *link, u64 incarnation)
{
	struct window_peer *peer = to_peer(link);
	struct window *w = peer->w;
	struct rsm_membership_input input = {
		.event = RSM_MEMBERSHIP_DOWN,
		.slot = peer->slot,
		.own = window_incarnation(w, w->slot),
	};
	struct rsm_membership_output output;

	/* Before the step: after it the tick may start the link again. */
	smp_store_release(&peer->running, false);
	output = member_step(w, &input);
	if (output.expel)
		free_member(w, peer->slot, output.expel);
	window_wake_tick(w);
}

/*
 * &rsm_link_ops.stirs. Each link's timer calls this, so it also writes our own sign of life: that
 * does not depend then on when the tick gets a processor.
 */
bool window_stirs(struct rsm_link *link)
{
	struct window_peer *peer = to_peer(link);
	u64 now = window_beat(peer->w, peer->slot);
	bool stirred = now != peer->heard_beat;

	peer->heard_beat = now;
	beat(peer->w);
	return stirred;
}

/* The link's work has not finished the former connection yet. */
static void member_busy(struct window_peer *peer)
{
	struct rsm_membership_input input = {
		.event = RSM_MEMBERSHIP_BUSY,
		.slot = peer->slot,
	};

	/* From here on the interrupt takes no messages of this peer. */
	smp_store_release(&peer->running, false);
	if (member_step(peer->w, &input).retry)
		retry_soon(peer->w);
}

static void start_member_link(struct window_peer *peer)
{
	struct window *w = peer->w;
	const struct rsm_slot_view *view = &w->view[peer->slot];
	struct rsm_link_peer to = {
		.node = view->node,
		.hwaddr = peer->slot,
		.incarnation = view->incarnation,
		.own = w->incarnation,
		.interval_ms = rsm_slot_interval(view),
	};

	window_queues_repair(peer);
	peer->started = view->incarnation;
	peer->heard_beat = window_beat(w, peer->slot);
	/* From here on the interrupt takes messages of this peer. */
	smp_store_release(&peer->running, true);
	if (!rsm_link_start(&peer->link, &to))
		member_busy(peer);
}

static void stop_links(struct window *w, u64 slots, const char *why)
{
	for (u32 slot = 0; slot < w->layout.slots; slot++)
		if (slots & BIT_ULL(slot))
			rsm_link_stop(&w->peer[slot].link, why);
}

/* A node that has greeted since the LOOK keeps its link. */
static void stop_misread_links(struct window *w, u64 slots)
{
	struct rsm_membership_input input = { .event = RSM_MEMBERSHIP_GREETED };

	for (; input.slot < w->layout.slots; input.slot++)
		if (slots & BIT_ULL(input.slot) &&
		    !rsm_link_stop_greeting(&w->peer[input.slot].link,
					    "its slot had another node id"))
			member_step(w, &input);
}

static u64 new_incarnation(u32 slot)
{
	u64 incarnation;

	do {
		incarnation = get_random_u64() & ~RSM_INCARNATION_SLOT;
	} while (!incarnation);
	return incarnation | slot;
}

static void keep_word(__le32 *word, u32 value)
{
	if (le32_to_cpu(READ_ONCE(*word)) != value)
		WRITE_ONCE(*word, cpu_to_le32(value));
}

/* Any guest can overwrite our slot. A wrong node id there would keep others away for good. */
static void keep_entry(struct window *w)
{
	struct rsm_window_node *node = window_node(w, w->slot);

	keep_word(&node->node_id, rsm_node_id());
	keep_word(&node->interval_ms, rsm_heartbeat_ms());
	beat(w);
}

static void member_join(struct window *w, u64 own)
{
	window_queues_reset(w);
	keep_entry(w);
	/* A node that sees the incarnation sees the other fields, too. */
	virt_store_release(&window_node(w, w->slot)->incarnation, cpu_to_le64(own));
	WRITE_ONCE(w->incarnation, own);
	pr_info_ratelimited("rsm: %s: joined in slot %u\n", w->ctl.name, w->slot);
}

static void give_up(struct window *w, u64 running)
{
	pr_warn_ratelimited("rsm: %s: taken for dead by others, joining again\n", w->ctl.name);
	WRITE_ONCE(w->incarnation, 0);
	stop_links(w, running, "we were taken for dead");
	rsm_abort_exports(&w->ctl);
}

static void log_refusals(const struct window *w, const struct rsm_membership_output *output)
{
	for (u32 slot = 0; slot < w->layout.slots; slot++) {
		if (output->ignored & BIT_ULL(slot))
			pr_warn_ratelimited("rsm: %s: node %u in slot %u is ignored: %s\n",
					    w->ctl.name, w->view[slot].node, slot,
					    w->membership.member[slot].objection);
		if (output->doubled & BIT_ULL(slot))
			pr_warn_ratelimited("rsm: %s: not joining: slot %u has our node id %u, too\n",
					    w->ctl.name, slot, rsm_node_id());
	}
}

/* Our own part of the node table. */
static void carry_out_for_us(struct window *w, const struct rsm_membership_output *output)
{
	if (output->gave_up)
		give_up(w, output->stop);
	for (u32 slot = 0; slot < w->layout.slots; slot++)
		if (output->clear & BIT_ULL(slot))
			free_member(w, slot, w->view[slot].incarnation);
	if (output->joined)
		member_join(w, w->membership.incarnation);
	if (output->keep)
		keep_entry(w);
}

/* The other slots. */
static void carry_out_for_others(struct window *w, const struct rsm_membership_output *output)
{
	stop_links(w, output->restarted, "restarted");
	stop_links(w, output->left, "left");
	stop_misread_links(w, output->misread);
	for (u32 slot = 0; slot < w->layout.slots; slot++) {
		if (output->ring & BIT_ULL(slot))
			window_ring(&w->peer[slot]);
		if (output->receive & BIT_ULL(slot))
			window_look(&w->peer[slot]);
		if (output->start & BIT_ULL(slot))
			start_member_link(&w->peer[slot]);
	}
}

/* The only place where code reads the node table for a LOOK. */
static void read_node_table(struct window *w)
{
	for (u32 slot = 0; slot < w->layout.slots; slot++) {
		const struct rsm_window_node *node = window_node(w, slot);

		w->view[slot] = (struct rsm_slot_view) {
			/* First: the rest of the slot is that node's, too. */
			.incarnation = window_incarnation(w, slot),
		};
		w->view[slot].beat = window_beat(w, slot);
		w->view[slot].node = le32_to_cpu(READ_ONCE(node->node_id));
		w->view[slot].interval_ms = le32_to_cpu(READ_ONCE(node->interval_ms));
	}
}

static u64 slots_that_greet(struct window *w)
{
	u64 slots = 0;

	for (u32 slot = 0; slot < w->layout.slots; slot++)
		if (rsm_link_is_greeting(&w->peer[slot].link))
			slots |= BIT_ULL(slot);
	return slots;
}

static struct rsm_membership_output member_look(struct window *w)
{
	struct rsm_membership_input input = {
		.event = RSM_MEMBERSHIP_LOOK,
		.node = rsm_node_id(),
		.heartbeat_ms = rsm_heartbeat_ms(),
		.fresh = new_incarnation(w->slot),
		.view = w->view,
	};

	/* First: a link that was started to what the table says now is not misread. */
	input.greeting = slots_that_greet(w);
	read_node_table(w);
	return member_step(w, &input);
}

/**
 * window_tick() - look after membership
 * @work: &window.tick
 */
void window_tick(struct work_struct *work)
{
	struct window *w = container_of(to_delayed_work(work), struct window, tick);
	unsigned int ms = rsm_membership_period(rsm_heartbeat_ms());
	struct rsm_membership_output output;

	if (READ_ONCE(w->leaving))
		return;
	/* Before a join: end exports that were bound after give_up() had ended the others. */
	if (!w->incarnation)
		rsm_abort_exports(&w->ctl);
	output = member_look(w);
	log_refusals(w, &output);
	carry_out_for_us(w, &output);
	carry_out_for_others(w, &output);
	if (output.sweep)
		window_sweep(w, output.grace);
	if (output.retry)
		retry_soon(w);
	/* Has no effect if window_wake_tick() has queued the tick for an earlier time meanwhile. */
	queue_delayed_work(system_dfl_wq, &w->tick, msecs_to_jiffies(ms));
}

/**
 * window_leave() - leave the window, and tell the other nodes
 * @w: the window; the tick has ended
 */
void window_leave(struct window *w)
{
	struct rsm_membership_input input = { .event = RSM_MEMBERSHIP_LEAVE };
	struct rsm_membership_output output = member_step(w, &input);

	stop_links(w, output.stop, "leaving");
	WRITE_ONCE(w->incarnation, 0);
	if (output.expel)
		free_member(w, w->slot, output.expel);
}
