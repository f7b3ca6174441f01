// SPDX-License-Identifier: GPL-2.0
/* Membership: which node is in which slot of the window, this one included. */

#include "ivshmem.h"

#include <linux/jiffies.h>
#include <linux/random.h>
#include <asm/sync_bitops.h>

#define TICK_MAX_MS	500U	/* others may have a much shorter interval */
#define RETRY_MS	10U	/* until the link's work has finished the former connection */

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

/**
 * window_wake_tick() - let the tick look at the node table now
 * @w: the window
 *
 * Any context.
 */
void window_wake_tick(struct window *w)
{
	mod_delayed_work(system_unbound_wq, &w->tick, 0);
}

/*
 * &rsm_link_ops.down. If this node is not in its slot any more, it may have been silent itself, and
 * everybody else seems silent to it: then it must not remove the peer from its slot.
 */
void window_link_down(struct rsm_link *link, u64 incarnation)
{
	struct window_peer *peer = to_peer(link);
	struct window *w = peer->w;
	u64 own = READ_ONCE(w->incarnation);

	if (!peer->keep) {
		peer->dead = peer->started;
		if (own && window_incarnation(w, w->slot) == own)
			free_member(w, peer->slot, peer->started);
	}
	/* The tick reads the fields above after it has seen this. */
	smp_store_release(&peer->running, false);
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

static bool same_node_elsewhere(const struct window_peer *peer, u32 node)
{
	struct window *w = peer->w;

	for (u32 slot = 0; slot < w->layout.slots; slot++)
		if (window_is_running(&w->peer[slot]) && w->peer[slot].node == node)
			return true;
	return false;
}

/* The reason why this node has no link with the node in a slot, or NULL. */
static const char *member_objection(const struct window_peer *peer, u64 incarnation, u32 node)
{
	if ((incarnation & RSM_INCARNATION_SLOT) != peer->slot)
		return "its incarnation is another slot's";
	if (!node || node > RSM_NODE_MAX)
		return "there is no such node id";
	if (node == rsm_node_id())
		return "that is our own node id";
	if (same_node_elsewhere(peer, node))
		return "another slot has that node id";
	return NULL;
}

static bool is_welcome(struct window_peer *peer, u64 incarnation, u32 node)
{
	const char *why = member_objection(peer, incarnation, node);

	if (why && peer->refused != incarnation)
		pr_warn_ratelimited("rsm: %s: node %u in slot %u is ignored: %s\n",
				    peer->w->ctl.name, node, peer->slot, why);
	if (why)
		peer->refused = incarnation;
	return !why;
}

static void start(struct window_peer *peer, u64 incarnation)
{
	struct window *w = peer->w;
	struct rsm_link_peer to = {
		.node = le32_to_cpu(READ_ONCE(window_node(w, peer->slot)->node_id)),
		.hwaddr = peer->slot,
		.incarnation = incarnation,
		.own = w->incarnation,
		.interval_ms = window_interval_ms(w, peer->slot),
	};

	if (!is_welcome(peer, incarnation, to.node))
		return;
	window_queues_repair(peer);
	peer->started = incarnation;
	peer->node = to.node;
	peer->keep = false;
	peer->heard_beat = window_beat(w, peer->slot);
	/* From here on the interrupt takes messages of this peer. */
	smp_store_release(&peer->running, true);
	if (rsm_link_start(&peer->link, &to))
		return;
	/* The link's work has not finished the former connection yet. */
	smp_store_release(&peer->running, false);
	mod_delayed_work(system_unbound_wq, &w->tick, msecs_to_jiffies(RETRY_MS));
}

/* Note which incarnation is in a slot, and end the link to one that is not there any more. */
static void look_at(struct window_peer *peer)
{
	u64 incarnation = window_incarnation(peer->w, peer->slot);

	if (incarnation != peer->seen) {
		peer->seen = incarnation;
		peer->since = jiffies;
	}
	if (window_is_running(peer) && incarnation != peer->started)
		rsm_link_stop(&peer->link, incarnation ? "restarted" : "left");
}

/* Take the peer's messages also without a bell: an interrupt may have been lost. */
static void attend_to(struct window_peer *peer)
{
	if (window_is_running(peer))
		window_look(peer);
	else if (peer->seen && peer->seen != peer->dead && peer->slot != peer->w->slot)
		start(peer, peer->seen);
}

static void suspect(struct window_peer *peer, u64 incarnation)
{
	peer->suspect = incarnation;
	peer->suspect_beat = window_beat(peer->w, peer->slot);
	rsm_silence_begin(&peer->silence, jiffies);
}

static void refuse_to_join(struct window_peer *peer, u64 incarnation)
{
	if (peer->refused == incarnation)
		return;
	peer->refused = incarnation;
	pr_warn("rsm: %s: not joining: slot %u has our node id %u, too\n",
		peer->w->ctl.name, peer->slot, rsm_node_id());
}

/*
 * A node in another slot has our node id. There is no link to it, so watch its signs of life.
 * Returns true once it is found dead.
 */
static bool is_found_dead(struct window_peer *peer, u64 incarnation)
{
	struct window *w = peer->w;
	u64 now = window_beat(w, peer->slot);
	bool stirred = now != peer->suspect_beat;

	if (peer->suspect != incarnation) {
		suspect(peer, incarnation);
		return false;
	}
	peer->suspect_beat = now;
	if (stirred)
		refuse_to_join(peer, incarnation);
	if (!rsm_silence_is_death(&peer->silence, jiffies, window_grace(w) / 2, stirred))
		return false;
	free_member(w, peer->slot, incarnation);
	return true;
}

static bool node_id_is_free(struct window *w)
{
	bool free = true;
	u64 incarnation;

	for (u32 slot = 0; slot < w->layout.slots; slot++) {
		incarnation = window_incarnation(w, slot);
		if (slot == w->slot || !incarnation ||
		    le32_to_cpu(READ_ONCE(window_node(w, slot)->node_id)) != rsm_node_id())
			continue;
		free &= is_found_dead(&w->peer[slot], incarnation);
	}
	return free;
}

static u64 new_incarnation(u32 slot)
{
	u64 incarnation;

	do {
		incarnation = get_random_u64() & ~RSM_INCARNATION_SLOT;
	} while (!incarnation);
	return incarnation | slot;
}

static void member_join(struct window *w)
{
	struct rsm_window_node *node = window_node(w, w->slot);
	u64 own = new_incarnation(w->slot);

	/* End exports that were bound after give_up() had ended the others. */
	rsm_abort_exports(&w->ctl);
	if (!node_id_is_free(w))
		return;
	window_queues_reset(w);
	WRITE_ONCE(node->node_id, cpu_to_le32(rsm_node_id()));
	WRITE_ONCE(node->interval_ms, cpu_to_le32(rsm_heartbeat_ms()));
	beat(w);
	/* A node that sees the incarnation sees the other fields, too. */
	virt_store_release(&node->incarnation, cpu_to_le64(own));
	WRITE_ONCE(w->incarnation, own);
	pr_info_ratelimited("rsm: %s: joined in slot %u\n", w->ctl.name, w->slot);
	for (u32 slot = 0; slot < w->layout.slots; slot++) {
		/* Our former incarnation has given up this peer, which may be alive. */
		w->peer[slot].dead = 0;
		if (slot != w->slot && window_incarnation(w, slot))
			window_ring(&w->peer[slot]);
	}
}

static void keep(__le32 *word, u32 value)
{
	if (le32_to_cpu(READ_ONCE(*word)) != value)
		WRITE_ONCE(*word, cpu_to_le32(value));
}

/* Any guest can overwrite our slot. A wrong node id there would keep others away for good. */
static void keep_entry(struct window *w)
{
	struct rsm_window_node *node = window_node(w, w->slot);

	keep(&node->node_id, rsm_node_id());
	keep(&node->interval_ms, rsm_heartbeat_ms());
	beat(w);
}

static bool is_member(const struct window *w)
{
	return w->incarnation && window_incarnation(w, w->slot) == w->incarnation;
}

/* End all links for a reason of this node. The nodes at the other ends are not at fault. */
static void stop_all(struct window *w, const char *why)
{
	for (u32 slot = 0; slot < w->layout.slots; slot++) {
		struct window_peer *peer = &w->peer[slot];

		if (!window_is_running(peer))
			continue;
		peer->keep = true;
		rsm_link_stop(&peer->link, why);
	}
}

/*
 * The other nodes have taken this one for dead, for example because this guest was paused: they
 * have aborted every connection and will give its chunks to others.
 */
static void give_up(struct window *w)
{
	pr_warn_ratelimited("rsm: %s: taken for dead by others, joining again\n", w->ctl.name);
	WRITE_ONCE(w->incarnation, 0);
	stop_all(w, "we were taken for dead");
	rsm_abort_exports(&w->ctl);
	mod_delayed_work(system_unbound_wq, &w->tick, msecs_to_jiffies(RETRY_MS));
}

/*
 * A late tick has not watched the node table meanwhile, and the other guests may have stood still,
 * too: this time must not count as time of grace of any owner.
 */
static void note_delay(struct window *w, unsigned int ms)
{
	unsigned long due = w->looked + 2 * msecs_to_jiffies(ms);
	unsigned long now = jiffies;

	if (time_after(now, due))
		for (u32 slot = 0; slot < w->layout.slots; slot++)
			w->peer[slot].since += now - due;
	w->looked = now;
}

/**
 * window_tick() - look after membership
 * @work: &window.tick
 */
void window_tick(struct work_struct *work)
{
	struct window *w = container_of(to_delayed_work(work), struct window, tick);
	unsigned int ms = min(rsm_heartbeat_ms() / 2, TICK_MAX_MS);

	if (READ_ONCE(w->leaving))
		return;
	note_delay(w, ms);
	if (!w->incarnation)
		member_join(w);
	else if (!is_member(w))
		give_up(w);
	if (w->incarnation)
		keep_entry(w);
	for (u32 slot = 0; slot < w->layout.slots; slot++)
		look_at(&w->peer[slot]);
	for (u32 slot = 0; slot < w->layout.slots && w->incarnation; slot++)
		attend_to(&w->peer[slot]);
	window_sweep(w);
	/* Has no effect if window_wake_tick() has queued the tick for an earlier time meanwhile. */
	queue_delayed_work(system_unbound_wq, &w->tick, msecs_to_jiffies(ms));
}

/**
 * window_leave() - leave the window, and tell the other nodes
 * @w: the window; the tick has ended
 */
void window_leave(struct window *w)
{
	u64 own = w->incarnation;

	stop_all(w, "leaving");
	WRITE_ONCE(w->incarnation, 0);
	if (own)
		free_member(w, w->slot, own);
}
