// SPDX-License-Identifier: GPL-2.0
/*
 * The state of an importing node as a function of state, time and input. request.c and
 * remote_importer.c carry out what it returns. Tested by KUnit and by the simulator.
 */

#include "importer.h"

static void begin_request(struct rsm_importer_machine *machine, unsigned long now,
			  enum rsm_message_type type, struct rsm_importer_output *output)
{
	machine->request = type;
	machine->since = now;
	output->queue = RSM_QUEUE_UNSENT;
}

/* If a request is pending already, only UNPUBLISH is queued behind it. */
static void importer_ask(struct rsm_importer_machine *machine, unsigned long now,
			 enum rsm_message_type type, struct rsm_importer_output *output)
{
	if (!machine->request)
		begin_request(machine, now, type, output);
	else if (type == RSM_MSG_UNPUBLISH && machine->asked)
		machine->unpublish_next = machine->request != RSM_MSG_UNPUBLISH;
	else if (type == RSM_MSG_UNPUBLISH)
		machine->request = RSM_MSG_UNPUBLISH;
}

static void importer_sent(struct rsm_importer_machine *machine, unsigned long now,
			  enum rsm_message_type type, struct rsm_importer_output *output)
{
	machine->asked = true;
	machine->since = now;
	/* UNPUBLISH has taken the place of MOVE while that was being sent. */
	machine->unpublish_next = machine->request != type;
	machine->request = type;
	output->queue = RSM_QUEUE_UNANSWERED;
}

static void importer_fulfilled(struct rsm_importer_machine *machine, unsigned long now,
			       struct rsm_importer_output *output)
{
	output->answered = machine->asked;
	output->queue = machine->request ? RSM_QUEUE_NONE : RSM_QUEUE_KEEP;
	machine->asked = false;
	machine->request = 0;
	if (machine->unpublish_next)
		begin_request(machine, now, RSM_MSG_UNPUBLISH, output);
	machine->unpublish_next = false;
}

static void importer_leave(struct rsm_importer_machine *machine)
{
	machine->leaving = true;
	machine->unpublish_next = false;
}

static void importer_place(struct rsm_importer_machine *machine,
			   struct rsm_importer_output *output)
{
	output->make_keys = rsm_importer_is_idle(machine) && !machine->is_placing;
	machine->is_placing |= output->make_keys;
}

static void importer_placed(struct rsm_importer_machine *machine,
			    struct rsm_importer_output *output)
{
	machine->is_placing = false;
	output->remove = machine->leaving;
}

/**
 * rsm_importer_step() - let something happen to an importing node
 * @machine: its state
 * @now: the time, in jiffies
 * @input: what happens
 *
 * Pure: the result and the new state depend on the arguments alone.
 *
 * Return: what the caller has to do.
 */
struct rsm_importer_output rsm_importer_step(struct rsm_importer_machine *machine,
					     unsigned long now,
					     const struct rsm_importer_input *input)
{
	struct rsm_importer_output output = {};

	switch (input->event) {
	case RSM_IMPORTER_ASK:
		importer_ask(machine, now, input->type, &output);
		break;
	case RSM_IMPORTER_SENT:
		importer_sent(machine, now, input->type, &output);
		break;
	case RSM_IMPORTER_FULFILLED:
		importer_fulfilled(machine, now, &output);
		break;
	case RSM_IMPORTER_LEAVE:
		importer_leave(machine);
		break;
	case RSM_IMPORTER_PLACE:
		importer_place(machine, &output);
		break;
	case RSM_IMPORTER_PLACED:
		importer_placed(machine, &output);
		break;
	}
	return output;
}
