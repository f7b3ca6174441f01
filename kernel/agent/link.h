/* SPDX-License-Identifier: GPL-2.0 */
/* The state of a link as a function: what comes in, and what the link has to do then. */
#ifndef RSM_AGENT_LINK_H
#define RSM_AGENT_LINK_H

#include "../rsm_link.h"
#include "protocol.h"

/**
 * enum rsm_link_event - what happens to a link
 * @RSM_ON_EXPECT: the configuration has a node at the other end; the link is down
 * @RSM_ON_FORGET: the configuration has none any more; the link is down
 * @RSM_ON_START: the controller has found a node
 * @RSM_ON_TICK: the timer has expired
 * @RSM_ON_MESSAGE: a message has come whose form is that of its type
 * @RSM_ON_GREETED: the greeting of the peer is handled, behind all messages before it
 * @RSM_ON_LEAVE: this node ends the link next, and tells the peer before; that is the reason from
 *	now on, whatever the peer does meanwhile
 * @RSM_ON_FAIL: the link has to end
 * @RSM_ON_STOP_GREETING: the link has to end, unless its peer has greeted
 * @RSM_ON_CLEARED: nothing of the ended link is left
 */
enum rsm_link_event {
	RSM_ON_EXPECT,
	RSM_ON_FORGET,
	RSM_ON_START,
	RSM_ON_TICK,
	RSM_ON_MESSAGE,
	RSM_ON_GREETED,
	RSM_ON_LEAVE,
	RSM_ON_FAIL,
	RSM_ON_STOP_GREETING,
	RSM_ON_CLEARED,
};

/**
 * struct rsm_link_input - an event, and what the step needs to know of the world
 * @event: see there
 * @heartbeat_ms: this node's heartbeat interval; START and MESSAGE
 * @node: EXPECT: node id
 * @peer: START: the node
 * @stirred: TICK: the peer has given a sign of life other than messages
 * @message: MESSAGE: the message
 * @why: LEAVE, FAIL and STOP_GREETING: reason, a constant string
 */
struct rsm_link_input {
	enum rsm_link_event event;
	unsigned int heartbeat_ms;
	u32 node;
	const struct rsm_link_peer *peer;
	bool stirred;
	const struct rsm_msg_header *message;
	const char *why;
};

/**
 * enum rsm_link_verdict - where a message goes
 * @RSM_MESSAGE_USED: the step has used it up
 * @RSM_MESSAGE_FOREIGN: it is malformed, or not one between this link's two incarnations
 * @RSM_MESSAGE_DELIVER: it is to be delivered at once
 * @RSM_MESSAGE_QUEUE: the link's work has to handle it in its turn
 */
enum rsm_link_verdict {
	RSM_MESSAGE_USED,
	RSM_MESSAGE_FOREIGN,
	RSM_MESSAGE_DELIVER,
	RSM_MESSAGE_QUEUE,
};

/**
 * enum rsm_link_remark - what the log has to say of a greeting
 * @RSM_REMARK_NONE: nothing
 * @RSM_REMARK_VERSION: the peer speaks another version of the protocol
 * @RSM_REMARK_INTERVAL: the peer's heartbeat interval does not fit
 */
enum rsm_link_remark {
	RSM_REMARK_NONE,
	RSM_REMARK_VERSION,
	RSM_REMARK_INTERVAL,
};

/**
 * struct rsm_link_output - what has to be done after a step
 * @taken: START: the link is started. GREETED: the link has become active
 * @send: type of the message to be sent now, 0 for none
 * @arm: set the timer to @expires
 * @expires: in jiffies
 * @work: the link's work has something to do
 * @verdict: MESSAGE: where it goes
 * @remark: MESSAGE: what the log has to say
 */
struct rsm_link_output {
	bool taken;
	enum rsm_message_type send;
	bool arm;
	unsigned long expires;
	bool work;
	enum rsm_link_verdict verdict;
	enum rsm_link_remark remark;
};

struct rsm_link_output rsm_link_step(struct rsm_link_machine *machine, unsigned long now,
				     const struct rsm_link_input *input);

/* Is the peer greeted, or about to be? */
static inline bool rsm_link_is_started(const struct rsm_link_machine *machine)
{
	return machine->state == RSM_LINK_GREETING || machine->state == RSM_LINK_ACTIVE;
}

/* Is the link started, without a greeting of its peer so far? It has handled no message then. */
static inline bool rsm_link_is_unanswered(const struct rsm_link_machine *machine)
{
	return machine->state == RSM_LINK_GREETING && !machine->peer;
}

#endif /* RSM_AGENT_LINK_H */
