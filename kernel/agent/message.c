// SPDX-License-Identifier: GPL-2.0
/* Messages: making, sending, dispatching. */

#include "agent.h"

#include <linux/delay.h>
#include <linux/sched/signal.h>

/* Fill in a header for the peer as it is now. */
void rsm_message_init(struct rsm_link *link, struct rsm_msg_header *header,
		      enum rsm_message_type type, size_t len)
{
	unsigned long flags;

	memset(header, 0, len);
	header->version = cpu_to_le16(RSM_PROTOCOL_VERSION);
	header->type = cpu_to_le16(type);
	header->len = cpu_to_le32(len);
	spin_lock_irqsave(&link->lock, flags);
	header->from = cpu_to_le64(link->machine.incarnation);
	header->to = cpu_to_le64(type == RSM_MSG_HELLO ? 0 : link->machine.peer);
	spin_unlock_irqrestore(&link->lock, flags);
}

static int send_now(struct rsm_link *link, const void *message)
{
	const struct rsm_msg_header *header = message;
	int err = link->ops->send(link, message, le32_to_cpu(header->len));

	if (!err)
		atomic_inc(&link->sent_count);
	return err;
}

/* Fill in HELLO, WELCOME, HEARTBEAT or BYE. */
static void hello_init(struct rsm_link *link, struct rsm_msg_hello *hello,
		       enum rsm_message_type type)
{
	rsm_message_init(link, &hello->header, type, sizeof(*hello));
	hello->node = cpu_to_le32(rsm_node_id());
	hello->interval_ms = cpu_to_le32(rsm_heartbeat_ms());
}

/*
 * Send HELLO, HEARTBEAT or BYE. Any context. A message that finds no room is lost: the timer
 * repeats HELLO and HEARTBEAT, and a peer that does not get BYE gets no heartbeats.
 */
void rsm_send_hello(struct rsm_link *link, enum rsm_message_type type)
{
	struct rsm_msg_hello hello;

	hello_init(link, &hello, type);
	send_now(link, &hello);
}

/* Send WELCOME before all other messages to a peer whose HELLO makes the link active. */
void rsm_answer_hello(struct rsm_link *link)
{
	struct rsm_msg_hello welcome;

	hello_init(link, &welcome, RSM_MSG_WELCOME);
	rsm_answer(link, &welcome);
}

/*
 * Send a message behind the answers that wait for room: an UNPUBLISH must not overtake the
 * CONNECTED of its connection.
 */
int rsm_send_in_turn(struct rsm_link *link, const void *message)
{
	if (!rsm_outbox_is_empty(link))
		return -EAGAIN;
	return send_now(link, message);
}

/*
 * Does the link's work have something to send before a task may send @message? Tasks that try
 * without a pause would else take all room from the work, which tries once a jiffy. A CONNECT goes
 * behind each DISCONNECT that waits for room: a user who connects and disconnects in turn must not
 * seem to have more connections than a peer admits.
 */
static bool is_before(const struct rsm_link *link, const void *message)
{
	const struct rsm_msg_header *header = message;

	return !rsm_outbox_is_empty(link) || READ_ONCE(link->blocked) ||
	       (le16_to_cpu(header->type) == RSM_MSG_CONNECT &&
		!list_empty_careful(&link->unused));
}

/* Send a task's message if it is its turn; -EAGAIN if there is no room, or it is not. */
static int try_to_send(struct rsm_link *link, const void *message, struct rsm_room_wait *wait)
{
	unsigned long now = jiffies;
	int err = -EAGAIN;

	if (is_before(link, message))
		rsm_room_wait_postpone(wait, now);
	else
		err = rsm_send_in_turn(link, message);
	if (err == -EAGAIN && rsm_link_refuses_room(link, wait, now))
		rsm_link_fail(link, "takes no messages");
	return err;
}

/**
 * rsm_send_within() - send a message, waiting for room if need be
 * @link: the link
 * @peer: incarnation it is meant for
 * @message: the message
 * @wait: the caller's wait for room, which this message or another one has begun;
 *	rsm_room_is_refused() says when a peer that makes none has failed
 *
 * The caller holds no lock that the link's work may take.
 *
 * Return: 0, -ENOTCONN if the peer is not there any more, or -EINTR if the caller is killed.
 */
int rsm_send_within(struct rsm_link *link, u64 peer, void *message, struct rsm_room_wait *wait)
{
	while (rsm_link_is_active(link, peer)) {
		int err = try_to_send(link, message, wait);

		if (err != -EAGAIN)
			return err;
		if (fatal_signal_pending(current))
			return -EINTR;
		usleep_range(50, 100);
	}
	return -ENOTCONN;
}

/* Send a message; a peer without room for it has two intervals from now on. */
int rsm_send(struct rsm_link *link, u64 peer, void *message)
{
	struct rsm_room_wait wait;

	rsm_link_await_room(link, &wait);
	return rsm_send_within(link, peer, message, &wait);
}

/*
 * Send the answers that wait for room; false if the outbox stays at least half full. Called by the
 * link's work only, which the timer queues again for the rest. A peer that sends requests and takes
 * no answers has failed.
 */
bool rsm_answer_flush(struct rsm_link *link)
{
	while (link->outbox_head != link->outbox_tail) {
		struct rsm_link_message *entry =
			&link->outbox[link->outbox_head % RSM_LINK_OUTBOX];
		unsigned long now = jiffies;

		if (send_now(link, entry->data) == -EAGAIN) {
			if (rsm_link_refuses_room(link, &link->outbox_wait, now))
				rsm_link_fail(link, "takes no messages");
			mod_timer(&link->timer, jiffies + 1);
			break;
		}
		WRITE_ONCE(link->outbox_head, link->outbox_head + 1);
		rsm_link_await_room(link, &link->outbox_wait);
	}
	return link->outbox_tail - link->outbox_head < RSM_LINK_OUTBOX / 2;
}

/*
 * Send an answer, now or when there is room. The outbox can't overflow: each message has one answer
 * at most, and the link's work handles none while the outbox is half full. Called by the link's
 * work only.
 */
void rsm_answer(struct rsm_link *link, void *message)
{
	struct rsm_link_message *entry;
	const struct rsm_msg_header *header = message;

	if (link->outbox_head == link->outbox_tail) {
		if (send_now(link, message) != -EAGAIN)
			return;
		rsm_link_await_room(link, &link->outbox_wait);
	}
	entry = &link->outbox[link->outbox_tail % RSM_LINK_OUTBOX];
	entry->len = le32_to_cpu(header->len);
	memcpy(entry->data, message, entry->len);
	WRITE_ONCE(link->outbox_tail, link->outbox_tail + 1);
	mod_timer(&link->timer, jiffies + 1);
}

/* Fill in a message about a connection. */
void rsm_connection_init(struct rsm_link *link, struct rsm_msg_connection *message,
			 enum rsm_message_type type, u32 cookie, u32 handle)
{
	rsm_message_init(link, &message->header, type, sizeof(*message));
	message->cookie = cpu_to_le32(cookie);
	message->handle = cpu_to_le32(handle);
}

/* Deliver a BELL; any context. */
void rsm_bell_ring(struct rsm_link *link, const struct rsm_msg_connection *bell)
{
	u32 cookie = le32_to_cpu(bell->cookie);
	u32 handle = le32_to_cpu(bell->handle);
	u32 flags = le32_to_cpu(bell->value) & RSM_SIGPOST_NO_ACCUMULATE;

	if (bell->to_exporter)
		rsm_remote_importer_bell(link, cookie, handle, flags);
	else
		rsm_remote_segment_bell(link, cookie, handle, flags);
}

/* Dispatch a message of the inbox. Called by the link's work only. */
void rsm_message_handle(struct rsm_link *link, const void *message)
{
	const struct rsm_msg_header *header = message;

	switch (le16_to_cpu(header->type)) {
	case RSM_MSG_HELLO:
	case RSM_MSG_WELCOME:
		rsm_greeting_handle(link, message);
		break;
	case RSM_MSG_BYE:
		rsm_link_fail(link, "left");
		break;
	case RSM_MSG_CONNECT:
		rsm_remote_importer_connect(link, message);
		break;
	case RSM_MSG_CONNECTED:
		rsm_remote_segment_connected(link, message);
		break;
	case RSM_MSG_DISCONNECT:
		rsm_remote_importer_disconnect(link, message);
		break;
	case RSM_MSG_UNPUBLISH:
		rsm_remote_segment_unpublished(link, message);
		break;
	case RSM_MSG_REPUBLISH:
		rsm_remote_segment_republished(link, message);
		break;
	case RSM_MSG_MOVE:
		rsm_remote_segment_move(link, message);
		break;
	case RSM_MSG_MOVED:
		rsm_remote_importer_moved(link, message);
		break;
	case RSM_MSG_PLACE:
		rsm_remote_importer_place(link, message);
		break;
	}
}
