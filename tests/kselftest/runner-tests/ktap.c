// SPDX-License-Identifier: GPL-2.0
/* Kernel selftests that do wrong, for the runner; no test of anything else. */
#include "../kselftest_harness.h"

TEST(passes)
{
	EXPECT_EQ(1, 1);
}

TEST(fails)
{
	EXPECT_EQ(1, 2);
}

TEST(stops)
{
	ASSERT_EQ(3, 4);
}

TEST(skips)
{
	SKIP(return, "no device");
}

FIXTURE(several) {
	int value;
};

FIXTURE_VARIANT(several) {
	int value;
};

FIXTURE_VARIANT_ADD(several, one) {
	.value = 1,
};

FIXTURE_VARIANT_ADD(several, two) {
	.value = 2,
};

FIXTURE_SETUP(several)
{
	self->value = variant->value;
}

FIXTURE_TEARDOWN(several)
{
}

TEST_F(several, is_one)
{
	EXPECT_EQ(1, self->value);
}

TEST_HARNESS_MAIN
