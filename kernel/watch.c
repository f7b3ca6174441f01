// SPDX-License-Identifier: GPL-2.0
/*
 * Notice that an exporter's range goes away: unmapped, protected, discarded,
 * or its process exits or execs, perhaps while a forked child still holds the
 * descriptor. Pins alone would let such an export live on with pages that its
 * exporter no longer sees.
 */

#include "internal.h"

#include <linux/mmu_notifier.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

/**
 * struct rsm_watch - a watch on a range
 * @notifier: the kernel's; holds the address space
 * @exp: whose range it is
 */
struct rsm_watch {
	struct mmu_interval_notifier notifier;
	struct rsm_export *exp;
};

/*
 * Called under locks of all kinds: only asks for a look at the range. Fork and
 * soft-dirty tracking change protection bits of single pages, which does not
 * move a pinned page.
 */
static bool range_changes(struct mmu_interval_notifier *notifier,
			  const struct mmu_notifier_range *range,
			  unsigned long seq)
{
	struct rsm_watch *watch = container_of(notifier, struct rsm_watch, notifier);

	mmu_interval_set_seq(notifier, seq);
	if (range->event != MMU_NOTIFY_PROTECTION_PAGE &&
	    range->event != MMU_NOTIFY_SOFT_DIRTY)
		queue_work(rsm_wq, &watch->exp->death);
	return true;
}

static const struct mmu_interval_notifier_ops watch_ops = {
	.invalidate = range_changes,
};

/**
 * rsm_watch_start() - watch a range of the caller's address space
 * @exp: export that dies with the range
 * @vaddr: start of the range
 * @length: bytes
 * @watch: where to put the watch
 *
 * Return: RSM_SUCCESS, RSMERR_INSUFFICIENT_MEM, RSMERR_INTERRUPTED or
 * RSMERR_BAD_ADDR.
 */
u32 rsm_watch_start(struct rsm_export *exp, u64 vaddr, u64 length,
		    struct rsm_watch **watch)
{
	struct rsm_watch *w = kzalloc(sizeof(*w), GFP_KERNEL_ACCOUNT);
	int err;

	if (!w)
		return RSMERR_INSUFFICIENT_MEM;
	w->exp = exp;
	err = mmu_interval_notifier_insert(&w->notifier, current->mm, vaddr, length,
					   &watch_ops);
	if (err) {
		kfree(w);
		return err == -ENOMEM ? RSMERR_INSUFFICIENT_MEM :
		       err == -EINTR ? RSMERR_INTERRUPTED : RSMERR_BAD_ADDR;
	}
	*watch = w;
	return RSM_SUCCESS;
}

/* No call of range_changes() is under way afterwards; the work may be queued. */
void rsm_watch_stop(struct rsm_watch *watch)
{
	if (!watch)
		return;
	mmu_interval_notifier_remove(&watch->notifier);
	kfree(watch);
}

/* Has the change that woke us, once it was complete, taken a page away? */
static bool is_intact(struct rsm_export *exp)
{
	struct mm_struct *mm = exp->watch->notifier.mm;
	bool intact;

	mmu_interval_read_begin(&exp->watch->notifier);
	if (!mmget_not_zero(mm))
		return false;
	intact = rsm_pin_intact(exp->mem, mm, exp->vaddr);
	mmput_async(mm);
	return intact;
}

/**
 * rsm_watch_death() - end an export whose range is gone
 * @work: the export's death
 */
void rsm_watch_death(struct work_struct *work)
{
	struct rsm_export *exp = container_of(work, struct rsm_export, death);

	mutex_lock(&exp->lock);
	if (rsm_window_range_is_gone(exp) || (exp->watch && !is_intact(exp)))
		rsm_export_kill(exp, RSM_REASON_RANGE_GONE);
	mutex_unlock(&exp->lock);
}
