/* SPDX-License-Identifier: GPL-2.0 */
/* When this node connects to another one, and when it accepts a connection, as a function. */
#ifndef RSM_RDMA_RECONNECT_H
#define RSM_RDMA_RECONNECT_H

#include <linux/compiler.h>
#include <linux/types.h>

#define RSM_RECONNECT_PAUSE_MIN	100U	/* between attempts to connect, in milliseconds */
#define RSM_RECONNECT_PAUSE_MAX	5000U

/**
 * enum rsm_reconnect_event - what happens to the connection to a node
 * @RSM_RECONNECT_BEGIN: the configuration contains the node again
 * @RSM_RECONNECT_LOOK: the node's work runs
 * @RSM_RECONNECT_FAILED: an attempt to connect or to accept has failed
 * @RSM_RECONNECT_UP: an attempt has succeeded; the link begins
 * @RSM_RECONNECT_ACTIVE: both nodes have greeted each other over the link
 * @RSM_RECONNECT_DOWN: the link has ended
 * @RSM_RECONNECT_HURRY: an attempt that failed before may succeed now
 * @RSM_RECONNECT_LEAVE: the configuration contains the node no more, or the module goes
 */
enum rsm_reconnect_event {
	RSM_RECONNECT_BEGIN,
	RSM_RECONNECT_LOOK,
	RSM_RECONNECT_FAILED,
	RSM_RECONNECT_UP,
	RSM_RECONNECT_ACTIVE,
	RSM_RECONNECT_DOWN,
	RSM_RECONNECT_HURRY,
	RSM_RECONNECT_LEAVE,
};

/**
 * struct rsm_reconnect_input - an event, and what the step needs to know of the world
 * @event: see there
 * @random: FAILED and DOWN: any number
 * @requested: LOOK: a connection of the peer waits to be accepted
 * @why: FAILED: reason, a constant string
 * @other_secret: FAILED: the peer does not know the secret that was tried
 */
struct rsm_reconnect_input {
	enum rsm_reconnect_event event;
	u32 random;
	bool requested;
	const char *why;
	bool other_secret;
};

/**
 * struct rsm_reconnect - the state; only rsm_reconnect_step() changes it
 * @connects: this node connects to the other one; else it accepts the other's connections
 * @linked: there is a link
 * @leaving: begin nothing until the configuration contains the node again
 * @other_secret: the first of the two secrets that this node accepts was refused: try the second
 * @pause_ms: the pause after the next failure, in milliseconds, without its random part
 * @due: the time of the next attempt, in jiffies
 * @complaint: reason of the last failure that was logged, NULL since a link began or ended
 */
struct rsm_reconnect {
	bool connects;
	bool linked;
	bool leaving;
	bool other_secret;
	unsigned int pause_ms;
	unsigned long due;
	const char *complaint;
};

/**
 * enum rsm_reconnect_action - what the node's work has to do
 * @RSM_RECONNECT_NOTHING: nothing
 * @RSM_RECONNECT_CONNECT: connect to the peer; FAILED or UP follows
 * @RSM_RECONNECT_ACCEPT: accept the connection of the peer; FAILED or UP follows
 */
enum rsm_reconnect_action {
	RSM_RECONNECT_NOTHING,
	RSM_RECONNECT_CONNECT,
	RSM_RECONNECT_ACCEPT,
};

/**
 * struct rsm_reconnect_output - what has to be done after a step
 * @action: LOOK: what the node's work has to do
 * @log: FAILED: log the reason
 * @wake: let the node's work run after @delay, or earlier if it is queued already
 * @delay: in jiffies; 0: at once, even if the work is queued for a later time
 */
struct rsm_reconnect_output {
	enum rsm_reconnect_action action;
	bool log;
	bool wake;
	unsigned long delay;
};

void rsm_reconnect_init(struct rsm_reconnect *machine, unsigned long now, bool connects);
struct rsm_reconnect_output rsm_reconnect_step(struct rsm_reconnect *machine, unsigned long now,
					       const struct rsm_reconnect_input *input);
const char *rsm_reconnect_complaint(const struct rsm_reconnect *machine, const char *end);

/* Is the pause longer than the shortest, so that ACTIVE changes it? Any context. */
static inline bool rsm_reconnect_has_waited(const struct rsm_reconnect *machine)
{
	return READ_ONCE(machine->pause_ms) != RSM_RECONNECT_PAUSE_MIN;
}

#endif /* RSM_RDMA_RECONNECT_H */
