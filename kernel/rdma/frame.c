// SPDX-License-Identifier: GPL-2.0
/* The form of greetings and frames. Pure functions, tested by KUnit. */

#include "frame.h"

#include <linux/minmax.h>
#include <linux/string.h>
#include <asm/byteorder.h>

static_assert(sizeof(struct rsm_rdma_greeting) == 56);
static_assert(sizeof(struct rsm_rdma_refusal) == 16);
static_assert(RSM_RDMA_FRAME_HEADER % 8 == 0);

/**
 * rsm_rdma_greet() - make our greeting
 * @greeting: where to put it
 * @from: our node id
 * @to: the peer's
 * @depth: receives that we have posted
 * @incarnation: ours
 *
 * The greeting has no flags, nonce and MAC yet.
 */
void rsm_rdma_greet(struct rsm_rdma_greeting *greeting, u32 from, u32 to, u32 depth,
		    u64 incarnation)
{
	*greeting = (struct rsm_rdma_greeting) {
		.magic = cpu_to_le64(RSM_RDMA_MAGIC),
		.version = cpu_to_le16(RSM_RDMA_VERSION),
		.depth = cpu_to_le16(depth),
		.from = cpu_to_le32(from),
		.to = cpu_to_le32(to),
		.incarnation = cpu_to_le64(incarnation),
	};
}

static const char *frame_objection(const struct rsm_rdma_greeting *greeting, u32 own)
{
	u32 depth = le16_to_cpu(greeting->depth);

	if (le64_to_cpu(greeting->magic) != RSM_RDMA_MAGIC)
		return "it sends no greeting of RSM";
	if (le16_to_cpu(greeting->version) != RSM_RDMA_VERSION)
		return "it speaks another version of the protocol";
	if (le32_to_cpu(greeting->to) != own)
		return "its greeting is for another node";
	if (depth < RSM_RDMA_DEPTH_MIN || depth > RSM_RDMA_DEPTH_MAX ||
	    !greeting->incarnation || le32_to_cpu(greeting->flags) & ~RSM_RDMA_HAS_SECRET)
		return "its greeting makes no sense";
	return NULL;
}

/**
 * rsm_rdma_greeting_read() - check and read a greeting
 * @data: private data that has come with a connection
 * @len: bytes of it, padding included
 * @own: our node id
 * @greeting: where to put a copy of it
 * @peer: where to put its contents
 *
 * Does not check the MAC.
 *
 * Return: what is wrong with it, or NULL.
 */
const char *rsm_rdma_greeting_read(const void *data, size_t len, u32 own,
				   struct rsm_rdma_greeting *greeting,
				   struct rsm_rdma_peer *peer)
{
	const char *why;

	if (!data || len < offsetofend(struct rsm_rdma_greeting, version))
		return "it does not greet";
	memset(greeting, 0, sizeof(*greeting));
	memcpy(greeting, data, min(len, sizeof(*greeting)));
	why = frame_objection(greeting, own);
	if (why)
		return why;
	if (len < sizeof(*greeting))
		return "it does not greet";
	peer->node = le32_to_cpu(greeting->from);
	peer->depth = le16_to_cpu(greeting->depth);
	peer->incarnation = le64_to_cpu(greeting->incarnation);
	return NULL;
}

/**
 * rsm_rdma_refuse() - make the reason that a refused peer gets
 * @refusal: where to put it
 * @code: the reason
 */
void rsm_rdma_refuse(struct rsm_rdma_refusal *refusal, enum rsm_rdma_refusal_code code)
{
	*refusal = (struct rsm_rdma_refusal) {
		.magic = cpu_to_le64(RSM_RDMA_MAGIC),
		.version = cpu_to_le16(RSM_RDMA_VERSION),
		.code = cpu_to_le16(code),
	};
}

/**
 * rsm_rdma_refusal_read() - read why a peer has refused a connection
 * @data: private data that has come with the rejection
 * @len: bytes of it, padding included
 *
 * Return: the reason; RSM_RDMA_REFUSED for data that is none.
 */
enum rsm_rdma_refusal_code rsm_rdma_refusal_read(const void *data, size_t len)
{
	struct rsm_rdma_refusal refusal;

	if (!data || len < sizeof(refusal))
		return RSM_RDMA_REFUSED;
	memcpy(&refusal, data, sizeof(refusal));
	if (le64_to_cpu(refusal.magic) != RSM_RDMA_MAGIC ||
	    le16_to_cpu(refusal.version) != RSM_RDMA_VERSION ||
	    le16_to_cpu(refusal.code) > RSM_RDMA_REFUSED_OTHER_SECRET)
		return RSM_RDMA_REFUSED;
	return le16_to_cpu(refusal.code);
}

/**
 * rsm_rdma_frame_objection() - has a frame the form of its type?
 * @wire: the frame
 * @len: bytes that have arrived, at most the size of a frame
 *
 * The agent checks the message itself.
 *
 * Return: what is wrong with it, or NULL.
 */
const char *rsm_rdma_frame_objection(const struct rsm_rdma_wire *wire, size_t len)
{
	if (len < RSM_RDMA_FRAME_HEADER || wire->reserved)
		return "sends frames that make no sense";
	switch (le16_to_cpu(wire->type)) {
	case RSM_RDMA_FRAME_CREDITS:
		if (len != RSM_RDMA_FRAME_HEADER || !wire->credits)
			return "sends credits that make no sense";
		return NULL;
	case RSM_RDMA_FRAME_MESSAGE:
		return len > RSM_RDMA_FRAME_HEADER ? NULL : "sends frames without a message";
	case RSM_RDMA_FRAME_PROOF:
		return len == RSM_RDMA_FRAME_HEADER + RSM_RDMA_MAC_SIZE ?
		       NULL : "sends a proof that makes no sense";
	default:
		return "sends frames of an unknown type";
	}
}
