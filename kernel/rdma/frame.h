/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What travels between two nodes besides the data of segments: a greeting each
 * way when they connect, then frames. All numbers are little-endian.
 */
#ifndef RSM_RDMA_FRAME_H
#define RSM_RDMA_FRAME_H

#include "../rsm_link.h"

#include <linux/types.h>

#define RSM_RDMA_MAGIC		0x414d44524d5352ULL	/* "RSMRDMA" */
#define RSM_RDMA_VERSION	1

/* A peer with fewer receives could not keep one back for credits. */
#define RSM_RDMA_DEPTH_MIN	4U
#define RSM_RDMA_DEPTH_MAX	4096U

/**
 * struct rsm_rdma_greeting - private data of connect and accept
 * @magic: RSM_RDMA_MAGIC
 * @version: RSM_RDMA_VERSION of the sender; magic and version will never move
 * @depth: receives that the sender has posted: so many frames it can take
 * @from: node id of the sender
 * @to: node id that it believes to talk to
 * @reserved: 0
 * @incarnation: of the sender, another one for each connection
 */
struct rsm_rdma_greeting {
	__le64 magic;
	__le16 version;
	__le16 depth;
	__le32 from;
	__le32 to;
	__le32 reserved;
	__le64 incarnation;
};

/**
 * enum rsm_rdma_frame_type - what is in a frame
 * @RSM_RDMA_FRAME_CREDITS: nothing but its header
 * @RSM_RDMA_FRAME_MESSAGE: a message of the agent
 */
enum rsm_rdma_frame_type {
	RSM_RDMA_FRAME_CREDITS = 1,
	RSM_RDMA_FRAME_MESSAGE = 2,
};

/**
 * struct rsm_rdma_wire - a frame
 * @type: enum rsm_rdma_frame_type
 * @credits: receives that the sender has posted again since its last frame
 * @reserved: 0
 * @message: the message, aligned to 8 bytes as the agent wants it
 */
struct rsm_rdma_wire {
	__le16 type;
	__le16 credits;
	__le32 reserved;
	u8 message[RSM_MESSAGE_MAX];
};

#define RSM_RDMA_FRAME_HEADER	offsetof(struct rsm_rdma_wire, message)

/**
 * struct rsm_rdma_peer - what a peer's greeting says
 * @node: its node id
 * @depth: frames that it can take
 * @incarnation: of it
 */
struct rsm_rdma_peer {
	u32 node;
	u32 depth;
	u64 incarnation;
};

/* frame.c: pure functions, tested by KUnit */
void rsm_rdma_greet(struct rsm_rdma_greeting *greeting, u32 from, u32 to, u32 depth,
		    u64 incarnation);
const char *rsm_rdma_greeting_read(const void *data, size_t len, u32 own,
				   struct rsm_rdma_peer *peer);
const char *rsm_rdma_frame_objection(const struct rsm_rdma_wire *wire, size_t len);

#endif /* RSM_RDMA_FRAME_H */
