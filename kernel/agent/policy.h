/* SPDX-License-Identifier: GPL-2.0 */
/* Decisions about the peer of a link: pure functions of state, time and input. */
#ifndef RSM_POLICY_H
#define RSM_POLICY_H

#include "../rsm_link.h"
#include "protocol.h"

/**
 * struct rsm_requests - the state of the requests to a peer
 * @now: that time, in jiffies, as all times here
 * @interval: heartbeat interval; a peer may take two of them
 * @silence: signs of life of the peer, and when this node looked for them
 * @drained: what the peer has sent by now has been handled
 * @unanswered: some have been sent and not been fulfilled
 * @unanswered_since: when the oldest of them was sent
 * @unsent: some wait to be sent
 * @unsent_since: when the oldest of them was made
 * @busy: they wait because the peer has enough to answer
 * @news: messages that have no answer wait to be sent, too
 * @blocked: the peer makes no room for them
 * @blocked_wait: since when
 */
struct rsm_requests {
	unsigned long now;
	unsigned long interval;
	struct rsm_silence silence;
	bool drained;
	bool unanswered;
	unsigned long unanswered_since;
	bool unsent;
	unsigned long unsent_since;
	bool busy;
	bool news;
	bool blocked;
	struct rsm_room_wait blocked_wait;
};

void rsm_room_wait_begin(struct rsm_room_wait *wait, unsigned long now, u32 sent);
void rsm_room_wait_look(struct rsm_room_wait *wait, unsigned long now, u32 sent);
void rsm_room_wait_postpone(struct rsm_room_wait *wait, unsigned long now);
bool rsm_answer_is_missed(const struct rsm_silence *silence, unsigned long now,
			  unsigned long interval, unsigned long since, bool drained);
bool rsm_room_is_refused(const struct rsm_room_wait *wait, const struct rsm_silence *silence,
			 unsigned long now, unsigned long interval);
const char *rsm_requests_objection(const struct rsm_requests *requests);

/**
 * enum rsm_greeting - what a HELLO or WELCOME means
 * @RSM_GREETING_STRANGER: it is not from the node that the link was started for
 * @RSM_GREETING_RESTARTED: it is from a later incarnation of the peer
 * @RSM_GREETING_OTHER_VERSION: the peer speaks another version of the protocol
 * @RSM_GREETING_PEER: it is from the peer
 */
enum rsm_greeting {
	RSM_GREETING_STRANGER,
	RSM_GREETING_RESTARTED,
	RSM_GREETING_OTHER_VERSION,
	RSM_GREETING_PEER,
};

/**
 * struct rsm_bells - bells of a segment that its imports have not got yet
 * @once: the first bell was one without accumulation
 * @count: bells with accumulation
 *
 * A bell without accumulation that follows another bell is dropped: an event is pending already.
 */
struct rsm_bells {
	bool once;
	u32 count;
};

void rsm_bells_add(struct rsm_bells *bells, u32 flags);

enum rsm_greeting rsm_greeting_classify(const struct rsm_link_machine *machine,
					const struct rsm_msg_hello *hello);

#endif /* RSM_POLICY_H */
