/* SPDX-License-Identifier: GPL-2.0 */
/* The state of an importing node as a function: what it was asked, and whether it is leaving. */
#ifndef RSM_AGENT_IMPORTER_H
#define RSM_AGENT_IMPORTER_H

#include "protocol.h"

#include <linux/compiler.h>
#include <linux/types.h>

/**
 * enum rsm_importer_event - what happens to an importing node
 * @RSM_IMPORTER_ASK: the segment has changed: the node has to fulfil a request
 * @RSM_IMPORTER_SENT: a request has been sent
 * @RSM_IMPORTER_FULFILLED: the request has been answered, or needs no answer any more
 * @RSM_IMPORTER_LEAVE: the importer is being removed: from now on the node is asked nothing
 * @RSM_IMPORTER_PLACE: the node wants to know where the memory is, and has no access yet
 * @RSM_IMPORTER_PLACED: the work that makes keys has ended
 */
enum rsm_importer_event {
	RSM_IMPORTER_ASK,
	RSM_IMPORTER_SENT,
	RSM_IMPORTER_FULFILLED,
	RSM_IMPORTER_LEAVE,
	RSM_IMPORTER_PLACE,
	RSM_IMPORTER_PLACED,
};

/**
 * struct rsm_importer_input - an event
 * @event: see there
 * @type: ASK and SENT: the request. RSM_MSG_UNPUBLISH; RSM_MSG_MOVE; or RSM_MSG_CONNECTED, which
 *	carries a refusal, has no answer and ends the importer
 */
struct rsm_importer_input {
	enum rsm_importer_event event;
	enum rsm_message_type type;
};

/**
 * struct rsm_importer_machine - requests to an importing node; only rsm_importer_step() changes it
 * @request: the request that is pending, sent or not, or 0
 * @asked: @request has been sent
 * @unpublish_next: RSM_MSG_UNPUBLISH has to follow @request
 * @leaving: the importer is being removed
 * @is_placing: the work that makes keys is queued or runs, and will report RSM_IMPORTER_PLACED
 * @since: when @request was made, or was sent if @asked, in jiffies
 */
struct rsm_importer_machine {
	enum rsm_message_type request;
	bool asked;
	bool unpublish_next;
	bool leaving;
	bool is_placing;
	unsigned long since;
};

/**
 * enum rsm_importer_queue - where the importer belongs among those of its link
 * @RSM_QUEUE_KEEP: where it is
 * @RSM_QUEUE_UNSENT: at the end of those whose request waits to be sent
 * @RSM_QUEUE_UNANSWERED: at the end of those whose request waits for an answer
 * @RSM_QUEUE_NONE: in neither queue
 */
enum rsm_importer_queue {
	RSM_QUEUE_KEEP,
	RSM_QUEUE_UNSENT,
	RSM_QUEUE_UNANSWERED,
	RSM_QUEUE_NONE,
};

/**
 * struct rsm_importer_output - what has to be done after a step
 * @queue: see there
 * @answered: one request less is under way over the link
 * @make_keys: queue the work that makes keys
 * @remove: PLACED: the importer waits for its removal
 */
struct rsm_importer_output {
	enum rsm_importer_queue queue;
	bool answered;
	bool make_keys;
	bool remove;
};

struct rsm_importer_output rsm_importer_step(struct rsm_importer_machine *machine,
					     unsigned long now,
					     const struct rsm_importer_input *input);

/* Is nothing asked of the node, so that it can be asked for something? */
static inline bool rsm_importer_is_idle(const struct rsm_importer_machine *machine)
{
	return !machine->leaving && !READ_ONCE(machine->request);
}

#endif /* RSM_AGENT_IMPORTER_H */
