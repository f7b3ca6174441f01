// SPDX-License-Identifier: GPL-2.0
/* The form of messages. Pure, tested by KUnit. */

#include "protocol.h"
#include "../rsm_link.h"

#include <asm/byteorder.h>

/* Bytes that a message of a type has, 0 for types that we do not know. */
static size_t size_of_type(unsigned int type)
{
	switch (type) {
	case RSM_MSG_HELLO:
	case RSM_MSG_WELCOME:
	case RSM_MSG_HEARTBEAT:
	case RSM_MSG_BYE:
		return sizeof(struct rsm_msg_hello);
	case RSM_MSG_CONNECT:
		return sizeof(struct rsm_msg_connect);
	case RSM_MSG_CONNECTED:
		return sizeof(struct rsm_msg_connected);
	case RSM_MSG_DISCONNECT:
	case RSM_MSG_UNPUBLISH:
	case RSM_MSG_REPUBLISH:
	case RSM_MSG_BELL:
	case RSM_MSG_MOVED:
	case RSM_MSG_PLACE:
		return sizeof(struct rsm_msg_connection);
	case RSM_MSG_MOVE:
		return sizeof(struct rsm_msg_move);
	default:
		return 0;
	}
}

static_assert(sizeof(struct rsm_msg_connected) <= RSM_MESSAGE_MAX);

/**
 * rsm_message_is_sound() - has a message the form of its type?
 * @message: what arrived
 * @len: bytes that arrived
 *
 * A HELLO may be of any version and of any length from ours on.
 *
 * Return: true if all fields of its type can be read.
 */
bool rsm_message_is_sound(const void *message, size_t len)
{
	const struct rsm_msg_header *header = message;
	size_t size;

	if (len < sizeof(*header) || len > RSM_MESSAGE_MAX ||
	    le32_to_cpu(header->len) != len)
		return false;
	size = size_of_type(le16_to_cpu(header->type));
	if (le16_to_cpu(header->type) == RSM_MSG_HELLO)
		return len >= size;
	return size && len == size &&
	       le16_to_cpu(header->version) == RSM_PROTOCOL_VERSION;
}
