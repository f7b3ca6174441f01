// SPDX-License-Identifier: GPL-2.0
/*
 * Chunks whose owner is gone. Every member frees them, once it has seen the
 * owner's slot empty, or in another life, for long enough.
 */

#include "ivshmem.h"

#include <linux/jiffies.h>

/**
 * window_grace() - how long somebody must be gone to have no traces
 * @w: the window
 *
 * Everybody has noticed by then, and nothing maps its chunks any more: a member that
 * has not is dead by its own, perhaps longer, interval.
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
 * struct sweep - a look for chunks of the dead
 * @w: the window
 * @grace: how long an owner must be gone, in jiffies
 */
struct sweep {
	const struct window *w;
	unsigned long grace;
};

/* Is this owner of a chunk, which we don't use, gone for so long? */
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
 * window_sweep() - free the chunks of nodes that are gone, now and then
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
