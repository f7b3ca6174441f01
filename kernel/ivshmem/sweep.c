// SPDX-License-Identifier: GPL-2.0
/*
 * Chunks whose owner is gone. Each member frees them when it has seen for long enough that the
 * owner's slot is empty or has another incarnation.
 */

#include "ivshmem.h"

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
static bool is_gone(const void *arg, u64 owner, bool known)
{
	const struct sweep *sweep = arg;
	const struct window *w = sweep->w;
	u32 slot = owner & RSM_INCARNATION_SLOT;
	u64 found = slot < w->layout.slots ? window_incarnation(w, slot) : 0;

	return rsm_membership_is_gone(&w->membership, sweep->grace, owner, found, known);
}

/**
 * window_sweep() - free the chunks of nodes that are gone
 * @w: the window
 * @grace: how long an owner must be gone, in jiffies
 */
void window_sweep(struct window *w, unsigned long grace)
{
	struct sweep sweep = { .w = w, .grace = grace };
	u32 freed = window_chunks_sweep(&w->chunks, is_gone, &sweep);

	if (freed)
		pr_info_ratelimited("rsm: %s: freed %u chunks of nodes that are gone\n",
				    w->ctl.name, freed);
}
