// SPDX-License-Identifier: GPL-2.0
/*
 * Membership of a window as a function of state, time and input: it reads no clock, no window and
 * takes no lock. member.c carries out what it returns. Tested by KUnit and by a simulation.
 */

#include "membership.h"

#include <linux/bits.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/rsm.h>

/**
 * rsm_membership_period() - how long after a LOOK the next one is due
 * @heartbeat_ms: heartbeat interval of this node
 *
 * Return: milliseconds.
 */
unsigned int rsm_membership_period(unsigned int heartbeat_ms)
{
	return min(heartbeat_ms / 2, RSM_MEMBERSHIP_LOOK_MS);
}

/**
 * rsm_slot_interval() - the heartbeat interval of the node in a slot
 * @view: the slot
 *
 * Return: milliseconds, as many as a node can have.
 */
u32 rsm_slot_interval(const struct rsm_slot_view *view)
{
	return clamp(view->interval_ms, RSM_HEARTBEAT_MIN, RSM_HEARTBEAT_MAX);
}

/* The incarnation in a slot, after what this step has changed. */
static u64 member_found(const struct rsm_membership *machine,
			const struct rsm_membership_input *input,
			const struct rsm_membership_output *output, u32 slot)
{
	if (output->joined && slot == machine->slot)
		return machine->incarnation;
	return output->clear & BIT_ULL(slot) ? 0 : input->view[slot].incarnation;
}

/* A member with this interval notices within this time that another one is gone, or is dead. */
static unsigned long grace_of(u32 interval_ms)
{
	return msecs_to_jiffies(2 * interval_ms + 1000);
}

/*
 * By then every member has noticed that an owner is gone, and nothing maps the owner's chunks any
 * more: a member that has not noticed for so long is dead itself, by its own interval, which may be
 * longer. Our own interval is not read from the table.
 */
static unsigned long time_of_grace(const struct rsm_membership *machine,
				   const struct rsm_membership_input *input)
{
	u32 ms = input->heartbeat_ms;

	for (u32 slot = 0; slot < machine->slots; slot++)
		if (slot != machine->slot && input->view[slot].incarnation)
			ms = max(ms, rsm_slot_interval(&input->view[slot]));
	return grace_of(ms);
}

/*
 * A late LOOK has not watched the node table meanwhile, and the other guests may have stood still,
 * too: this time must not count as time of grace of any owner, nor as time between two sweeps.
 */
static void note_delay(struct rsm_membership *machine, unsigned long now,
		       unsigned int heartbeat_ms)
{
	unsigned long period = msecs_to_jiffies(rsm_membership_period(heartbeat_ms));
	unsigned long due = machine->looked + 2 * period;

	if (time_after(now, due)) {
		for (u32 slot = 0; slot < machine->slots; slot++)
			machine->member[slot].since += now - due;
		machine->swept += now - due;
	}
	machine->looked = now;
}

static void begin_suspicion(struct rsm_window_member *member, unsigned long now,
			    const struct rsm_slot_view *view)
{
	member->suspect = view->incarnation;
	member->suspect_beat = view->beat;
	rsm_silence_begin(&member->silence, now);
}

/*
 * A node in another slot has our node id. There is no link to it, so watch its signs of life.
 * Returns true once it is found dead.
 */
static bool is_found_dead(struct rsm_window_member *member, unsigned long now, unsigned long grace,
			  const struct rsm_slot_view *view)
{
	bool stirred = view->beat != member->suspect_beat;

	if (member->suspect != view->incarnation) {
		begin_suspicion(member, now, view);
		return false;
	}
	member->suspect_beat = view->beat;
	return rsm_silence_is_death(&member->silence, now, grace / 2, stirred);
}

/* Another node that lives keeps us out: report it once. */
static bool is_doubled(struct rsm_window_member *member, const struct rsm_slot_view *view)
{
	bool first = member->refused != view->incarnation;
	bool stirred = member->suspect == view->incarnation && view->beat != member->suspect_beat;

	if (!stirred || !first)
		return false;
	member->refused = view->incarnation;
	return true;
}

static bool node_id_is_free(struct rsm_membership *machine, unsigned long now,
			    const struct rsm_membership_input *input,
			    struct rsm_membership_output *output)
{
	unsigned long grace = time_of_grace(machine, input);
	bool free = true;

	for (u32 slot = 0; slot < machine->slots; slot++) {
		const struct rsm_slot_view *view = &input->view[slot];
		struct rsm_window_member *member = &machine->member[slot];

		if (slot == machine->slot || !view->incarnation || view->node != input->node)
			continue;
		if (is_doubled(member, view))
			output->doubled |= BIT_ULL(slot);
		if (is_found_dead(member, now, grace, view))
			output->clear |= BIT_ULL(slot);
		else
			free = false;
	}
	return free;
}

static void membership_join(struct rsm_membership *machine, unsigned long now,
			    const struct rsm_membership_input *input,
			    struct rsm_membership_output *output)
{
	if (!node_id_is_free(machine, now, input, output))
		return;
	machine->incarnation = input->fresh;
	output->joined = true;
	for (u32 slot = 0; slot < machine->slots; slot++) {
		/* Our former incarnation has given up this peer, which may be alive. */
		machine->member[slot].dead = 0;
		if (slot != machine->slot && member_found(machine, input, output, slot))
			output->ring |= BIT_ULL(slot);
	}
}

/* End all links for a reason of this node. The nodes at the other ends are not at fault. */
static u64 stop_all(struct rsm_membership *machine)
{
	u64 stop = 0;

	for (u32 slot = 0; slot < machine->slots; slot++) {
		if (!machine->member[slot].running)
			continue;
		machine->member[slot].keep = true;
		stop |= BIT_ULL(slot);
	}
	return stop;
}

/*
 * The other nodes have taken this one for dead, for example because this guest was paused: they
 * have aborted every connection and will give its chunks to others.
 */
static void membership_give_up(struct rsm_membership *machine,
			       struct rsm_membership_output *output)
{
	machine->incarnation = 0;
	output->gave_up = true;
	output->stop = stop_all(machine);
	output->retry = true;
}

/*
 * A link takes greetings of one node id only. If a hostile guest wrote to the slot when the link
 * was started, this is not the node's id, and the link would greet for as long as the node lives.
 * The node has restored its id since then. An active link ends for no node id that is in a slot.
 */
static bool is_misread(const struct rsm_window_member *member, u32 slot,
		       const struct rsm_membership_input *input)
{
	return input->greeting & BIT_ULL(slot) && input->view[slot].node != member->node;
}

/* End a link that has no node any more, or the wrong one. */
static void end_stale_link(struct rsm_window_member *member, u32 slot, u64 found,
			   const struct rsm_membership_input *input,
			   struct rsm_membership_output *output)
{
	if (!found) {
		output->left |= BIT_ULL(slot);
	} else if (found != member->started) {
		output->restarted |= BIT_ULL(slot);
	} else if (is_misread(member, slot, input)) {
		member->keep = true;
		output->misread |= BIT_ULL(slot);
	}
}

/* Note which incarnation is in a slot, and end the link to one that is not there any more. */
static void note_slot(struct rsm_membership *machine, unsigned long now, u32 slot,
		      const struct rsm_membership_input *input,
		      struct rsm_membership_output *output)
{
	struct rsm_window_member *member = &machine->member[slot];
	u64 found = member_found(machine, input, output, slot);

	if (found != member->seen) {
		member->seen = found;
		member->since = now;
	}
	if (member->running && !(output->stop & BIT_ULL(slot)))
		end_stale_link(member, slot, found, input, output);
}

/* The slots whose link ends since the node there is not the one that the link was started to. */
static u64 slots_that_changed(const struct rsm_membership_output *output)
{
	return output->restarted | output->left | output->misread;
}

/* The slots whose links are to a node with this id. */
static u64 slots_of_node(const struct rsm_membership *machine, u32 node)
{
	u64 slots = 0;

	for (u32 slot = 0; slot < machine->slots; slot++)
		if (machine->member[slot].running && machine->member[slot].node == node)
			slots |= BIT_ULL(slot);
	return slots;
}

/* The reason why this node has no link with the node in a slot, or NULL. */
static const char *member_objection(const struct rsm_membership *machine, u32 slot,
				    const struct rsm_membership_input *input)
{
	const struct rsm_slot_view *view = &input->view[slot];

	if ((view->incarnation & RSM_INCARNATION_SLOT) != slot)
		return "its incarnation is another slot's";
	if (!view->node || view->node > RSM_NODE_MAX)
		return "there is no such node id";
	if (view->node == input->node)
		return "that is our own node id";
	if (slots_of_node(machine, view->node))
		return "another slot has that node id";
	return NULL;
}

static void refuse_member(struct rsm_window_member *member, u32 slot, const char *why,
			  struct rsm_membership_output *output)
{
	if (member->refused != member->seen)
		output->ignored |= BIT_ULL(slot);
	member->refused = member->seen;
	member->objection = why;
}

static void start_member(struct rsm_membership *machine, u32 slot,
			 const struct rsm_membership_input *input,
			 struct rsm_membership_output *output)
{
	struct rsm_window_member *member = &machine->member[slot];
	const char *why = member_objection(machine, slot, input);

	/* The node is not in another slot. The LOOK after the end of the link there starts one. */
	if (slots_of_node(machine, input->view[slot].node) & slots_that_changed(output))
		return;
	if (why) {
		refuse_member(member, slot, why, output);
		return;
	}
	member->started = member->seen;
	member->node = input->view[slot].node;
	member->keep = false;
	member->running = true;
	output->start |= BIT_ULL(slot);
}

static void attend_to(struct rsm_membership *machine, u32 slot,
		      const struct rsm_membership_input *input,
		      struct rsm_membership_output *output)
{
	const struct rsm_window_member *member = &machine->member[slot];

	if (slots_that_changed(output) & BIT_ULL(slot))
		return;
	if (member->running)
		output->receive |= BIT_ULL(slot);
	else if (member->seen && member->seen != member->dead && slot != machine->slot)
		start_member(machine, slot, input, output);
}

/* A node that joins between two sweeps, with a longer interval, delays the second one. */
static void plan_sweep(struct rsm_membership *machine, unsigned long now,
		       const struct rsm_membership_input *input,
		       struct rsm_membership_output *output)
{
	unsigned long grace = time_of_grace(machine, input);

	if (time_before(now, machine->swept + grace))
		return;
	output->sweep = true;
	output->grace = grace;
	machine->swept = now;
}

static void membership_look(struct rsm_membership *machine, unsigned long now,
			    const struct rsm_membership_input *input,
			    struct rsm_membership_output *output)
{
	note_delay(machine, now, input->heartbeat_ms);
	if (!machine->incarnation)
		membership_join(machine, now, input, output);
	else if (input->view[machine->slot].incarnation != machine->incarnation)
		membership_give_up(machine, output);
	output->keep = machine->incarnation;
	for (u32 slot = 0; slot < machine->slots; slot++)
		note_slot(machine, now, slot, input, output);
	for (u32 slot = 0; slot < machine->slots && machine->incarnation; slot++)
		attend_to(machine, slot, input, output);
	plan_sweep(machine, now, input, output);
}

static void membership_busy(struct rsm_window_member *member, struct rsm_membership_output *output)
{
	member->running = false;
	output->retry = true;
}

/*
 * If this node is not in its slot any more, it may have been silent itself, and everybody else
 * seems silent to it: then it must not remove the peer from its slot.
 */
static void membership_down(struct rsm_membership *machine, struct rsm_window_member *member,
			    u64 own, struct rsm_membership_output *output)
{
	member->running = false;
	if (member->keep)
		return;
	member->dead = member->started;
	if (machine->incarnation && own == machine->incarnation)
		output->expel = member->started;
}

static void membership_leave(struct rsm_membership *machine, struct rsm_membership_output *output)
{
	output->stop = stop_all(machine);
	output->expel = machine->incarnation;
	machine->incarnation = 0;
}

/**
 * rsm_membership_init() - begin without being a member
 * @machine: the state, zeroed
 * @slots: how many slots the window has
 * @slot: ours
 * @now: the time, in jiffies
 */
void rsm_membership_init(struct rsm_membership *machine, u32 slots, u32 slot, unsigned long now)
{
	machine->slots = slots;
	machine->slot = slot;
	machine->looked = now;
	machine->swept = now - grace_of(RSM_HEARTBEAT_MAX);
	for (u32 i = 0; i < slots; i++)
		machine->member[i].since = now;
}

/**
 * rsm_membership_step() - let something happen to the membership
 * @machine: its state
 * @now: the time, in jiffies
 * @input: what happens
 *
 * Pure: the result and the new state depend on the arguments alone.
 *
 * Return: what the caller has to do.
 */
struct rsm_membership_output rsm_membership_step(struct rsm_membership *machine, unsigned long now,
						 const struct rsm_membership_input *input)
{
	struct rsm_membership_output output = {};

	switch (input->event) {
	case RSM_MEMBERSHIP_LOOK:
		membership_look(machine, now, input, &output);
		break;
	case RSM_MEMBERSHIP_BUSY:
		membership_busy(&machine->member[input->slot], &output);
		break;
	case RSM_MEMBERSHIP_GREETED:
		/* If the node falls silent now, it is at fault. */
		machine->member[input->slot].keep = false;
		break;
	case RSM_MEMBERSHIP_DOWN:
		membership_down(machine, &machine->member[input->slot], input->own, &output);
		break;
	case RSM_MEMBERSHIP_LEAVE:
		membership_leave(machine, &output);
		break;
	}
	return output;
}

/**
 * rsm_membership_is_gone() - may the chunk of an owner be given to others?
 * @machine: the state; the last LOOK asked for a sweep
 * @grace: how long an owner must be gone, in jiffies
 * @owner: the owner's incarnation, anything. This node does not use the chunk
 * @found: the incarnation in the owner's slot, read after @owner
 * @known: the sweep before this one found the same owner
 *
 * The time of that LOOK counts, and who was there then: an owner that has left its slot since then
 * has not been gone for any time yet, and other members may use its chunks. An owner that came and
 * went between two LOOKs was never seen. So the time of grace must also have passed since a sweep
 * found the owner first, which is the time between two sweeps.
 *
 * Return: true if the owner has been gone for the time of grace.
 */
bool rsm_membership_is_gone(const struct rsm_membership *machine, unsigned long grace, u64 owner,
			    u64 found, bool known)
{
	u32 slot = owner & RSM_INCARNATION_SLOT;

	if (slot >= machine->slots)
		return true;
	if (!known)
		return false;
	if (slot != machine->slot && machine->member[slot].seen == owner)
		return false;
	if (time_before(machine->looked, machine->member[slot].since + grace))
		return false;
	return slot == machine->slot || found != owner;
}
