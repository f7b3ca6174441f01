// SPDX-License-Identifier: GPL-2.0
/* When a silent peer is dead, and which heartbeat intervals go together. */

#include <kunit/test.h>

#include <linux/export.h>

/* rsm.ko exports the functions already. */
#undef EXPORT_SYMBOL_GPL
#define EXPORT_SYMBOL_GPL(symbol)
#include "../../kernel/agent/silence.c"

#define INTERVAL	100UL
/* Times wrap soon after the start of a kernel. */
#define START		((unsigned long)-150)

static bool look(struct rsm_silence *silence, unsigned long after, bool stirred)
{
	return rsm_silence_is_death(silence, START + after, INTERVAL, stirred);
}

static void silent_for_two_intervals(struct kunit *test)
{
	struct rsm_silence silence;

	rsm_silence_begin(&silence, START);
	for (unsigned long t = 50; t < 200; t += 50)
		KUNIT_EXPECT_FALSE_MSG(test, look(&silence, t, false), "after %lu", t);
	KUNIT_EXPECT_FALSE(test, look(&silence, 199, false));
	KUNIT_EXPECT_TRUE(test, look(&silence, 200, false));
}

static void messages_are_life(struct kunit *test)
{
	struct rsm_silence silence;

	rsm_silence_begin(&silence, START);
	for (unsigned long t = 50; t <= 1000; t += 50) {
		KUNIT_EXPECT_FALSE_MSG(test, look(&silence, t, false), "after %lu", t);
		silence.heard = START + t;
	}
}

static void a_changing_word_is_life(struct kunit *test)
{
	struct rsm_silence silence;

	rsm_silence_begin(&silence, START);
	for (unsigned long t = 50; t <= 1000; t += 50)
		KUNIT_EXPECT_FALSE_MSG(test, look(&silence, t, true), "after %lu", t);
}

/* The sign that was seen at 350 was given after 300. */
static void a_sign_counts_from_the_look_before(struct kunit *test)
{
	struct rsm_silence silence;

	rsm_silence_begin(&silence, START);
	for (unsigned long t = 50; t <= 350; t += 50)
		KUNIT_EXPECT_FALSE(test, look(&silence, t, true));
	for (unsigned long t = 400; t < 500; t += 50)
		KUNIT_EXPECT_FALSE_MSG(test, look(&silence, t, false), "after %lu", t);
	KUNIT_EXPECT_TRUE(test, look(&silence, 500, false));
}

/* A later message is not forgotten for an earlier sign. */
static void a_sign_takes_nothing_away(struct kunit *test)
{
	struct rsm_silence silence;

	rsm_silence_begin(&silence, START);
	KUNIT_EXPECT_FALSE(test, look(&silence, 50, false));
	silence.heard = START + 90;
	KUNIT_EXPECT_FALSE(test, look(&silence, 100, true));
	KUNIT_EXPECT_EQ(test, silence.heard, START + 90);
}

/* All guests of a host stood still: nobody has listened, so nobody judges. */
static void who_comes_late_does_not_judge(struct kunit *test)
{
	struct rsm_silence silence;

	rsm_silence_begin(&silence, START);
	KUNIT_EXPECT_FALSE(test, look(&silence, 50, false));
	KUNIT_EXPECT_FALSE(test, look(&silence, 5000, false));
	for (unsigned long t = 5050; t < 5200; t += 50)
		KUNIT_EXPECT_FALSE_MSG(test, look(&silence, t, false), "after %lu", t);
	KUNIT_EXPECT_TRUE(test, look(&silence, 5200, false));
}

static bool is_over(const struct rsm_silence *silence, unsigned long after, unsigned long since,
		    unsigned int patiences)
{
	return rsm_patience_is_over(silence, START + after, INTERVAL, START + since, patiences);
}

static void patience_is_two_intervals(struct kunit *test)
{
	struct rsm_silence silence;

	rsm_silence_begin(&silence, START);
	for (unsigned long t = 50; t <= 1000; t += 50)
		look(&silence, t, true);
	KUNIT_EXPECT_FALSE(test, is_over(&silence, 1000, 801, 1));
	KUNIT_EXPECT_TRUE(test, is_over(&silence, 1000, 800, 1));
	KUNIT_EXPECT_FALSE(test, is_over(&silence, 1000, 201, 4));
	KUNIT_EXPECT_TRUE(test, is_over(&silence, 1000, 200, 4));
}

/* All nodes stood still from 50 to 5000: nobody has answered, so the time begins again. */
static void patience_does_not_count_a_standstill(struct kunit *test)
{
	struct rsm_silence silence;

	rsm_silence_begin(&silence, START);
	look(&silence, 50, false);
	look(&silence, 5000, false);
	for (unsigned long t = 5050; t < 5200; t += 50) {
		look(&silence, t, true);
		KUNIT_EXPECT_FALSE_MSG(test, is_over(&silence, t, 40, 1), "after %lu", t);
	}
	look(&silence, 5200, true);
	KUNIT_EXPECT_TRUE(test, is_over(&silence, 5200, 40, 1));
	/* A request made after the standstill has its own time. */
	KUNIT_EXPECT_FALSE(test, is_over(&silence, 5200, 5001, 1));
}

/* After a standstill a task may run before the timer that looks. */
static void patience_lasts_until_the_late_look(struct kunit *test)
{
	struct rsm_silence silence;

	rsm_silence_begin(&silence, START);
	look(&silence, 50, false);
	KUNIT_EXPECT_FALSE(test, is_over(&silence, 5000, 40, 1));
}

/* A late look that is long past lies in the future, as jiffies wrap. */
static void patience_ends_when_jiffies_have_wrapped(struct kunit *test)
{
	struct rsm_silence silence = { .looked = START + 200, .late = START + 300 };

	KUNIT_EXPECT_TRUE(test, is_over(&silence, 200, 0, 1));
}

static void intervals(struct kunit *test)
{
	static const struct {
		u32 a, b;
		bool fit;
	} cases[] = {
		{ 1000, 1000, true },
		{ 1000, 4000, true },
		{ 1000, 4001, false },
		{ 10, 1000, false },
		{ 10, 40, true },
		{ 60000, 15000, true },
		{ 60000, 14999, false },
		{ 0, 1000, false },
		{ 0, 0, false },
		{ U32_MAX, U32_MAX, true },
		{ U32_MAX, BIT(30), true },
		{ U32_MAX, BIT(30) - 1, false },
	};

	for (int i = 0; i < ARRAY_SIZE(cases); i++) {
		KUNIT_EXPECT_EQ_MSG(test, rsm_intervals_fit(cases[i].a, cases[i].b), cases[i].fit,
				    "case %d", i);
		KUNIT_EXPECT_EQ_MSG(test, rsm_intervals_fit(cases[i].b, cases[i].a), cases[i].fit,
				    "case %d", i);
	}
}

static struct kunit_case silence_cases[] = {
	KUNIT_CASE(silent_for_two_intervals),
	KUNIT_CASE(messages_are_life),
	KUNIT_CASE(a_changing_word_is_life),
	KUNIT_CASE(a_sign_counts_from_the_look_before),
	KUNIT_CASE(a_sign_takes_nothing_away),
	KUNIT_CASE(who_comes_late_does_not_judge),
	KUNIT_CASE(patience_is_two_intervals),
	KUNIT_CASE(patience_does_not_count_a_standstill),
	KUNIT_CASE(patience_lasts_until_the_late_look),
	KUNIT_CASE(patience_ends_when_jiffies_have_wrapped),
	KUNIT_CASE(intervals),
	{}
};

static struct kunit_suite silence_suite = {
	.name = "rsm_silence",
	.test_cases = silence_cases,
};

kunit_test_suite(silence_suite);
