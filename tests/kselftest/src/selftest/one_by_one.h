/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Included in front of each file of tests/selftests/rsm: lets the runner start a
 * test of it by name, each in a process of its own (main.cpp).
 */
#include "../kselftest_harness.h"

/* TEST_HARNESS_MAIN defines this function as main; -Dmain= of the compiler renames it. */
int rsm_selftest_main(int argc, char **argv);

/* The name of test number @wanted, "fixture.test" or "fixture.variant.test"; false: there is none. */
bool rsm_selftest_name(unsigned int wanted, char *name, size_t size);
/* Leaves that test alone in the harness's lists. */
void rsm_selftest_select(unsigned int wanted);

struct rsm_selftest_place {
	struct __fixture_metadata *fixture;
	struct __fixture_variant_metadata *variant;
	struct __test_metadata *test;
};

static bool rsm_selftest_find(unsigned int wanted, struct rsm_selftest_place *place)
{
	static struct __fixture_variant_metadata no_variant = { .name = "" };
	struct __fixture_metadata *f;
	struct __fixture_variant_metadata *v;
	struct __test_metadata *t;

	for (f = __fixture_list; f; f = f->next)
		for (v = f->variant ? f->variant : &no_variant; v; v = v->next)
			for (t = f->tests; t; t = t->next)
				if (!wanted--) {
					*place = (struct rsm_selftest_place) { f, v, t };
					return true;
				}
	return false;
}

bool rsm_selftest_name(unsigned int wanted, char *name, size_t size)
{
	struct rsm_selftest_place at;

	if (!rsm_selftest_find(wanted, &at))
		return false;
	snprintf(name, size, "%s%s%s.%s", at.fixture->name, at.variant->name[0] ? "." : "",
		 at.variant->name, at.test->name);
	return true;
}

void rsm_selftest_select(unsigned int wanted)
{
	struct rsm_selftest_place at;

	if (!rsm_selftest_find(wanted, &at))
		return;
	__fixture_list = at.fixture;
	at.fixture->next = NULL;
	if (at.fixture->variant)
		at.fixture->variant = at.variant;
	at.variant->next = NULL;
	at.fixture->tests = at.test;
	at.test->next = NULL;
}
