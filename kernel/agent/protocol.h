/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Messages between the agents of two nodes. All numbers are little-endian.
 * Documentation/node-protocol.md explains the protocol; this file defines its messages.
 */
#ifndef RSM_PROTOCOL_H
#define RSM_PROTOCOL_H

#include <linux/types.h>

#define RSM_PROTOCOL_VERSION	1

/**
 * RSM_MODE_CLOSED - in the mode of REPUBLISH: the list does not name your node any more
 *
 * No user of that node may connect, whatever the capabilities; connections stay. The digits are 0,
 * for nodes that do not know this bit.
 */
#define RSM_MODE_CLOSED		0x80000000U

/**
 * enum rsm_message_type - types of messages; Solaris had messages for the suspension of memory in
 *	the gap
 * @RSM_MSG_HELLO: greeting; the receiver answers with WELCOME
 * @RSM_MSG_WELCOME: answer to HELLO
 * @RSM_MSG_HEARTBEAT: sign of life
 * @RSM_MSG_BYE: the sender ends the link
 * @RSM_MSG_CONNECT: importer to exporter: a segment is to be imported
 * @RSM_MSG_CONNECTED: answer to CONNECT
 * @RSM_MSG_DISCONNECT: importer to exporter: no import here uses the segment any more;
 *	also the answer to UNPUBLISH
 * @RSM_MSG_UNPUBLISH: exporter to importer: the segment is withdrawn
 * @RSM_MSG_REPUBLISH: exporter to importer: the mode for the importer's node has changed
 * @RSM_MSG_BELL: events for the other side of a connection
 * @RSM_MSG_MOVE: exporter to importer: the segment has other memory, or the importer has
 *	more rights: this is its place from now on
 * @RSM_MSG_MOVED: answer to MOVE: nothing here reaches the former memory any more
 * @RSM_MSG_PLACE: importer to exporter: a user here may have the segment, and CONNECTED did not say
 *	where it is; answered by MOVE, or by CONNECTED with a status
 */
enum rsm_message_type {
	RSM_MSG_HELLO = 1,
	RSM_MSG_WELCOME = 2,
	RSM_MSG_HEARTBEAT = 3,
	RSM_MSG_BYE = 4,
	RSM_MSG_CONNECT = 5,
	RSM_MSG_CONNECTED = 6,
	/* 7 to 9 are reserved. */
	RSM_MSG_DISCONNECT = 10,
	RSM_MSG_UNPUBLISH = 11,
	RSM_MSG_REPUBLISH = 12,
	RSM_MSG_BELL = 13,
	RSM_MSG_MOVE = 14,
	RSM_MSG_MOVED = 15,
	RSM_MSG_PLACE = 16,
};

/**
 * struct rsm_msg_header - start of every message; will never change
 * @version: RSM_PROTOCOL_VERSION of the sender
 * @type: enum rsm_message_type
 * @len: bytes in the message, header included
 * @from: incarnation of the sender
 * @to: incarnation of the receiver, as the sender knows it; 0 in HELLO
 */
struct rsm_msg_header {
	__le16 version;
	__le16 type;
	__le32 len;
	__le64 from;
	__le64 to;
};

/**
 * struct rsm_msg_hello - HELLO, WELCOME and HEARTBEAT
 * @header: see there
 * @node: node id of the sender
 * @interval_ms: its heartbeat interval
 */
struct rsm_msg_hello {
	struct rsm_msg_header header;
	__le32 node;
	__le32 interval_ms;
};

/**
 * struct rsm_msg_connect - CONNECT
 * @header: see there
 * @id: segment id
 * @cookie: number by which the importer's node names the segment. A repeated CONNECT with
 *	the same cookie only repeats the answer
 */
struct rsm_msg_connect {
	struct rsm_msg_header header;
	__le32 id;
	__le32 cookie;
};

/**
 * struct rsm_msg_connected - CONNECTED
 * @header: see there
 * @cookie: the importer's
 * @status: RSM_SUCCESS or an RSMERR_* value; what follows is 0 unless RSM_SUCCESS
 * @handle: number by which the exporter's node names this importer
 * @mode: owner, group and other digits for users of the importing node
 * @uid: owner, a number of the exporter's initial user namespace
 * @gid: its group, likewise
 * @length: bytes in the segment
 * @place: place of the memory, see &struct rsm_place; 0 if the importer has to ask by PLACE
 */
struct rsm_msg_connected {
	struct rsm_msg_header header;
	__le32 cookie;
	__le32 status;
	__le32 handle;
	__le32 mode;
	__le32 uid;
	__le32 gid;
	__le64 length;
	__le64 place[2];
};

/**
 * struct rsm_msg_connection - DISCONNECT, UNPUBLISH, REPUBLISH, BELL, MOVED and PLACE
 * @header: see there
 * @cookie: the importer's
 * @handle: the exporter's
 * @value: REPUBLISH: the new mode, or RSM_MODE_CLOSED. BELL: flags, RSM_SIGPOST_NO_ACCUMULATE
 * @to_exporter: BELL: 1 for an event to the exporter, 0 for one to importers
 */
struct rsm_msg_connection {
	struct rsm_msg_header header;
	__le32 cookie;
	__le32 handle;
	__le32 value;
	__le32 to_exporter;
};

/**
 * struct rsm_msg_move - MOVE
 * @header: see there
 * @cookie: the importer's
 * @handle: the exporter's
 * @place: as in CONNECTED
 */
struct rsm_msg_move {
	struct rsm_msg_header header;
	__le32 cookie;
	__le32 handle;
	__le64 place[2];
};

bool rsm_message_is_sound(const void *message, size_t len);

#endif /* RSM_PROTOCOL_H */
