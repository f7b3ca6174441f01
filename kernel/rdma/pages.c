// SPDX-License-Identifier: GPL-2.0
/*
 * The local pages of an operation: pinned pages of the caller, pages of a local segment, or
 * allocated pages through which data is copied.
 */

#include "memory.h"

#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

/* Up to this size a copy is cheaper than a pin. */
#define COPY_MAX	PAGE_SIZE

/**
 * rsm_rdma_op_alloc() - make an operation without any memory
 * @npages: pages that it may have
 * @direction: RSM_PUT: a write, RSM_GET: a read
 *
 * Return: the operation with the caller's reference, or NULL.
 */
struct rsm_rdma_op *rsm_rdma_op_alloc(u32 npages, enum rsm_direction direction)
{
	struct rsm_rdma_op *op;
	size_t size = struct_size(op, sg, npages);

	op = kvmalloc(size + npages * sizeof(*op->page), GFP_KERNEL_ACCOUNT);
	if (!op)
		return NULL;
	memset(op, 0, sizeof(*op));
	refcount_set(&op->ref, 1);
	init_completion(&op->done);
	op->direction = direction;
	op->npages = npages;
	op->page = (void *)op + size;
	return op;
}

static void free_own(struct rsm_rdma_op *op)
{
	for (u32 i = 0; i < op->npages; i++)
		__free_page(op->page[i]);
}

/* Allocate pages for the operation, all or none. */
rsm_status_t rsm_rdma_op_own_pages(struct rsm_rdma_op *op)
{
	u32 wanted = op->npages;

	op->kind = RSM_RDMA_OWN;
	op->first = 0;
	for (op->npages = 0; op->npages < wanted; op->npages++) {
		struct page *page = alloc_page(GFP_KERNEL_ACCOUNT);

		if (!page)
			return RSM_STS_INSUFFICIENT_MEM;
		op->page[op->npages] = page;
	}
	return RSM_STS_SUCCESS;
}

static rsm_status_t copy_in(struct rsm_rdma_op *op, u32 done, void *to, u32 n)
{
	if (op->local)
		rsm_mem_read(op->local, op->offset + done, to, n);
	else if (copy_from_user(to, op->user + done, n))
		return RSM_STS_BAD_ADDR;
	return RSM_STS_SUCCESS;
}

static rsm_status_t copy_out(struct rsm_rdma_op *op, u32 done, const void *from, u32 n)
{
	if (op->local)
		rsm_mem_write(op->local, op->offset + done, from, n);
	else if (copy_to_user(op->user + done, from, n))
		return RSM_STS_BAD_ADDR;
	return RSM_STS_SUCCESS;
}

static rsm_status_t copy_all(struct rsm_rdma_op *op, enum rsm_direction direction)
{
	rsm_status_t status = RSM_STS_SUCCESS;
	u32 n, done;

	for (done = 0; done < op->length && !status; done += n) {
		void *page = page_address(op->page[done >> PAGE_SHIFT]);

		n = min_t(u32, op->length - done, PAGE_SIZE);
		status = direction == RSM_PUT ? copy_in(op, done, page, n) :
						copy_out(op, done, page, n);
	}
	return status;
}

/**
 * rsm_rdma_op_deliver() - put the data of a read where it belongs
 * @op: a read that has succeeded, in the process that started it
 *
 * Return: RSM_SUCCESS or RSMERR_BAD_ADDR.
 */
rsm_status_t rsm_rdma_op_deliver(struct rsm_rdma_op *op)
{
	return op->kind == RSM_RDMA_OWN ? copy_all(op, RSM_GET) : RSM_STS_SUCCESS;
}

static rsm_status_t use_own(struct rsm_rdma_op *op)
{
	rsm_status_t status;

	op->npages = DIV_ROUND_UP(op->length, PAGE_SIZE);
	status = rsm_rdma_op_own_pages(op);
	if (!status && op->direction == RSM_PUT)
		status = copy_all(op, RSM_PUT);
	return status;
}

static void use_held(struct rsm_rdma_op *op)
{
	unsigned long start = op->offset >> PAGE_SHIFT;

	op->kind = RSM_RDMA_HELD;
	op->first = offset_in_page(op->offset);
	for (u32 i = 0; i < op->npages; i++)
		op->page[i] = op->local->ops->page(op->local, start + i);
	if (op->direction == RSM_GET)
		WRITE_ONCE(op->local->written, true);
}

/* False for memory that has no pages, which can still be copied. */
static bool use_pinned(struct rsm_rdma_op *op)
{
	unsigned long addr = (unsigned long)op->user;
	unsigned int flags = op->direction == RSM_PUT ? 0 : FOLL_WRITE;
	int got = pin_user_pages_fast(addr & PAGE_MASK, op->npages, flags, op->page);

	if (got == op->npages) {
		op->kind = RSM_RDMA_PINNED;
		op->first = offset_in_page(addr);
		return true;
	}
	if (got > 0)
		unpin_user_pages(op->page, got);
	return false;
}

static rsm_status_t use_pages(struct rsm_rdma_op *op, bool copy)
{
	if (op->local && op->local->ops->page) {
		use_held(op);
		return RSM_STS_SUCCESS;
	}
	if (!op->local && !copy && op->length > COPY_MAX && use_pinned(op))
		return RSM_STS_SUCCESS;
	return use_own(op);
}

/**
 * rsm_rdma_op_prepare() - make an operation and give it its local memory
 * @local: the local end of the transfer
 * @done: bytes of the transfer before this piece
 * @length: bytes of this piece, which touches RSM_RDMA_PIECE_PAGES pages at most
 * @direction: RSM_PUT: a write, RSM_GET: a read
 * @copy: user memory may be changed once this returns
 * @made: where to put it
 *
 * Return: RSM_SUCCESS, RSMERR_BAD_ADDR or RSMERR_INSUFFICIENT_MEM.
 */
rsm_status_t rsm_rdma_op_prepare(const struct rsm_local *local, u64 done, u32 length,
				 enum rsm_direction direction, bool copy, struct rsm_rdma_op **made)
{
	u64 start = local->mem ? local->offset + done : (unsigned long)local->user + done;
	struct rsm_rdma_op *op;
	rsm_status_t status;

	op = rsm_rdma_op_alloc(DIV_ROUND_UP(offset_in_page(start) + length, PAGE_SIZE), direction);
	if (!op)
		return RSM_STS_INSUFFICIENT_MEM;
	op->length = length;
	op->local = rsm_mem_get(local->mem);
	op->offset = local->offset + done;
	op->user = local->user + done;
	status = use_pages(op, copy);
	if (status)
		rsm_rdma_op_put(op);
	else
		*made = op;
	return status;
}

/* The last reference is gone. Process context. */
void rsm_rdma_op_free(struct rsm_rdma_op *op)
{
	if (op->kind == RSM_RDMA_OWN)
		free_own(op);
	else if (op->kind == RSM_RDMA_PINNED)
		unpin_user_pages_dirty_lock(op->page, op->npages,
					    op->direction == RSM_GET);
	rsm_mem_put(op->local);
	if (op->remote)
		rsm_mem_put(&op->remote->mem);
	if (op->flow)
		rsm_rdma_flow_put(op->flow);
	kvfree(op);
}
