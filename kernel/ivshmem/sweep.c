// SPDX-License-Identifier: GPL-2.0
/*
 * Chunks whose owner is gone. Every member frees them, once it has seen the
 * owner's slot empty, or in another life, for long enough.
 */

#include "ivshmem.h"

#include <linux/jiffies.h>

/**
 * window_grace() - how long somebody must be gone to have no traces
 *
 * Everybody has noticed by then, and nothing maps its chunks any more.
 *
 * Return: jiffies.
 */
unsigned long window_grace(void)
{
	return msecs_to_jiffies(2 * rsm_heartbeat_ms() + 1000);
}

/* Is this owner of a chunk, which we don't use, gone for so long? */
static bool is_gone(const void *arg, u64 owner)
{
	const struct window *w = arg;
	u32 slot = owner & RSM_INCARNATION_SLOT;

	if (slot >= w->layout.slots)
		return true;
	if (time_before(jiffies, w->peer[slot].since + window_grace()))
		return false;
	return slot == w->slot || window_incarnation(w, slot) != owner;
}

/**
 * window_sweep() - free the chunks of nodes that are gone, now and then
 * @w: the window
 */
void window_sweep(struct window *w)
{
	u32 freed;

	if (time_before(jiffies, w->next_sweep))
		return;
	w->next_sweep = jiffies + window_grace();
	freed = window_chunks_sweep(&w->chunks, is_gone, w);
	if (freed)
		pr_info_ratelimited("rsm: %s: freed %u chunks of nodes that are gone\n",
				    w->ctl.name, freed);
}
