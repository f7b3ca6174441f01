// SPDX-License-Identifier: GPL-2.0
/* Each status of GRANT, REVOKE and REDEEM, and their answers when all is well. */
#include "grant_test.h"

FIXTURE_TEARDOWN(grants)
{
	EXPECT_EQ(0, rsm_failures);
}

TEST_F(grants, ranges_that_are_wrong)
{
	const size_t size = self->size;
	const struct {
		__u64 offset, length;
		long result;
	} cases[] = {
		{ 0, 0, RSMERR_BAD_LENGTH },
		{ size, 0, RSMERR_BAD_LENGTH },
		{ 0, size + 1, RSMERR_BAD_LENGTH },
		{ 1, size, RSMERR_BAD_LENGTH },
		{ size - 1, 2, RSMERR_BAD_LENGTH },
		{ size, 1, RSMERR_BAD_LENGTH },
		{ 0, ~0ULL, RSMERR_BAD_LENGTH },
		{ 8, ~7ULL, RSMERR_BAD_LENGTH },
		{ size, ~0ULL - size + 1, RSMERR_BAD_LENGTH },
		{ size + 1, 1, RSMERR_BAD_OFFSET },
		{ ~0ULL, 1, RSMERR_BAD_OFFSET },
		{ 1ULL << 63, 1ULL << 63, RSMERR_BAD_OFFSET },
	};
	struct ticket ticket;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		EXPECT_EQ(cases[i].result, grant_range(self->exported, &ticket, cases[i].offset,
						       cases[i].length));
	EXPECT_TRUE(same_counters(self->before));
}

TEST_F(grants, ranges_at_the_edges)
{
	const size_t ranges[][2] = { { 0, 1 }, { self->size - 1, 1 }, { 0, self->size } };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ranges); i++) {
		struct ticket ticket = granted(self->exported, ranges[i][0], ranges[i][1]);

		EXPECT_EQ(0, revoke_ticket(self->exported, ticket));
	}
	EXPECT_TRUE(same_counters(self->before));
}

TEST_F(grants, permissions)
{
	const __u32 wrong[] = { 0, 1, 4, 0401, 0700, 0606, 01000, ~0u };
	const __u32 rights[] = { RSM_PERM_READ, RSM_PERM_WRITE, RSM_PERM_RDWR };
	struct ticket ticket;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(wrong); i++)
		EXPECT_EQ(RSMERR_PERM_DENIED,
			  grant_flagged(self->exported, &ticket, 0, 8, wrong[i], 0));
	for (i = 0; i < ARRAY_SIZE(rights); i++) {
		ticket = granted_with(self->exported, 0, 8, rights[i]);
		EXPECT_EQ(0, revoke_ticket(self->exported, ticket));
	}
	EXPECT_TRUE(same_counters(self->before));
}

TEST_F(grants, flags)
{
	struct ticket ticket;
	int fd = self->exported;

	EXPECT_EQ(-EOPNOTSUPP, grant_flagged(fd, &ticket, 0, 8, RSM_PERM_READ, 4));
	EXPECT_EQ(-EOPNOTSUPP, grant_flagged(fd, &ticket, 0, 8, RSM_PERM_READ, 0x80000000));
	EXPECT_EQ(RSMERR_PERM_DENIED, grant_flagged(fd, &ticket, 0, 0, 0, 0));
	EXPECT_EQ(RSMERR_PERM_DENIED, grant_flagged(fd, &ticket, 0, 0, 0, RSM_GRANT_ONCE));
	EXPECT_EQ(RSMERR_BAD_LENGTH, grant_flagged(fd, &ticket, 0, 8, 0, RSM_GRANT_SEND));
	EXPECT_EQ(RSMERR_BAD_OFFSET, grant_flagged(fd, &ticket, 8, 0, 0, RSM_GRANT_SEND));
	EXPECT_EQ(RSMERR_BAD_LENGTH,
		  grant_flagged(fd, &ticket, 0, 0, RSM_PERM_READ, RSM_GRANT_SEND));
	EXPECT_TRUE(same_counters(self->before));
}

TEST_F(grants, of_exports_that_have_an_id)
{
	struct published published;
	struct ticket ticket = {};

	ASSERT_TRUE(publish_pages(&published, 1, 0));
	EXPECT_EQ(RSMERR_BAD_SEG_HNDL, grant_range(published.fd, &ticket, 0, 8));
	EXPECT_EQ(NO_SUCH_TICKET, revoke_ticket(published.fd, ticket));
}

TEST_F(grants, of_dead_exports)
{
	struct ticket live = granted(self->exported, 0, self->size);
	struct ticket ticket;

	ASSERT_EQ(0, destroy(self->exported));
	EXPECT_EQ(RSMERR_BAD_SEG_HNDL, grant_range(self->exported, &ticket, 0, 8));
	EXPECT_EQ(NO_SUCH_TICKET, revoke_ticket(self->exported, live));
	EXPECT_EQ(NO_SUCH_TICKET, redeem_ticket(self->blank, live));
}

TEST_F(grants, answers_of_redeem)
{
	struct ticket ticket = granted_with(self->exported, 5, 77, RSM_PERM_READ);
	int control = open_control();
	struct rsm_redeem with_slot = redeem_of(ticket, control);
	struct rsm_redeem without = redeem_of(ticket, -1);
	volatile struct rsm_status_slot *slot;

	ASSERT_EQ(0, RSM_CALL(self->blank, RSM_IOC_REDEEM, &with_slot));
	EXPECT_EQ(self->size, with_slot.length);
	EXPECT_EQ(5, with_slot.offset);
	EXPECT_EQ(77, with_slot.bytes);
	EXPECT_EQ(RSM_PERM_READ, with_slot.permission);
	ASSERT_GT(self->page / RSM_SLOT_SIZE, with_slot.slot);
	slot = map_at(control, self->page, PROT_READ, RSM_MMAP_STATUS);
	ASSERT_NE(NULL, slot);
	slot = (void *)((char *)slot + with_slot.slot * RSM_SLOT_SIZE);
	EXPECT_EQ(with_slot.generation, slot->generation);
	ASSERT_EQ(0, RSM_CALL(open_segment(), RSM_IOC_REDEEM, &without));
	EXPECT_EQ(RSM_NO_SLOT, without.slot);
	EXPECT_NE(with_slot.number, without.number);
	EXPECT_EQ(0, revoke_ticket(self->exported, ticket));
	EXPECT_NE(with_slot.generation, slot->generation);
}

TEST_F(grants, a_failed_redeem_leaves_the_handle_blank)
{
	struct ticket ticket = granted(self->exported, 0, self->size);
	int fd = self->blank;

	EXPECT_EQ(NO_SUCH_TICKET, redeem_ticket(fd, (struct ticket) {}));
	EXPECT_EQ(NULL, map(fd, self->page));
	EXPECT_EQ(RSMERR_BAD_SEG_HNDL, post(fd));
	EXPECT_EQ(0, redeem_ticket(fd, ticket));
	EXPECT_EQ(RSMERR_BAD_SEG_HNDL, redeem_ticket(fd, ticket));
	EXPECT_EQ(RSMERR_BAD_SEG_HNDL, connect_segment(fd, 0x600999));
	EXPECT_EQ(RSMERR_BAD_SEG_HNDL, bind_memory(fd, self->local, self->page, 0));
}

TEST_F(grants, redeemed_handles_grant_nothing)
{
	int handle = redeemed(granted(self->exported, 0, self->size));
	struct ticket ticket = {};

	EXPECT_EQ(RSMERR_BAD_SEG_HNDL, grant_range(handle, &ticket, 0, 8));
	EXPECT_EQ(RSMERR_BAD_SEG_HNDL, revoke_ticket(handle, ticket));
	EXPECT_EQ(RSMERR_BAD_SEG_HNDL, destroy(handle));
	EXPECT_EQ(RSMERR_BAD_SEG_HNDL, rebind(handle, self->local, self->size));
}

TEST_F(grants, events_both_ways)
{
	struct ticket ticket = granted_with(self->exported, 0, self->size, RSM_PERM_READ);
	const int handles[] = { redeemed(ticket), redeemed(ticket) };
	struct rsm_transfer_entry entry = entry_of(self->local, 0, 8);
	struct rsm_transfer request = transfer_of(&entry, 1, RSM_IMPLICIT_SIGPOST);
	size_t i;

	EXPECT_EQ(0, post(handles[0]));
	EXPECT_EQ(0, take_event(self->exported));
	EXPECT_EQ(RSMERR_TIMEOUT, take_event(self->exported));
	EXPECT_EQ(0, post(self->exported));
	for (i = 0; i < ARRAY_SIZE(handles); i++) {
		EXPECT_EQ(POLLIN, polled(handles[i], POLLIN));
		EXPECT_EQ(0, take_event(handles[i]));
		EXPECT_EQ(RSMERR_TIMEOUT, take_event(handles[i]));
	}
	EXPECT_EQ(0, RSM_CALL(handles[1], RSM_IOC_GETV, &request));
	EXPECT_EQ(0, take_event(self->exported));
}

TEST_F(grants, barriers)
{
	int handle = redeemed(granted(self->exported, 0, self->size));

	EXPECT_EQ(0, barrier(handle, RSM_BARRIER_OPEN));
	EXPECT_EQ(0, barrier(handle, RSM_BARRIER_ORDER));
	EXPECT_EQ(0, barrier(handle, RSM_BARRIER_CLOSE));
}

TEST_HARNESS_MAIN
