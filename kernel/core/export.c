// SPDX-License-Identifier: GPL-2.0
/* Export segments: bind, rebind, close. */

#include "internal.h"
#include "trace.h"

#include <linux/cred.h>
#include <linux/fs_struct.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/slab.h>

static void segment_destroy(struct rsm_segment *seg)
{
	rsm_words_release(&seg->words);
	rsm_process_put(seg->process);
	rsm_controller_put(seg->ctl);
	rsm_handle_put(seg->handle);
}

/**
 * rsm_segment_init() - set up what export and import have in common
 * @seg: the segment, zeroed
 * @kind: what it is
 * @h: its handle
 * @controller: name of its controller
 * @table: table to take its words from, or NULL
 *
 * Followed by rsm_segment_enter() or rsm_segment_cancel().
 *
 * Return: RSM_SUCCESS, RSMERR_CTLR_NOT_PRESENT, RSMERR_INSUFFICIENT_RESOURCES
 * or RSMERR_INSUFFICIENT_MEM.
 */
u32 rsm_segment_init(struct rsm_segment *seg, enum rsm_kind kind,
		     struct rsm_handle *h, const char *controller,
		     struct rsm_table *table)
{
	u32 status = RSMERR_INSUFFICIENT_MEM;
	int err;

	seg->ctl = rsm_controller_get(controller);
	if (!seg->ctl)
		return RSMERR_CTLR_NOT_PRESENT;
	seg->process = rsm_process_get();
	if (!seg->process)
		goto err_put_controller;
	err = rsm_words_init(&seg->words, table);
	if (err == -ENOSPC) {
		rsm_limit_hit(RSM_LIMIT_SLOTS, RSM_TABLE_SLOTS + 1ULL, RSM_TABLE_SLOTS, NULL);
		status = RSMERR_INSUFFICIENT_RESOURCES;
	}
	if (err)
		goto err_put_process;
	kref_get(&h->ref);
	seg->handle = h;
	kref_init(&seg->ref);
	INIT_LIST_HEAD(&seg->on_ctl);
	seg->kind = kind;
	seg->number = h->number;
	return RSM_SUCCESS;

err_put_process:
	rsm_process_put(seg->process);
err_put_controller:
	rsm_controller_put(seg->ctl);
	return status;
}

/* Undo rsm_segment_init(). */
void rsm_segment_cancel(struct rsm_segment *seg)
{
	segment_destroy(seg);
}

/**
 * rsm_segment_enter() - begin to use the controller of a segment
 * @seg: the segment
 *
 * Unless this fails, the removal of the controller waits for
 * rsm_segment_complete() or rsm_controller_leave(): until then the caller waits
 * for nobody's page faults.
 *
 * Return: RSM_SUCCESS, or RSMERR_CTLR_NOT_PRESENT if the controller was removed.
 */
u32 rsm_segment_enter(struct rsm_segment *seg)
{
	return rsm_controller_enter(seg->ctl) ? RSM_SUCCESS : RSMERR_CTLR_NOT_PRESENT;
}

/* After rsm_segment_enter(): @h is that segment from now on. */
void rsm_segment_complete(struct rsm_segment *seg, struct rsm_handle *h)
{
	rsm_controller_add(seg);
	/* Pairs with rsm_handle_segment(). */
	smp_store_release(&h->seg, seg);
	/* A poll of the blank handle has not seen what happened to @seg up to here. */
	if (wq_has_sleeper(&h->wq))
		wake_up_interruptible_poll(&h->wq, EPOLLIN | EPOLLRDNORM | EPOLLRDHUP);
	rsm_segment_count_in(seg);
	rsm_controller_leave(seg->ctl);
}

static void segment_free(struct kref *ref)
{
	struct rsm_segment *seg = container_of(ref, struct rsm_segment, ref);

	rsm_controller_del(seg);
	segment_destroy(seg);
	if (seg->kind == RSM_EXPORT)
		rsm_export_free(to_export(seg));
	else
		rsm_import_free(to_import(seg));
}

void rsm_segment_put(struct rsm_segment *seg)
{
	kref_put(&seg->ref, segment_free);
}

void rsm_export_free(struct rsm_export *exp)
{
	put_pid(exp->owner.tgid);
	rsm_window_free(exp);
	mutex_destroy(&exp->importers_lock);
	mutex_destroy(&exp->lock);
	kfree(exp);
}

static u32 check_range(u64 vaddr, u64 length, u64 max_length)
{
	if (!vaddr)
		return RSMERR_BAD_ADDR;
	if (!length || length > RSM_MAX_LENGTH || (max_length && length > max_length))
		return RSMERR_BAD_LENGTH;
	if (!PAGE_ALIGNED(vaddr) || !PAGE_ALIGNED(length))
		return RSMERR_BAD_MEM_ALIGNMENT;
	if (!rsm_range_ok(vaddr, length, TASK_SIZE))
		return RSMERR_BAD_ADDR;
	return RSM_SUCCESS;
}

/* The caller is about to create a segment. The reference on its pid is kept. */
void rsm_owner_init(struct rsm_owner *owner)
{
	owner->tgid = get_pid(task_tgid(current));
	owner->uid = current_euid();
	owner->gid = current_egid();
	owner->umask = current_umask();
}

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
	INIT_WORK(&exp->death, rsm_watch_death);
	exp->state = RSM_BOUND;
	exp->flags = arg->flags;
	exp->vaddr = arg->vaddr;
	exp->length = arg->length;
	rsm_owner_init(&exp->owner);
	return exp;
}

/*
 * Get the memory of a range for @exp, without a lock: a page of the caller's may
 * take for ever to come.
 */
static u32 prepare_memory(struct rsm_export *exp, u64 vaddr, struct rsm_prepared *prepared)
{
	lockdep_assert_not_held(&exp->lock);
	return rsm_is_local(exp) ? rsm_pin_prepare(exp, vaddr, prepared) :
				   exp->seg.ctl->ops->prepare(exp, vaddr, prepared);
}

/* Give back the rest of what prepare_memory() got, whether that was used or not. */
static void release_memory(struct rsm_prepared *prepared)
{
	rsm_watch_stop(prepared->watch);
	rsm_window_discard(prepared->view);
	rsm_mem_put(prepared->mem);
}

static u32 bind_memory(struct rsm_export *exp, struct rsm_prepared *prepared)
{
	u32 status;

	mutex_lock(&exp->lock);
	status = rsm_is_local(exp) ? rsm_pin_bind(exp, prepared) :
				     exp->seg.ctl->ops->bind(exp, prepared);
	if (!status)
		atomic64_add(exp->length, &exp->seg.process->pinned);
	mutex_unlock(&exp->lock);
	return status;
}

/* @h becomes the export @exp, unless the controller has gone meanwhile. */
static u32 export_complete(struct rsm_export *exp, struct rsm_handle *h,
			   struct rsm_prepared *prepared)
{
	u32 status = rsm_segment_enter(&exp->seg);

	if (status)
		return status;
	status = bind_memory(exp, prepared);
	if (status) {
		rsm_controller_leave(exp->seg.ctl);
		return status;
	}
	trace_segment_bind(exp);
	rsm_segment_complete(&exp->seg, h);
	return RSM_SUCCESS;
}

static u32 export_bind(struct rsm_export *exp, struct rsm_handle *h)
{
	struct rsm_prepared prepared = {};
	u32 status;

	status = check_range(exp->vaddr, exp->length,
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

static u32 export_create(struct rsm_handle *h, struct rsm_bind *arg,
			 struct rsm_table *table)
{
	struct rsm_export *exp = export_alloc(h, arg);
	u32 status;

	if (!exp)
		return RSMERR_INSUFFICIENT_MEM;
	status = rsm_segment_init(&exp->seg, RSM_EXPORT, h, arg->controller, table);
	if (status)
		goto err_free_export;
	status = export_bind(exp, h);
	if (status)
		goto err_cancel_segment;

	arg->slot = exp->seg.words.slot;
	arg->number = h->number;
	arg->window = !!exp->shown;
	return RSM_SUCCESS;

err_cancel_segment:
	rsm_segment_cancel(&exp->seg);
err_free_export:
	rsm_export_free(exp);
	return status;
}

/* RSM_IOC_BIND */
u32 rsm_bind(struct rsm_handle *h, struct rsm_bind *arg, struct rsm_table *table)
{
	u32 status = RSMERR_BAD_SEG_HNDL;

	if (mutex_lock_interruptible(&h->lock))
		return RSMERR_INTERRUPTED;
	if (!h->seg)
		status = export_create(h, arg, table);
	mutex_unlock(&h->lock);
	return status;
}

static u32 rebind_locked(struct rsm_export *exp, u64 vaddr, struct rsm_prepared *prepared)
{
	u32 status;

	lockdep_assert_held(&exp->lock);
	if (exp->state == RSM_DEAD)
		return RSMERR_BAD_SEG_HNDL;
	status = rsm_is_local(exp) ? rsm_pin_rebind(exp, prepared) :
				     exp->seg.ctl->ops->rebind(exp, prepared);
	if (status)
		return status;
	WRITE_ONCE(exp->vaddr, vaddr);
	trace_segment_rebind(exp);
	return RSM_SUCCESS;
}

/* The export may die, and be rebound by another thread, while its new memory is prepared. */
static u32 rebind_memory(struct rsm_export *exp, u64 vaddr)
{
	struct rsm_prepared prepared = {};
	u32 status;

	status = prepare_memory(exp, vaddr, &prepared);
	if (!status) {
		status = RSMERR_INTERRUPTED;
		if (!mutex_lock_interruptible(&exp->lock)) {
			status = rebind_locked(exp, vaddr, &prepared);
			mutex_unlock(&exp->lock);
		}
	}
	release_memory(&prepared);
	return status;
}

/* Memory of an export, and the caller's account that has lent its room. */
struct lent_room {
	struct rsm_mem *mem;
	struct rsm_account *account;
	unsigned long npages;
};

/*
 * A rebind needs no more room than the export has. Its memory stays charged until
 * the rebind is over, so its room is lent no longer than it is there.
 */
static u32 lend_room(struct rsm_export *exp, struct lent_room *room)
{
	mutex_lock(&exp->importers_lock);
	room->mem = rsm_mem_get(exp->mem);
	mutex_unlock(&exp->importers_lock);
	if (!room->mem)
		return RSMERR_BAD_SEG_HNDL;
	room->npages = exp->shown ? READ_ONCE(exp->shown->charged) : rsm_pin_charged(room->mem);
	room->account = rsm_charge_lend(current->mm, room->npages);
	if (room->account)
		return RSM_SUCCESS;
	rsm_mem_put(room->mem);
	return RSMERR_INSUFFICIENT_MEM;
}

static void return_room(struct lent_room *room)
{
	rsm_mem_put(room->mem);
	rsm_charge_return(room->account, room->npages);
}

/* RSM_IOC_REBIND */
u32 rsm_rebind(struct rsm_export *exp, struct rsm_rebind *arg)
{
	struct lent_room room;
	u32 status;

	if (!(exp->flags & RSM_ALLOW_REBIND))
		return RSMERR_REBIND_NOT_ALLOWED;
	if (!rsm_is_creator(exp))
		return RSMERR_NOT_CREATOR;
	if (!arg->vaddr)
		return RSMERR_BAD_ADDR;
	if (arg->length != exp->length)
		return RSMERR_BAD_LENGTH;
	if (READ_ONCE(exp->state) == RSM_DEAD)
		return RSMERR_BAD_SEG_HNDL;
	if (arg->vaddr == READ_ONCE(exp->vaddr))
		return RSM_SUCCESS;
	if (!PAGE_ALIGNED(arg->vaddr) || !rsm_range_ok(arg->vaddr, exp->length, TASK_SIZE))
		return RSMERR_BAD_ADDR;
	status = lend_room(exp, &room);
	if (status)
		return status;
	status = rebind_memory(exp, arg->vaddr);
	return_room(&room);
	return status;
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
	mutex_unlock(&exp->importers_lock);
	atomic64_sub(exp->length, &exp->seg.process->pinned);
	rsm_grants_end(exp);
	trace_segment_end(exp, reason);
	if (rsm_is_local(exp))
		rsm_pin_unbind(exp);
	else
		exp->seg.ctl->ops->unbind(exp);
	wake_up_interruptible_poll(&exp->seg.handle->wq, EPOLLRDHUP);
}

/* RSM_IOC_DESTROY */
u32 rsm_destroy(struct rsm_export *exp)
{
	if (!rsm_is_creator(exp))
		return RSMERR_NOT_CREATOR;
	if (mutex_lock_interruptible(&exp->lock))
		return RSMERR_INTERRUPTED;
	rsm_export_kill(exp, RSM_REASON_ASKED);
	mutex_unlock(&exp->lock);
	return RSM_SUCCESS;
}

/* The handle is being closed: everything goes but what imports still hold. */
void rsm_export_close(struct rsm_export *exp)
{
	mutex_lock(&exp->lock);
	rsm_export_kill(exp, RSM_REASON_ASKED);
	mutex_unlock(&exp->lock);
	cancel_work_sync(&exp->death);
	rsm_segment_put(&exp->seg);
}
