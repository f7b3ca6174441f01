// SPDX-License-Identifier: GPL-2.0
/* Import segments: connect, abort, close. */

#include "internal.h"

#include <linux/mm.h>
#include <linux/slab.h>

void rsm_import_free(struct rsm_import *imp)
{
	if (imp->scratch)
		put_page(imp->scratch);
	kfree(imp);
}

/* The first store of a revocation: whoever sees new pages sees this, too. */
static void bump_generation(struct rsm_import *imp)
{
	u32 *generation = imp->seg.words.generation;

	WRITE_ONCE(*generation, *generation + 1);
	/* Before the page tables change; pairs with the fence of a reader. */
	smp_mb();
}

/**
 * rsm_import_set_mem() - put other memory behind an import
 * @imp: the import
 * @mem: its memory from now on, referenced by the callee; NULL for none
 *
 * The connection goes on. Mappings show the new memory from their next access
 * after the return.
 */
void rsm_import_set_mem(struct rsm_import *imp, struct rsm_mem *mem)
{
	struct rsm_mem *old;

	down_write(&imp->map_lock);
	old = imp->mem;
	imp->mem = rsm_mem_get(mem);
	if (mem && imp->rights & RSM_PERM_WRITE)
		WRITE_ONCE(mem->written, true);
	if (old)
		rsm_import_zap(imp);
	up_write(&imp->map_lock);
	rsm_mem_put(old);
}
EXPORT_SYMBOL_GPL(rsm_import_set_mem);

/**
 * rsm_import_abort() - break a connection, for good
 * @imp: the import
 *
 * On return no mapping of the import reaches the segment's memory, none will,
 * and no transfer is under way. Its words say so, and those who poll for
 * POLLRDHUP are told.
 */
void rsm_import_abort(struct rsm_import *imp)
{
	struct rsm_mem *old;

	down_write(&imp->map_lock);
	old = imp->mem;
	if (!imp->aborted)
		bump_generation(imp);
	imp->mem = NULL;
	rsm_import_zap(imp);
	/* Last, so that who sees it in a poll can rely on the rest. */
	WRITE_ONCE(imp->aborted, true);
	up_write(&imp->map_lock);
	rsm_mem_put(old);
	wake_up_interruptible_poll(&imp->seg.wq, EPOLLRDHUP);
}
EXPORT_SYMBOL_GPL(rsm_import_abort);

static struct rsm_import *import_alloc(struct rsm_handle *h, struct rsm_connect *arg)
{
	struct rsm_import *imp = kzalloc(sizeof(*imp), GFP_KERNEL_ACCOUNT);

	if (!imp)
		return NULL;
	init_rwsem(&imp->map_lock);
	INIT_LIST_HEAD(&imp->link);
	imp->mapping = h->mapping;
	imp->node = arg->node;
	imp->id = arg->id;
	imp->rights = arg->permission;
	return imp;
}

static void tell_caller(struct rsm_connect *arg, struct rsm_import *imp,
			u32 generation)
{
	arg->length = imp->length;
	arg->slot = imp->seg.words.slot;
	arg->number = imp->seg.number;
	arg->generation = generation;
	arg->mappable = !!imp->seg.ctl->ops->map;
}

/*
 * The generation that the caller is told is fixed before the connection
 * exists: an abort that comes at once is then seen, too.
 */
static u32 import_create(struct rsm_handle *h, struct rsm_connect *arg,
			 struct rsm_table *table)
{
	struct rsm_import *imp = import_alloc(h, arg);
	u32 status, generation;

	if (!imp)
		return RSMERR_INSUFFICIENT_MEM;
	status = rsm_segment_init(&imp->seg, RSM_IMPORT, h, arg->controller, table);
	if (status)
		goto err_free_import;
	bump_generation(imp);
	generation = *imp->seg.words.generation;
	status = imp->seg.ctl->ops->connect(imp);
	if (status)
		goto err_cancel_segment;

	tell_caller(arg, imp, generation);
	rsm_segment_complete(&imp->seg, h);
	return RSM_SUCCESS;

err_cancel_segment:
	rsm_segment_cancel(&imp->seg);
err_free_import:
	rsm_import_free(imp);
	return status;
}

/* RSM_IOC_CONNECT */
u32 rsm_connect(struct rsm_handle *h, struct rsm_connect *arg,
		struct rsm_table *table)
{
	u32 status = RSMERR_BAD_SEG_HNDL;

	if (arg->permission & ~RSM_PERM_RDWR)
		return RSMERR_PERM_DENIED;
	if (mutex_lock_interruptible(&h->lock))
		return RSMERR_INTERRUPTED;
	if (!h->seg)
		status = import_create(h, arg, table);
	mutex_unlock(&h->lock);
	return status;
}

/* The handle is being closed; it has no mappings any more. */
void rsm_import_close(struct rsm_import *imp)
{
	imp->seg.ctl->ops->disconnect(imp);
	rsm_import_set_mem(imp, NULL);
	rsm_segment_put(&imp->seg);
}
