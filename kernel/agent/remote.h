/* SPDX-License-Identifier: GPL-2.0 */
/* The state of a segment of another node as a function of what its exporter's node says. */
#ifndef RSM_AGENT_REMOTE_H
#define RSM_AGENT_REMOTE_H

#include "../rsm_status.h"
#include "protocol.h"

/**
 * enum rsm_remote_state - life of the record of a segment
 * @RSM_REMOTE_CONNECTING: the exporter's node has not answered CONNECT yet
 * @RSM_REMOTE_CONNECTED: the exporter's node knows this node as an importer
 * @RSM_REMOTE_ENDED: nothing can connect by the record any more
 */
enum rsm_remote_state {
	RSM_REMOTE_CONNECTING,
	RSM_REMOTE_CONNECTED,
	RSM_REMOTE_ENDED,
};

/**
 * struct rsm_remote_machine - the state of a segment; only rsm_remote_step() changes it
 * @state: see there
 * @placed: its memory is known, if the controller has any to show: imports may join
 * @closed: no user of this node may connect any more
 * @status: reason of its end
 * @handle: number by which the exporter's node names this importer
 * @mode: what owner, group and others may do
 * @length: bytes
 */
struct rsm_remote_machine {
	enum rsm_remote_state state;
	bool placed;
	bool closed;
	rsm_status_t status;
	u32 handle;
	unsigned int mode;
	u64 length;
};

/**
 * enum rsm_remote_event - what happens to the record
 * @RSM_REMOTE_ANSWER: CONNECTED has come
 * @RSM_REMOTE_UNPUBLISH: UNPUBLISH has come
 * @RSM_REMOTE_REPUBLISH: REPUBLISH has come
 * @RSM_REMOTE_MOVE: MOVE has come
 * @RSM_REMOTE_ATTACHED: the controller has looked at the place of the memory
 * @RSM_REMOTE_END: the last user has gone, or the link is down
 */
enum rsm_remote_event {
	RSM_REMOTE_ANSWER,
	RSM_REMOTE_UNPUBLISH,
	RSM_REMOTE_REPUBLISH,
	RSM_REMOTE_MOVE,
	RSM_REMOTE_ATTACHED,
	RSM_REMOTE_END,
};

/**
 * struct rsm_remote_input - an event
 * @event: see there
 * @has_keys: ANSWER: the controller makes keys, so the place may come later, by MOVE
 * @connected: ANSWER: the message, hostile
 * @handle: UNPUBLISH, REPUBLISH and MOVE: the handle in the message, hostile
 * @mode: REPUBLISH: the mode in the message, hostile
 * @status: ATTACHED: what the controller says of the place
 */
struct rsm_remote_input {
	enum rsm_remote_event event;
	bool has_keys;
	const struct rsm_msg_connected *connected;
	u32 handle;
	u32 mode;
	rsm_status_t status;
};

/**
 * struct rsm_remote_output - what has to be done after a step
 * @attach: let the controller look at the place in the message, and report RSM_REMOTE_ATTACHED
 * @accepted: ANSWER: note the owner of the segment
 * @ended: the record has ended: take it out of the index, and abort its imports
 * @decline: ANSWER: tell the exporter's node that no import here uses the segment
 * @changed: wake the tasks that wait for the record
 */
struct rsm_remote_output {
	bool attach;
	bool accepted;
	bool ended;
	bool decline;
	bool changed;
};

struct rsm_remote_output rsm_remote_step(struct rsm_remote_machine *machine,
					 const struct rsm_remote_input *input);

#endif /* RSM_AGENT_REMOTE_H */
