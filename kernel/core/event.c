// SPDX-License-Identifier: GPL-2.0
/*
 * Events: each handle has one counter of events posted and one of events consumed. The kernel
 * only ever increments the first. User space may write any value to the second: a wrong value
 * misleads the handle's owner only.
 */

#include "internal.h"

#include <linux/hrtimer.h>
#include <linux/sched/signal.h>

static u32 pending_events(struct rsm_words *words)
{
	return READ_ONCE(*words->posted) - READ_ONCE(*words->consumed);
}

/* Count an event; false if the event is to be dropped. The count of pending events saturates. */
static bool count_event(struct rsm_words *words, u32 flags)
{
	u32 pending, posted = READ_ONCE(*words->posted);

	if (flags & RSM_SIGPOST_NO_ACCUMULATE) {
		/*
		 * A pending event stands for this one only if its consumer sees what the
		 * poster has stored before: store that before reading whether the event is
		 * still pending. Pairs with the barrier of consume_event().
		 */
		smp_mb();
	}
	do {
		pending = posted - READ_ONCE(*words->consumed);
		if (pending == U32_MAX ||
		    (pending && flags & RSM_SIGPOST_NO_ACCUMULATE))
			return false;
	} while (!try_cmpxchg(words->posted, &posted, posted + 1));
	return true;
}

static __always_inline void event_deliver(struct rsm_segment *seg, u32 flags)
{
	wait_queue_head_t *wq = &seg->handle->wq;

	/* The compare-and-swap is the barrier that waitqueue_active() needs. */
	if (count_event(&seg->words, flags) && waitqueue_active(wq))
		wake_up_interruptible_poll(wq, EPOLLIN | EPOLLRDNORM);
}

/**
 * rsm_event_post() - deliver an event to a handle
 * @seg: the handle's segment
 * @flags: RSM_SIGPOST_NO_ACCUMULATE or 0
 *
 * Never sleeps. A thread that sees the event sees what the poster stored before it.
 */
void rsm_event_post(struct rsm_segment *seg, u32 flags)
{
	event_deliver(seg, flags);
}
EXPORT_SYMBOL_GPL(rsm_event_post);

/* Like @count calls of rsm_event_post() with accumulation. */
void rsm_events_post(struct rsm_segment *seg, u32 count)
{
	struct rsm_words *words = &seg->words;
	u32 room, posted = READ_ONCE(*words->posted);

	do {
		room = U32_MAX - (posted - READ_ONCE(*words->consumed));
		count = min(count, room);
		if (!count)
			return;
	} while (!try_cmpxchg(words->posted, &posted, posted + count));
	/* The compare-and-swap is the barrier that waitqueue_active() needs. */
	if (waitqueue_active(&seg->handle->wq))
		__wake_up(&seg->handle->wq, TASK_INTERRUPTIBLE, min_t(u32, count, INT_MAX),
			  poll_to_key(EPOLLIN | EPOLLRDNORM));
}

/**
 * rsm_local_post() - deliver an event to an export of this node
 * @imp: the import that posts
 * @flags: RSM_SIGPOST_NO_ACCUMULATE or 0
 *
 * Return: RSM_SUCCESS or RSMERR_CONN_ABORTED.
 */
rsm_status_t rsm_local_post(struct rsm_import *imp, u32 flags)
{
	rsm_status_t status = RSM_STS_CONN_ABORTED;

	down_read(&imp->map_lock);
	if (imp->exp) {
		event_deliver(&imp->exp->seg, flags);
		status = RSM_STS_SUCCESS;
	}
	up_read(&imp->map_lock);
	return status;
}
EXPORT_SYMBOL_GPL(rsm_local_post);

/*
 * Take one event. User space consumes events by the same compare-and-swap; a process that
 * writes the word all the time delays only itself. The compare-and-swap is the barrier that
 * pairs with count_event().
 */
static bool consume_event(struct rsm_words *words)
{
	u32 consumed = READ_ONCE(*words->consumed);

	while (READ_ONCE(*words->posted) != consumed) {
		if (try_cmpxchg(words->consumed, &consumed, consumed + 1))
			return true;
		if (signal_pending(current))
			return false;
		cpu_relax();
	}
	return false;
}

static rsm_status_t wait_for_event(struct rsm_segment *seg, ktime_t *expires)
{
	wait_queue_head_t *wq = &seg->handle->wq;
	DEFINE_WAIT(wait);
	bool expired = false;
	rsm_status_t status;

	for (;;) {
		prepare_to_wait_exclusive(wq, &wait, TASK_INTERRUPTIBLE);
		status = RSM_STS_SUCCESS;
		if (consume_event(&seg->words))
			break;
		status = RSM_STS_INTERRUPTED;
		if (signal_pending(current))
			break;
		status = RSM_STS_TIMEOUT;
		if (expired)
			break;
		expired = !schedule_hrtimeout_range(expires, current->timer_slack_ns,
						    HRTIMER_MODE_ABS);
	}
	finish_wait(wq, &wait);
	return status;
}

/**
 * rsm_event_wait() - wait for an event and consume it
 * @seg: the handle's segment
 * @timeout_ns: longest wait, negative for no limit; what is left of it after
 *	RSMERR_INTERRUPTED
 *
 * Return: RSM_SUCCESS, RSMERR_TIMEOUT or RSMERR_INTERRUPTED.
 */
rsm_status_t rsm_event_wait(struct rsm_segment *seg, s64 *timeout_ns)
{
	ktime_t expires;
	rsm_status_t status;

	if (consume_event(&seg->words))
		return RSM_STS_SUCCESS;
	if (!*timeout_ns)
		return RSM_STS_TIMEOUT;
	if (*timeout_ns < 0)
		return wait_for_event(seg, NULL);
	expires = ktime_add_safe(ktime_get(), ns_to_ktime(*timeout_ns));
	status = wait_for_event(seg, &expires);
	if (status == RSM_STS_INTERRUPTED)
		*timeout_ns = max_t(s64, ktime_to_ns(ktime_sub(expires, ktime_get())), 0);
	return status;
}

static bool is_ended(const struct rsm_segment *seg)
{
	if (seg->ops->kind == RSM_IMPORT)
		return READ_ONCE(container_of(seg, struct rsm_import, seg)->hung_up);
	return READ_ONCE(container_of(seg, struct rsm_export, seg)->state) == RSM_DEAD;
}

/*
 * The wait queue belongs to the handle, not to the segment: epoll registers with it once only,
 * perhaps while the handle is blank.
 */
__poll_t rsm_event_poll(struct rsm_handle *h, struct file *file, poll_table *wait)
{
	struct rsm_segment *seg;
	__poll_t mask = 0;

	poll_wait(file, &h->wq, wait);
	/*
	 * Register as a waiter before reading the counters. Pairs with the barrier before
	 * waitqueue_active(). poll_wait() has a barrier itself in 6.13 and later stable kernels.
	 */
	smp_mb();
	seg = rsm_handle_segment(h);
	if (!seg)
		return 0;
	if (pending_events(&seg->words))
		mask |= EPOLLIN | EPOLLRDNORM;
	if (is_ended(seg))
		mask |= EPOLLRDHUP;
	return mask;
}
