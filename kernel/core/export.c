// SPDX-License-Identifier: GPL-2.0
/* Export segments: bind, rebind, close. */

#include "internal.h"

#include <linux/cred.h>
#include <linux/fs_struct.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/slab.h>

static void export_free(struct rsm_export *exp)
{
	put_pid(exp->owner.tgid);
	rsm_window_free(exp);
	mutex_destroy(&exp->importers_lock);
	mutex_destroy(&exp->lock);
	kfree(exp);
}

/**
 * rsm_export_kill() - end an export, whatever its state
 * @exp: the export; keeps its handle, which is good for closing only
 * @reason: why
 */
void rsm_export_kill(struct rsm_export *exp, enum rsm_reason reason)
{
	lockdep_assert_held(&exp->lock);
	if (exp->state == RSM_DEAD)
		return;
	rsm_export_withdraw(exp, reason);
	mutex_lock(&exp->importers_lock);
	WRITE_ONCE(exp->state, RSM_DEAD);
	exp->reason = reason;
	mutex_unlock(&exp->importers_lock);
	atomic64_sub(exp->length, &exp->seg.process->pinned);
	rsm_grants_end(exp);
	rsm_notify_end(exp, reason);
	exp->ops->unbind(exp);
	wake_up_interruptible_poll(&exp->seg.handle->wq, EPOLLRDHUP);
}

/* End an export whose range is gone, unless it has been rebound since. */
static void export_death(struct work_struct *work)
{
	struct rsm_export *exp = container_of(work, struct rsm_export, death);

	mutex_lock(&exp->lock);
	if (rsm_export_lost_range(exp))
		rsm_export_kill(exp, RSM_REASON_RANGE_GONE);
	mutex_unlock(&exp->lock);
}

/* &rsm_segment_ops.free */
static void export_segment_free(struct rsm_segment *seg)
{
	export_free(to_export(seg));
}

/* &rsm_segment_ops.withdraw */
static void export_segment_withdraw(struct rsm_segment *seg)
{
	struct rsm_export *exp = to_export(seg);

	mutex_lock(&exp->lock);
	rsm_export_withdraw_begin(exp);
	mutex_unlock(&exp->lock);
}

/* &rsm_segment_ops.kill */
static void export_segment_kill(struct rsm_segment *seg, enum rsm_reason reason)
{
	struct rsm_export *exp = to_export(seg);

	mutex_lock(&exp->lock);
	rsm_export_kill(exp, reason);
	mutex_unlock(&exp->lock);
}

static const struct rsm_segment_ops export_segment_ops = {
	.kind = RSM_EXPORT,
	.free = export_segment_free,
	.withdraw = export_segment_withdraw,
	.kill = export_segment_kill,
};

/* An export without an id is unknown to the controller, and so are the imports of it. */
static const struct rsm_controller_ops local_ops = {
	.prepare = rsm_pin_prepare,
	.bind = rsm_pin_bind,
	.rebind = rsm_pin_rebind,
	.unbind = rsm_pin_unbind,
};

static struct rsm_export *export_alloc(struct rsm_handle *h, struct rsm_bind *arg)
{
	struct rsm_export *exp = kzalloc(sizeof(*exp), GFP_KERNEL_ACCOUNT);

	if (!exp)
		return NULL;
	mutex_init(&exp->lock);
	mutex_init(&exp->importers_lock);
	INIT_LIST_HEAD(&exp->tickets);
	rsm_inbox_init(&exp->inbox);
	INIT_LIST_HEAD(&exp->importers);
	INIT_LIST_HEAD(&exp->remote_importers);
	init_waitqueue_head(&exp->answered);
	INIT_WORK(&exp->death, export_death);
	exp->state = RSM_BOUND;
	exp->flags = arg->flags;
	exp->vaddr = arg->vaddr;
	exp->length = arg->length;
	rsm_owner_init(&exp->owner);
	return exp;
}

/*
 * Get the memory of a range for @exp. The caller holds no lock: a page fault of the exporter
 * may take for ever.
 */
static rsm_status_t prepare_memory(struct rsm_export *exp, u64 vaddr, struct rsm_prepared *prepared)
{
	lockdep_assert_not_held(&exp->lock);
	return exp->ops->prepare(exp, vaddr, prepared);
}

/* Give back the rest of what prepare_memory() got, whether that was used or not. */
static void release_memory(struct rsm_prepared *prepared)
{
	rsm_loan_return(prepared->loan);
	rsm_watch_stop(prepared->watch);
	rsm_window_discard(prepared->view);
	rsm_mem_put(prepared->mem);
}

static rsm_status_t bind_memory(struct rsm_export *exp, struct rsm_prepared *prepared)
{
	rsm_status_t status;

	mutex_lock(&exp->lock);
	status = exp->ops->bind(exp, prepared);
	if (!status)
		atomic64_add(exp->length, &exp->seg.process->pinned);
	mutex_unlock(&exp->lock);
	return status;
}

/* @h becomes the export @exp, unless the controller has gone meanwhile. */
static rsm_status_t export_complete(struct rsm_export *exp, struct rsm_handle *h,
				    struct rsm_prepared *prepared)
{
	rsm_status_t status = rsm_segment_enter(&exp->seg);

	if (status)
		return status;
	status = bind_memory(exp, prepared);
	if (status) {
		rsm_controller_leave(exp->seg.ctl);
		return status;
	}
	rsm_notify_bind(exp);
	rsm_segment_complete(&exp->seg, h);
	return RSM_STS_SUCCESS;
}

static rsm_status_t export_bind(struct rsm_export *exp, struct rsm_handle *h)
{
	struct rsm_prepared prepared = {};
	rsm_status_t status;

	status = rsm_range_exportable(exp->vaddr, exp->length,
				      exp->seg.ctl->attr.max_export_size);
	if (status)
		return status;
	status = prepare_memory(exp, exp->vaddr, &prepared);
	if (!status)
		status = export_complete(exp, h, &prepared);
	release_memory(&prepared);
	if (status)
		cancel_work_sync(&exp->death);
	return status;
}

static rsm_status_t export_create(struct rsm_handle *h, struct rsm_bind *arg,
				  struct rsm_table *table)
{
	struct rsm_export *exp = export_alloc(h, arg);
	rsm_status_t status;

	if (!exp)
		return RSM_STS_INSUFFICIENT_MEM;
	status = rsm_segment_init(&exp->seg, &export_segment_ops, h, arg->controller, table);
	if (status)
		goto err_free_export;
	exp->ops = rsm_is_local(exp) ? &local_ops : exp->seg.ctl->ops;
	status = export_bind(exp, h);
	if (status)
		goto err_cancel_segment;

	arg->slot = exp->seg.words.slot;
	arg->number = h->number;
	arg->window = !!exp->view;
	return RSM_STS_SUCCESS;

err_cancel_segment:
	rsm_segment_cancel(&exp->seg);
err_free_export:
	export_free(exp);
	return status;
}

/* RSM_IOC_BIND */
rsm_status_t rsm_bind(struct rsm_handle *h, struct rsm_bind *arg, struct rsm_table *table)
{
	rsm_status_t status = RSM_STS_BAD_SEG_HNDL;

	if (mutex_lock_interruptible(&h->lock))
		return RSM_STS_INTERRUPTED;
	if (!h->seg)
		status = export_create(h, arg, table);
	mutex_unlock(&h->lock);
	return status;
}

static rsm_status_t rebind_locked(struct rsm_export *exp, u64 vaddr, struct rsm_prepared *prepared)
{
	rsm_status_t status;

	lockdep_assert_held(&exp->lock);
	if (rsm_export_is_over(exp))
		return RSM_STS_BAD_SEG_HNDL;
	status = exp->ops->rebind(exp, prepared);
	if (status)
		return status;
	WRITE_ONCE(exp->vaddr, vaddr);
	rsm_notify_rebind(exp);
	return RSM_STS_SUCCESS;
}

/* A rebind to where the export is. Other memory at the same address is no part of the export. */
static rsm_status_t rebind_in_place(struct rsm_export *exp)
{
	rsm_status_t status = RSM_STS_SUCCESS;

	if (mutex_lock_interruptible(&exp->lock))
		return RSM_STS_INTERRUPTED;
	if (rsm_export_is_over(exp))
		status = RSM_STS_BAD_SEG_HNDL;
	mutex_unlock(&exp->lock);
	return status;
}

/* Another thread may kill or rebind the export while this one prepares the new memory. */
static rsm_status_t rebind_memory(struct rsm_export *exp, u64 vaddr, struct rsm_loan *loan)
{
	struct rsm_prepared prepared = { .loan = loan };
	rsm_status_t status;

	status = prepare_memory(exp, vaddr, &prepared);
	if (!status) {
		status = RSM_STS_INTERRUPTED;
		if (!mutex_lock_interruptible(&exp->lock)) {
			status = rebind_locked(exp, vaddr, &prepared);
			mutex_unlock(&exp->lock);
		}
	}
	release_memory(&prepared);
	return status;
}

/* The old memory of a rebind, referenced, and its room. */
struct old_memory {
	struct rsm_mem *mem;
	struct rsm_loan loan;
	bool lent;
};

/*
 * The pages that the caller's address space is charged for the memory of an export. After an exec
 * the process is still the creator, and the charge may be that of its former address space.
 */
static unsigned long charged_pages(const struct rsm_export *exp)
{
	lockdep_assert_held(&exp->importers_lock);
	if (!exp->view)
		return rsm_pin_charged_to(exp->mem, current->mm);
	return exp->view->mm == current->mm ? exp->view->charged : 0;
}

/*
 * A rebind replaces memory, so the limits must not count old and new memory together. One of
 * several rebinds of an export at the same time borrows the room of the old memory.
 */
static rsm_status_t old_memory_get(struct rsm_export *exp, struct old_memory *old)
{
	mutex_lock(&exp->importers_lock);
	old->mem = rsm_mem_get(exp->mem);
	old->lent = old->mem && !exp->lent;
	if (old->lent) {
		exp->lent = true;
		old->loan.room = charged_pages(exp);
	}
	mutex_unlock(&exp->importers_lock);
	return old->mem ? RSM_STS_SUCCESS : RSM_STS_BAD_SEG_HNDL;
}

static void old_memory_put(struct rsm_export *exp, struct old_memory *old)
{
	rsm_mem_put(old->mem);
	if (!old->lent)
		return;
	mutex_lock(&exp->importers_lock);
	exp->lent = false;
	mutex_unlock(&exp->importers_lock);
}

/* RSM_IOC_REBIND */
rsm_status_t rsm_rebind(struct rsm_export *exp, struct rsm_rebind *arg)
{
	struct old_memory old = {};
	rsm_status_t status;

	if (!(exp->flags & RSM_ALLOW_REBIND))
		return RSM_STS_REBIND_NOT_ALLOWED;
	if (!rsm_is_creator(exp))
		return RSM_STS_NOT_CREATOR;
	if (!arg->vaddr)
		return RSM_STS_BAD_ADDR;
	if (arg->length != exp->length)
		return RSM_STS_BAD_LENGTH;
	if (READ_ONCE(exp->state) == RSM_DEAD)
		return RSM_STS_BAD_SEG_HNDL;
	if (arg->vaddr == READ_ONCE(exp->vaddr))
		return rebind_in_place(exp);
	if (!PAGE_ALIGNED(arg->vaddr) || !rsm_range_ok(arg->vaddr, exp->length, TASK_SIZE))
		return RSM_STS_BAD_ADDR;
	status = old_memory_get(exp, &old);
	if (status)
		return status;
	status = rebind_memory(exp, arg->vaddr, &old.loan);
	old_memory_put(exp, &old);
	return status;
}

/* RSM_IOC_DESTROY */
rsm_status_t rsm_destroy(struct rsm_export *exp)
{
	if (!rsm_is_creator(exp))
		return RSM_STS_NOT_CREATOR;
	if (mutex_lock_interruptible(&exp->lock))
		return RSM_STS_INTERRUPTED;
	rsm_export_kill(exp, RSM_REASON_ASKED);
	mutex_unlock(&exp->lock);
	return RSM_STS_SUCCESS;
}

/* The handle is being closed: release all that imports do not hold. */
void rsm_export_close(struct rsm_export *exp)
{
	export_segment_kill(&exp->seg, RSM_REASON_ASKED);
	cancel_work_sync(&exp->death);
	rsm_segment_put(&exp->seg);
}
