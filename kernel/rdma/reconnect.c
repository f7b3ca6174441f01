// SPDX-License-Identifier: GPL-2.0
/*
 * The connection to a node as a function of state, time and input: it reads no clock, sends nothing
 * and takes no lock. node.c carries out what it returns. Tested by KUnit and by a simulation.
 */

#include "reconnect.h"

#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/typecheck.h>

/**
 * rsm_reconnect_init() - the state of a node that the configuration contains from now on
 * @machine: the state
 * @now: the time, in jiffies; the first attempt is due
 * @connects: this node connects to the other one, not the other way round
 */
void rsm_reconnect_init(struct rsm_reconnect *machine, unsigned long now, bool connects)
{
	*machine = (struct rsm_reconnect) {
		.connects = connects,
		.pause_ms = RSM_RECONNECT_PAUSE_MIN,
		.due = now,
	};
}

static struct rsm_reconnect_output reconnect_wake(const struct rsm_reconnect *machine,
						  unsigned long now)
{
	return (struct rsm_reconnect_output) {
		.wake = true,
		.delay = time_after(machine->due, now) ? machine->due - now : 0,
	};
}

static struct rsm_reconnect_output reconnect_at_once(struct rsm_reconnect *machine,
						     unsigned long now)
{
	if (machine->leaving)
		return (struct rsm_reconnect_output) {};
	WRITE_ONCE(machine->pause_ms, RSM_RECONNECT_PAUSE_MIN);
	machine->due = now;
	return reconnect_wake(machine, now);
}

/* Each pause is twice as long, plus a random part: nodes must not all try at the same time. */
static struct rsm_reconnect_output reconnect_later(struct rsm_reconnect *machine,
						   unsigned long now, u32 random)
{
	u32 ms = machine->pause_ms;

	if (!machine->connects || machine->leaving)
		return (struct rsm_reconnect_output) {};
	WRITE_ONCE(machine->pause_ms, min(2 * ms, RSM_RECONNECT_PAUSE_MAX));
	machine->due = now + msecs_to_jiffies(ms + random % ms);
	return reconnect_wake(machine, now);
}

static struct rsm_reconnect_output reconnect_look(struct rsm_reconnect *machine, unsigned long now,
						  const struct rsm_reconnect_input *input)
{
	struct rsm_reconnect_output output = {};

	if (machine->leaving)
		return output;
	/* A node connects again only if its own end is gone: a link of this end does not matter. */
	if (input->requested) {
		output.action = RSM_RECONNECT_ACCEPT;
		return output;
	}
	if (!machine->connects || machine->linked)
		return output;
	if (time_before(now, machine->due))
		return reconnect_wake(machine, now);
	output.action = RSM_RECONNECT_CONNECT;
	return output;
}

static struct rsm_reconnect_output reconnect_failed(struct rsm_reconnect *machine,
						    unsigned long now,
						    const struct rsm_reconnect_input *input)
{
	struct rsm_reconnect_output output = reconnect_later(machine, now, input->random);

	/* The peer may know only one of the two secrets that this node accepts. */
	WRITE_ONCE(machine->other_secret, machine->other_secret ^ input->other_secret);
	output.log = input->why != machine->complaint && !machine->leaving;
	machine->complaint = input->why;
	return output;
}

/**
 * rsm_reconnect_complaint() - why the nodes are not connected
 * @machine: the state
 * @end: why the last link has ended, a constant string, or NULL if there was none
 *
 * Return: why the last attempt since that end has failed; else @end; else what is missing. NULL:
 * the nodes are connected for the first time, or the first attempt goes on.
 */
const char *rsm_reconnect_complaint(const struct rsm_reconnect *machine, const char *end)
{
	if (machine->linked)
		return end;
	if (machine->complaint)
		return machine->complaint;
	return end ?: machine->connects ? NULL : "it has not connected to this node";
}

/**
 * rsm_reconnect_step() - what the event of a node's connection leads to
 * @machine: the state
 * @now: the time, in jiffies
 * @input: the event
 *
 * Return: what has to be done.
 */
struct rsm_reconnect_output rsm_reconnect_step(struct rsm_reconnect *machine, unsigned long now,
					       const struct rsm_reconnect_input *input)
{
	switch (input->event) {
	case RSM_RECONNECT_BEGIN:
		WRITE_ONCE(machine->leaving, false);
		machine->complaint = NULL;
		return reconnect_at_once(machine, now);
	case RSM_RECONNECT_LOOK:
		return reconnect_look(machine, now, input);
	case RSM_RECONNECT_FAILED:
		return reconnect_failed(machine, now, input);
	case RSM_RECONNECT_UP:
		machine->linked = true;
		machine->complaint = NULL;
		break;
	case RSM_RECONNECT_ACTIVE:
		WRITE_ONCE(machine->pause_ms, RSM_RECONNECT_PAUSE_MIN);
		break;
	case RSM_RECONNECT_DOWN:
		machine->linked = false;
		/* A request beside the link may have failed: that is older than the end. */
		machine->complaint = NULL;
		return reconnect_later(machine, now, input->random);
	case RSM_RECONNECT_HURRY:
		return reconnect_at_once(machine, now);
	case RSM_RECONNECT_LEAVE:
		WRITE_ONCE(machine->leaving, true);
		break;
	}
	return (struct rsm_reconnect_output) {};
}
