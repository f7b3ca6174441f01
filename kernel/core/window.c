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
 * The range must not contain some kinds of memory: memory that others share would stay behind,
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
		rsm_export_range_gone(shown->exp);
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
	mutex_init(&shown->lock);
	shown->exp = exp;
	shown->mm = current->mm;
	mmgrab(shown->mm);
	shown->memcg = get_mem_cgroup_from_mm(shown->mm);
	return shown;
}

/* Each charge is given back once. */
static void shown_uncharge(struct rsm_shown *shown)
{
	if (shown->charged)
		rsm_uncharge(shown->mm, shown->charged);
	shown->charged = 0;
}

static void shown_free(struct rsm_shown *shown)
{
	rsm_mem_put(shown->copy);
	shown_uncharge(shown);
	mem_cgroup_put(shown->memcg);
	mmdrop(shown->mm);
	put_page(shown->scratch);
	mutex_destroy(&shown->lock);
	kfree(shown);
}

/* The export is being freed; its mappings have gone before its handle. */
void rsm_window_free(struct rsm_export *exp)
{
	if (exp->shown)
		shown_free(exp->shown);
}

/*
 * Whatever the range, the end of the address space comes to all notifiers. A page fault of
 * another thread may hold mmap_lock for long: a kill ends the wait.
 */
static int watch_life(struct rsm_shown *shown, u64 vaddr)
{
	int err = mmap_write_lock_killable(shown->mm);

	if (err)
		return err;
	err = mmu_interval_notifier_insert_locked(&shown->life, shown->mm, vaddr, PAGE_SIZE,
						  &life_ops);
	mmap_write_unlock(shown->mm);
	return err;
}

/* The exporter's view of a segment that is about to be bound. */
static u32 view_create(struct rsm_export *exp, struct rsm_shown **view)
{
	struct rsm_shown *shown = shown_alloc(exp);
	int err;

	if (!shown)
		return RSMERR_INSUFFICIENT_MEM;
	err = watch_life(shown, exp->vaddr);
	if (err) {
		shown_free(shown);
		return err == -EINTR ? RSMERR_INTERRUPTED : RSMERR_INSUFFICIENT_MEM;
	}
	*view = shown;
	return RSM_SUCCESS;
}

/* The segment was not bound after all. */
void rsm_window_discard(struct rsm_shown *shown)
{
	if (!shown)
		return;
	mmu_interval_notifier_remove(&shown->life);
	shown_free(shown);
}

/**
 * rsm_window_prepare() - &rsm_controller_ops.prepare: get hold of a range to copy
 * @exp: an export with its length set; the caller is its creator
 * @vaddr: start of the range
 * @prepared: where to put the pages of the range
 *
 * The range is pinned until it is copied, so that the copy can't stop half-way. Where
 * the exporter sees the segment already there is nothing to copy.
 *
 * Return: RSM_SUCCESS, RSMERR_BAD_ADDR (also for memory shared with others or
 * of hugetlbfs), RSMERR_PERM_DENIED, RSMERR_INSUFFICIENT_MEM or
 * RSMERR_INTERRUPTED.
 */
u32 rsm_window_prepare(struct rsm_export *exp, u64 vaddr, struct rsm_prepared *prepared)
{
	u32 status;

	prepared->vaddr = vaddr;
	if (exp->shown)
		status = rsm_shown_at(exp, vaddr, &prepared->shown);
	else
		status = view_create(exp, &prepared->view);
	if (status || prepared->shown)
		return status;
	return rsm_pin_range(vaddr, exp->length, NOT_MOVABLE, 0, &prepared->mem);
}
EXPORT_SYMBOL_GPL(rsm_window_prepare);

/* The range, with what it is charged, is given back at once. */
static void copy_prepared(struct rsm_mem *to, struct rsm_prepared *prepared)
{
	rsm_mem_copy(to, prepared->mem);
	rsm_mem_put(prepared->mem);
	prepared->mem = NULL;
}

/**
 * rsm_window_bind() - put window memory behind an export
 * @exp: an export that nobody knows yet
 * @prepared: what rsm_window_prepare() has got for it
 * @mem: the memory, of the same length; the caller's reference is taken over
 *	unless this fails
 *
 * Return: RSM_SUCCESS or RSMERR_INSUFFICIENT_MEM.
 */
u32 rsm_window_bind(struct rsm_export *exp, struct rsm_prepared *prepared,
		    struct rsm_mem *mem)
{
	struct rsm_shown *shown = prepared->view;

	lockdep_assert_held(&exp->lock);
	copy_prepared(mem, prepared);
	if (rsm_charge(shown->mm, mem->npages))
		return RSMERR_INSUFFICIENT_MEM;
	shown->charged = mem->npages;
	exp->shown = shown;
	prepared->view = NULL;
	exp->mem = mem;
	return RSM_SUCCESS;
}
EXPORT_SYMBOL_GPL(rsm_window_bind);

/**
 * rsm_window_rebind() - copy another range into the memory of an export
 * @exp: an export bound by rsm_window_bind()
 * @prepared: what rsm_window_prepare() has got for the new range
 *
 * Importers stay where they are. The old range is to be given ordinary memory
 * by the exporter, who has kept a copy. Where the exporter sees the segment
 * already nothing is copied: so it can go back.
 *
 * Return: RSM_SUCCESS, or RSMERR_BAD_SEG_HNDL (the old range is gone);
 * on failure nothing has changed.
 */
u32 rsm_window_rebind(struct rsm_export *exp, struct rsm_prepared *prepared)
{
	lockdep_assert_held(&exp->lock);
	if (rsm_window_range_is_gone(exp))
		return RSMERR_BAD_SEG_HNDL;
	if (prepared->shown)
		rsm_window_seen_at(exp, prepared->vaddr);
	else
		copy_prepared(exp->mem, prepared);
	return RSM_SUCCESS;
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

	lockdep_assert_held(&shown->lock);
	rsm_zap_handle(exp->seg.handle);
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
	mutex_lock(&shown->lock);
	keep_contents(exp, mem);
	mutex_lock(&exp->importers_lock);
	exp->mem = NULL;
	mutex_unlock(&exp->importers_lock);
	mutex_unlock(&shown->lock);
	if (!shown->copy)
		shown_uncharge(shown);
	rsm_mem_put(mem);
}
EXPORT_SYMBOL_GPL(rsm_window_unbind);
