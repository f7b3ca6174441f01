// SPDX-License-Identifier: GPL-2.0
/*
 * PUTV, GETV and barriers: access to a segment by way of the kernel.
 *
 * Data goes through a bounce page of the kernel, which is filled from or emptied into user space
 * without map_lock. Otherwise a caller whose own memory faults slowly, or never, would hold up
 * the exporter.
 */

#include "internal.h"
#include "trace.h"

#include <linux/file.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/pid.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>

static rsm_status_t read_local(struct rsm_local *local, u64 done, void *to, size_t n)
{
	if (local->mem)
		rsm_mem_read(local->mem, local->offset + done, to, n);
	else if (copy_from_user(to, local->user + done, n))
		return RSM_STS_BAD_ADDR;
	return RSM_STS_SUCCESS;
}

static rsm_status_t write_local(struct rsm_local *local, u64 done, const void *from, size_t n)
{
	if (local->mem)
		rsm_mem_write(local->mem, local->offset + done, from, n);
	else if (copy_to_user(local->user + done, from, n))
		return RSM_STS_BAD_ADDR;
	return RSM_STS_SUCCESS;
}

/* Copy between the bounce page and the segment, unless the connection is gone. */
static rsm_status_t copy_remote(struct rsm_import *imp, u64 offset, void *page, size_t n,
				enum rsm_direction direction)
{
	rsm_status_t status = RSM_STS_SUCCESS;

	down_read(&imp->map_lock);
	if (!imp->mem)
		status = RSM_STS_CONN_ABORTED;
	else if (direction == RSM_PUT)
		rsm_mem_write(imp->mem, offset, page, n);
	else
		rsm_mem_read(imp->mem, offset, page, n);
	up_read(&imp->map_lock);
	return status;
}

static rsm_status_t copy_piece(struct rsm_import *imp, struct rsm_local *local, u64 done,
			       u64 offset, void *page, size_t n, enum rsm_direction direction)
{
	rsm_status_t status;

	if (direction == RSM_PUT) {
		status = read_local(local, done, page, n);
		return status ?: copy_remote(imp, offset, page, n, direction);
	}
	status = copy_remote(imp, offset, page, n, direction);
	return status ?: write_local(local, done, page, n);
}

/**
 * rsm_local_transfer() - copy between a caller and a segment of this node
 * @imp: the import
 * @local: the caller's end
 * @offset: bytes from the start of the segment
 * @length: bytes; the core has checked that they are there
 * @direction: RSM_PUT: to the segment, RSM_GET: from it
 *
 * Copies at least one page before a signal ends it: a caller that continues from @local->done
 * gets to the end however often signals come.
 *
 * Return: RSM_SUCCESS, RSMERR_BAD_ADDR, RSMERR_CONN_ABORTED, RSMERR_INTERRUPTED or
 * RSMERR_INSUFFICIENT_MEM.
 */
rsm_status_t rsm_local_transfer(struct rsm_import *imp, struct rsm_local *local, u64 offset,
				u64 length, enum rsm_direction direction)
{
	void *page = (void *)__get_free_page(GFP_KERNEL_ACCOUNT);
	rsm_status_t status = RSM_STS_SUCCESS;
	u64 n;

	if (!page)
		return RSM_STS_INSUFFICIENT_MEM;
	while (local->done < length && !status) {
		n = min_t(u64, length - local->done, PAGE_SIZE);
		status = copy_piece(imp, local, local->done, offset + local->done, page, n,
				    direction);
		if (status)
			break;
		local->done += n;
		if (signal_pending(current) && local->done < length)
			status = RSM_STS_INTERRUPTED;
		cond_resched();
	}
	free_page((unsigned long)page);
	return status;
}
EXPORT_SYMBOL_GPL(rsm_local_transfer);

/*
 * The memory that the caller's process has bound to the handle @fd, and whether the memory was
 * bound for reading only; or NULL. NULL also if the process has unmapped or protected the memory
 * and the export has not ended yet.
 */
static struct rsm_mem *local_handle_mem(int fd, bool *read_only)
{
	struct rsm_mem *mem = NULL;
	struct rsm_export *exp = NULL;
	struct file *file = fget(fd);

	if (!file)
		return NULL;
	if (file->f_op == &rsm_segment_fops)
		exp = rsm_handle_export(file->private_data);
	if (exp && rsm_is_creator(exp)) {
		mutex_lock(&exp->lock);
		if (!rsm_export_lost_range(exp))
			mem = rsm_mem_get(exp->mem);
		*read_only = exp->flags & RSM_BIND_READ;
		mutex_unlock(&exp->lock);
	}
	fput(file);
	return mem;
}

/*
 * A checked offset for use as an index: less than @size, also where the processor speculates that
 * the check has succeeded. An offset equal to @size, which is that of no bytes, becomes 0.
 */
static u64 bounded(u64 offset, u64 size)
{
	return array_index_nospec(offset, size);
}

static rsm_status_t find_local_handle(const struct rsm_transfer_entry *e, struct rsm_local *local,
				      enum rsm_direction direction)
{
	bool read_only = false;
	u64 size;

	local->mem = local_handle_mem(e->fd, &read_only);
	if (!local->mem || e->addr)
		return RSM_STS_BAD_SGIO;
	if (read_only && direction == RSM_GET)
		return RSM_STS_PERM_DENIED;
	size = (u64)local->mem->npages << PAGE_SHIFT;
	if (!rsm_range_ok(e->local_offset, e->length, size))
		return RSM_STS_BAD_LENGTH;
	local->offset = bounded(e->local_offset, size);
	return RSM_STS_SUCCESS;
}

static rsm_status_t find_local_address(const struct rsm_transfer_entry *e, struct rsm_local *local)
{
	u64 addr;

	if (e->fd != -1)
		return RSM_STS_BAD_SGIO;
	if (!e->addr || check_add_overflow(e->addr, e->local_offset, &addr) ||
	    !rsm_range_ok(addr, e->length, TASK_SIZE))
		return RSM_STS_BAD_ADDR;
	local->user = u64_to_user_ptr(addr);
	return RSM_STS_SUCCESS;
}

static rsm_status_t find_local(const struct rsm_transfer_entry *e, struct rsm_local *local,
			       enum rsm_direction direction)
{
	if (e->type == RSM_HANDLE_TYPE)
		return find_local_handle(e, local, direction);
	if (e->type == RSM_VA_TYPE)
		return find_local_address(e, local);
	return RSM_STS_BAD_SGIO;
}

static rsm_status_t check_entry(struct rsm_import *imp, struct rsm_transfer_entry *e,
				struct rsm_local *local, enum rsm_direction direction)
{
	if (e->remote_offset < imp->start || e->remote_offset > imp->end)
		return RSM_STS_BAD_OFFSET;
	if (!rsm_range_ok(e->remote_offset, e->length, imp->end))
		return RSM_STS_BAD_LENGTH;
	e->remote_offset = bounded(e->remote_offset, imp->end);
	return find_local(e, local, direction);
}

/* The entries of one call, copied and checked, and their local ends. */
struct batch {
	struct rsm_transfer_entry entry[RSM_MAX_SGIOREQS];
	struct rsm_local local[RSM_MAX_SGIOREQS];
};

static rsm_status_t read_batch(struct rsm_import *imp, struct rsm_transfer *arg, struct batch *b,
			       enum rsm_direction direction)
{
	rsm_status_t status = RSM_STS_SUCCESS;

	if (copy_from_user(b->entry, u64_to_user_ptr(arg->entries),
			   arg->count * sizeof(*b->entry)))
		return RSM_STS_BAD_ADDR;
	for (u32 i = 0; i < arg->count && !status; i++)
		status = check_entry(imp, &b->entry[i], &b->local[i], direction);
	return status;
}

static rsm_status_t run_entry(struct rsm_import *imp, const struct rsm_transfer_entry *e,
			      struct rsm_local *local, enum rsm_direction direction, u32 flags)
{
	if (READ_ONCE(imp->aborted))
		return RSM_STS_CONN_ABORTED;
	if (imp->ops->transfer)
		return imp->ops->transfer(imp, local, e->remote_offset, e->length, direction,
					  flags & RSM_TRANSFER_ASYNC);
	return rsm_local_transfer(imp, local, e->remote_offset, e->length, direction);
}

static void count_bytes(struct rsm_segment *seg, u64 bytes, enum rsm_direction direction)
{
	atomic64_add(bytes, direction == RSM_PUT ? &seg->put_bytes : &seg->get_bytes);
}

/* Count a transfer at the import, and also at the export if it is on this node. */
static void count(struct rsm_import *imp, u64 bytes, enum rsm_direction direction)
{
	if (!bytes)
		return;
	count_bytes(&imp->seg, bytes, direction);
	down_read(&imp->map_lock);
	if (imp->exp)
		count_bytes(&imp->exp->seg, bytes, direction);
	up_read(&imp->map_lock);
}

static rsm_status_t run_batch(struct rsm_import *imp, struct rsm_transfer *arg, struct batch *b,
			      enum rsm_direction direction)
{
	u64 bytes = 0;
	rsm_status_t status;

	status = read_batch(imp, arg, b, direction);
	for (u32 i = 0; i < arg->count && !status; i++) {
		status = run_entry(imp, &b->entry[i], &b->local[i], direction, arg->flags);
		if (status) {
			arg->done = status == RSM_STS_INTERRUPTED ? b->local[i].done : 0;
			bytes += arg->done;
			trace_transfer_error(imp, &b->entry[i], direction, status);
			break;
		}
		arg->residual--;
		bytes += b->entry[i].length;
	}
	count(imp, bytes, direction);
	for (u32 i = 0; i < arg->count; i++)
		rsm_mem_put(b->local[i].mem);
	return status;
}

/* RSM_IOC_PUTV, RSM_IOC_GETV */
rsm_status_t rsm_transfer(struct rsm_import *imp, struct rsm_transfer *arg,
			  enum rsm_direction direction)
{
	u32 right = direction == RSM_PUT ? RSM_PERM_WRITE : RSM_PERM_READ;
	struct batch *b;
	rsm_status_t status;

	arg->done = 0;
	if (!arg->count || arg->count > RSM_MAX_SGIOREQS)
		return RSM_STS_BAD_SGIO;
	arg->residual = arg->count;
	if (!(imp->rights & right))
		return RSM_STS_PERM_DENIED;
	b = kzalloc(sizeof(*b), GFP_KERNEL_ACCOUNT);
	if (!b)
		return RSM_STS_INSUFFICIENT_MEM;
	status = run_batch(imp, arg, b, direction);
	kfree(b);
	if (!status && arg->flags & RSM_IMPLICIT_SIGPOST)
		status = rsm_post(&imp->seg, arg->flags & RSM_SIGPOST_NO_ACCUMULATE);
	return status;
}

/* Is the connection gone? Waits for an abort that has begun. */
static bool is_aborted(struct rsm_import *imp)
{
	bool aborted;

	down_read(&imp->map_lock);
	aborted = imp->aborted;
	up_read(&imp->map_lock);
	return aborted;
}

/* RSM_IOC_BARRIER */
rsm_status_t rsm_barrier(struct rsm_import *imp, struct rsm_barrier_request *arg)
{
	rsm_status_t status = RSM_STS_SUCCESS;

	/* Keep accesses through mappings on their side of the barrier. */
	smp_mb();
	if (imp->ops->order)
		status = imp->ops->order(imp, arg->op);
	if (arg->op != RSM_BARRIER_OPEN && is_aborted(imp))
		return RSM_STS_CONN_ABORTED;
	return status;
}
