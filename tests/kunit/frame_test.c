// SPDX-License-Identifier: GPL-2.0
/* Greetings and frames of a peer that may send anything. */

#include <kunit/test.h>

#include "../../kernel/rdma/frame.c"

#define OWN	2
#define PEER	1
#define DEPTH	64
#define LIFE	0x0123456789abcdefULL

static struct rsm_rdma_greeting greet(void)
{
	struct rsm_rdma_greeting greeting;

	rsm_rdma_greet(&greeting, PEER, OWN, DEPTH, LIFE);
	return greeting;
}

static const char *read_greeting(const void *data, size_t len, struct rsm_rdma_peer *peer)
{
	struct rsm_rdma_greeting copy;

	return rsm_rdma_greeting_read(data, len, OWN, &copy, peer);
}

static void greeting_is_read(struct kunit *test)
{
	struct rsm_rdma_greeting greeting = greet();
	struct rsm_rdma_peer peer = {};

	KUNIT_EXPECT_NULL(test, read_greeting(&greeting, sizeof(greeting), &peer));
	KUNIT_EXPECT_EQ(test, peer.node, PEER);
	KUNIT_EXPECT_EQ(test, peer.depth, DEPTH);
	KUNIT_EXPECT_EQ(test, peer.incarnation, LIFE);
}

/* InfiniBand fills private data up with zeroes. */
static void greeting_may_be_padded(struct kunit *test)
{
	u8 data[sizeof(struct rsm_rdma_greeting) + 24] = {};
	struct rsm_rdma_greeting greeting = greet();
	struct rsm_rdma_peer peer = {};

	/* Nor is it aligned. */
	memcpy(data + 1, &greeting, sizeof(greeting));
	KUNIT_EXPECT_NULL(test, read_greeting(data + 1, sizeof(data) - 1, &peer));
	KUNIT_EXPECT_EQ(test, peer.incarnation, LIFE);
}

/* With each byte changed it is refused or says of the peer what stands there. */
static void greeting_changed_anywhere(struct kunit *test)
{
	struct rsm_rdma_greeting greeting = greet(), changed;
	struct rsm_rdma_peer peer;
	bool sound;

	for (size_t i = 0; i < sizeof(greeting); i++) {
		changed = greeting;
		((u8 *)&changed)[i] ^= 0x40;
		sound = !read_greeting(&changed, sizeof(changed), &peer);
		KUNIT_EXPECT_EQ(test, sound,
				le64_to_cpu(changed.magic) == RSM_RDMA_MAGIC &&
				le16_to_cpu(changed.version) == RSM_RDMA_VERSION &&
				le32_to_cpu(changed.to) == OWN &&
				!(le32_to_cpu(changed.flags) & ~RSM_RDMA_HAS_SECRET) &&
				le16_to_cpu(changed.depth) >= RSM_RDMA_DEPTH_MIN &&
				le16_to_cpu(changed.depth) <= RSM_RDMA_DEPTH_MAX);
		if (sound)
			KUNIT_EXPECT_EQ(test, peer.node, le32_to_cpu(changed.from));
	}
}

static void greeting_that_makes_no_sense(struct kunit *test)
{
	static const u32 depths[] = { 0, RSM_RDMA_DEPTH_MIN - 1, RSM_RDMA_DEPTH_MAX + 1, U16_MAX };
	struct rsm_rdma_greeting greeting = greet();
	struct rsm_rdma_peer peer;

	KUNIT_EXPECT_NOT_NULL(test, read_greeting(NULL, 0, &peer));
	for (size_t len = 0; len < sizeof(greeting); len++)
		KUNIT_EXPECT_NOT_NULL(test, read_greeting(&greeting, len, &peer));
	for (int i = 0; i < ARRAY_SIZE(depths); i++) {
		rsm_rdma_greet(&greeting, PEER, OWN, depths[i], LIFE);
		KUNIT_EXPECT_NOT_NULL(test, read_greeting(&greeting, sizeof(greeting), &peer));
	}
	rsm_rdma_greet(&greeting, PEER, OWN, DEPTH, 0);
	KUNIT_EXPECT_NOT_NULL(test, read_greeting(&greeting, sizeof(greeting), &peer));
}

static struct rsm_rdma_wire make_frame(u16 type, u16 credits)
{
	return (struct rsm_rdma_wire) {
		.type = cpu_to_le16(type),
		.credits = cpu_to_le16(credits),
	};
}

/* Which lengths does a frame pass with, from 0 to the whole? */
static void expect_lengths(struct kunit *test, struct rsm_rdma_wire frame, size_t from, size_t to)
{
	for (size_t len = 0; len <= sizeof(frame); len++)
		KUNIT_EXPECT_EQ(test, !rsm_rdma_frame_objection(&frame, len),
				len >= from && len <= to);
}

static void frames_have_their_lengths(struct kunit *test)
{
	expect_lengths(test, make_frame(RSM_RDMA_FRAME_CREDITS, 1), RSM_RDMA_FRAME_HEADER,
		       RSM_RDMA_FRAME_HEADER);
	expect_lengths(test, make_frame(RSM_RDMA_FRAME_MESSAGE, 0), RSM_RDMA_FRAME_HEADER + 1,
		       sizeof(struct rsm_rdma_wire));
	expect_lengths(test, make_frame(RSM_RDMA_FRAME_MESSAGE, U16_MAX),
		       RSM_RDMA_FRAME_HEADER + 1, sizeof(struct rsm_rdma_wire));
	expect_lengths(test, make_frame(RSM_RDMA_FRAME_PROOF, 0),
		       RSM_RDMA_FRAME_HEADER + RSM_RDMA_MAC_SIZE,
		       RSM_RDMA_FRAME_HEADER + RSM_RDMA_MAC_SIZE);
}

static void frames_that_make_no_sense(struct kunit *test)
{
	struct rsm_rdma_wire frame = make_frame(RSM_RDMA_FRAME_MESSAGE, 0);

	/* A length in which nothing can pass. */
	expect_lengths(test, make_frame(RSM_RDMA_FRAME_CREDITS, 0), SIZE_MAX, 0);
	for (u32 type = 0; type <= U16_MAX; type++)
		if (type != RSM_RDMA_FRAME_CREDITS && type != RSM_RDMA_FRAME_MESSAGE &&
		    type != RSM_RDMA_FRAME_PROOF) {
			frame.type = cpu_to_le16(type);
			KUNIT_EXPECT_NOT_NULL(test, rsm_rdma_frame_objection(&frame,
									     sizeof(frame)));
		}
	frame = make_frame(RSM_RDMA_FRAME_MESSAGE, 0);
	frame.reserved = cpu_to_le32(1);
	expect_lengths(test, frame, SIZE_MAX, 0);
}

static void refusal_is_read(struct kunit *test)
{
	struct rsm_rdma_refusal refusal;
	u8 data[sizeof(refusal) + 100] = {};

	for (u32 code = 0; code <= RSM_RDMA_REFUSED_OTHER_SECRET; code++) {
		rsm_rdma_refuse(&refusal, code);
		memcpy(data + 1, &refusal, sizeof(refusal));
		KUNIT_EXPECT_EQ(test, rsm_rdma_refusal_read(data + 1, sizeof(data) - 1), code);
	}
}

static void refusal_that_makes_no_sense(struct kunit *test)
{
	struct rsm_rdma_refusal refusal;

	KUNIT_EXPECT_EQ(test, rsm_rdma_refusal_read(NULL, 0), RSM_RDMA_REFUSED);
	rsm_rdma_refuse(&refusal, RSM_RDMA_REFUSED_OTHER_SECRET);
	for (size_t len = 0; len < sizeof(refusal); len++)
		KUNIT_EXPECT_EQ(test, rsm_rdma_refusal_read(&refusal, len), RSM_RDMA_REFUSED);
	for (u32 code = RSM_RDMA_REFUSED_OTHER_SECRET + 1; code <= U16_MAX; code++) {
		rsm_rdma_refuse(&refusal, code);
		KUNIT_EXPECT_EQ(test, rsm_rdma_refusal_read(&refusal, sizeof(refusal)),
				RSM_RDMA_REFUSED);
	}
	rsm_rdma_refuse(&refusal, RSM_RDMA_REFUSED_OTHER_SECRET);
	refusal.magic = 0;
	KUNIT_EXPECT_EQ(test, rsm_rdma_refusal_read(&refusal, sizeof(refusal)), RSM_RDMA_REFUSED);
}

static struct kunit_case frame_cases[] = {
	KUNIT_CASE(greeting_is_read),
	KUNIT_CASE(greeting_may_be_padded),
	KUNIT_CASE(greeting_changed_anywhere),
	KUNIT_CASE(greeting_that_makes_no_sense),
	KUNIT_CASE(refusal_is_read),
	KUNIT_CASE(refusal_that_makes_no_sense),
	KUNIT_CASE(frames_have_their_lengths),
	KUNIT_CASE(frames_that_make_no_sense),
	{}
};

static struct kunit_suite frame_suite = {
	.name = "rsm_frame",
	.test_cases = frame_cases,
};

kunit_test_suite(frame_suite);
