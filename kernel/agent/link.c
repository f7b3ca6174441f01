// SPDX-License-Identifier: GPL-2.0
/*
 * The state of a link as a function of state, time and input: it reads no clock, takes no lock and
 * does nothing itself. drive.c carries out what it returns. Tested by KUnit and by the simulator.
 */

#include "link.h"
#include "policy.h"

#include <asm/byteorder.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>

/* Heartbeats go out twice per interval, so that a late one does no harm. */
static void link_arm(const struct rsm_link_machine *machine, struct rsm_link_output *output)
{
	unsigned long beat = machine->sent + machine->interval / 2;
	unsigned long end = machine->silence.heard + 2 * machine->interval;

	output->arm = true;
	output->expires = time_before(end, beat) ? end : beat;
}

static void link_end(struct rsm_link_machine *machine, const char *why,
		     struct rsm_link_output *output)
{
	if (!rsm_link_is_started(machine))
		return;
	machine->state = RSM_LINK_ENDING;
	machine->why = machine->leaving ?: why;
	output->work = true;
}

/*
 * Both nodes use the longer interval. Before the peer's greeting, @theirs is what the controller
 * knows, if anything; an interval that does not fit is refused when the greeting comes.
 */
static unsigned long common_interval(u32 theirs, unsigned int ours)
{
	return msecs_to_jiffies(clamp(theirs, ours, RSM_HEARTBEAT_MAX));
}

static void link_start(struct rsm_link_machine *machine, unsigned long now,
		       const struct rsm_link_input *input, struct rsm_link_output *output)
{
	const struct rsm_link_peer *peer = input->peer;

	if (machine->state != RSM_LINK_DOWN)
		return;
	*machine = (struct rsm_link_machine) {
		.state = RSM_LINK_GREETING,
		.node = peer->node,
		.expected_node = machine->expected_node,
		.known = true,
		.why = machine->why,
		.incarnation = peer->own,
		.expected = peer->incarnation,
		.sent = now,
		.interval = common_interval(peer->interval_ms, input->heartbeat_ms),
	};
	rsm_silence_begin(&machine->silence, now);
	output->taken = true;
	output->send = RSM_MSG_HELLO;
	link_arm(machine, output);
}

static void link_leave(struct rsm_link_machine *machine, const char *why,
		       struct rsm_link_output *output)
{
	if (machine->state != RSM_LINK_ACTIVE)
		return;
	machine->leaving = why;
	output->send = RSM_MSG_BYE;
}

static const char *death(const struct rsm_link_machine *machine)
{
	if (machine->state == RSM_LINK_ACTIVE)
		return "heartbeat lost";
	return machine->objection ?: "no answer";
}

static void link_tick(struct rsm_link_machine *machine, unsigned long now, bool stirred,
		      struct rsm_link_output *output)
{
	if (!rsm_link_is_started(machine))
		return;
	if (rsm_silence_is_death(&machine->silence, now, machine->interval, stirred)) {
		link_end(machine, death(machine), output);
		return;
	}
	if (time_after_eq(now, machine->sent + machine->interval / 2)) {
		machine->sent = now;
		output->send = machine->state == RSM_LINK_ACTIVE ? RSM_MSG_HEARTBEAT :
								   RSM_MSG_HELLO;
	}
	link_arm(machine, output);
}

/* Is the message one between this link's two incarnations, or a greeting? */
static bool is_current(const struct rsm_link_machine *machine,
		       const struct rsm_msg_header *header)
{
	if (!rsm_link_is_started(machine))
		return false;
	if (le16_to_cpu(header->type) == RSM_MSG_HELLO)
		return true;
	if (le64_to_cpu(header->to) != machine->incarnation)
		return false;
	return le16_to_cpu(header->type) == RSM_MSG_WELCOME ||
	       (machine->peer && le64_to_cpu(header->from) == machine->peer);
}

/*
 * Nodes whose intervals do not fit would disagree about how long a peer may be silent. Each gets
 * the other's HELLO, and refuses it.
 */
static void refuse_interval(struct rsm_link_machine *machine, u32 ms, unsigned int ours,
			    struct rsm_link_output *output)
{
	if (!machine->objection)
		output->remark = RSM_REMARK_INTERVAL;
	machine->objection = "its heartbeat_ms does not fit";
	/*
	 * The peer greeted with another interval before. It does not answer a node that does not
	 * fit, so this link must not become active, either, if that greeting is still queued.
	 */
	if (machine->peer)
		link_end(machine, machine->objection, output);
	/*
	 * The peer repeats its HELLO twice per interval of its own. The controller may have known
	 * another interval, much longer, for which the timer is set.
	 */
	machine->interval = common_interval(ms, ours);
	if (rsm_link_is_started(machine))
		link_arm(machine, output);
}

static void refuse_version(struct rsm_link_machine *machine, struct rsm_link_output *output)
{
	if (!machine->refused)
		output->remark = RSM_REMARK_VERSION;
	machine->refused = true;
	machine->objection = "speaks another version of the protocol";
}

/*
 * The peer has greeted: its messages are current from now on. A node keeps its interval for life.
 * A peer that stated longer and shorter intervals in turn would make each look of this link late,
 * and so be given time to answer without end.
 */
static void take_peer(struct rsm_link_machine *machine, const struct rsm_msg_hello *hello,
		      unsigned int ours, struct rsm_link_output *output)
{
	u32 theirs = le32_to_cpu(hello->interval_ms);
	unsigned long interval = common_interval(theirs, ours);

	if (!rsm_intervals_fit(theirs, ours)) {
		refuse_interval(machine, theirs, ours, output);
		return;
	}
	if (machine->peer && interval != machine->interval) {
		link_end(machine, "its heartbeat_ms has changed", output);
		return;
	}
	machine->peer = le64_to_cpu(hello->header.from);
	machine->interval = interval;
	output->verdict = RSM_MESSAGE_QUEUE;
}

/* A HELLO or WELCOME has arrived. */
static void take_greeting(struct rsm_link_machine *machine, const struct rsm_msg_hello *hello,
			  unsigned int ours, struct rsm_link_output *output)
{
	switch (rsm_greeting_classify(machine, hello)) {
	case RSM_GREETING_PEER:
		take_peer(machine, hello, ours, output);
		break;
	case RSM_GREETING_RESTARTED:
		link_end(machine, "restarted", output);
		break;
	case RSM_GREETING_OTHER_VERSION:
		refuse_version(machine, output);
		break;
	case RSM_GREETING_STRANGER:
		break;
	}
}

static void link_receive(struct rsm_link_machine *machine, unsigned long now,
			 const struct rsm_link_input *input, struct rsm_link_output *output)
{
	if (!is_current(machine, input->message)) {
		output->verdict = RSM_MESSAGE_FOREIGN;
		return;
	}
	machine->silence.heard = now;
	switch (le16_to_cpu(input->message->type)) {
	case RSM_MSG_HEARTBEAT:
		break;
	case RSM_MSG_HELLO:
	case RSM_MSG_WELCOME:
		take_greeting(machine, (const void *)input->message, input->heartbeat_ms, output);
		break;
	case RSM_MSG_BELL:
		output->verdict = RSM_MESSAGE_DELIVER;
		break;
	default:
		output->verdict = RSM_MESSAGE_QUEUE;
	}
}

/* A link that is active already, or is ending, does not become active. */
static void link_become_active(struct rsm_link_machine *machine, struct rsm_link_output *output)
{
	if (machine->state != RSM_LINK_GREETING)
		return;
	machine->state = RSM_LINK_ACTIVE;
	output->taken = true;
	link_arm(machine, output);
}

static void link_become_down(struct rsm_link_machine *machine)
{
	machine->state = RSM_LINK_DOWN;
	machine->peer = 0;
}

static void link_expect(struct rsm_link_machine *machine, u32 node)
{
	machine->node = node;
	machine->expected_node = true;
}

static void link_forget(struct rsm_link_machine *machine)
{
	machine->expected_node = false;
	machine->known = false;
	machine->why = NULL;
}

/**
 * rsm_link_step() - let something happen to a link
 * @machine: the state of the link
 * @now: the time, in jiffies
 * @input: what happens
 *
 * Pure: the result and the new state depend on the arguments alone.
 *
 * Return: what the caller has to do.
 */
struct rsm_link_output rsm_link_step(struct rsm_link_machine *machine, unsigned long now,
				     const struct rsm_link_input *input)
{
	struct rsm_link_output output = {};

	switch (input->event) {
	case RSM_ON_EXPECT:
		link_expect(machine, input->node);
		break;
	case RSM_ON_FORGET:
		link_forget(machine);
		break;
	case RSM_ON_START:
		link_start(machine, now, input, &output);
		break;
	case RSM_ON_TICK:
		link_tick(machine, now, input->stirred, &output);
		break;
	case RSM_ON_MESSAGE:
		link_receive(machine, now, input, &output);
		break;
	case RSM_ON_GREETED:
		link_become_active(machine, &output);
		break;
	case RSM_ON_LEAVE:
		link_leave(machine, input->why, &output);
		break;
	case RSM_ON_FAIL:
		link_end(machine, input->why, &output);
		break;
	case RSM_ON_STOP_GREETING:
		if (rsm_link_is_unanswered(machine))
			link_end(machine, input->why, &output);
		break;
	case RSM_ON_CLEARED:
		link_become_down(machine);
		break;
	}
	return output;
}
