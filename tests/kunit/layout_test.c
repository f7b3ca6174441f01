// SPDX-License-Identifier: GPL-2.0
/* Where everything lies in a shared window, whatever its size. */

#include <kunit/test.h>

#include "../../kernel/ivshmem/layout.c"

static void sizes(struct kunit *test)
{
	struct rsm_window_layout layout;

	KUNIT_EXPECT_EQ(test, rsm_window_layout(&layout, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, rsm_window_layout(&layout, RSM_WINDOW_MIN - 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, rsm_window_layout(&layout, RSM_WINDOW_MIN), 0);
	KUNIT_EXPECT_EQ(test, rsm_window_layout(&layout, RSM_WINDOW_MAX), 0);
	KUNIT_EXPECT_EQ(test, rsm_window_layout(&layout, RSM_WINDOW_MAX + 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, rsm_window_layout(&layout, U64_MAX), -EINVAL);
}

static void check_layout(struct kunit *test, u64 size)
{
	struct rsm_window_layout l;
	u64 pairs, chunk;

	KUNIT_ASSERT_EQ(test, rsm_window_layout(&l, size), 0);
	pairs = (u64)l.slots * l.slots;
	chunk = BIT_ULL(l.chunk_shift);
	KUNIT_EXPECT_EQ(test, l.slots, size < LARGE_WINDOW ? 16 : 64);
	KUNIT_EXPECT_LE(test, RSM_WINDOW_NODES + l.slots * sizeof(struct rsm_window_node),
			l.queues);
	KUNIT_EXPECT_LE(test, l.queues + pairs * sizeof(struct rsm_window_queue),
			l.chunk_table);
	KUNIT_EXPECT_LE(test, l.chunk_table + l.chunks * sizeof(__le64), l.data);
	KUNIT_EXPECT_LE(test, l.data + l.chunks * chunk, size);
	KUNIT_EXPECT_GT(test, l.data + (l.chunks + 1) * chunk, size);
	KUNIT_EXPECT_GT(test, l.chunks, 0);
	KUNIT_EXPECT_LE(test, l.chunks, CHUNKS_MAX);
	KUNIT_EXPECT_EQ(test, l.data % chunk, 0);
	KUNIT_EXPECT_GE(test, chunk, PAGE_SIZE);
}

/* Nothing overlaps, nothing is outside, and little is wasted. */
static void parts_fit(struct kunit *test)
{
	for (u64 size = RSM_WINDOW_MIN; size <= RSM_WINDOW_MAX; size *= 2) {
		check_layout(test, size);
		check_layout(test, size - (size > RSM_WINDOW_MIN) * PAGE_SIZE);
		check_layout(test, size + (size < RSM_WINDOW_MAX) * PAGE_SIZE);
	}
}

static void empty_window_is_claimed(struct kunit *test)
{
	struct rsm_window_super super = {};

	KUNIT_EXPECT_NULL(test, rsm_window_claim(&super, RSM_WINDOW_MIN));
	KUNIT_EXPECT_EQ(test, le64_to_cpu(super.magic), RSM_WINDOW_MAGIC);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(super.version), RSM_WINDOW_FORMAT);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(super.size), RSM_WINDOW_MIN);
	KUNIT_EXPECT_NULL(test, rsm_window_claim(&super, RSM_WINDOW_MIN));
}

/* Somebody else has begun to claim it, and maybe died. */
static void half_claimed_window(struct kunit *test)
{
	struct rsm_window_super super = { .version = cpu_to_le32(RSM_WINDOW_FORMAT) };

	KUNIT_EXPECT_NULL(test, rsm_window_claim(&super, RSM_WINDOW_MIN));
	super.magic = 0;
	KUNIT_EXPECT_NULL(test, rsm_window_claim(&super, RSM_WINDOW_MIN));
	KUNIT_EXPECT_EQ(test, le64_to_cpu(super.magic), RSM_WINDOW_MAGIC);
}

static void foreign_window_is_left_alone(struct kunit *test)
{
	static const struct rsm_window_super foreign[] = {
		{ .magic = cpu_to_le64(1) },
		{ .magic = cpu_to_le64(RSM_WINDOW_MAGIC) },
		{ .magic = cpu_to_le64(RSM_WINDOW_MAGIC),
		  .version = cpu_to_le32(RSM_WINDOW_FORMAT + 1),
		  .size = cpu_to_le64(RSM_WINDOW_MIN) },
		{ .magic = cpu_to_le64(RSM_WINDOW_MAGIC),
		  .version = cpu_to_le32(RSM_WINDOW_FORMAT),
		  .size = cpu_to_le64(RSM_WINDOW_MIN * 2) },
		{ .version = cpu_to_le32(77) },
		{ .size = cpu_to_le64(77) },
	};

	for (int i = 0; i < ARRAY_SIZE(foreign); i++) {
		struct rsm_window_super super = foreign[i];

		KUNIT_EXPECT_NOT_NULL_MSG(test, rsm_window_claim(&super, RSM_WINDOW_MIN),
					  "case %d", i);
		KUNIT_EXPECT_EQ_MSG(test, memcmp(&super, &foreign[i], sizeof(super)), 0,
				    "case %d", i);
	}
}

/* Their chunks and ours would lie in different places. */
static void other_pages_are_refused(struct kunit *test)
{
	u32 other = RSM_WINDOW_VERSION |
		    ((PAGE_SHIFT - 12) ^ 2) << RSM_WINDOW_PAGES_SHIFT;
	struct rsm_window_super half = { .version = cpu_to_le32(other) };
	struct rsm_window_super whole = {
		.magic = cpu_to_le64(RSM_WINDOW_MAGIC),
		.version = cpu_to_le32(other),
		.size = cpu_to_le64(RSM_WINDOW_MIN),
	};
	const char *why = "the window belongs to guests with pages of another size";

	KUNIT_EXPECT_STREQ(test, rsm_window_claim(&half, RSM_WINDOW_MIN), why);
	KUNIT_EXPECT_STREQ(test, rsm_window_claim(&whole, RSM_WINDOW_MIN), why);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(half.magic), 0);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(whole.version), other);
}

static struct kunit_case layout_cases[] = {
	KUNIT_CASE(sizes),
	KUNIT_CASE(parts_fit),
	KUNIT_CASE(empty_window_is_claimed),
	KUNIT_CASE(half_claimed_window),
	KUNIT_CASE(foreign_window_is_left_alone),
	KUNIT_CASE(other_pages_are_refused),
	{}
};

static struct kunit_suite layout_suite = {
	.name = "rsm_window_layout",
	.test_cases = layout_cases,
};

kunit_test_suite(layout_suite);
