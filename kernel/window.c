// SPDX-License-Identifier: GPL-2.0
/*
 * Segments in memory of the interconnect, its window. Binding copies the
 * exporter's range there, and the exporter then maps its handle over the range
 * (librsm does), so that its pointers stay good and show what importers see.
 */

#include "internal.h"

#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

/*
 * What must not lie in the range: memory that others share would stay behind,
 * and small pages can't be mapped over part of a huge one of hugetlbfs.
 */
#define NOT_MOVABLE	(VM_MAYSHARE | VM_HUGETLB)

/*
 * The exporter's address space ends, although its descriptor may live on with somebody
 * else. The mappings tell of all other ends, but only of those that were seen.
 */
static bool exporter_changes(struct mmu_interval_notifier *notifier,
			     const struct mmu_notifier_range *range, unsigned long seq)
{
	struct rsm_shown *shown = container_of(notifier, struct rsm_shown, life);

	mmu_interval_set_seq(notifier, seq);
	if (range->event == MMU_NOTIFY_RELEASE) {
		WRITE_ONCE(shown->gone, true);
		queue_work(rsm_wq, &shown->exp->death);
	}
	return true;
}

static const struct mmu_interval_notifier_ops life_ops = {
	.invalidate = exporter_changes,
};

static struct rsm_shown *shown_alloc(struct rsm_export *exp)
{
	struct rsm_shown *shown = kzalloc(sizeof(*shown), GFP_KERNEL_ACCOUNT);

	if (!shown)
		return NULL;
	shown->scratch = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (!shown->scratch) {
		kfree(shown);
		return NULL;
	}
	shown->exp = exp;
	shown->mm = current->mm;
	mmgrab(shown->mm);
	shown->memcg = get_mem_cgroup_from_mm(shown->mm);
	return shown;
}

static void shown_free(struct rsm_shown *shown)
{
	rsm_mem_put(shown->copy);
	rsm_uncharge(shown->mm, shown->charged);
	mem_cgroup_put(shown->memcg);
	mmdrop(shown->mm);
	put_page(shown->scratch);
	kfree(shown);
}

/* The export is being freed; its mappings have gone before its handle. */
void rsm_window_free(struct rsm_export *exp)
{
	if (exp->shown)
		shown_free(exp->shown);
}

/*
 * Copy the caller's range. It is pinned for that, so that the copy can't stop
 * half-way.
 */
static u32 copy_range(u64 vaddr, u64 length, struct rsm_mem *to)
{
	struct rsm_mem *range;
	u32 status;

	status = rsm_pin_range(vaddr, length, NOT_MOVABLE, 0, &range);
	if (status)
		return status;
	rsm_mem_copy(to, range);
	rsm_mem_put(range);
	return RSM_SUCCESS;
}

/* Charge an export and watch its exporter's life. */
static u32 shown_begin(struct rsm_shown *shown, unsigned long npages)
{
	int err;

	if (rsm_charge(shown->mm, npages))
		return RSMERR_INSUFFICIENT_MEM;
	shown->charged = npages;
	/* Whatever the range, the end of the address space comes to all notifiers. */
	err = mmu_interval_notifier_insert(&shown->life, shown->mm, shown->exp->vaddr, PAGE_SIZE,
					   &life_ops);
	if (err)
		return err == -EINTR ? RSMERR_INTERRUPTED : RSMERR_INSUFFICIENT_MEM;
	return RSM_SUCCESS;
}

/**
 * rsm_window_bind() - put window memory behind an export
 * @exp: an export with vaddr and length set; the caller is its creator
 * @mem: the memory, of that length; the caller's reference is taken over
 *	unless this fails
 *
 * Return: RSM_SUCCESS, RSMERR_BAD_ADDR (also for memory shared with others or
 * of hugetlbfs), RSMERR_PERM_DENIED, RSMERR_INSUFFICIENT_MEM or
 * RSMERR_INTERRUPTED.
 */
u32 rsm_window_bind(struct rsm_export *exp, struct rsm_mem *mem)
{
	struct rsm_shown *shown;
	u32 status;

	lockdep_assert_held(&exp->lock);
	status = copy_range(exp->vaddr, exp->length, mem);
	if (status)
		return status;
	shown = shown_alloc(exp);
	if (!shown)
		return RSMERR_INSUFFICIENT_MEM;
	status = shown_begin(shown, mem->npages);
	if (status) {
		shown_free(shown);
		return status;
	}
	exp->shown = shown;
	exp->mem = mem;
	return RSM_SUCCESS;
}
EXPORT_SYMBOL_GPL(rsm_window_bind);

/**
 * rsm_window_rebind() - copy another range into the memory of an export
 * @exp: an export bound by rsm_window_bind()
 * @vaddr: start of the new range
 *
 * Importers stay where they are. The old range is to be given ordinary memory
 * by the exporter, who has kept a copy. Where the exporter sees the segment
 * already nothing is copied: so it can go back.
 *
 * Return: as rsm_window_bind(), or RSMERR_BAD_SEG_HNDL (the old range is gone);
 * on failure nothing has changed.
 */
u32 rsm_window_rebind(struct rsm_export *exp, u64 vaddr)
{
	bool shown;
	u32 status;

	lockdep_assert_held(&exp->lock);
	if (rsm_window_range_is_gone(exp))
		return RSMERR_BAD_SEG_HNDL;
	status = rsm_shown_at(exp, vaddr, &shown);
	if (status || shown)
		return status;
	return copy_range(vaddr, exp->length, exp->mem);
}
EXPORT_SYMBOL_GPL(rsm_window_rebind);

/*
 * The end of an export may be noticed by a worker, or by somebody else's process. The
 * exporter's cgroup pays; if it has no room, nobody is killed for it.
 */
static struct rsm_mem *copy_alloc(const struct rsm_shown *shown, unsigned long npages)
{
	struct mem_cgroup *former = set_active_memcg(shown->memcg);
	struct rsm_mem *copy = rsm_mem_alloc(npages);

	set_active_memcg(former);
	return copy;
}

/*
 * Make the exporter's mappings show a copy, without losing a store. The copy stays
 * charged to the exporter's address space until the export's handle is closed.
 */
static void keep_contents(struct rsm_export *exp, struct rsm_mem *mem)
{
	struct rsm_shown *shown = exp->shown;

	lockdep_assert_held(&exp->importers_lock);
	rsm_zap_handle(exp->mapping, exp->seg.number);
	if (!atomic_read(&shown->mappings))
		return;
	shown->copy = copy_alloc(shown, mem->npages);
	if (!shown->copy)
		pr_warn_ratelimited("rsm: no memory to keep the contents of segment %u\n",
				    exp->id);
	else if (!READ_ONCE(mem->lost))
		rsm_mem_copy(shown->copy, mem);
}

/**
 * rsm_window_unbind() - undo rsm_window_bind()
 * @exp: the export; has no local importers any more
 */
void rsm_window_unbind(struct rsm_export *exp)
{
	struct rsm_shown *shown = exp->shown;
	struct rsm_mem *mem = exp->mem;

	lockdep_assert_held(&exp->lock);
	mmu_interval_notifier_remove(&shown->life);
	mutex_lock(&exp->importers_lock);
	keep_contents(exp, mem);
	exp->mem = NULL;
	mutex_unlock(&exp->importers_lock);
	if (!shown->copy) {
		rsm_uncharge(shown->mm, shown->charged);
		shown->charged = 0;
	}
	rsm_mem_put(mem);
}
EXPORT_SYMBOL_GPL(rsm_window_unbind);
