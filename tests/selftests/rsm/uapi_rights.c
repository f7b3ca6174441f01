// SPDX-License-Identifier: GPL-2.0
/* Rights against a process that has no library: they are the kernel's. */
#include "rsm_test.h"

FIXTURE(rights) {
	struct published published;
	volatile void *local;
	struct counters before;
};

FIXTURE_SETUP(rights)
{
	ASSERT_TRUE(publish_pages(&self->published, 2, RSM_ALLOW_REBIND));
	self->local = pages(1);
	ASSERT_NE(NULL, self->local);
	self->before = read_counters();
}

FIXTURE_TEARDOWN(rights)
{
}

static long allow(int fd, __u32 mode)
{
	struct rsm_acl_entry entry = { local_node(), mode };

	return republish_to(fd, &entry, 1);
}

TEST_F(rights, connect)
{
	static const struct {
		__u32 mode, wanted;
		bool fine;
	} cases[] = {
		{ 0660, 0400, false }, { 0660, 0200, false }, { 0664, 0400, true },
		{ 0664, 0200, false }, { 0664, 0600, false }, { 0662, 0200, true },
		{ 0666, 0600, true },  { 0660, 0, true },
	};
	struct child child;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		ASSERT_EQ(0, allow(self->published.fd, cases[i].mode));
		if (child_start(&child, ALICE)) {
			long outcome = connect_with(open_segment(), self->published.id,
						    cases[i].wanted);

			if (cases[i].fine)
				CHECK(outcome == RSM_SUCCESS);
			else
				CHECK(outcome == RSMERR_PERM_DENIED);
			child_end();
		}
		EXPECT_EQ(0, child_status(&child)) {
			TH_LOG("mode %o, wanted %o", cases[i].mode, cases[i].wanted);
		}
	}
}

/* Without a list the mode is 0666 less the umask that the creator had at BIND. */
TEST_F(rights, the_umask_of_the_creator)
{
	struct child child;
	int fd = open_segment();
	mode_t before = umask(0026);
	__u32 id = 0;

	ASSERT_EQ(0, bind_memory(fd, self->local, page_size(), 0));
	umask(before);
	ASSERT_EQ(0, publish(fd, &id));
	if (child_start(&child, ALICE)) {
		CHECK(connect_with(open_segment(), id, RSM_PERM_READ) == RSMERR_PERM_DENIED);
		CHECK(connect_with(open_segment(), id, RSM_PERM_WRITE) == RSMERR_PERM_DENIED);
		CHECK(connect_with(open_segment(), id, RSM_PERM_NONE) == 0);
		child_end();
	}
	EXPECT_EQ(0, child_status(&child));
}

/* The controller judges the list, although the core serves the memory. */
TEST_F(rights, local_memory_takes_no_access_list)
{
	struct rsm_acl_entry entry = { local_node(), 0666 };
	struct rsm_acl_entry elsewhere = { local_node() + 1, 0666 };
	int fd = open_segment();
	__u32 id = 0;

	ASSERT_EQ(0, bind_memory(fd, self->local, page_size(), RSM_BIND_LOCAL));
	EXPECT_EQ(RSMERR_BAD_SEG_HNDL, publish(fd, &id));
	EXPECT_EQ(RSMERR_BAD_SEG_HNDL, publish_to(fd, &id, &entry, 1));
	EXPECT_EQ(RSMERR_BAD_ACL, publish_to(fd, &id, &elsewhere, 1));
	EXPECT_NE(0, republish_to(fd, &entry, 1));
}

TEST_F(rights, transfers)
{
	int reader = open_segment(), writer = open_segment(), none = open_segment();
	struct rsm_transfer_entry entry = entry_of(self->local, 0, 8);
	struct rsm_transfer request = transfer_of(&entry, 1, 0);

	*word_at(self->local, 0) = 9;
	ASSERT_EQ(0, connect_with(reader, self->published.id, RSM_PERM_READ));
	EXPECT_EQ(RSMERR_PERM_DENIED, RSM_CALL(reader, RSM_IOC_PUTV, &request));
	EXPECT_EQ(1, request.residual);
	EXPECT_EQ(0, word(self->published.memory));
	ASSERT_EQ(0, connect_with(writer, self->published.id, RSM_PERM_WRITE));
	EXPECT_EQ(RSMERR_PERM_DENIED, get(writer, self->local, 0, 8));
	EXPECT_EQ(9, word(self->local));
	ASSERT_EQ(0, connect_with(none, self->published.id, RSM_PERM_NONE));
	EXPECT_EQ(RSMERR_PERM_DENIED, put(none, self->local, 0, 8));
	EXPECT_EQ(RSMERR_PERM_DENIED, get(none, self->local, 0, 8));
}

TEST_F(rights, only_the_creator_changes_an_export)
{
	struct rsm_range range = {};
	struct child child;
	int bound = open_segment();
	__u32 id = 0;

	ASSERT_EQ(0, bind_memory(bound, self->local, page_size(), 0));
	self->before = read_counters();
	if (child_start(&child, ROOT)) {
		CHECK(publish(bound, &id) == RSMERR_NOT_CREATOR);
		CHECK(republish(self->published.fd) == RSMERR_NOT_CREATOR);
		CHECK(unpublish(self->published.fd) == RSMERR_NOT_CREATOR);
		CHECK(destroy(self->published.fd) == RSMERR_NOT_CREATOR);
		CHECK(rebind(self->published.fd, pages(2), 2 * page_size()) == RSMERR_NOT_CREATOR);
		CHECK(RSM_CALL(self->published.fd, RSM_IOC_RANGE, &range) == RSMERR_NOT_CREATOR);
		child_end();
	}
	EXPECT_EQ(0, child_status(&child));
	EXPECT_EQ(0, connect_segment(open_segment(), self->published.id));
	EXPECT_TRUE(same_counters(self->before));
}

/* Memory that another process bound is no local end of a transfer. */
TEST_F(rights, memory_of_another_process)
{
	struct rsm_transfer_entry entry = entry_of_handle(self->published.fd, 0, 0, 8);
	struct child child;

	if (child_start(&child, ROOT)) {
		int handle = open_segment();

		CHECK(connect_segment(handle, self->published.id) == 0);
		CHECK(transfer(handle, RSM_IOC_PUTV, entry) == RSMERR_BAD_SGIO);
		CHECK(transfer(handle, RSM_IOC_GETV, entry) == RSMERR_BAD_SGIO);
		child_end();
	}
	EXPECT_EQ(0, child_status(&child));
}

/* An export goes with its process, whoever else holds the descriptor. */
TEST_F(rights, a_forked_child_does_not_keep_an_export)
{
	struct child exporter;
	int handle = open_segment(), kept;
	__u32 id;

	if (child_start(&exporter, ROOT)) {
		struct published own;

		CHECK(publish_pages(&own, 1, 0));
		send_descriptor(exporter.line, own.fd);
		tell(exporter.line, own.id);
		hear(exporter.line);
		child_end();
	}
	kept = receive_descriptor(exporter.line);
	id = hear(exporter.line);
	ASSERT_EQ(0, connect_segment(handle, id));
	tell(exporter.line, 1);
	EXPECT_EQ(0, child_status(&exporter));
	wait_for_hangup(handle);
	wait_for_hangup(kept);
	EXPECT_EQ(RSMERR_CONN_ABORTED, post(handle));
	EXPECT_EQ(RSMERR_SEG_NOT_PUBLISHED, connect_segment(open_segment(), id));
}

/* A descriptor keeps the rights of its connection, wherever it goes. */
TEST_F(rights, a_handle_passed_to_another_user)
{
	size_t size = self->published.size;
	int handle = open_segment();
	struct child child;

	ASSERT_EQ(0, allow(self->published.fd, 0600));
	ASSERT_EQ(0, connect_segment(handle, self->published.id));
	if (child_start(&child, ALICE)) {
		int fd = receive_descriptor(child.line);
		void *base = map(fd, size);

		CHECK(base);
		*word_at(base, 0) = 42;
		CHECK(post(fd) == 0);
		tell(child.line, 1);
		hear(child.line);
		CHECK(word(base) == 0);
		CHECK(post(fd) == RSMERR_CONN_ABORTED);
		child_end();
	}
	send_descriptor(child.line, handle);
	close(handle);
	hear(child.line);
	EXPECT_EQ(42, word(self->published.memory));
	EXPECT_EQ(0, take_event(self->published.fd));
	ASSERT_EQ(0, unpublish(self->published.fd));
	tell(child.line, 1);
	EXPECT_EQ(0, child_status(&child));
}

TEST_HARNESS_MAIN
