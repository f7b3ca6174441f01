// SPDX-License-Identifier: GPL-2.0
/* MACs that nodes prove with who they are: known answers, and that each byte counts. */

#include <kunit/test.h>

#include "../../kernel/rdma/proof.c"

static const struct rsm_rdma_secret counting = { {
	0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
	16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
} };

static void expect_hmac(struct kunit *test, const char *key, const char *data, const u8 *expected)
{
	struct rsm_rdma_secret secret = {};
	u8 result[BLAKE2S_HASH_SIZE];

	/* To HMAC, zeros at the end of a key are none. */
	memcpy(secret.byte, key, strlen(key));
	rsm_rdma_hmac(&secret, data, strlen(data), result);
	KUNIT_EXPECT_EQ(test, memcmp(result, expected, sizeof(result)), 0);
}

/* The inputs of RFC 4231, test cases 1 and 2; computed by Python's hmac with hashlib.blake2s. */
static void hmac_has_the_known_results(struct kunit *test)
{
	static const u8 first[BLAKE2S_HASH_SIZE] = {
		0x65, 0xa8, 0xb7, 0xc5, 0xcc, 0x91, 0x36, 0xd4, 0x24, 0xe8, 0x2c, 0x37, 0xe2, 0x70,
		0x7e, 0x74, 0xe9, 0x13, 0xc0, 0x65, 0x5b, 0x99, 0xc7, 0x5f, 0x40, 0xed, 0xf3, 0x87,
		0x45, 0x3a, 0x32, 0x60,
	};
	static const u8 second[BLAKE2S_HASH_SIZE] = {
		0x90, 0xb6, 0x28, 0x1e, 0x2f, 0x30, 0x38, 0xc9, 0x05, 0x6a, 0xf0, 0xb4, 0xa7, 0xe7,
		0x63, 0xca, 0xe6, 0xfe, 0x5d, 0x9e, 0xb4, 0x38, 0x6a, 0x0e, 0xc9, 0x52, 0x37, 0x89,
		0x0c, 0x10, 0x4f, 0xf0,
	};

	expect_hmac(test, "\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b"
		    "\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b", "Hi There", first);
	expect_hmac(test, "Jefe", "what do ya want for nothing?", second);
}

static struct rsm_rdma_greeting greeting(u32 from, u32 to, u64 incarnation, u64 nonce)
{
	return (struct rsm_rdma_greeting) {
		.magic = cpu_to_le64(RSM_RDMA_MAGIC),
		.version = cpu_to_le16(2),
		.depth = cpu_to_le16(64),
		.from = cpu_to_le32(from),
		.to = cpu_to_le32(to),
		.flags = cpu_to_le32(RSM_RDMA_HAS_SECRET),
		.incarnation = cpu_to_le64(incarnation),
		.nonce = cpu_to_le64(nonce),
	};
}

/* The words of nodes 1 and 2 to each other. */
static struct rsm_rdma_transcript talk(void)
{
	struct rsm_rdma_transcript said = {
		.request = greeting(1, 2, 0x0123456789abcdefULL, 0x1111111111111111ULL),
		.request_qp = cpu_to_le32(17),
	};

	rsm_rdma_mac(&counting, RSM_RDMA_ROLE_REQUEST, &said, said.request.mac);
	said.reply = greeting(2, 1, 0xfedcba9876543210ULL, 0x2222222222222222ULL);
	said.reply_qp = cpu_to_le32(0x123456);
	rsm_rdma_mac(&counting, RSM_RDMA_ROLE_REPLY, &said, said.reply.mac);
	return said;
}

/* Computed by Python's hmac from Documentation/rdma.md: nodes of all versions agree. */
static void macs_have_the_known_results(struct kunit *test)
{
	static const u8 request[RSM_RDMA_MAC_SIZE] = {
		0x61, 0xba, 0xff, 0x99, 0xd8, 0x77, 0xd0, 0xbd,
		0xed, 0x0a, 0x93, 0x07, 0x6a, 0x02, 0x92, 0xe6,
	};
	static const u8 reply[RSM_RDMA_MAC_SIZE] = {
		0x84, 0x5a, 0x75, 0x98, 0x8c, 0x4c, 0x47, 0xb7,
		0x34, 0x3d, 0xd4, 0x98, 0x90, 0x68, 0x36, 0xe0,
	};
	static const u8 proof[RSM_RDMA_MAC_SIZE] = {
		0x73, 0xfa, 0xc4, 0x79, 0xb3, 0x7b, 0x6f, 0x92,
		0x35, 0x47, 0x6e, 0x57, 0x09, 0xe4, 0x59, 0x81,
	};
	struct rsm_rdma_transcript said = talk();

	KUNIT_EXPECT_EQ(test, memcmp(said.request.mac, request, sizeof(request)), 0);
	KUNIT_EXPECT_EQ(test, memcmp(said.reply.mac, reply, sizeof(reply)), 0);
	KUNIT_EXPECT_TRUE(test, rsm_rdma_mac_fits(&counting, RSM_RDMA_ROLE_PROOF, &said, proof));
}

/* Greetings, node ids and numbers of queue pairs: nothing can be replaced. */
static void every_byte_counts(struct kunit *test)
{
	struct rsm_rdma_transcript said = talk();
	struct rsm_rdma_secret other = counting;
	u8 mac[RSM_RDMA_MAC_SIZE];

	rsm_rdma_mac(&counting, RSM_RDMA_ROLE_PROOF, &said, mac);
	for (size_t i = 0; i < sizeof(said); i++) {
		((u8 *)&said)[i] ^= 1;
		KUNIT_EXPECT_FALSE(test, rsm_rdma_mac_fits(&counting, RSM_RDMA_ROLE_PROOF, &said,
							   mac));
		((u8 *)&said)[i] ^= 1;
	}
	for (size_t i = 0; i < sizeof(mac); i++) {
		mac[i] ^= 0x80;
		KUNIT_EXPECT_FALSE(test, rsm_rdma_mac_fits(&counting, RSM_RDMA_ROLE_PROOF, &said,
							   mac));
		mac[i] ^= 0x80;
	}
	for (size_t i = 0; i < sizeof(other); i++) {
		other.byte[i] ^= 0x10;
		KUNIT_EXPECT_FALSE(test, rsm_rdma_mac_fits(&other, RSM_RDMA_ROLE_PROOF, &said,
							   mac));
		other.byte[i] ^= 0x10;
	}
	KUNIT_EXPECT_TRUE(test, rsm_rdma_mac_fits(&counting, RSM_RDMA_ROLE_PROOF, &said, mac));
}

/* A MAC that somebody was sent is of no use to them in another place. */
static void mac_of_another_role_does_not_fit(struct kunit *test)
{
	struct rsm_rdma_transcript said = talk();
	u8 mac[RSM_RDMA_MAC_SIZE];

	for (u32 made = RSM_RDMA_ROLE_REQUEST; made <= RSM_RDMA_ROLE_PROOF; made++) {
		rsm_rdma_mac(&counting, made, &said, mac);
		for (u32 taken = RSM_RDMA_ROLE_REQUEST; taken <= RSM_RDMA_ROLE_PROOF; taken++)
			KUNIT_EXPECT_EQ(test,
					rsm_rdma_mac_fits(&counting, taken, &said, mac),
					made == taken);
	}
}

static void without_a_secret_only_zeros_fit(struct kunit *test)
{
	struct rsm_rdma_transcript said = talk();
	u8 mac[RSM_RDMA_MAC_SIZE] = {};

	KUNIT_EXPECT_TRUE(test, rsm_rdma_mac_fits(NULL, RSM_RDMA_ROLE_PROOF, &said, mac));
	KUNIT_EXPECT_FALSE(test, rsm_rdma_mac_fits(&counting, RSM_RDMA_ROLE_PROOF, &said, mac));
	mac[RSM_RDMA_MAC_SIZE - 1] = 1;
	KUNIT_EXPECT_FALSE(test, rsm_rdma_mac_fits(NULL, RSM_RDMA_ROLE_PROOF, &said, mac));
}

static struct kunit_case proof_cases[] = {
	KUNIT_CASE(hmac_has_the_known_results),
	KUNIT_CASE(macs_have_the_known_results),
	KUNIT_CASE(every_byte_counts),
	KUNIT_CASE(mac_of_another_role_does_not_fit),
	KUNIT_CASE(without_a_secret_only_zeros_fit),
	{}
};

static struct kunit_suite proof_suite = {
	.name = "rsm_proof",
	.test_cases = proof_cases,
};

kunit_test_suite(proof_suite);
