/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The messages between two nodes besides the data of segments: a greeting each
 * way when they connect, then frames. All numbers are little-endian.
 */
#ifndef RSM_RDMA_FRAME_H
#define RSM_RDMA_FRAME_H

#include "../rsm_link.h"

#include <linux/bits.h>
#include <linux/types.h>

#define RSM_RDMA_MAGIC		0x414d44524d5352ULL	/* "RSMRDMA" */
#define RSM_RDMA_VERSION	2

/* Fewer receives are too few to keep one for a frame that returns credits. */
#define RSM_RDMA_DEPTH_MIN	4U
#define RSM_RDMA_DEPTH_MAX	4096U

#define RSM_RDMA_MAC_SIZE	16	/* of the 32 bytes of HMAC-BLAKE2s the first ones */

/* Flags of a greeting. */
#define RSM_RDMA_HAS_SECRET	BIT(0)	/* the sender has a secret, and @mac is made with it */

/**
 * struct rsm_rdma_greeting - private data of connect and accept
 * @magic: RSM_RDMA_MAGIC
 * @version: RSM_RDMA_VERSION of the sender; later versions have magic and version at these places
 * @depth: receives that the sender has posted: how many frames it can take
 * @from: node id of the sender
 * @to: node id of the peer, as the sender believes
 * @flags: RSM_RDMA_HAS_SECRET or 0
 * @incarnation: of the sender, random, another one for each connection; not 0
 * @nonce: random, another one for each connection
 * @mac: see &struct rsm_rdma_transcript; zeros without a secret
 *
 * No larger than what the connection manager leaves of a request's private data.
 */
struct rsm_rdma_greeting {
	__le64 magic;
	__le16 version;
	__le16 depth;
	__le32 from;
	__le32 to;
	__le32 flags;
	__le64 incarnation;
	__le64 nonce;
	u8 mac[RSM_RDMA_MAC_SIZE];
};

/**
 * struct rsm_rdma_transcript - all that two nodes say to each other while they connect
 * @request: greeting of the node that connects
 * @reply: greeting of the node that accepts
 * @request_qp: number of the queue pair of the node that connects
 * @reply_qp: number of the queue pair of the node that accepts
 *
 * A MAC is made of the transcript as far as it is known at that point, with zeros for the
 * rest and for the MAC itself, and of the role of the MAC.
 */
struct rsm_rdma_transcript {
	struct rsm_rdma_greeting request;
	struct rsm_rdma_greeting reply;
	__le32 request_qp;
	__le32 reply_qp;
};

/**
 * enum rsm_rdma_role - what a MAC is for
 * @RSM_RDMA_ROLE_REQUEST: in the greeting of the node that connects
 * @RSM_RDMA_ROLE_REPLY: in the greeting of the node that accepts
 * @RSM_RDMA_ROLE_PROOF: in the first frame of the node that connects
 */
enum rsm_rdma_role {
	RSM_RDMA_ROLE_REQUEST = 1,
	RSM_RDMA_ROLE_REPLY = 2,
	RSM_RDMA_ROLE_PROOF = 3,
};

#define RSM_RDMA_SECRET_SIZE	32

/**
 * struct rsm_rdma_secret - the secret that the nodes of a cluster share
 * @byte: random bytes
 */
struct rsm_rdma_secret {
	u8 byte[RSM_RDMA_SECRET_SIZE];
};

/**
 * enum rsm_rdma_refusal_code - the reason that a refused peer gets
 * @RSM_RDMA_REFUSED: any other reason
 * @RSM_RDMA_REFUSED_NO_SECRET: the peer has no secret, and we have one
 * @RSM_RDMA_REFUSED_SECRET: the peer has a secret, and we have none
 * @RSM_RDMA_REFUSED_OTHER_SECRET: the peer's secret is none of ours
 */
enum rsm_rdma_refusal_code {
	RSM_RDMA_REFUSED,
	RSM_RDMA_REFUSED_NO_SECRET,
	RSM_RDMA_REFUSED_SECRET,
	RSM_RDMA_REFUSED_OTHER_SECRET,
};

/**
 * struct rsm_rdma_refusal - private data of a rejection
 * @magic: RSM_RDMA_MAGIC
 * @version: RSM_RDMA_VERSION of the sender
 * @code: enum rsm_rdma_refusal_code
 * @reserved: 0
 */
struct rsm_rdma_refusal {
	__le64 magic;
	__le16 version;
	__le16 code;
	__le32 reserved;
};

/**
 * enum rsm_rdma_frame_type - what is in a frame
 * @RSM_RDMA_FRAME_CREDITS: nothing but its header
 * @RSM_RDMA_FRAME_MESSAGE: a message of the agent
 * @RSM_RDMA_FRAME_PROOF: a MAC. The first frame of the node that connects, and no other
 */
enum rsm_rdma_frame_type {
	RSM_RDMA_FRAME_CREDITS = 1,
	RSM_RDMA_FRAME_MESSAGE = 2,
	RSM_RDMA_FRAME_PROOF = 3,
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
 * struct rsm_rdma_peer - contents of a peer's greeting
 * @node: the peer's node id
 * @depth: frames that the peer can take
 * @incarnation: the peer's
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
				   struct rsm_rdma_greeting *greeting,
				   struct rsm_rdma_peer *peer);
const char *rsm_rdma_frame_objection(const struct rsm_rdma_wire *wire, size_t len);
void rsm_rdma_refuse(struct rsm_rdma_refusal *refusal, enum rsm_rdma_refusal_code code);
enum rsm_rdma_refusal_code rsm_rdma_refusal_read(const void *data, size_t len);

/* proof.c: likewise */
void rsm_rdma_hmac(const struct rsm_rdma_secret *secret, const void *data, size_t len,
		   u8 *result);
void rsm_rdma_mac(const struct rsm_rdma_secret *secret, enum rsm_rdma_role role,
		  const struct rsm_rdma_transcript *said, u8 *mac);
bool rsm_rdma_mac_fits(const struct rsm_rdma_secret *secret, enum rsm_rdma_role role,
		       const struct rsm_rdma_transcript *said, const u8 *mac);

#endif /* RSM_RDMA_FRAME_H */
