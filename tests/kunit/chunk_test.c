// SPDX-License-Identifier: GPL-2.0
/* Handing out chunks by a table that others may write to. */

#include <kunit/test.h>

#include "../../kernel/ivshmem/chunk.c"

#define COUNT	16
#define US	0x1001ULL
#define THEM	0x2002ULL

/**
 * struct fixture - a window's chunks
 * @chunks: as our node sees them
 * @table: the table
 */
struct fixture {
	struct window_chunks chunks;
	__le64 table[COUNT];
};

static int make_fixture(struct kunit *test)
{
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	if (!f)
		return -ENOMEM;
	test->priv = f;
	return window_chunks_init(&f->chunks, f->table, COUNT);
}

static void free_fixture(struct kunit *test)
{
	struct fixture *f = test->priv;

	if (f)
		window_chunks_free(&f->chunks);
}

static void set_owner(struct fixture *f, u32 first, u32 n, u64 owner)
{
	while (n--)
		f->table[first++] = cpu_to_le64(owner);
}

static u32 owned_by(const struct fixture *f, u64 owner)
{
	u32 n = 0;

	for (u32 i = 0; i < COUNT; i++)
		n += f->table[i] == cpu_to_le64(owner);
	return n;
}

static void first_fit(struct kunit *test)
{
	struct fixture *f = test->priv;

	set_owner(f, 2, 1, THEM);
	set_owner(f, 6, 1, THEM);
	KUNIT_EXPECT_EQ(test, window_chunks_take(&f->chunks, US, 3), 3);
	KUNIT_EXPECT_EQ(test, window_chunks_take(&f->chunks, US, 2), 0);
	KUNIT_EXPECT_EQ(test, window_chunks_take(&f->chunks, US, 9), 7);
	KUNIT_EXPECT_EQ(test, owned_by(f, US), 14);
	KUNIT_EXPECT_EQ(test, window_chunks_take(&f->chunks, US, 1), -ENOSPC);
}

static void too_large(struct kunit *test)
{
	struct fixture *f = test->priv;

	KUNIT_EXPECT_EQ(test, window_chunks_take(&f->chunks, US, COUNT + 1), -ENOSPC);
	KUNIT_EXPECT_EQ(test, window_chunks_take(&f->chunks, US, U32_MAX), -ENOSPC);
	KUNIT_EXPECT_EQ(test, owned_by(f, US), 0);
	KUNIT_EXPECT_EQ(test, window_chunks_take(&f->chunks, US, COUNT), 0);
}

static void given_back(struct kunit *test)
{
	struct fixture *f = test->priv;

	KUNIT_EXPECT_EQ(test, window_chunks_take(&f->chunks, US, COUNT), 0);
	KUNIT_EXPECT_EQ(test, window_chunks_give(&f->chunks, US, 0, COUNT), 0);
	KUNIT_EXPECT_EQ(test, owned_by(f, 0), COUNT);
	KUNIT_EXPECT_EQ(test, window_chunks_take(&f->chunks, US, COUNT), 0);
}

/* By the table all is free, or theirs. We know better. */
static void table_lies_about_ours(struct kunit *test)
{
	struct fixture *f = test->priv;

	KUNIT_ASSERT_EQ(test, window_chunks_take(&f->chunks, US, 4), 0);
	set_owner(f, 0, 4, 0);
	KUNIT_EXPECT_EQ(test, window_chunks_take(&f->chunks, US, 4), 4);
	set_owner(f, 0, 4, THEM);
	KUNIT_EXPECT_FALSE(test, window_chunks_are(&f->chunks, US, 0, 4));
	KUNIT_EXPECT_FALSE(test, window_chunks_attach(&f->chunks, THEM, 0, 4));
	KUNIT_EXPECT_FALSE(test, window_chunks_attach(&f->chunks, THEM, 3, 1));
	KUNIT_EXPECT_EQ(test, window_chunks_give(&f->chunks, US, 0, 4), 4);
	KUNIT_EXPECT_EQ(test, owned_by(f, THEM), 4);
}

/* Importers here still reach what the table says is free. */
static void table_lies_about_theirs(struct kunit *test)
{
	struct fixture *f = test->priv;

	set_owner(f, 0, 4, THEM);
	KUNIT_ASSERT_TRUE(test, window_chunks_attach(&f->chunks, THEM, 0, 4));
	KUNIT_ASSERT_TRUE(test, window_chunks_attach(&f->chunks, THEM, 2, 2));
	set_owner(f, 0, COUNT, 0);
	KUNIT_EXPECT_EQ(test, window_chunks_take(&f->chunks, US, COUNT - 3), -ENOSPC);
	window_chunks_detach(&f->chunks, 0, 4);
	KUNIT_EXPECT_EQ(test, window_chunks_take(&f->chunks, US, COUNT - 3), -ENOSPC);
	KUNIT_EXPECT_EQ(test, window_chunks_take(&f->chunks, US, 2), 0);
	window_chunks_detach(&f->chunks, 2, 2);
	KUNIT_EXPECT_EQ(test, window_chunks_take(&f->chunks, US, 14), 2);
}

static void attach_wants_the_owner(struct kunit *test)
{
	struct fixture *f = test->priv;

	set_owner(f, 4, 4, THEM);
	KUNIT_EXPECT_TRUE(test, window_chunks_attach(&f->chunks, THEM, 4, 4));
	KUNIT_EXPECT_FALSE(test, window_chunks_attach(&f->chunks, THEM, 3, 2));
	KUNIT_EXPECT_FALSE(test, window_chunks_attach(&f->chunks, THEM, 7, 2));
	KUNIT_EXPECT_FALSE(test, window_chunks_attach(&f->chunks, THEM + 64, 4, 4));
}

static void attach_out_of_range(struct kunit *test)
{
	struct fixture *f = test->priv;

	set_owner(f, 0, COUNT, THEM);
	KUNIT_EXPECT_TRUE(test, window_chunks_attach(&f->chunks, THEM, 0, COUNT));
	KUNIT_EXPECT_TRUE(test, window_chunks_attach(&f->chunks, THEM, COUNT - 1, 1));
	KUNIT_EXPECT_FALSE(test, window_chunks_attach(&f->chunks, THEM, COUNT, 1));
	KUNIT_EXPECT_FALSE(test, window_chunks_attach(&f->chunks, THEM, 1, COUNT));
	KUNIT_EXPECT_FALSE(test, window_chunks_attach(&f->chunks, THEM, U32_MAX, 2));
	KUNIT_EXPECT_FALSE(test, window_chunks_attach(&f->chunks, THEM, 2, U32_MAX));
	KUNIT_EXPECT_FALSE(test, window_chunks_attach(&f->chunks, THEM, U32_MAX, U32_MAX));
}

static bool they_are_gone(const void *arg, u64 owner, bool known)
{
	return owner == THEM;
}

static bool they_are_known_and_gone(const void *arg, u64 owner, bool known)
{
	return known && owner == THEM;
}

static void sweep_spares_the_living(struct kunit *test)
{
	struct fixture *f = test->priv;

	set_owner(f, 0, 4, THEM);
	set_owner(f, 4, 4, THEM + 64);
	KUNIT_ASSERT_EQ(test, window_chunks_take(&f->chunks, US, 4), 8);
	KUNIT_EXPECT_EQ(test, window_chunks_sweep(&f->chunks, they_are_gone, NULL), 4);
	KUNIT_EXPECT_EQ(test, owned_by(f, THEM), 0);
	KUNIT_EXPECT_EQ(test, owned_by(f, THEM + 64), 4);
	KUNIT_EXPECT_EQ(test, owned_by(f, US), 4);
}

/* An import of the dead node's segment, or a forged entry for one of ours. */
static void sweep_spares_what_we_hold(struct kunit *test)
{
	struct fixture *f = test->priv;

	set_owner(f, 0, 4, THEM);
	KUNIT_ASSERT_TRUE(test, window_chunks_attach(&f->chunks, THEM, 0, 2));
	KUNIT_ASSERT_EQ(test, window_chunks_take(&f->chunks, US, 2), 4);
	set_owner(f, 4, 2, THEM);
	KUNIT_EXPECT_EQ(test, window_chunks_sweep(&f->chunks, they_are_gone, NULL), 2);
	window_chunks_detach(&f->chunks, 0, 2);
	KUNIT_EXPECT_EQ(test, window_chunks_sweep(&f->chunks, they_are_gone, NULL), 2);
	KUNIT_EXPECT_EQ(test, owned_by(f, THEM), 2);
}

/* An owner is known if the sweep before has found the same one in the same chunk. */
static void sweep_knows_whom_the_last_one_found(struct kunit *test)
{
	struct fixture *f = test->priv;

	set_owner(f, 0, 2, THEM);
	KUNIT_EXPECT_EQ(test, window_chunks_sweep(&f->chunks, they_are_known_and_gone, NULL), 0);
	set_owner(f, 2, 1, THEM);
	KUNIT_EXPECT_EQ(test, window_chunks_sweep(&f->chunks, they_are_known_and_gone, NULL), 2);
	KUNIT_EXPECT_EQ(test, owned_by(f, THEM), 1);
	set_owner(f, 2, 1, THEM + 64);
	KUNIT_EXPECT_EQ(test, window_chunks_sweep(&f->chunks, they_are_known_and_gone, NULL), 0);
	set_owner(f, 2, 1, THEM);
	KUNIT_EXPECT_EQ(test, window_chunks_sweep(&f->chunks, they_are_known_and_gone, NULL), 0);
}

/* A transfer may hold memory for longer than the window is there. */
static void closed(struct kunit *test)
{
	struct fixture *f = test->priv;

	set_owner(f, 8, 1, THEM);
	KUNIT_ASSERT_EQ(test, window_chunks_take(&f->chunks, US, 4), 0);
	window_chunks_close(&f->chunks);
	KUNIT_EXPECT_EQ(test, window_chunks_give(&f->chunks, US, 0, 4), 0);
	KUNIT_EXPECT_EQ(test, owned_by(f, US), 4);
	KUNIT_EXPECT_EQ(test, window_chunks_take(&f->chunks, US, 1), -ENOSPC);
	KUNIT_EXPECT_FALSE(test, window_chunks_attach(&f->chunks, THEM, 8, 1));
	KUNIT_EXPECT_EQ(test, window_chunks_sweep(&f->chunks, they_are_gone, NULL), 0);
}

static struct kunit_case chunk_cases[] = {
	KUNIT_CASE(first_fit),
	KUNIT_CASE(too_large),
	KUNIT_CASE(given_back),
	KUNIT_CASE(table_lies_about_ours),
	KUNIT_CASE(table_lies_about_theirs),
	KUNIT_CASE(attach_wants_the_owner),
	KUNIT_CASE(attach_out_of_range),
	KUNIT_CASE(sweep_spares_the_living),
	KUNIT_CASE(sweep_spares_what_we_hold),
	KUNIT_CASE(sweep_knows_whom_the_last_one_found),
	KUNIT_CASE(closed),
	{}
};

static struct kunit_suite chunk_suite = {
	.name = "rsm_window_chunks",
	.init = make_fixture,
	.exit = free_fixture,
	.test_cases = chunk_cases,
};

kunit_test_suite(chunk_suite);
