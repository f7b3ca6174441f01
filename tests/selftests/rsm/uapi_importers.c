// SPDX-License-Identifier: GPL-2.0
/* Segments with many importers, and what importers that were aborted keep. */
#include "rsm_test.h"

/* More than the kernel looks at in one go, and no multiple of that. */
#define MANY 200

FIXTURE(importers) {
	struct published published;
	int handles[MANY];
	int control;
	void *memory;
};

FIXTURE_SETUP(importers)
{
	int i;

	ASSERT_TRUE(publish_pages(&self->published, 1, RSM_ALLOW_REBIND));
	for (i = 0; i < MANY; i++)
		self->handles[i] = open_segment();
	self->control = open_control();
	self->memory = pages(1);
	ASSERT_NE(NULL, self->memory);
}

FIXTURE_TEARDOWN(importers)
{
}

static void connect_many(struct __test_metadata *_metadata, const int *handles, __u32 id)
{
	int i;

	for (i = 0; i < MANY; i++)
		ASSERT_EQ(0, connect_segment(handles[i], id));
}

TEST_F(importers, a_post_reaches_each_of_many_once)
{
	int i;

	connect_many(_metadata, self->handles, self->published.id);
	ASSERT_EQ(0, post(self->published.fd));
	for (i = 0; i < MANY; i++) {
		EXPECT_EQ(0, take_event(self->handles[i]));
		EXPECT_EQ(RSMERR_TIMEOUT, take_event(self->handles[i]));
	}
}

TEST_F(importers, unpublish_aborts_each_of_many)
{
	int later = open_segment(), i;
	__u32 id = 0;

	connect_many(_metadata, self->handles, self->published.id);
	ASSERT_EQ(0, unpublish(self->published.fd));
	for (i = 0; i < MANY; i++)
		EXPECT_TRUE(hung_up(self->handles[i]));
	/* The export can be published anew, for importers to come. */
	ASSERT_EQ(0, publish(self->published.fd, &id));
	ASSERT_EQ(0, connect_segment(later, id));
	ASSERT_EQ(0, post(self->published.fd));
	EXPECT_EQ(0, take_event(later));
	EXPECT_EQ(RSMERR_TIMEOUT, take_event(self->handles[MANY - 1]));
}

TEST_F(importers, rebind_moves_each_of_many)
{
	__u64 value;
	int i;

	connect_many(_metadata, self->handles, self->published.id);
	*word_at(self->memory, 0) = 5;
	ASSERT_EQ(0, rebind(self->published.fd, self->memory, page_size()));
	for (i = 0; i < MANY; i++) {
		value = 0;
		ASSERT_EQ(0, get(self->handles[i], &value, 0, sizeof(value)));
		EXPECT_EQ(5, value);
	}
}

TEST_F(importers, revoke_aborts_those_of_one_ticket)
{
	int exporter = open_segment(), i;
	struct ticket tickets[2];

	ASSERT_EQ(0, bind_memory(exporter, self->memory, page_size(), RSM_BIND_LOCAL));
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, grant_range(exporter, &tickets[i], 0, 8));
	for (i = 0; i < MANY; i++)
		ASSERT_EQ(0, redeem_ticket(self->handles[i], tickets[i % 2]));
	ASSERT_EQ(0, revoke_ticket(exporter, tickets[1]));
	for (i = 0; i < MANY; i++)
		EXPECT_EQ(i % 2 == 1, hung_up(self->handles[i]));
	ASSERT_EQ(0, destroy(exporter));
	for (i = 0; i < MANY; i++)
		EXPECT_TRUE(hung_up(self->handles[i]));
}

/* An export whose words are in the table of a control handle; its slot there. */
static __u32 bind_in_table(int fd, int control, void *memory, __u32 flags)
{
	struct rsm_bind argument = bind_to("loopback", memory, page_size(), flags);

	argument.control_fd = control;
	return RSM_CALL(fd, RSM_IOC_BIND, &argument) ? RSM_NO_SLOT : argument.slot;
}

TEST_F(importers, an_aborted_import_does_not_keep_the_exporters_slot)
{
	int importer = self->handles[0], exporter = open_segment();
	__u32 slot = bind_in_table(exporter, self->control, self->memory, 0);
	__u32 id = 0;

	ASSERT_NE(RSM_NO_SLOT, slot);
	ASSERT_EQ(0, publish(exporter, &id));
	ASSERT_EQ(0, connect_segment(importer, id));
	close(exporter);
	EXPECT_EQ(slot, bind_in_table(open_segment(), self->control, self->memory, 0));
	EXPECT_EQ(RSMERR_CONN_ABORTED, post(importer));
}

TEST_F(importers, a_revoked_import_does_not_keep_the_exporters_slot)
{
	int importer = self->handles[0], exporter = open_segment();
	__u32 slot = bind_in_table(exporter, self->control, self->memory, RSM_BIND_LOCAL);
	struct ticket ticket;

	ASSERT_NE(RSM_NO_SLOT, slot);
	ASSERT_EQ(0, grant_range(exporter, &ticket, 0, 8));
	ASSERT_EQ(0, redeem_ticket(importer, ticket));
	close(exporter);
	EXPECT_EQ(slot, bind_in_table(open_segment(), self->control, self->memory,
				      RSM_BIND_LOCAL));
	/* Nor has the import become a handle of another kind. */
	EXPECT_EQ(NULL, map(importer, page_size()));
}

TEST_HARNESS_MAIN
