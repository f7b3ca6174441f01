// SPDX-License-Identifier: GPL-2.0
/* Import segments: connect, abort, close. */

#include "internal.h"

#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/slab.h>

static void import_free(struct rsm_import *imp)
{
	if (imp->scratch)
		put_page(imp->scratch);
	rsm_ticket_put(imp->ticket);
	put_pid(imp->owner.tgid);
	kfree(imp);
}

/* The first store of a revocation: a process that sees new pages sees a new generation, too. */
static void bump_generation(struct rsm_import *imp)
{
	u32 *generation = imp->seg.words.generation;

	WRITE_ONCE(*generation, *generation + 1);
	/* Order this store before changes of the page tables; pairs with a reader's fence. */
	smp_mb();
}

/* Returns the former memory, for the caller to put. */
static struct rsm_mem *exchange_mem(struct rsm_import *imp, struct rsm_mem *mem)
{
	struct rsm_mem *old = imp->mem;

	lockdep_assert_held_write(&imp->map_lock);
	if (imp->aborted)
		mem = NULL;
	imp->mem = rsm_mem_get(mem);
	if (mem && imp->rights & RSM_PERM_WRITE)
		WRITE_ONCE(mem->written, true);
	if (old)
		rsm_import_zap(imp);
	return old;
}

/**
 * rsm_import_set_mem() - put other memory behind an import
 * @imp: the import
 * @mem: its memory from now on, referenced by the callee; NULL for none
 *
 * The connection stays. Accesses through mappings reach the new memory once this has
 * returned. An aborted import gets no memory.
 */
void rsm_import_set_mem(struct rsm_import *imp, struct rsm_mem *mem)
{
	struct rsm_mem *old;

	down_write(&imp->map_lock);
	old = exchange_mem(imp, mem);
	up_write(&imp->map_lock);
	rsm_mem_put(old);
}
EXPORT_SYMBOL_GPL(rsm_import_set_mem);

/**
 * rsm_import_replace_mem() - put other memory behind an import that still has some memory
 * @imp: the import, referenced; it may leave its segment at the same time
 * @old: the memory to replace, not NULL: an import that has left has no memory
 * @mem: its memory from then on, referenced by the callee; NULL for none
 */
void rsm_import_replace_mem(struct rsm_import *imp, struct rsm_mem *old, struct rsm_mem *mem)
{
	struct rsm_mem *former = NULL;

	down_write(&imp->map_lock);
	if (imp->mem == old)
		former = exchange_mem(imp, mem);
	up_write(&imp->map_lock);
	rsm_mem_put(former);
}
EXPORT_SYMBOL_GPL(rsm_import_replace_mem);

/* Announce the import. If it was aborted meanwhile, announce that too. */
static void tell_connect(struct rsm_import *imp)
{
	down_write(&imp->map_lock);
	rsm_notify_connect(imp);
	if (imp->aborted)
		rsm_notify_disconnect(imp, imp->reason);
	else
		imp->notified = true;
	up_write(&imp->map_lock);
}

static void tell_disconnect(struct rsm_import *imp, enum rsm_reason reason)
{
	lockdep_assert_held_write(&imp->map_lock);
	if (!imp->notified)
		return;
	imp->notified = false;
	rsm_notify_disconnect(imp, reason);
}

/**
 * rsm_import_abort() - break a connection, for good
 * @imp: the import
 * @reason: why
 *
 * On return no mapping of the import reaches the segment's memory, none will, and no transfer
 * is under way. The import's generation word has changed, and poll() reports EPOLLRDHUP. Once
 * the importer can find out about the abort, rsm_post() refuses its posts.
 */
void rsm_import_abort(struct rsm_import *imp, enum rsm_reason reason)
{
	struct rsm_mem *old;

	down_write(&imp->map_lock);
	old = imp->mem;
	if (!imp->aborted) {
		WRITE_ONCE(imp->reason, reason);
		/*
		 * Before the generation: a process that sees another one must not be able to post.
		 * Pairs with import_put_visible(), which reads the reason without map_lock.
		 */
		smp_store_release(&imp->aborted, true);
		/* Pairs with the importer's read barrier before it calls rsm_post(). */
		smp_wmb();
		bump_generation(imp);
	}
	imp->mem = NULL;
	rsm_import_zap(imp);
	/* Last: a process that sees EPOLLRDHUP may rely on all of the above. */
	WRITE_ONCE(imp->hung_up, true);
	tell_disconnect(imp, reason);
	up_write(&imp->map_lock);
	rsm_mem_put(old);
	wake_up_interruptible_poll(&imp->seg.handle->wq, EPOLLRDHUP);
}
EXPORT_SYMBOL_GPL(rsm_import_abort);

/*
 * @imp has left its export. Drop its references on the export and on the ticket: a process that
 * keeps the handle of an aborted connection open must not hold the exporter's slot, controller
 * and process.
 */
void rsm_import_forget_export(struct rsm_import *imp)
{
	struct rsm_ticket *ticket;

	down_write(&imp->map_lock);
	ticket = imp->ticket;
	imp->ticket = NULL;
	imp->exp = NULL;
	up_write(&imp->map_lock);
	rsm_ticket_put(ticket);
}

/* Keep an import while its handle may be closed and its connection aborted. */
void rsm_import_get(struct rsm_import *imp)
{
	kref_get(&imp->seg.ref);
}
EXPORT_SYMBOL_GPL(rsm_import_get);

void rsm_import_put(struct rsm_import *imp)
{
	rsm_segment_put(&imp->seg);
}
EXPORT_SYMBOL_GPL(rsm_import_put);

/**
 * rsm_import_export_get() - keep the export that an import is connected to
 * @imp: the import
 *
 * Return: the export, referenced, or NULL if there is none any more.
 */
struct rsm_export *rsm_import_export_get(struct rsm_import *imp)
{
	struct rsm_export *exp;

	down_read(&imp->map_lock);
	exp = imp->exp;
	if (exp)
		kref_get(&exp->seg.ref);
	up_read(&imp->map_lock);
	return exp;
}

/* &rsm_segment_ops.free */
static void import_segment_free(struct rsm_segment *seg)
{
	import_free(to_import(seg));
}

/* &rsm_segment_ops.kill */
static void import_segment_kill(struct rsm_segment *seg, enum rsm_reason reason)
{
	rsm_importer_abort(to_import(seg), reason);
}

static const struct rsm_segment_ops import_segment_ops = {
	.kind = RSM_IMPORT,
	.free = import_segment_free,
	.kill = import_segment_kill,
};

static struct rsm_import *import_alloc(struct rsm_handle *h)
{
	struct rsm_import *imp = kzalloc(sizeof(*imp), GFP_KERNEL_ACCOUNT);

	if (!imp)
		return NULL;
	init_rwsem(&imp->map_lock);
	INIT_LIST_HEAD(&imp->link);
	INIT_LIST_HEAD(&imp->member.entry);
	rsm_owner_init(&imp->owner);
	return imp;
}

/*
 * Begin to make an import of a blank handle. Unless this fails, h->lock is held until
 * import_finish().
 */
static rsm_status_t import_begin(struct rsm_handle *h, struct rsm_import **imp)
{
	rsm_status_t status = RSM_STS_BAD_SEG_HNDL;

	if (mutex_lock_interruptible(&h->lock))
		return RSM_STS_INTERRUPTED;
	if (!h->seg) {
		*imp = import_alloc(h);
		if (*imp)
			return RSM_STS_SUCCESS;
		status = RSM_STS_INSUFFICIENT_MEM;
	}
	mutex_unlock(&h->lock);
	return status;
}

static void import_finish(struct rsm_handle *h, struct rsm_import *imp, rsm_status_t status)
{
	if (status)
		import_free(imp);
	mutex_unlock(&h->lock);
}

static rsm_status_t import_enter(struct rsm_import *imp)
{
	rsm_status_t status = rsm_segment_enter(&imp->seg);

	if (status)
		return status;
	status = imp->ops->connect(imp);
	if (status) {
		rsm_denied_import(imp, status);
		rsm_controller_leave(imp->seg.ctl);
	}
	return status;
}

/*
 * Read the generation for the caller before the connection exists: the caller then notices an
 * abort that comes at once.
 */
static rsm_status_t import_join(struct rsm_import *imp, struct rsm_handle *h,
				const char *controller, struct rsm_table *table, u32 *generation)
{
	rsm_status_t status;

	status = rsm_segment_init(&imp->seg, &import_segment_ops, h, controller, table);
	if (status)
		return status;
	if (!imp->ops)
		imp->ops = imp->seg.ctl->ops;
	bump_generation(imp);
	*generation = *imp->seg.words.generation;
	status = import_enter(imp);
	if (status)
		rsm_segment_cancel(&imp->seg);
	return status;
}

static rsm_status_t import_connect(struct rsm_import *imp, struct rsm_handle *h,
				   struct rsm_connect *arg, struct rsm_table *table)
{
	rsm_status_t status;
	u32 generation;

	imp->node = arg->node;
	imp->id = arg->id;
	imp->rights = arg->permission;
	status = import_join(imp, h, arg->controller, table, &generation);
	if (status)
		return status;
	imp->end = imp->length;

	arg->length = imp->length;
	arg->slot = imp->seg.words.slot;
	arg->number = imp->seg.number;
	arg->generation = generation;
	arg->mappable = rsm_import_mappable(imp);
	rsm_segment_complete(&imp->seg, h);
	tell_connect(imp);
	return RSM_STS_SUCCESS;
}

/* RSM_IOC_CONNECT */
rsm_status_t rsm_connect(struct rsm_handle *h, struct rsm_connect *arg, struct rsm_table *table)
{
	struct rsm_import *imp;
	rsm_status_t status;

	if (arg->permission & ~RSM_PERM_RDWR)
		return RSM_STS_PERM_DENIED;
	status = import_begin(h, &imp);
	if (status)
		return status;
	status = import_connect(imp, h, arg, table);
	import_finish(h, imp, status);
	return status;
}

static rsm_status_t import_redeem(struct rsm_import *imp, struct rsm_handle *h,
				  struct rsm_redeem *arg, struct rsm_table *table)
{
	rsm_status_t status;
	u32 generation;

	status = rsm_ticket_present(imp, arg->ticket);
	if (status)
		return status;
	status = import_join(imp, h, rsm_ticket_controller(imp->ticket), table,
			     &generation);
	/* The export has died with its controller. */
	if (status == RSM_STS_CTLR_NOT_PRESENT)
		return RSM_STS_SEG_NOT_PUBLISHED;
	if (status)
		return status;

	arg->length = imp->length;
	arg->offset = imp->start;
	arg->bytes = imp->end - imp->start;
	arg->permission = imp->rights;
	arg->slot = imp->seg.words.slot;
	arg->number = imp->seg.number;
	arg->generation = generation;
	rsm_segment_complete(&imp->seg, h);
	tell_connect(imp);
	return RSM_STS_SUCCESS;
}

/* RSM_IOC_REDEEM */
rsm_status_t rsm_redeem(struct rsm_handle *h, struct rsm_redeem *arg, struct rsm_table *table)
{
	struct rsm_import *imp;
	rsm_status_t status;

	status = import_begin(h, &imp);
	if (status)
		return status;
	status = import_redeem(imp, h, arg, table);
	import_finish(h, imp, status);
	return status;
}

/* The handle is being closed; none of its mappings is left. */
void rsm_import_close(struct rsm_import *imp)
{
	down_write(&imp->map_lock);
	tell_disconnect(imp, RSM_REASON_ASKED);
	up_write(&imp->map_lock);
	imp->ops->disconnect(imp);
	rsm_import_set_mem(imp, NULL);
	rsm_segment_put(&imp->seg);
}
