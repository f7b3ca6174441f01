// SPDX-License-Identifier: GPL-2.0
/* Decisions about the peer of a link. Pure functions of state, time and input, tested by KUnit. */

#include "policy.h"

#include <asm/byteorder.h>
#include <linux/rsm.h>

/* A node that has many requests to fulfil is given this many times the usual patience. */
#define BACKLOG	8

/**
 * rsm_answer_is_missed() - has the peer had its time to answer?
 * @silence: what is known of the peer
 * @now: the time at which the caller began to look for the answer, in jiffies
 * @interval: heartbeat interval
 * @since: when the question was sent, in jiffies
 * @drained: all that has arrived from the peer was handled
 *
 * The answer may be among what this node has not read; that gives the peer more time, but not for
 * ever.
 *
 * Return: true if the peer is at fault.
 */
bool rsm_answer_is_missed(const struct rsm_silence *silence, unsigned long now,
			  unsigned long interval, unsigned long since, bool drained)
{
	return rsm_patience_is_over(silence, now, interval, since, drained ? 1 : BACKLOG);
}

/**
 * rsm_room_wait_begin() - begin to wait for room
 * @wait: the wait
 * @now: the time, in jiffies
 * @sent: messages that have found room so far
 */
void rsm_room_wait_begin(struct rsm_room_wait *wait, unsigned long now, u32 sent)
{
	wait->first = now;
	wait->since = now;
	wait->sent = sent;
}

/**
 * rsm_room_wait_look() - there is no room, still or again
 * @wait: the wait; begins anew if others have had the room
 * @now: the time, in jiffies
 * @sent: messages that have found room so far
 *
 * If fewer messages have found room since the wait began than there is room for, the oldest was
 * there already, and the peer has not taken it. Otherwise the peer has taken messages, and others
 * have been faster than the caller, who may have had no processor.
 */
void rsm_room_wait_look(struct rsm_room_wait *wait, unsigned long now, u32 sent)
{
	if (sent - wait->sent < RSM_LINK_ROOM)
		return;
	wait->since = now;
	wait->sent = sent;
}

/**
 * rsm_room_wait_postpone() - this node has not looked whether there is room
 * @wait: the wait
 * @now: the time, in jiffies
 *
 * Answers or requests of this node have their turn before the caller, and their sender judges the
 * peer. There is a limit for all of this, as the peer chooses which answers there are.
 */
void rsm_room_wait_postpone(struct rsm_room_wait *wait, unsigned long now)
{
	wait->since = now;
}

/**
 * rsm_room_is_refused() - is a peer without room at fault?
 * @wait: the wait, after rsm_room_wait_look()
 * @silence: what is known of the peer
 * @now: the time at which the caller began to look for room, in jiffies
 * @interval: heartbeat interval
 *
 * A peer chooses which answers of this node find room, so there is a limit for all of them.
 *
 * Return: true if the peer has had its time to make room.
 */
bool rsm_room_is_refused(const struct rsm_room_wait *wait, const struct rsm_silence *silence,
			 unsigned long now, unsigned long interval)
{
	return rsm_patience_is_over(silence, now, interval, wait->since, 1) ||
	       rsm_patience_is_over(silence, now, interval, wait->first, BACKLOG);
}

/**
 * rsm_requests_objection() - the reason to fail a link because of its requests
 * @requests: the state of the requests
 *
 * The time of a request begins when it is sent: a peer that answers all in time is at fault only
 * if those that wait for their turn do not get it.
 *
 * Return: a constant string for the log, or NULL.
 */
const char *rsm_requests_objection(const struct rsm_requests *requests)
{
	if (requests->unanswered &&
	    rsm_answer_is_missed(&requests->silence, requests->now, requests->interval,
				 requests->unanswered_since, requests->drained))
		return "does not answer";
	if ((requests->unsent || requests->news) && requests->blocked &&
	    rsm_room_is_refused(&requests->blocked_wait, &requests->silence, requests->now,
				requests->interval))
		return "takes no messages";
	if (requests->unsent &&
	    rsm_patience_is_over(&requests->silence, requests->now, requests->interval,
				 requests->unsent_since, BACKLOG))
		return "answers too slowly";
	return NULL;
}

/**
 * rsm_greeting_classify() - classify a HELLO or WELCOME
 * @machine: the state of the link that it came by
 * @hello: the message, sound
 *
 * Return: see &enum rsm_greeting.
 */
enum rsm_greeting rsm_greeting_classify(const struct rsm_link_machine *machine,
					const struct rsm_msg_hello *hello)
{
	u64 from = le64_to_cpu(hello->header.from);

	if (!from || le32_to_cpu(hello->node) != machine->node ||
	    (machine->expected && from != machine->expected))
		return RSM_GREETING_STRANGER;
	if (machine->peer && machine->peer != from)
		return RSM_GREETING_RESTARTED;
	if (le16_to_cpu(hello->header.version) != RSM_PROTOCOL_VERSION)
		return RSM_GREETING_OTHER_VERSION;
	return RSM_GREETING_PEER;
}

/**
 * rsm_bells_add() - one more bell
 * @bells: those before it
 * @flags: RSM_SIGPOST_NO_ACCUMULATE or 0
 */
void rsm_bells_add(struct rsm_bells *bells, u32 flags)
{
	if (!(flags & RSM_SIGPOST_NO_ACCUMULATE))
		bells->count += bells->count < U32_MAX;
	else if (!bells->count)
		bells->once = true;
}
