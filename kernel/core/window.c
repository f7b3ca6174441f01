// SPDX-License-Identifier: GPL-2.0
/*
 * Segments in memory of the interconnect, its window. A bind copies the exporter's range to the
 * window; the exporter (librsm does) then maps its handle over the range, so that its pointers stay
 * valid and show what importers see.
 */

#include "internal.h"

#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

/*
 * Memory that a bind refuses to copy: other processes that share the memory would not see the
 * window, and small pages can't be mapped over a part of a huge page of hugetlbfs.
 */
#define NOT_MOVABLE	(VM_MAYSHARE | VM_HUGETLB)

/*
 * The exporter's address space ends; another process may still hold the descriptor. A mapping
 * reports its own end, but there may be no mapping.
 */
static bool exporter_changes(struct mmu_interval_notifier *notifier,
			     const struct mmu_notifier_range *range, unsigned long seq)
{
	struct rsm_export_view *view = container_of(notifier, struct rsm_export_view, life);

	mmu_interval_set_seq(notifier, seq);
	if (range->event == MMU_NOTIFY_RELEASE) {
		WRITE_ONCE(view->gone, true);
		rsm_export_range_gone(view->exp);
	}
	return true;
}

static const struct mmu_interval_notifier_ops life_ops = {
	.invalidate = exporter_changes,
};

static struct rsm_export_view *export_view_alloc(struct rsm_export *exp)
{
	struct rsm_export_view *view = kzalloc(sizeof(*view), GFP_KERNEL_ACCOUNT);

	if (!view)
		return NULL;
	view->scratch = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (!view->scratch) {
		kfree(view);
		return NULL;
	}
	mutex_init(&view->lock);
	view->exp = exp;
	view->mm = current->mm;
	mmgrab(view->mm);
	view->memcg = get_mem_cgroup_from_mm(view->mm);
	return view;
}

/* Give the charge back, once. */
static void export_view_uncharge(struct rsm_export_view *view)
{
	if (view->charged)
		rsm_uncharge(view->mm, view->charged);
	view->charged = 0;
}

static void export_view_free(struct rsm_export_view *view)
{
	rsm_mem_put(view->copy);
	export_view_uncharge(view);
	mem_cgroup_put(view->memcg);
	mmdrop(view->mm);
	put_page(view->scratch);
	mutex_destroy(&view->lock);
	kfree(view);
}

/* Called when the export is freed: the handle's last mapping is gone already. */
void rsm_window_free(struct rsm_export *exp)
{
	if (exp->view)
		export_view_free(exp->view);
}

/*
 * The range of the notifier does not matter: the end of the address space is reported to all
 * notifiers. A page fault of another thread may hold mmap_lock for long: a fatal signal ends
 * the wait.
 */
static int watch_life(struct rsm_export_view *view, u64 vaddr)
{
	int err = mmap_write_lock_killable(view->mm);

	if (err)
		return err;
	err = mmu_interval_notifier_insert_locked(&view->life, view->mm, vaddr, PAGE_SIZE,
						  &life_ops);
	mmap_write_unlock(view->mm);
	return err;
}

/* Make the exporter's view of a segment that is about to be bound. */
static rsm_status_t view_create(struct rsm_export *exp, struct rsm_export_view **result)
{
	struct rsm_export_view *view = export_view_alloc(exp);
	int err;

	if (!view)
		return RSM_STS_INSUFFICIENT_MEM;
	err = watch_life(view, exp->vaddr);
	if (err) {
		export_view_free(view);
		return err == -EINTR ? RSM_STS_INTERRUPTED : RSM_STS_INSUFFICIENT_MEM;
	}
	*result = view;
	return RSM_STS_SUCCESS;
}

/* Free the view of a segment that was not bound after all. */
void rsm_window_discard(struct rsm_export_view *view)
{
	if (!view)
		return;
	mmu_interval_notifier_remove(&view->life);
	export_view_free(view);
}

/**
 * rsm_window_prepare() - &rsm_controller_ops.prepare: get hold of a range to copy
 * @exp: an export with its length set; the caller is its creator
 * @vaddr: start of the range
 * @prepared: where to put the pages of the range
 *
 * Pins the range until rsm_window_bind() or rsm_window_rebind() has copied it, so that the
 * copy can't stop half-way. If the exporter maps the segment there already, nothing is copied.
 *
 * Return: RSM_SUCCESS, RSMERR_BAD_ADDR (also for memory shared with others or
 * of hugetlbfs), RSMERR_PERM_DENIED, RSMERR_INSUFFICIENT_MEM or
 * RSMERR_INTERRUPTED.
 */
rsm_status_t rsm_window_prepare(struct rsm_export *exp, u64 vaddr, struct rsm_prepared *prepared)
{
	rsm_status_t status;

	prepared->vaddr = vaddr;
	if (exp->view)
		status = rsm_export_view_at(exp, vaddr, &prepared->in_view);
	else
		status = view_create(exp, &prepared->view);
	if (status || prepared->in_view)
		return status;
	return rsm_pin_range(vaddr, exp->length, NOT_MOVABLE, 0, prepared->loan, &prepared->mem);
}
EXPORT_SYMBOL_GPL(rsm_window_prepare);

/* Copy the range; unpin and uncharge it at once. */
static void copy_prepared(struct rsm_mem *to, struct rsm_prepared *prepared)
{
	rsm_mem_copy(to, prepared->mem);
	rsm_loan_return(prepared->loan);
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
rsm_status_t rsm_window_bind(struct rsm_export *exp, struct rsm_prepared *prepared,
			     struct rsm_mem *mem)
{
	struct rsm_export_view *view = prepared->view;

	lockdep_assert_held(&exp->lock);
	copy_prepared(mem, prepared);
	if (rsm_charge(view->mm, mem->npages, NULL))
		return RSM_STS_INSUFFICIENT_MEM;
	view->charged = mem->npages;
	exp->view = view;
	prepared->view = NULL;
	exp->mem = mem;
	return RSM_STS_SUCCESS;
}
EXPORT_SYMBOL_GPL(rsm_window_bind);

/**
 * rsm_window_rebind() - copy another range into the memory of an export
 * @exp: an export bound by rsm_window_bind()
 * @prepared: what rsm_window_prepare() has got for the new range
 *
 * Importers keep their memory. The exporter, which has kept a copy of the old contents, has to map
 * ordinary memory over the old range. If the exporter maps the segment at the new range
 * already, nothing is copied: this is how it goes back after a failure.
 *
 * The caller has found the old range to be there.
 *
 * Return: RSM_SUCCESS.
 */
rsm_status_t rsm_window_rebind(struct rsm_export *exp, struct rsm_prepared *prepared)
{
	lockdep_assert_held(&exp->lock);
	if (prepared->in_view)
		rsm_window_seen_at(exp, prepared->vaddr);
	else
		copy_prepared(exp->mem, prepared);
	return RSM_STS_SUCCESS;
}
EXPORT_SYMBOL_GPL(rsm_window_rebind);

/*
 * A worker or another process may be the one that ends an export, so this charges the exporter's
 * cgroup by name. Without room there the copy is not made; the OOM killer is not called.
 */
static struct rsm_mem *copy_alloc(const struct rsm_export_view *view, unsigned long npages)
{
	struct mem_cgroup *former = set_active_memcg(view->memcg);
	struct rsm_mem *copy = rsm_mem_alloc(npages);

	set_active_memcg(former);
	return copy;
}

/*
 * Make the exporter's mappings show a copy of the contents that has every store made so far. The
 * copy stays charged to the exporter's address space until the export's handle is closed.
 */
static void keep_contents(struct rsm_export *exp, struct rsm_mem *mem)
{
	struct rsm_export_view *view = exp->view;

	lockdep_assert_held(&view->lock);
	rsm_zap_handle(exp->seg.handle);
	if (!atomic_read(&view->mappings))
		return;
	view->copy = copy_alloc(view, mem->npages);
	if (!view->copy)
		pr_warn_ratelimited("rsm: no memory to keep the contents of segment %u\n",
				    exp->id);
	else if (!READ_ONCE(mem->lost))
		rsm_mem_copy(view->copy, mem);
}

/**
 * rsm_window_unbind() - undo rsm_window_bind()
 * @exp: the export; has no local importers any more
 *
 * The pages stay charged until the handle is closed if there is a copy of the contents, or if a
 * rebind under way has borrowed the room.
 */
void rsm_window_unbind(struct rsm_export *exp)
{
	struct rsm_export_view *view = exp->view;
	struct rsm_mem *mem = exp->mem;
	bool lent;

	lockdep_assert_held(&exp->lock);
	mmu_interval_notifier_remove(&view->life);
	mutex_lock(&view->lock);
	keep_contents(exp, mem);
	mutex_lock(&exp->importers_lock);
	exp->mem = NULL;
	lent = exp->lent;
	mutex_unlock(&exp->importers_lock);
	mutex_unlock(&view->lock);
	if (!view->copy && !lent)
		export_view_uncharge(view);
	rsm_mem_put(mem);
}
EXPORT_SYMBOL_GPL(rsm_window_unbind);
