// SPDX-License-Identifier: GPL-2.0
/*
 * The proof that a node knows the secret of the cluster: HMAC (RFC 2104) with BLAKE2s (RFC 7693)
 * over the transcript of the connection. Each kernel has BLAKE2s, whatever its configuration: its
 * random number generator uses it. Pure functions, tested by KUnit.
 */

#include "frame.h"
#include "../core/compat.h"

#include <linux/string.h>
#include <asm/byteorder.h>
#include <crypto/algapi.h>
#include <crypto/blake2s.h>

#define INNER_PAD	0x36
#define OUTER_PAD	0x5c

static_assert(sizeof(struct rsm_rdma_transcript) == 120);
static_assert(RSM_RDMA_SECRET_SIZE <= BLAKE2S_BLOCK_SIZE);
static_assert(RSM_RDMA_MAC_SIZE <= BLAKE2S_HASH_SIZE);

/* Begin a hash with the padded key, as HMAC does. */
static void rsm_rdma_hash_begin(struct blake2s_ctx *state, const struct rsm_rdma_secret *secret,
				u8 pad)
{
	u8 block[BLAKE2S_BLOCK_SIZE] = {};

	memcpy(block, secret->byte, sizeof(secret->byte));
	for (size_t i = 0; i < sizeof(block); i++)
		block[i] ^= pad;
	blake2s_init(state, BLAKE2S_HASH_SIZE);
	blake2s_update(state, block, sizeof(block));
	memzero_explicit(block, sizeof(block));
}

/**
 * rsm_rdma_hmac() - HMAC-BLAKE2s
 * @secret: the key
 * @data: the message
 * @len: bytes of that
 * @result: where to put the BLAKE2S_HASH_SIZE bytes
 */
void rsm_rdma_hmac(const struct rsm_rdma_secret *secret, const void *data, size_t len,
		   u8 *result)
{
	struct blake2s_ctx state;

	rsm_rdma_hash_begin(&state, secret, INNER_PAD);
	blake2s_update(&state, data, len);
	blake2s_final(&state, result);
	rsm_rdma_hash_begin(&state, secret, OUTER_PAD);
	blake2s_update(&state, result, BLAKE2S_HASH_SIZE);
	blake2s_final(&state, result);
	memzero_explicit(&state, sizeof(state));
}

/**
 * rsm_rdma_mac() - the MAC of a transcript
 * @secret: the secret, or NULL if there is none
 * @role: what the MAC is for
 * @said: the transcript so far, with zeros for all that comes later
 * @mac: where to put its RSM_RDMA_MAC_SIZE bytes; zeros without a secret
 */
void rsm_rdma_mac(const struct rsm_rdma_secret *secret, enum rsm_rdma_role role,
		  const struct rsm_rdma_transcript *said, u8 *mac)
{
	struct {
		__le64 role;
		struct rsm_rdma_transcript said;
	} of = {
		.role = cpu_to_le64(role),
		.said = *said,
	};
	u8 result[BLAKE2S_HASH_SIZE] = {};

	if (secret)
		rsm_rdma_hmac(secret, &of, sizeof(of), result);
	memcpy(mac, result, RSM_RDMA_MAC_SIZE);
	memzero_explicit(result, sizeof(result));
}

/**
 * rsm_rdma_mac_fits() - is this the MAC of a transcript?
 * @secret: the secret, or NULL if there is none
 * @role: what the MAC is for
 * @said: the transcript up to the MAC, with zeros for all that comes later
 * @mac: the MAC that the peer has sent
 *
 * Takes the same time whatever the MAC is.
 *
 * Return: true if it is.
 */
bool rsm_rdma_mac_fits(const struct rsm_rdma_secret *secret, enum rsm_rdma_role role,
		       const struct rsm_rdma_transcript *said, const u8 *mac)
{
	u8 right[RSM_RDMA_MAC_SIZE];
	bool fits;

	rsm_rdma_mac(secret, role, said, right);
	fits = !crypto_memneq(right, mac, sizeof(right));
	memzero_explicit(right, sizeof(right));
	return fits;
}
