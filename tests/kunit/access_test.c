// SPDX-License-Identifier: GPL-2.0
/* Access lists: specification 6.5. */

#include <kunit/test.h>

#include "../../kernel/core/access.c"

#define UMASK	022

static void acl_numbers(struct kunit *test)
{
	static const struct {
		struct rsm_acl_entry entry;
		bool valid;
	} cases[] = {
		{ { 0, 0 }, true },
		{ { RSM_NODE_MAX, 0666 }, true },
		{ { RSM_NODE_MAX + 1, 0666 }, false },
		{ { U32_MAX, 0 }, false },
		{ { 1, 0667 }, false },
		{ { 1, 0111 }, true },
		{ { 1, U32_MAX }, false },
	};

	for (int i = 0; i < ARRAY_SIZE(cases); i++)
		KUNIT_EXPECT_EQ_MSG(test, rsm_acl_valid(&cases[i].entry, 1),
				    cases[i].valid, "case %d", i);
	KUNIT_EXPECT_TRUE(test, rsm_acl_valid(NULL, 0));
}

static void acl_last_entry_counts_as_well(struct kunit *test)
{
	const struct rsm_acl_entry list[] = { { 1, 0600 }, { 2, 0777 } };

	KUNIT_EXPECT_TRUE(test, rsm_acl_valid(list, 1));
	KUNIT_EXPECT_FALSE(test, rsm_acl_valid(list, 2));
}

static void node_mode(struct kunit *test)
{
	const struct rsm_acl_entry list[] = {
		{ 1, 0640 }, { 2, 0 }, { 1, 0666 }, { 3, 0511 },
	};
	const u32 n = ARRAY_SIZE(list);

	KUNIT_EXPECT_EQ(test, rsm_acl_node_mode(list, n, UMASK, 1), 0640);
	KUNIT_EXPECT_EQ(test, rsm_acl_node_mode(list, n, UMASK, 2), 0);
	KUNIT_EXPECT_EQ(test, rsm_acl_node_mode(list, n, UMASK, 3), 0400);
	KUNIT_EXPECT_EQ(test, rsm_acl_node_mode(list, n, UMASK, 4), -ENOENT);
}

static void default_mode(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, rsm_acl_node_mode(NULL, 0, 022, 7), 0644);
	KUNIT_EXPECT_EQ(test, rsm_acl_node_mode(NULL, 0, 077, 7), 0600);
	KUNIT_EXPECT_EQ(test, rsm_acl_node_mode(NULL, 0, 027, 0), 0640);
	KUNIT_EXPECT_EQ(test, rsm_acl_node_mode(NULL, 0, 0, 0), 0666);
}

/* Every mode, for each class: the class's own digit and nothing else. */
static void mode_classes(struct kunit *test)
{
	for (unsigned int mode = 0; mode <= 0666; mode++) {
		unsigned int owner = mode & 0600;
		unsigned int group = (mode & 0060) << 3;
		unsigned int other = (mode & 0006) << 6;

		KUNIT_ASSERT_EQ(test, rsm_mode_allows(mode, true, true), owner);
		KUNIT_ASSERT_EQ(test, rsm_mode_allows(mode, true, false), owner);
		KUNIT_ASSERT_EQ(test, rsm_mode_allows(mode, false, true), group);
		KUNIT_ASSERT_EQ(test, rsm_mode_allows(mode, false, false), other);
	}
}

static struct kunit_case access_cases[] = {
	KUNIT_CASE(acl_numbers),
	KUNIT_CASE(acl_last_entry_counts_as_well),
	KUNIT_CASE(node_mode),
	KUNIT_CASE(default_mode),
	KUNIT_CASE(mode_classes),
	{}
};

static struct kunit_suite access_suite = {
	.name = "rsm_access",
	.test_cases = access_cases,
};

kunit_test_suite(access_suite);

MODULE_DESCRIPTION("KUnit tests of the RSM kernel agent");
MODULE_LICENSE("GPL");
