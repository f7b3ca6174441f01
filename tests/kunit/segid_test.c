// SPDX-License-Identifier: GPL-2.0
/* Segment ids (specification 5.4). */

#include <kunit/test.h>

#include "../../kernel/core/segid.c"

static void requestable_ids(struct kunit *test)
{
	static const struct {
		u32 id;
		bool allowed;
	} cases[] = {
		{ 1, false }, { RSM_DRIVER_PRIVATE_ID_END, false },
		{ RSM_CLUSTER_TRANSPORT_ID_BASE, false },
		{ RSM_RSMLIB_ID_BASE, false }, { RSM_RSMLIB_ID_END, false },
		{ RSM_DLPI_ID_END, false },
		{ RSM_HPC_ID_BASE, true }, { RSM_OPS_ID_END, true },
		{ 0x600000, true }, { 0x7FFFFFFF, true },
		{ RSM_USER_APP_ID_BASE, false }, { RSM_USER_APP_ID_END, false },
	};

	for (int i = 0; i < ARRAY_SIZE(cases); i++)
		KUNIT_EXPECT_EQ_MSG(test, rsm_segid_requestable(cases[i].id),
				    cases[i].allowed, "id %#x", cases[i].id);
}

static struct kunit_case segid_cases[] = {
	KUNIT_CASE(requestable_ids),
	{}
};

static struct kunit_suite segid_suite = {
	.name = "rsm_segid",
	.test_cases = segid_cases,
};

kunit_test_suite(segid_suite);
