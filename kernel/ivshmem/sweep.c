// SPDX-License-Identifier: GPL-2.0
/*
 * Chunks whose owner is gone. Each member frees them when it has seen for long enough that the
 * owner's slot is empty or has another incarnation.
 */

#include "ivshmem.h"

#include <linux/jiffies.h>

/**
 * window_grace() - how long an owner must be gone before its chunks may be used again
 * @w: the window
 *
 * By then every member has noticed, and nothing maps the owner's chunks any more: a member that has
 * not noticed for so long is dead itself, by its own interval, which may be longer.
 *
 * Return: jiffies.
 */
unsigned long window_grace(const struct window *w)
{
	u32 ms = rsm_heartbeat_ms();

	for (u32 slot = 0; slot < w->layout.slots; slot++)
		if (window_incarnation(w, slot))
			ms = max(ms, window_interval_ms(w, slot));
	return msecs_to_jiffies(2 * ms + 1000);
}

/**
 * struct sweep - a search for chunks of dead owners
 * @w: the window
 * @grace: how long an owner must be gone, in jiffies
 */
struct sweep {
	const struct window *w;
	unsigned long grace;
};

/* Has this owner, whose chunk this node does not use, been gone for the time of grace? */
static bool is_gone(const void *arg, u64 owner)
{
	const struct sweep *sweep = arg;
	const struct window *w = sweep->w;
	u32 slot = owner & RSM_INCARNATION_SLOT;

	if (slot >= w->layout.slots)
		return true;
	if (time_before(jiffies, w->peer[slot].since + sweep->grace))
		return false;
	return slot == w->slot || window_incarnation(w, slot) != owner;
}

/**
 * window_sweep() - free the chunks of nodes that are gone, if it is time to look again
 * @w: the window
 */
void window_sweep(struct window *w)
{
	struct sweep sweep = { .w = w };
	u32 freed;

	if (time_before(jiffies, w->next_sweep))
		return;
	sweep.grace = window_grace(w);
	w->next_sweep = jiffies + sweep.grace;
	freed = window_chunks_sweep(&w->chunks, is_gone, &sweep);
	if (freed)
		pr_info_ratelimited("rsm: %s: freed %u chunks of nodes that are gone\n",
				    w->ctl.name, freed);
}
