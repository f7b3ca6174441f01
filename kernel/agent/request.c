// SPDX-License-Identifier: GPL-2.0
/*
 * Requests to importing nodes: MOVE and UNPUBLISH. A caller queues its requests at the importers'
 * links and waits, if a signal can kill it. The work of each link sends the requests of its link
 * and fails the link if the peer does not answer in time. So all nodes are asked at once, and the
 * times that they take do not add up. Requests of a caller that is killed, or that may not wait,
 * are carried out all the same.
 */

#include "agent.h"

#include <linux/jiffies.h>
#include <linux/sched.h>
#include <linux/wait.h>

/*
 * An importer of @exp has gone, has fulfilled a request or has no stale key any more: wake the task
 * that waits for that. Tasks that wait for other segments sleep on.
 */
void rsm_remote_importers_changed(struct rsm_export *exp)
{
	/* A task that sees the count sees the change, too. */
	(void)atomic_inc_return_release(&exp->answers);
	wake_up_all(&exp->answered);
}

/* Not a task that is exiting, which no signal ends, nor a worker, which other work needs. */
static bool may_wait(void)
{
	return !(current->flags & (PF_EXITING | PF_KTHREAD));
}

/**
 * rsm_remote_importers_wait() - wait until importers have fulfilled their requests
 * @exp: their segment
 * @last: for @is_done: importers with a greater serial do not matter
 * @is_done: have they?
 *
 * A link whose node does not fulfil a request fails, so the wait ends. A key that this node makes
 * does not wait for the importer's node.
 *
 * Return: true if they have, false if the caller has been killed or may not wait.
 */
bool rsm_remote_importers_wait(struct rsm_export *exp, u64 last,
			       bool (*is_done)(struct rsm_export *exp, u64 last))
{
	int seen;

	for (;;) {
		seen = atomic_read_acquire(&exp->answers);
		if (is_done(exp, last))
			return true;
		if (!may_wait() ||
		    wait_event_killable(exp->answered, atomic_read(&exp->answers) != seen))
			return false;
	}
}

static void queue_importer(struct rsm_remote_importer *importer, enum rsm_importer_queue queue)
{
	struct rsm_link *link = importer->link;

	lockdep_assert_held(&link->lock);
	switch (queue) {
	case RSM_QUEUE_KEEP:
		break;
	case RSM_QUEUE_UNSENT:
		list_move_tail(&importer->on_link, &link->unsent);
		break;
	case RSM_QUEUE_UNANSWERED:
		list_move_tail(&importer->on_link, &link->unanswered);
		break;
	case RSM_QUEUE_NONE:
		list_del_init(&importer->on_link);
		break;
	}
}

/* Let the importer take a step, and enter it into the queue of its link that it belongs to. */
static struct rsm_importer_output importer_change_locked(struct rsm_remote_importer *importer,
							 enum rsm_importer_event event,
							 enum rsm_message_type type)
{
	struct rsm_importer_input input = { .event = event, .type = type };
	struct rsm_importer_output output;

	lockdep_assert_held(&importer->link->lock);
	output = rsm_importer_step(&importer->machine, jiffies, &input);
	queue_importer(importer, output.queue);
	return output;
}

/* The same for a caller without the lock of the link. */
struct rsm_importer_output rsm_importer_change(struct rsm_remote_importer *importer,
					       enum rsm_importer_event event,
					       enum rsm_message_type type)
{
	struct rsm_importer_output output;

	spin_lock_irq(&importer->link->lock);
	output = importer_change_locked(importer, event, type);
	spin_unlock_irq(&importer->link->lock);
	return output;
}

/**
 * rsm_request() - queue a request to an importer's node
 * @importer: the importer. If a request is pending already, only UNPUBLISH is queued behind it
 * @type: RSM_MSG_UNPUBLISH; RSM_MSG_MOVE to the place of importer->next; or RSM_MSG_CONNECTED with
 *	importer->status, which has no answer and removes the importer
 */
void rsm_request(struct rsm_remote_importer *importer, enum rsm_message_type type)
{
	lockdep_assert_held(&importer->exp->importers_lock);
	rsm_importer_change(importer, RSM_IMPORTER_ASK, type);
	queue_work(rsm_link_wq, &importer->link->work);
}

/* An answer has come: another request may be sent over the link. */
static void request_slot_free(struct rsm_link *link)
{
	up(&link->requests);
	if (!list_empty_careful(&link->unsent))
		queue_work(rsm_link_wq, &link->work);
}

/**
 * rsm_request_end() - an importer's request is fulfilled, or the importer goes
 * @importer: the importer
 *
 * Called by the link's work only.
 */
void rsm_request_end(struct rsm_remote_importer *importer)
{
	if (rsm_importer_change(importer, RSM_IMPORTER_FULFILLED, 0).answered)
		request_slot_free(importer->link);
}

/* The oldest request that has not been sent, or NULL. The link's work only. */
static struct rsm_remote_importer *next_unsent(struct rsm_link *link)
{
	struct rsm_remote_importer *importer;

	spin_lock_irq(&link->lock);
	importer = list_first_entry_or_null(&link->unsent, struct rsm_remote_importer, on_link);
	spin_unlock_irq(&link->lock);
	return importer;
}

static int send_move(const struct rsm_remote_importer *importer)
{
	struct rsm_msg_move message;

	rsm_message_init(importer->link, &message.header, RSM_MSG_MOVE, sizeof(message));
	message.cookie = cpu_to_le32(importer->cookie);
	message.handle = cpu_to_le32(importer->handle);
	message.place[0] = cpu_to_le64(importer->next.place.word[0]);
	message.place[1] = cpu_to_le64(importer->next.place.word[1]);
	return rsm_send_in_turn(importer->link, &message);
}

static int send_unpublish(const struct rsm_remote_importer *importer)
{
	struct rsm_msg_connection message;

	rsm_connection_init(importer->link, &message, RSM_MSG_UNPUBLISH, importer->cookie,
			    importer->handle);
	return rsm_send_in_turn(importer->link, &message);
}

static void note_room(struct rsm_link *link)
{
	spin_lock_irq(&link->lock);
	link->blocked = false;
	spin_unlock_irq(&link->lock);
}

/* Note that the peer has no room, and since when. */
static void note_blocked(struct rsm_link *link)
{
	spin_lock_irq(&link->lock);
	if (!link->blocked)
		rsm_link_await_room(link, &link->blocked_wait);
	link->blocked = true;
	spin_unlock_irq(&link->lock);
	mod_timer(&link->timer, jiffies + 1);
}

static int send_refusal(struct rsm_remote_importer *importer)
{
	struct rsm_msg_connected message;
	int err;

	rsm_message_init(importer->link, &message.header, RSM_MSG_CONNECTED, sizeof(message));
	message.cookie = cpu_to_le32(importer->cookie);
	message.status = cpu_to_le32(rsm_status_to_number(importer->status));
	err = rsm_send_in_turn(importer->link, &message);
	if (!err)
		rsm_remote_importer_remove(importer);
	return err;
}

static int send_question(struct rsm_remote_importer *importer, enum rsm_message_type type)
{
	int err;

	if (down_trylock(&importer->link->requests))
		return -EBUSY;
	err = type == RSM_MSG_MOVE ? send_move(importer) : send_unpublish(importer);
	if (err)
		up(&importer->link->requests);
	else
		rsm_importer_change(importer, RSM_IMPORTER_SENT, type);
	return err;
}

/**
 * rsm_link_note_sent() - look at the outcome of sending something
 * @link: the link, which fails if the peer can't be reached
 * @err: what send() has returned, or -EBUSY if the peer has too many requests to answer
 *
 * Called by the link's work, or after its end.
 *
 * Return: true if more can be sent now.
 */
bool rsm_link_note_sent(struct rsm_link *link, int err)
{
	if (!err)
		note_room(link);
	else if (err == -EAGAIN)
		note_blocked(link);
	else if (err != -EBUSY)
		rsm_link_fail(link, "can't be reached");
	return !err;
}

static int send_request(struct rsm_remote_importer *importer)
{
	enum rsm_message_type type = READ_ONCE(importer->machine.request);

	return type == RSM_MSG_CONNECTED ? send_refusal(importer) : send_question(importer, type);
}

/* Send requests until no more can be sent now. */
static void send_requests(struct rsm_link *link, struct rsm_requests *requests)
{
	struct rsm_remote_importer *importer;
	int err = 0;

	while (!err && (importer = next_unsent(link))) {
		err = send_request(importer);
		rsm_link_note_sent(link, err);
	}
	requests->busy = err == -EBUSY;
}

/* Tell the importer's node a mode for later connects. */
static int send_mode(const struct rsm_remote_importer *importer, u32 mode)
{
	struct rsm_msg_connection message;

	rsm_connection_init(importer->link, &message, RSM_MSG_REPUBLISH, importer->cookie,
			    importer->handle);
	message.value = cpu_to_le32(mode);
	return rsm_send_in_turn(importer->link, &message);
}

/**
 * rsm_tell_mode() - tell an importer's node its mode, later if there is no room now
 * @importer: the importer
 * @mode: the mode, or %RSM_MODE_CLOSED
 *
 * The caller does not wait: peers without room would hold it up one after the other.
 */
void rsm_tell_mode(struct rsm_remote_importer *importer, u32 mode)
{
	struct rsm_link *link = importer->link;

	lockdep_assert_held(&importer->exp->importers_lock);
	importer->untold_mode = mode;
	if (!list_empty(&importer->on_untold) || send_mode(importer, mode) != -EAGAIN)
		return;
	spin_lock_irq(&link->lock);
	list_add_tail(&importer->on_untold, &link->untold);
	spin_unlock_irq(&link->lock);
	queue_work(rsm_link_wq, &link->work);
}

/* The importer's node need not hear of its mode any more. */
void rsm_forget_to_tell(struct rsm_remote_importer *importer)
{
	spin_lock_irq(&importer->link->lock);
	list_del_init(&importer->on_untold);
	spin_unlock_irq(&importer->link->lock);
}

static struct rsm_remote_importer *first_untold(struct rsm_link *link)
{
	struct rsm_remote_importer *importer;

	spin_lock_irq(&link->lock);
	importer = list_first_entry_or_null(&link->untold, struct rsm_remote_importer, on_untold);
	spin_unlock_irq(&link->lock);
	return importer;
}

/* Tell an importer that has had to wait for room; false if no more can be told now. */
static bool tell_untold(struct rsm_remote_importer *importer)
{
	struct rsm_link *link = importer->link;
	int err;

	/* A mode that changes once it is sent puts the importer on the list again. */
	mutex_lock(&importer->exp->importers_lock);
	err = send_mode(importer, importer->untold_mode);
	if (!err)
		rsm_forget_to_tell(importer);
	mutex_unlock(&importer->exp->importers_lock);
	return rsm_link_note_sent(link, err);
}

/* Send what has waited for room, but for requests; the link's work only. */
static void send_news(struct rsm_link *link)
{
	struct rsm_remote_importer *importer;

	rsm_remote_segments_disconnect(link);
	while ((importer = first_untold(link)))
		if (!tell_untold(importer))
			return;
}

/* The caller has begun to send what there is room for at the time requests->now. */
static void look_at_requests(struct rsm_link *link, struct rsm_requests *requests)
{
	struct rsm_remote_importer *importer;

	spin_lock_irq(&link->lock);
	requests->news = rsm_link_has_news(link);
	/* All has been sent, its importer has gone, or requests await answers and not room. */
	if (!requests->news && (requests->busy || list_empty(&link->unsent)))
		link->blocked = false;
	requests->drained = requests->drained && !rsm_link_has_unread(link);
	requests->interval = link->machine.interval;
	requests->silence = link->machine.silence;
	requests->blocked = link->blocked;
	rsm_room_wait_look(&link->blocked_wait, requests->now, atomic_read(&link->sent_count));
	requests->blocked_wait = link->blocked_wait;
	importer = list_first_entry_or_null(&link->unsent, struct rsm_remote_importer, on_link);
	requests->unsent = importer;
	requests->unsent_since = importer ? importer->machine.since : 0;
	importer = list_first_entry_or_null(&link->unanswered, struct rsm_remote_importer, on_link);
	requests->unanswered = importer;
	requests->unanswered_since = importer ? importer->machine.since : 0;
	spin_unlock_irq(&link->lock);
}

/**
 * rsm_requests_run() - send requests, and fail the link if the peer does not answer in time
 * @link: the link
 * @drained: all messages that have arrived from the peer were handled
 *
 * Called by the link's work only. An answer that has arrived in time counts, even if this node
 * reads it late.
 */
void rsm_requests_run(struct rsm_link *link, bool drained)
{
	struct rsm_requests requests = { .now = jiffies, .drained = drained };
	const char *why;

	/* Requests go behind answers: without this there would be no look whether there is room. */
	rsm_answer_flush(link);
	send_news(link);
	send_requests(link, &requests);
	look_at_requests(link, &requests);
	why = rsm_requests_objection(&requests);
	if (why)
		rsm_link_fail(link, why);
}
