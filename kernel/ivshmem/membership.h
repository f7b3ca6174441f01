/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Membership of a window as a function: which node is in which slot, this one included, what comes
 * in, and what this node has to do then.
 *
 * This node is a member or not (@incarnation is 0):
 *
 *	            LOOK: no other slot has our node id
 *	no member  ------------------------------------->  member
 *	    ^                                                 |
 *	    +---- LOOK: our slot has another incarnation -----+
 *	    +---- LEAVE --------------------------------------+
 *
 * To the node in each other slot it has a link or not:
 *
 *	          LOOK: a node is there that is welcome
 *	no link  -------------------------------------->  running
 *	    ^                                                |
 *	    +---- BUSY, or DOWN of a link that ended --------+
 *
 * A link ends by itself, or because a LOOK has found another incarnation in its slot, or another
 * node id before the node has greeted, or for a reason of this node. Its DOWN comes after that.
 */
#ifndef RSM_IVSHMEM_MEMBERSHIP_H
#define RSM_IVSHMEM_MEMBERSHIP_H

#include "../rsm_link.h"
#include "layout.h"

#include <linux/types.h>

/**
 * enum rsm_membership_event - what happens to the membership
 * @RSM_MEMBERSHIP_LOOK: this node has read the node table
 * @RSM_MEMBERSHIP_BUSY: the link to a slot can't be started: its former connection is still ending
 * @RSM_MEMBERSHIP_GREETED: the node in a slot has greeted, so its link does not end as misread
 * @RSM_MEMBERSHIP_DOWN: the link to a slot is down
 * @RSM_MEMBERSHIP_LEAVE: this node leaves the window; no LOOK follows
 */
enum rsm_membership_event {
	RSM_MEMBERSHIP_LOOK,
	RSM_MEMBERSHIP_BUSY,
	RSM_MEMBERSHIP_GREETED,
	RSM_MEMBERSHIP_DOWN,
	RSM_MEMBERSHIP_LEAVE,
};

/**
 * struct rsm_slot_view - a slot of the node table as a LOOK has found it. Hostile input
 * @incarnation: of the node that is in the slot, or 0
 * @beat: sign of life: any change of this value is one
 * @node: node id
 * @interval_ms: heartbeat interval
 */
struct rsm_slot_view {
	u64 incarnation;
	u64 beat;
	u32 node;
	u32 interval_ms;
};

/**
 * struct rsm_membership_input - an event, and what the step needs to know of the world
 * @event: see there
 * @node: LOOK: node id of this node
 * @heartbeat_ms: LOOK: heartbeat interval of this node
 * @fresh: LOOK: an incarnation to join under: of our slot, random, never used before
 * @view: LOOK: all slots
 * @greeting: LOOK: slots whose link is started, and whose node has not greeted yet
 * @slot: BUSY, GREETED and DOWN: the slot
 * @own: DOWN: the incarnation that our slot has in the node table
 */
struct rsm_membership_input {
	enum rsm_membership_event event;
	u32 node;
	unsigned int heartbeat_ms;
	u64 fresh;
	const struct rsm_slot_view *view;
	u64 greeting;
	u32 slot;
	u64 own;
};

/**
 * struct rsm_window_member - what this node knows of a slot
 * @running: the link was started and is not down yet
 * @keep: this node ends the link for a reason of its own, so the node must not be taken for dead
 * @started: incarnation that the link was started to
 * @node: node id of that
 * @dead: incarnation whose link is not started again
 * @refused: incarnation that was refused and reported
 * @objection: the reason, a constant string
 * @seen: incarnation that the last LOOK has found
 * @since: when it was found first, in jiffies. Time for which this node did not look counts not
 * @suspect: incarnation that has our node id and may be dead
 * @suspect_beat: sign of life of @suspect that was found last
 * @silence: how long @suspect has been silent
 */
struct rsm_window_member {
	bool running;
	bool keep;
	u64 started;
	u32 node;
	u64 dead;
	u64 refused;
	const char *objection;
	u64 seen;
	unsigned long since;
	u64 suspect;
	u64 suspect_beat;
	struct rsm_silence silence;
};

/**
 * struct rsm_membership - the state of the membership; only rsm_membership_step() changes it
 * @slots: how many slots the window has
 * @slot: ours
 * @incarnation: ours while we are a member, else 0
 * @looked: time of the last LOOK, in jiffies
 * @swept: time of the last sweep, in jiffies; at first so long ago that the first LOOK sweeps
 * @member: the slots
 */
struct rsm_membership {
	u32 slots;
	u32 slot;
	u64 incarnation;
	unsigned long looked;
	unsigned long swept;
	struct rsm_window_member member[RSM_WINDOW_SLOTS_MAX];
};

/**
 * struct rsm_membership_output - what has to be done after a step, in this order
 * @gave_up: the other nodes have taken this one for dead: end all exports
 * @clear: slots from which the incarnation that the LOOK has found is to be removed
 * @joined: write @incarnation, with all other fields, into our slot, after the queues are reset
 * @keep: restore what others may have overwritten in our slot, and give a sign of life
 * @ring: slots to be told that there is a new member
 * @stop: slots whose link ends for a reason of this node
 * @restarted: slots whose link ends since another incarnation is there
 * @left: slots whose link ends since no node is there any more
 * @misread: slots whose link ends since it was started to a node id that the slot does not have;
 *	GREETED reports that it goes on
 * @receive: slots whose messages are to be taken. An interrupt may have been lost
 * @start: slots to whose node a link is to be started; BUSY reports that it can't be
 * @ignored: slots whose node is refused, for the log; &rsm_window_member.objection says why
 * @doubled: slots that keep this node from joining by having its node id, for the log
 * @expel: remove this incarnation from the slot of the event; LEAVE: from ours. 0 for none
 * @sweep: look for chunks of nodes that are gone
 * @grace: for how long an owner must be gone, in jiffies
 * @retry: let the next LOOK come soon, RSM_MEMBERSHIP_RETRY_MS from now
 */
struct rsm_membership_output {
	bool gave_up;
	u64 clear;
	bool joined;
	bool keep;
	u64 ring;
	u64 stop;
	u64 restarted;
	u64 left;
	u64 misread;
	u64 receive;
	u64 start;
	u64 ignored;
	u64 doubled;
	u64 expel;
	bool sweep;
	unsigned long grace;
	bool retry;
};

#define RSM_MEMBERSHIP_LOOK_MS	500U	/* at most: others may have a much shorter interval */
#define RSM_MEMBERSHIP_RETRY_MS	10U

void rsm_membership_init(struct rsm_membership *machine, u32 slots, u32 slot, unsigned long now);
struct rsm_membership_output rsm_membership_step(struct rsm_membership *machine, unsigned long now,
						 const struct rsm_membership_input *input);
unsigned int rsm_membership_period(unsigned int heartbeat_ms);
u32 rsm_slot_interval(const struct rsm_slot_view *view);
bool rsm_membership_is_gone(const struct rsm_membership *machine, unsigned long grace, u64 owner,
			    u64 found, bool known);

#endif /* RSM_IVSHMEM_MEMBERSHIP_H */
