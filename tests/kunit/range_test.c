// SPDX-License-Identifier: GPL-2.0
/* Ranges must not overflow, whatever a caller says. */

#include <kunit/test.h>

#include "../../kernel/core/range.c"

static void ranges(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, rsm_range_ok(0, 0, 0));
	KUNIT_EXPECT_TRUE(test, rsm_range_ok(0, 8, 8));
	KUNIT_EXPECT_TRUE(test, rsm_range_ok(8, 0, 8));
	KUNIT_EXPECT_FALSE(test, rsm_range_ok(1, 8, 8));
	KUNIT_EXPECT_FALSE(test, rsm_range_ok(9, 0, 8));
	KUNIT_EXPECT_FALSE(test, rsm_range_ok(U64_MAX, 1, 8));
	KUNIT_EXPECT_FALSE(test, rsm_range_ok(1, U64_MAX, 8));
	KUNIT_EXPECT_FALSE(test, rsm_range_ok(U64_MAX, U64_MAX, U64_MAX));
	KUNIT_EXPECT_TRUE(test, rsm_range_ok(U64_MAX, 0, U64_MAX));
}

static void exportable_ranges(struct kunit *test)
{
	const u64 page = PAGE_SIZE;

	KUNIT_EXPECT_EQ(test, rsm_range_exportable(page, page, 0), RSM_STS_SUCCESS);
	KUNIT_EXPECT_EQ(test, rsm_range_exportable(0, page, 0), RSM_STS_BAD_ADDR);
	KUNIT_EXPECT_EQ(test, rsm_range_exportable(page, 0, 0), RSM_STS_BAD_LENGTH);
	KUNIT_EXPECT_EQ(test, rsm_range_exportable(page, 2 * page, page), RSM_STS_BAD_LENGTH);
	KUNIT_EXPECT_EQ(test, rsm_range_exportable(page, RSM_MAX_LENGTH + page, 0),
			RSM_STS_BAD_LENGTH);
	KUNIT_EXPECT_EQ(test, rsm_range_exportable(page + 1, page, 0), RSM_STS_BAD_MEM_ALIGNMENT);
	KUNIT_EXPECT_EQ(test, rsm_range_exportable(page, page + 1, 0), RSM_STS_BAD_MEM_ALIGNMENT);
	KUNIT_EXPECT_EQ(test, rsm_range_exportable(-page, page, 0), RSM_STS_BAD_ADDR);
}

static struct kunit_case range_cases[] = {
	KUNIT_CASE(ranges),
	KUNIT_CASE(exportable_ranges),
	{}
};

static struct kunit_suite range_suite = {
	.name = "rsm_range",
	.test_cases = range_cases,
};

kunit_test_suite(range_suite);
