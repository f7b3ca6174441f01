// SPDX-License-Identifier: GPL-2.0
/*
 * The state of a segment of another node as a function of state and input. remote_segment.c
 * carries out what it returns. Tested by KUnit and by the simulator.
 */

#include "remote.h"
#include "../core/internal.h"

#include <asm/byteorder.h>
#include <linux/mm.h>

static void remote_end(struct rsm_remote_machine *machine, rsm_status_t status,
		       struct rsm_remote_output *output)
{
	if (machine->state == RSM_REMOTE_ENDED)
		return;
	WRITE_ONCE(machine->state, RSM_REMOTE_ENDED);
	machine->status = status;
	output->ended = true;
	output->changed = true;
}

/* A number that no exporter's node may refuse with counts as RSMERR_SEG_NOT_PUBLISHED. */
static rsm_status_t refusal(u32 number)
{
	switch (number) {
	case RSMERR_SEG_NOT_PUBLISHED_TO_NODE:
	case RSMERR_INSUFFICIENT_MEM:
	case RSMERR_INSUFFICIENT_RESOURCES:
		return rsm_status_from_number(number);
	default:
		return RSM_STS_SEG_NOT_PUBLISHED;
	}
}

static void remote_refused(struct rsm_remote_machine *machine, rsm_status_t status,
			   struct rsm_remote_output *output)
{
	remote_end(machine, status, output);
	output->decline = true;
}

static void remote_connected(struct rsm_remote_machine *machine,
			     struct rsm_remote_output *output)
{
	WRITE_ONCE(machine->state, RSM_REMOTE_CONNECTED);
	output->changed = true;
}

static void remote_accept(struct rsm_remote_machine *machine,
			  const struct rsm_msg_connected *connected, bool has_keys,
			  struct rsm_remote_output *output)
{
	u64 length = le64_to_cpu(connected->length);

	if (!length || length > RSM_MAX_LENGTH || !PAGE_ALIGNED(length)) {
		remote_refused(machine, RSM_STS_CONN_ABORTED, output);
		return;
	}
	machine->length = length;
	machine->handle = le32_to_cpu(connected->handle);
	machine->mode = le32_to_cpu(connected->mode) & 0777;
	output->accepted = true;
	/* A peer that makes keys sends the place after PLACE only. */
	if (has_keys && !connected->place[0] && !connected->place[1])
		remote_connected(machine, output);
	else
		output->attach = true;
}

static void remote_answer(struct rsm_remote_machine *machine,
			  const struct rsm_remote_input *input,
			  struct rsm_remote_output *output)
{
	const struct rsm_msg_connected *connected = input->connected;
	u32 number = le32_to_cpu(connected->status);

	/* A repeated answer; a refusal of what has been admitted means that there are no keys. */
	if (machine->state == RSM_REMOTE_CONNECTED && (machine->placed || !number))
		output->decline = machine->handle != le32_to_cpu(connected->handle);
	else if (machine->state == RSM_REMOTE_ENDED)
		output->decline = true;
	else if (number)
		remote_end(machine, refusal(number), output);
	else
		remote_accept(machine, connected, input->has_keys, output);
}

/* A bad place ends the connection. */
static void remote_attached(struct rsm_remote_machine *machine, rsm_status_t status,
			    struct rsm_remote_output *output)
{
	if (status) {
		remote_refused(machine, status, output);
		return;
	}
	WRITE_ONCE(machine->placed, true);
	remote_connected(machine, output);
}

static void remote_republish(struct rsm_remote_machine *machine, u32 mode)
{
	machine->mode = mode & 0777;
	machine->closed = mode & RSM_MODE_CLOSED;
}

/*
 * The message is answered by a decline. If the exporter's node has left out its answer to CONNECT,
 * the answer to a repeated CONNECT may be on its way, and comes from an importer that the decline
 * removes: no answer may find the record any more. No importer has the handle 0.
 */
static void remote_declined(struct rsm_remote_machine *machine, u32 handle,
			    struct rsm_remote_output *output)
{
	if (machine->state == RSM_REMOTE_CONNECTING && handle)
		remote_end(machine, RSM_STS_CONN_ABORTED, output);
}

/* Does a message of the exporter's node name the present connection? */
static bool is_named(const struct rsm_remote_machine *machine,
		     const struct rsm_remote_input *input)
{
	return machine->state == RSM_REMOTE_CONNECTED && machine->handle == input->handle;
}

/**
 * rsm_remote_step() - let something happen to a segment of another node
 * @machine: its state
 * @input: what happens
 *
 * Pure: the result and the new state depend on the arguments alone. Messages that do not name the
 * present connection change nothing.
 *
 * Return: what the caller has to do.
 */
struct rsm_remote_output rsm_remote_step(struct rsm_remote_machine *machine,
					 const struct rsm_remote_input *input)
{
	struct rsm_remote_output output = {};

	switch (input->event) {
	case RSM_REMOTE_ANSWER:
		remote_answer(machine, input, &output);
		break;
	case RSM_REMOTE_UNPUBLISH:
		if (is_named(machine, input))
			remote_end(machine, RSM_STS_CONN_ABORTED, &output);
		else
			remote_declined(machine, input->handle, &output);
		break;
	case RSM_REMOTE_REPUBLISH:
		if (is_named(machine, input))
			remote_republish(machine, input->mode);
		break;
	case RSM_REMOTE_MOVE:
		output.attach = is_named(machine, input);
		if (!output.attach)
			remote_declined(machine, input->handle, &output);
		break;
	case RSM_REMOTE_ATTACHED:
		remote_attached(machine, input->status, &output);
		break;
	case RSM_REMOTE_END:
		remote_end(machine, RSM_STS_CONN_ABORTED, &output);
		break;
	}
	return output;
}
