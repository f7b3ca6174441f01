// SPDX-License-Identifier: GPL-2.0
/* RDMA writes and reads: start, wait, end. */

#include "memory.h"

#include <linux/bottom_half.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>

/* Polling shortens a short wait; rsm_rdma_poll() stops when another task wants the processor. */
#define POLL_NS		2000000	/* Documentation/rdma.md says so, too */
#define POLL_BUDGET	16

static LLIST_HEAD(done_ops);

/* Free, in process context, the operations that ended when no task waited for them. */
static void free_done_ops(struct work_struct *work)
{
	struct llist_node *all = llist_del_all(&done_ops);
	struct rsm_rdma_op *op, *next;

	llist_for_each_entry_safe(op, next, all, freeing) {
		struct rsm_mem *local = op->local;

		/* Much memory takes seconds, and operations of others wait behind it. */
		op->local = NULL;
		rsm_rdma_op_free(op);
		rsm_mem_put_later(local);
		cond_resched();
	}
}

static DECLARE_WORK(free_work, free_done_ops);

static enum dma_data_direction op_dma_direction(const struct rsm_rdma_op *op)
{
	return op->direction == RSM_PUT ? DMA_TO_DEVICE : DMA_FROM_DEVICE;
}

/* The device no longer uses the operation: release what it had of the device. Any context. */
static void release_device(struct rsm_rdma_op *op)
{
	struct rsm_rdma_memory *remote = op->remote;
	struct rsm_rdma_channel *channel = remote->channel;

	rdma_rw_ctx_destroy(&op->rw, channel->qp, channel->port, op->sg, op->nents,
			    op_dma_direction(op));
	rsm_rdma_room_give(&channel->room, &op->claim);
	rsm_rdma_channel_leave(channel);
	if (atomic_dec_and_test(&remote->busy))
		wake_up_all(&remote->idle);
}

static void op_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rsm_rdma_op *op = container_of(wc->wr_cqe, struct rsm_rdma_op, cqe);

	if (wc->status != IB_WC_SUCCESS) {
		op->failed = true;
		rsm_rdma_channel_fail(op->remote->channel, ib_wc_status_msg(wc->status));
	}
	release_device(op);
	rsm_rdma_flow_leave(op);
	complete(&op->done);
	if (refcount_dec_and_test(&op->ref) && llist_add(&op->freeing, &done_ops))
		queue_work(rsm_rdma_wq, &free_work);
}

static bool follows(const struct rsm_rdma_op *op, u32 i)
{
	return page_to_pfn(op->page[i]) == page_to_pfn(op->page[i - 1]) + 1;
}

/* Make as few entries as possible: adjacent pages are one entry. */
static void make_sg(struct rsm_rdma_op *op, u32 max)
{
	struct scatterlist *sg = op->sg;
	u32 offset = op->first;
	u32 n, left = op->length;

	sg_init_table(op->sg, op->npages);
	op->nents = 0;
	for (u32 i = 0; i < op->npages; i++) {
		n = min_t(u32, left, PAGE_SIZE - offset);
		if (i && follows(op, i) && sg->length + n <= max) {
			sg->length += n;
		} else {
			sg = &op->sg[op->nents++];
			sg_set_page(sg, op->page[i], n, offset);
		}
		left -= n;
		offset = 0;
	}
	sg_mark_end(sg);
}

/* Work requests for a transfer without registration of local memory. */
static u32 wrs_for(const struct rsm_rdma_op *op, const struct ib_qp *qp)
{
	u32 max_sge = op->direction == RSM_PUT ? qp->max_write_sge : qp->max_read_sge;

	return DIV_ROUND_UP(op->nents, max_sge);
}

/* Wait for room; operations under way make room when they end. */
static rsm_status_t op_wait_for_room(struct rsm_rdma_channel *channel, struct rsm_rdma_op *op)
{
	struct rsm_rdma_claim *claim = &op->claim;

	rsm_rdma_claim_init(claim, wrs_for(op, channel->qp), op->length);
	rsm_rdma_room_ask(&channel->room, claim);
	if (!wait_for_completion_killable(&claim->granted))
		return RSM_STS_SUCCESS;
	rsm_rdma_room_withdraw(&channel->room, claim);
	return RSM_STS_INTERRUPTED;
}

/*
 * Post the operation with softirqs off. A device in software works in a softirq: it then runs when
 * softirqs are on again, and not in a thread that has to wait for a processor.
 */
static int op_hand_over(struct rsm_rdma_op *op, struct rsm_rdma_channel *channel)
{
	int err;

	local_bh_disable();
	err = rdma_rw_ctx_post(&op->rw, channel->qp, channel->port, &op->cqe, NULL);
	rsm_rdma_room_posted(&channel->room, &op->claim);
	local_bh_enable();
	return err;
}

static rsm_status_t post(struct rsm_rdma_op *op, struct rsm_rdma_memory *remote, u64 address,
			 u32 key)
{
	struct rsm_rdma_channel *channel = remote->channel;

	if (rdma_rw_ctx_init(&op->rw, channel->qp, channel->port, op->sg, op->nents, 0,
			     address, key, op_dma_direction(op)) < 0)
		return RSM_STS_INSUFFICIENT_RESOURCES;
	op->cqe.done = op_done;
	op->remote = remote;
	rsm_mem_get(&remote->mem);
	atomic_inc(&remote->busy);
	refcount_inc(&op->ref);
	if (!op_hand_over(op, channel))
		return RSM_STS_SUCCESS;
	rsm_rdma_channel_fail(channel, "nothing can be sent");
	release_device(op);
	refcount_dec(&op->ref);
	return RSM_STS_CONN_ABORTED;
}

/* Post the operation, unless the import has got other memory meanwhile. */
static rsm_status_t post_for(struct rsm_import *imp, struct rsm_rdma_op *op,
			     struct rsm_rdma_memory *remote, u64 address, u32 key)
{
	rsm_status_t status;

	down_read(&imp->map_lock);
	if (imp->mem == &remote->mem)
		status = post(op, remote, address, key);
	else
		status = imp->mem ? RSM_STS_MOVED : RSM_STS_CONN_ABORTED;
	up_read(&imp->map_lock);
	return status;
}

/**
 * rsm_rdma_op_start() - start an operation that has its local memory
 * @imp: the import
 * @op: the operation
 * @remote: memory that the import had when the caller looked
 * @address: of the first byte, in the chunk of @remote that @key belongs to
 * @key: the key
 *
 * Return: RSM_SUCCESS, RSM_STS_MOVED, RSMERR_CONN_ABORTED, RSMERR_INTERRUPTED
 * or RSMERR_INSUFFICIENT_RESOURCES.
 */
rsm_status_t rsm_rdma_op_start(struct rsm_import *imp, struct rsm_rdma_op *op,
			       struct rsm_rdma_memory *remote, u64 address, u32 key)
{
	struct rsm_rdma_channel *channel = remote->channel;
	rsm_status_t status;

	if (!rsm_rdma_channel_enter(channel))
		return RSM_STS_CONN_ABORTED;
	make_sg(op, ib_dma_max_seg_size(channel->device));
	status = op_wait_for_room(channel, op);
	if (status)
		goto err_leave;
	status = post_for(imp, op, remote, address, key);
	if (!status || op->remote)
		return status;
	rsm_rdma_room_withdraw(&channel->room, &op->claim);
err_leave:
	rsm_rdma_channel_leave(channel);
	return status;
}

/**
 * rsm_rdma_poll() - poll for completions for a short time
 * @channel: the channel, referenced
 * @is_over: returns true when there is nothing more to wait for
 * @what: its argument
 */
void rsm_rdma_poll(struct rsm_rdma_channel *channel, bool (*is_over)(void *what), void *what)
{
	u64 end = ktime_get_ns() + POLL_NS;

	if (!rsm_rdma_channel_enter(channel))
		return;
	do {
		/* No completion that this task has taken waits until the task runs again. */
		local_bh_disable();
		ib_process_cq_direct(channel->send_cq, POLL_BUDGET);
		local_bh_enable();
		if (is_over(what) || need_resched())
			break;
		cpu_relax();
	} while (ktime_get_ns() < end);
	rsm_rdma_channel_leave(channel);
}

static bool is_done(void *op)
{
	return completion_done(&((struct rsm_rdma_op *)op)->done);
}

/**
 * rsm_rdma_op_wait() - wait for the end of an operation
 * @op: one that was started
 *
 * Return: RSM_SUCCESS, RSMERR_CONN_ABORTED, or RSMERR_INTERRUPTED if the caller is
 * killed; the operation ends by itself then.
 */
rsm_status_t rsm_rdma_op_wait(struct rsm_rdma_op *op)
{
	rsm_rdma_poll(op->remote->channel, is_done, op);
	if (wait_for_completion_killable(&op->done))
		return RSM_STS_INTERRUPTED;
	return op->failed ? RSM_STS_CONN_ABORTED : RSM_STS_SUCCESS;
}

/**
 * rsm_rdma_op_put() - drop the starter's reference
 * @op: the operation, started or not. Process context
 */
void rsm_rdma_op_put(struct rsm_rdma_op *op)
{
	if (refcount_dec_and_test(&op->ref))
		rsm_rdma_op_free(op);
}
