// SPDX-License-Identifier: GPL-2.0
/* The life of a segment: the part that exports and imports share. */

#include "internal.h"

#include <linux/cred.h>
#include <linux/fs_struct.h>
#include <linux/pid.h>
#include <linux/sched.h>

/* Is the caller the process that created the export? */
bool rsm_is_creator(const struct rsm_export *exp)
{
	return exp->owner.tgid == task_tgid(current);
}

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
 * @ops: those of its kind
 * @h: its handle
 * @controller: name of its controller
 * @table: table to take its words from, or NULL
 *
 * Followed by rsm_segment_enter() or rsm_segment_cancel().
 *
 * Return: RSM_SUCCESS, RSMERR_CTLR_NOT_PRESENT, RSMERR_INSUFFICIENT_RESOURCES
 * or RSMERR_INSUFFICIENT_MEM.
 */
rsm_status_t rsm_segment_init(struct rsm_segment *seg, const struct rsm_segment_ops *ops,
			      struct rsm_handle *h, const char *controller, struct rsm_table *table)
{
	rsm_status_t status = RSM_STS_INSUFFICIENT_MEM;
	int err;

	seg->ctl = rsm_controller_get(controller);
	if (!seg->ctl)
		return RSM_STS_CTLR_NOT_PRESENT;
	seg->process = rsm_process_get();
	if (!seg->process)
		goto err_put_controller;
	err = rsm_words_init(&seg->words, table);
	if (err == -ENOSPC) {
		rsm_limit_hit(RSM_LIMIT_SLOTS, RSM_TABLE_SLOTS + 1ULL, RSM_TABLE_SLOTS, NULL);
		status = RSM_STS_INSUFFICIENT_RESOURCES;
	}
	if (err)
		goto err_put_process;
	kref_get(&h->ref);
	seg->handle = h;
	kref_init(&seg->ref);
	INIT_LIST_HEAD(&seg->on_ctl);
	seg->ops = ops;
	seg->number = h->number;
	return RSM_STS_SUCCESS;

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
 * Unless this fails, the removal of the controller waits until the caller has called
 * rsm_segment_complete() or rsm_controller_leave(): until then the caller must not wait for a
 * page fault of any process.
 *
 * Return: RSM_SUCCESS, or RSMERR_CTLR_NOT_PRESENT if the controller was removed.
 */
rsm_status_t rsm_segment_enter(struct rsm_segment *seg)
{
	return rsm_controller_enter(seg->ctl) ? RSM_STS_SUCCESS : RSM_STS_CTLR_NOT_PRESENT;
}

/* After rsm_segment_enter(): make @seg the segment of the handle @h. */
void rsm_segment_complete(struct rsm_segment *seg, struct rsm_handle *h)
{
	rsm_controller_add(seg);
	/* Pairs with rsm_handle_segment(). */
	smp_store_release(&h->seg, seg);
	/* A poll of the blank handle may have missed what happened to @seg up to here. */
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
	seg->ops->free(seg);
}

void rsm_segment_put(struct rsm_segment *seg)
{
	kref_put(&seg->ref, segment_free);
}

/* Note the caller as the creator of a segment. The owner holds a reference on its pid. */
void rsm_owner_init(struct rsm_owner *owner)
{
	owner->tgid = get_pid(task_tgid(current));
	owner->uid = current_euid();
	owner->gid = current_egid();
	owner->umask = current_umask();
}
