// SPDX-License-Identifier: GPL-2.0
/* The shares of users and the node in a window. */

#include <kunit/test.h>

#include "../../kernel/ivshmem/share.c"

#define ALICE	KUIDT_INIT(1001)
#define BOB	KUIDT_INIT(1002)

static int make_shares(struct kunit *test)
{
	struct window_shares *shares = kunit_kzalloc(test, sizeof(*shares), GFP_KERNEL);

	if (!shares)
		return -ENOMEM;
	window_shares_init(shares);
	test->priv = shares;
	return 0;
}

static void free_shares(struct kunit *test)
{
	struct window_shares *shares = test->priv;

	if (!shares)
		return;
	KUNIT_EXPECT_TRUE(test, list_empty(&shares->users));
	KUNIT_EXPECT_EQ(test, shares->chunks, 0);
	window_shares_free(shares);
}

static struct window_refusal refusal;

static int try_take(struct window_shares *shares, kuid_t uid, u32 n, u32 user_most, u32 node_most)
{
	return window_shares_take(shares, uid, n, user_most, node_most, &refusal);
}

static void expect_refusal(struct kunit *test, u64 wanted, u32 most)
{
	KUNIT_EXPECT_EQ(test, refusal.wanted, wanted);
	KUNIT_EXPECT_EQ(test, refusal.most, most);
}

static void a_user_has_a_share(struct kunit *test)
{
	struct window_shares *shares = test->priv;

	KUNIT_EXPECT_EQ(test, try_take(shares, ALICE, 9, 8, 16), -EDQUOT);
	KUNIT_EXPECT_EQ(test, try_take(shares, ALICE, 5, 8, 16), 0);
	KUNIT_EXPECT_EQ(test, try_take(shares, ALICE, 4, 8, 16), -EDQUOT);
	expect_refusal(test, 9, 8);
	KUNIT_EXPECT_EQ(test, try_take(shares, ALICE, 3, 8, 16), 0);
	KUNIT_EXPECT_EQ(test, try_take(shares, BOB, 8, 8, 16), 0);
	window_shares_give(shares, ALICE, 5);
	KUNIT_EXPECT_EQ(test, try_take(shares, ALICE, 5, 8, 16), 0);
	window_shares_give(shares, ALICE, 8);
	window_shares_give(shares, BOB, 8);
}

static void the_node_has_a_share(struct kunit *test)
{
	struct window_shares *shares = test->priv;

	KUNIT_EXPECT_EQ(test, try_take(shares, ALICE, 8, 8, 10), 0);
	KUNIT_EXPECT_EQ(test, try_take(shares, BOB, 3, 8, 10), -EDQUOT);
	expect_refusal(test, 11, 10);
	KUNIT_EXPECT_EQ(test, try_take(shares, BOB, 2, 8, 10), 0);
	window_shares_give(shares, BOB, 2);
	window_shares_give(shares, ALICE, 8);
}

/* A share may become smaller than what is taken, and no sum is to wrap. */
static void extremes(struct kunit *test)
{
	struct window_shares *shares = test->priv;

	KUNIT_EXPECT_EQ(test, try_take(shares, ALICE, 8, 8, 16), 0);
	KUNIT_EXPECT_EQ(test, try_take(shares, ALICE, 1, 4, 16), -EDQUOT);
	KUNIT_EXPECT_EQ(test, try_take(shares, BOB, 1, 8, 4), -EDQUOT);
	KUNIT_EXPECT_EQ(test, try_take(shares, BOB, U32_MAX, U32_MAX, U32_MAX), -EDQUOT);
	KUNIT_EXPECT_EQ(test, try_take(shares, BOB, U32_MAX - 8, U32_MAX, U32_MAX), 0);
	KUNIT_EXPECT_EQ(test, try_take(shares, BOB, 1, U32_MAX, U32_MAX), -EDQUOT);
	expect_refusal(test, 1ULL + U32_MAX, U32_MAX);
	window_shares_give(shares, BOB, U32_MAX - 8);
	window_shares_give(shares, ALICE, 8);
}

static struct kunit_case share_cases[] = {
	KUNIT_CASE(a_user_has_a_share),
	KUNIT_CASE(the_node_has_a_share),
	KUNIT_CASE(extremes),
	{}
};

static struct kunit_suite share_suite = {
	.name = "rsm_window_shares",
	.init = make_shares,
	.exit = free_shares,
	.test_cases = share_cases,
};

kunit_test_suite(share_suite);
