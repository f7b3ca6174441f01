// SPDX-License-Identifier: GPL-2.0
/* Queues in which users take turns. */

#include <kunit/test.h>

#include "../../kernel/rsm_controller.h"

static kuid_t caller(void)
{
	return KUIDT_INIT(1001);
}

#define rsm_outermost_user caller
#undef EXPORT_SYMBOL_GPL
#define EXPORT_SYMBOL_GPL(symbol)
#include "../../kernel/core/turns.c"

/* An entry with a name: a letter for its user, and a number. */
struct named {
	struct rsm_turn turn;
	const char *name;
};

static struct named entry[] = {
	{ .name = "a1" }, { .name = "a2" }, { .name = "a3" },
	{ .name = "b1" }, { .name = "b2" },
	{ .name = "c1" },
};

static struct named *named(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(entry); i++)
		if (!strcmp(entry[i].name, name))
			return &entry[i];
	return NULL;
}

static void enter(struct rsm_turns *turns, const char *name)
{
	struct rsm_turn *turn = &named(name)->turn;

	rsm_turn_init(turn);
	turn->user = name[0];
	rsm_turns_add(turns, turn);
}

static void make_queue(struct rsm_turns *turns)
{
	rsm_turns_init(turns);
	for (size_t i = 0; i < ARRAY_SIZE(entry); i++)
		enter(turns, entry[i].name);
}

static void leave(struct rsm_turns *turns, const char *name)
{
	rsm_turns_del(turns, &named(name)->turn);
}

/* Takes all out, and compares. */
static void expect_order(struct kunit *test, struct rsm_turns *turns, const char *const *order)
{
	struct rsm_turn *turn;

	for (; *order; order++) {
		turn = rsm_turns_first(turns);
		KUNIT_ASSERT_NOT_NULL(test, turn);
		KUNIT_EXPECT_STREQ(test, container_of(turn, struct named, turn)->name, *order);
		rsm_turns_pop(turns, turn);
	}
	KUNIT_EXPECT_NULL(test, rsm_turns_first(turns));
	KUNIT_EXPECT_TRUE(test, RB_EMPTY_ROOT(&turns->users));
}

static void users_take_turns(struct kunit *test)
{
	static const char *const order[] = { "a1", "b1", "c1", "a2", "b2", "a3", NULL };
	struct rsm_turns turns;

	make_queue(&turns);
	expect_order(test, &turns, order);
}

static void a_user_who_comes_later_waits_for_one_of_each(struct kunit *test)
{
	static const char *const order[] = { "a2", "b1", "c1", "a3", "b2", NULL };
	struct rsm_turns turns;

	make_queue(&turns);
	leave(&turns, "b1");
	leave(&turns, "b2");
	leave(&turns, "c1");
	rsm_turns_pop(&turns, rsm_turns_first(&turns));
	enter(&turns, "b1");
	enter(&turns, "b2");
	enter(&turns, "c1");
	expect_order(test, &turns, order);
}

static void an_entry_behind_another_of_its_user_leaves(struct kunit *test)
{
	static const char *const order[] = { "a1", "b1", "c1", "a3", NULL };
	struct rsm_turns turns;

	make_queue(&turns);
	leave(&turns, "a2");
	leave(&turns, "b2");
	expect_order(test, &turns, order);
}

static void the_next_one_of_the_user_inherits_the_place(struct kunit *test)
{
	static const char *const order[] = { "a2", "c1", "a3", NULL };
	struct rsm_turns turns;

	make_queue(&turns);
	leave(&turns, "a1");
	leave(&turns, "b1");
	leave(&turns, "b2");
	expect_order(test, &turns, order);
}

static void an_inherited_place_is_not_the_last(struct kunit *test)
{
	static const char *const order[] = { "a1", "b2", "c1", "a2", "a3", NULL };
	struct rsm_turns turns;

	make_queue(&turns);
	leave(&turns, "b1");
	expect_order(test, &turns, order);
}

static void users_are_passed_over(struct kunit *test)
{
	static const char *const order[] = { "a1", "c1", "b2", "a2", "a3", NULL };
	struct rsm_turns turns;
	struct rsm_turn *turn;

	make_queue(&turns);
	turn = rsm_turns_next(&turns, rsm_turns_first(&turns));
	KUNIT_ASSERT_PTR_EQ(test, turn, &named("b1")->turn);
	rsm_turns_pop(&turns, turn);
	KUNIT_EXPECT_PTR_EQ(test, rsm_turns_next(&turns, &named("c1")->turn), &named("b2")->turn);
	KUNIT_EXPECT_NULL(test, rsm_turns_next(&turns, &named("b2")->turn));
	expect_order(test, &turns, order);
}

static void an_entry_is_of_the_caller(struct kunit *test)
{
	struct rsm_turn turn;

	rsm_turn_init(&turn);
	KUNIT_EXPECT_EQ(test, turn.user, 2 * 1001);
}

static struct kunit_case turns_cases[] = {
	KUNIT_CASE(users_take_turns),
	KUNIT_CASE(a_user_who_comes_later_waits_for_one_of_each),
	KUNIT_CASE(an_entry_behind_another_of_its_user_leaves),
	KUNIT_CASE(the_next_one_of_the_user_inherits_the_place),
	KUNIT_CASE(an_inherited_place_is_not_the_last),
	KUNIT_CASE(users_are_passed_over),
	KUNIT_CASE(an_entry_is_of_the_caller),
	{}
};

static struct kunit_suite turns_suite = {
	.name = "rsm_turns",
	.test_cases = turns_cases,
};

kunit_test_suite(turns_suite);
