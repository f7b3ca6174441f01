// SPDX-License-Identifier: GPL-2.0
/* Arrays for segments of any length. */

#include <kunit/test.h>
#include <linux/mm.h>

#include "../../kernel/core/array.c"

#define VAST ((size_t)INT_MAX + 1 + PAGE_SIZE)

static void small_arrays(struct kunit *test)
{
	u8 *array = rsm_page_array_alloc(64, GFP_KERNEL | __GFP_ZERO);

	KUNIT_ASSERT_NOT_NULL(test, array);
	KUNIT_EXPECT_EQ(test, array[63], 0);
	kvfree(array);
}

/* The pointers to the pages of 1 TiB. Takes a guest of more than 4 GiB. */
static void more_than_kvmalloc_gives(struct kunit *test)
{
	u8 *array;

	if (si_mem_available() < 3 * (VAST >> PAGE_SHIFT) / 2)
		kunit_skip(test, "not enough memory");
	array = rsm_page_array_alloc(VAST, GFP_KERNEL | __GFP_NOWARN);
	KUNIT_ASSERT_NOT_NULL(test, array);
	array[VAST - 1] = 1;
	KUNIT_EXPECT_EQ(test, array[VAST - 1], 1);
	kvfree(array);
}

static struct kunit_case array_cases[] = {
	KUNIT_CASE(small_arrays),
	KUNIT_CASE(more_than_kvmalloc_gives),
	{}
};

static struct kunit_suite array_suite = {
	.name = "rsm_array",
	.test_cases = array_cases,
};

kunit_test_suite(array_suite);
