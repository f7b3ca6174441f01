// SPDX-License-Identifier: GPL-2.0
/* Tickets can't be guessed, and there can be many of them. */
#include "grant_test.h"

FIXTURE_TEARDOWN(grants)
{
	EXPECT_EQ(0, rsm_failures);
}

/* REDEEM and REVOKE give the same answer, whatever is wrong. */
static void expect_nothing(struct __test_metadata *_metadata, int blank, int exported,
			   __u64 first, __u64 second)
{
	struct ticket ticket = { { first, second } };

	EXPECT_EQ(NO_SUCH_TICKET, redeem_ticket(blank, ticket));
	EXPECT_EQ(NO_SUCH_TICKET, revoke_ticket(exported, ticket));
}

TEST_F(grants, guesses)
{
	struct ticket ticket = granted(self->exported, 0, self->size);
	struct ticket same_range = granted(self->exported, 0, self->size);
	int fd = self->exported, blank = self->blank, bit;
	const __u64 *word = ticket.word;

	EXPECT_FALSE(same_ticket(ticket, same_range));
	expect_nothing(_metadata, blank, fd, 0, 0);
	expect_nothing(_metadata, blank, fd, ~0ULL, ~0ULL);
	expect_nothing(_metadata, blank, fd, word[0], 0);
	expect_nothing(_metadata, blank, fd, 0, word[1]);
	expect_nothing(_metadata, blank, fd, word[1], word[0]);
	expect_nothing(_metadata, blank, fd, same_range.word[0], word[1]);
	expect_nothing(_metadata, blank, fd, word[0], same_range.word[1]);
	for (bit = 0; bit < 64; bit++) {
		expect_nothing(_metadata, blank, fd, word[0] ^ 1ULL << bit, word[1]);
		expect_nothing(_metadata, blank, fd, word[0], word[1] ^ 1ULL << bit);
		expect_nothing(_metadata, blank, fd, bit, 0);
	}
	EXPECT_EQ(0, redeem_ticket(blank, ticket));
}

TEST_F(grants, only_the_export_that_granted_it_revokes)
{
	int other = open_segment(), handle;
	struct ticket foreign;

	ASSERT_EQ(0, bind_memory(other, pages(1), self->page, RSM_BIND_LOCAL));
	foreign = granted(other, 0, 8);
	EXPECT_EQ(NO_SUCH_TICKET, revoke_ticket(self->exported, foreign));
	handle = redeemed(foreign);
	EXPECT_EQ(0, get(handle, self->local, 0, 8));
	EXPECT_EQ(0, revoke_ticket(other, foreign));
	EXPECT_EQ(NO_SUCH_TICKET, revoke_ticket(other, foreign));
}

/* Numbers in the kernel's table are used again. */
TEST_F(grants, revoked_tickets_stay_so)
{
	struct ticket dead[16], live;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(dead); i++) {
		dead[i] = granted(self->exported, 0, self->size);
		ASSERT_EQ(0, revoke_ticket(self->exported, dead[i]));
	}
	live = granted(self->exported, 0, self->size);
	for (i = 0; i < ARRAY_SIZE(dead); i++) {
		EXPECT_FALSE(same_ticket(dead[i], live));
		expect_nothing(_metadata, self->blank, self->exported, dead[i].word[0],
			       dead[i].word[1]);
	}
}

#define THOUSAND 1000

static int compare_words(const void *one, const void *other)
{
	const __u64 *a = one, *b = other;

	return *a < *b ? -1 : *a > *b;
}

TEST_F(grants, a_thousand)
{
	struct ticket tickets[THOUSAND];
	__u64 words[THOUSAND];
	int handles[THOUSAND / 4];
	size_t i;

	for (i = 0; i < THOUSAND; i++) {
		tickets[i] = granted(self->exported, i, 1 + i % 7);
		words[i] = tickets[i].word[1];
		if (i % 4 == 0)
			handles[i / 4] = redeemed(tickets[i]);
	}
	qsort(words, THOUSAND, sizeof(words[0]), compare_words);
	for (i = 1; i < THOUSAND; i++)
		EXPECT_NE(words[i - 1], words[i]);
	if (self->before.grants >= 0)
		EXPECT_EQ(THOUSAND, kernel_counter("grants"));
	/* Memory is charged once, when it is bound. */
	EXPECT_EQ(self->before.pinned, kernel_counter("pinned_pages"));
	for (i = 0; i < ARRAY_SIZE(handles); i++) {
		ASSERT_EQ(0, get(handles[i], self->local, 4 * i, 1));
		EXPECT_EQ(pattern(4 * i), self->local[0]);
	}
	/* Each revocation ends what it is about, and nothing else. */
	for (i = 0; i < THOUSAND; i += 8)
		ASSERT_EQ(0, revoke_ticket(self->exported, tickets[i]));
	for (i = 0; i < ARRAY_SIZE(handles); i++)
		EXPECT_EQ(i % 2 == 0, hung_up(handles[i]));
	EXPECT_EQ(0, destroy(self->exported));
	for (i = 0; i < ARRAY_SIZE(handles); i++)
		EXPECT_TRUE(hung_up(handles[i]));
	EXPECT_EQ(self->before.grants, kernel_counter("grants"));
}

TEST_F(grants, as_many_as_an_export_can_have)
{
	struct ticket ticket = {}, one_more = {};
	int handle, i;

	for (i = 0; i < RSM_GRANTS_MAX; i++)
		ASSERT_EQ(0, grant_range(self->exported, &ticket, 0, 1));
	EXPECT_EQ(RSMERR_INSUFFICIENT_RESOURCES, grant_range(self->exported, &one_more, 0, 1));
	EXPECT_EQ(0, revoke_ticket(self->exported, ticket));
	EXPECT_EQ(0, grant_range(self->exported, &one_more, 0, 1));
	handle = redeemed(one_more);
	/* The end of the export ends them all. */
	close(self->exported);
	wait_for_hangup(handle);
	UNTIL(kernel_counter("grants") == self->before.grants);
}

TEST_F(grants, anybody_may_hold_one)
{
	struct ticket ticket = granted(self->exported, 8, 8);
	struct child child;

	if (child_start(&child, BOB)) {
		__u64 own = 4711;
		int handle = redeemed(ticket);

		CHECK(put(handle, &own, 8, 8) == 0);
		CHECK(put(handle, &own, 7, 8) == RSMERR_BAD_OFFSET);
		CHECK(refused(handle, self->page, PROT_READ, 0) == ENXIO);
		child_end();
	}
	EXPECT_EQ(0, child_status(&child));
	EXPECT_EQ(4711, *word_at(self->memory, 8));
}

#define SLOTS 100

TEST_F(grants, slots_are_given_back)
{
	struct ticket ticket = granted(self->exported, 0, self->size);
	struct rsm_redeem argument;
	bool used[RSM_TABLE_SLOTS] = {};
	int control = open_control(), handles[SLOTS], i;

	for (i = 0; i < SLOTS; i++) {
		handles[i] = open_segment();
		argument = redeem_of(ticket, control);
		ASSERT_EQ(0, RSM_CALL(handles[i], RSM_IOC_REDEEM, &argument));
		ASSERT_GT(RSM_TABLE_SLOTS, argument.slot);
		EXPECT_FALSE(used[argument.slot]);
		used[argument.slot] = true;
	}
	for (i = 0; i < SLOTS; i++)
		close(handles[i]);
	argument = redeem_of(ticket, control);
	EXPECT_EQ(0, RSM_CALL(self->blank, RSM_IOC_REDEEM, &argument));
	EXPECT_TRUE(used[argument.slot]);
}

TEST_HARNESS_MAIN
