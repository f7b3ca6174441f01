// SPDX-License-Identifier: GPL-2.0
/* Which handle takes which command, what becomes of a handle, and what answers say. */
#include "rsm_test.h"

#define WRONG_KIND RSMERR_BAD_SEG_HNDL

FIXTURE(kinds) {
	struct published published;
	int control;
	int blank;
	int exported;
	int imported;
	volatile void *memory;
	size_t size;
	struct counters before;
};

FIXTURE_SETUP(kinds)
{
	ASSERT_TRUE(publish_pages(&self->published, 2, RSM_ALLOW_REBIND));
	self->exported = self->published.fd;
	self->control = open_control();
	self->blank = open_segment();
	self->imported = open_segment();
	ASSERT_EQ(0, connect_segment(self->imported, self->published.id));
	self->size = 2 * page_size();
	self->memory = pages(2);
	ASSERT_NE(NULL, self->memory);
	self->before = read_counters();
}

FIXTURE_TEARDOWN(kinds)
{
}

TEST_F(kinds, all_answer_questions)
{
	const int handles[] = { self->control, self->blank, self->exported, self->imported };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(handles); i++) {
		struct rsm_attr attr = { .controller = "loopback" };
		struct rsm_topology_query query = {};
		struct rsm_info info = {};

		EXPECT_EQ(0, RSM_CALL(handles[i], RSM_IOC_INFO, &info));
		EXPECT_EQ(0, RSM_CALL(handles[i], RSM_IOC_ATTR, &attr));
		EXPECT_EQ(0, RSM_CALL(handles[i], RSM_IOC_TOPOLOGY, &query));
	}
	EXPECT_TRUE(same_counters(self->before));
}

TEST_F(kinds, only_blank_handles_become_something)
{
	const int handles[] = { self->control, self->exported, self->imported };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(handles); i++) {
		EXPECT_EQ(WRONG_KIND, bind_memory(handles[i], self->memory, self->size, 0));
		EXPECT_EQ(WRONG_KIND, connect_segment(handles[i], self->published.id));
		EXPECT_EQ(WRONG_KIND, redeem_ticket(handles[i], (struct ticket) {}));
	}
	EXPECT_TRUE(same_counters(self->before));
}

TEST_F(kinds, commands_of_exports)
{
	const int handles[] = { self->control, self->blank, self->imported };
	struct ticket ticket = {};
	__u64 first;
	__u32 id = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(handles); i++) {
		struct rsm_range range = {};
		int fd = handles[i];

		EXPECT_EQ(WRONG_KIND, rebind(fd, self->memory, self->size));
		EXPECT_EQ(WRONG_KIND, publish(fd, &id));
		EXPECT_EQ(WRONG_KIND, republish(fd));
		EXPECT_EQ(WRONG_KIND, unpublish(fd));
		EXPECT_EQ(WRONG_KIND, destroy(fd));
		EXPECT_EQ(WRONG_KIND, RSM_CALL(fd, RSM_IOC_RANGE, &range));
		EXPECT_EQ(WRONG_KIND, grant_range(fd, &ticket, 0, 8));
		EXPECT_EQ(WRONG_KIND, revoke_ticket(fd, ticket));
		EXPECT_EQ(WRONG_KIND, receive_message(fd, &first));
	}
	EXPECT_TRUE(same_counters(self->before));
}

TEST_F(kinds, commands_of_imports)
{
	const int handles[] = { self->control, self->blank, self->exported };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(handles); i++) {
		int fd = handles[i];

		EXPECT_EQ(WRONG_KIND, put(fd, self->memory, 0, 8));
		EXPECT_EQ(WRONG_KIND, get(fd, self->memory, 0, 8));
		EXPECT_EQ(WRONG_KIND, barrier(fd, RSM_BARRIER_OPEN));
		EXPECT_EQ(WRONG_KIND, unmap(fd, self->memory, self->size));
		EXPECT_EQ(WRONG_KIND, send_message(fd, 0));
	}
	EXPECT_EQ(0, put(self->imported, self->memory, 0, 8));
	EXPECT_EQ(0, barrier(self->imported, RSM_BARRIER_OPEN));
	EXPECT_EQ(0, barrier(self->imported, RSM_BARRIER_ORDER));
	EXPECT_EQ(0, barrier(self->imported, RSM_BARRIER_CLOSE));
}

TEST_F(kinds, commands_of_segments)
{
	const int handles[] = { self->control, self->blank };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(handles); i++) {
		EXPECT_EQ(WRONG_KIND, post(handles[i]));
		EXPECT_EQ(WRONG_KIND, take_event(handles[i]));
	}
}

TEST_F(kinds, a_failed_first_command_leaves_the_handle_blank)
{
	EXPECT_EQ(RSMERR_BAD_ADDR, bind_memory(self->blank, NULL, self->size, 0));
	EXPECT_EQ(RSMERR_SEG_NOT_PUBLISHED, connect_segment(self->blank, 0x600999));
	EXPECT_EQ(RSMERR_SEG_NOT_PUBLISHED, redeem_ticket(self->blank, (struct ticket) {}));
	EXPECT_EQ(WRONG_KIND, post(self->blank));
	EXPECT_EQ(0, connect_segment(self->blank, self->published.id));
	EXPECT_EQ(WRONG_KIND, bind_memory(self->blank, self->memory, self->size, 0));
}

TEST_F(kinds, destroyed_handles_are_good_for_close_only)
{
	struct child child;
	__u32 id = 0;

	if (child_start(&child, ROOT)) {
		CHECK(destroy(self->exported) == RSMERR_NOT_CREATOR);
		child_end();
	}
	ASSERT_EQ(0, child_status(&child));
	EXPECT_EQ(0, post(self->imported));
	EXPECT_EQ(0, destroy(self->exported));
	EXPECT_EQ(RSMERR_CONN_ABORTED, post(self->imported));
	EXPECT_EQ(RSMERR_SEG_NOT_PUBLISHED, connect_segment(self->blank, self->published.id));
	EXPECT_EQ(RSMERR_BAD_SEG_HNDL, publish(self->exported, &id));
	EXPECT_NE(0, unpublish(self->exported));
	EXPECT_NE(0, republish(self->exported));
	EXPECT_EQ(RSMERR_BAD_SEG_HNDL, rebind(self->exported, self->memory, self->size));
	EXPECT_EQ(WRONG_KIND, bind_memory(self->exported, self->memory, self->size, 0));
	destroy(self->exported);
}

TEST_F(kinds, the_size_is_the_callers)
{
	struct rsm_topology_query query = { .size = sizeof(query) };
	struct rsm_attr attr = { .size = sizeof(attr), .controller = "loopback" };
	struct rsm_info info = { .size = sizeof(info) };
	int call;

	/* A structure can be used for one call after the other. */
	for (call = 0; call < 2; call++) {
		EXPECT_EQ(0, ioctl(self->control, RSM_IOC_ATTR, &attr));
		EXPECT_EQ(0, ioctl(self->control, RSM_IOC_INFO, &info));
		EXPECT_EQ(0, ioctl(self->control, RSM_IOC_TOPOLOGY, &query));
		EXPECT_EQ(sizeof(attr), attr.size);
		EXPECT_EQ(sizeof(info), info.size);
		EXPECT_EQ(sizeof(query), query.size);
	}
}

TEST_F(kinds, a_larger_size_is_the_callers_too)
{
	struct {
		struct rsm_attr known;
		__u64 later;
	} larger = { .known = { .size = sizeof(larger), .controller = "loopback" } };

	EXPECT_EQ(0, ioctl(self->control, RSM_IOC_ATTR, &larger));
	EXPECT_EQ(sizeof(larger), larger.known.size);
}

TEST_F(kinds, numbers_and_slots_are_unique)
{
	struct rsm_bind first = bind_to("loopback", self->memory, self->size, 0);
	struct rsm_connect second = connect_to(self->published.id, RSM_PERM_READ, self->control);
	struct rsm_connect third = connect_to(self->published.id, RSM_PERM_READ, -1);

	first.control_fd = self->control;
	EXPECT_EQ(0, RSM_CALL(self->blank, RSM_IOC_BIND, &first));
	EXPECT_EQ(0, RSM_CALL(open_segment(), RSM_IOC_CONNECT, &second));
	EXPECT_NE(first.number, second.number);
	EXPECT_NE(first.slot, second.slot);
	EXPECT_GT(RSM_TABLE_SLOTS, first.slot);
	EXPECT_GT(RSM_TABLE_SLOTS, second.slot);
	EXPECT_EQ(self->published.size, second.length);
	EXPECT_EQ(1, second.mappable);
	EXPECT_EQ(0, RSM_CALL(open_segment(), RSM_IOC_CONNECT, &third));
	EXPECT_EQ(RSM_NO_SLOT, third.slot);
}

TEST_F(kinds, descriptors_of_control_handles_are_for_reading)
{
	EXPECT_EQ(O_RDONLY, fcntl(self->control, F_GETFL) & O_ACCMODE);
	EXPECT_EQ(O_RDWR, fcntl(self->blank, F_GETFL) & O_ACCMODE);
}

/* A node's attributes, and those of its controller of its own. */
TEST_F(kinds, answers_of_info_and_attr)
{
	struct rsm_attr attr = { .controller = "loopback" };
	struct rsm_info info = {};

	ASSERT_EQ(0, RSM_CALL(self->control, RSM_IOC_INFO, &info));
	EXPECT_NE(0, info.node_id);
	EXPECT_LE(3, info.max_segments);
	ASSERT_EQ(0, RSM_CALL(self->control, RSM_IOC_ATTR, &attr));
	EXPECT_EQ(page_size(), attr.page_size);
	EXPECT_EQ(1, attr.mappable);
	EXPECT_EQ(15, attr.direct_access_sizes);
	EXPECT_EQ(0, attr.atomic_sizes & ~attr.direct_access_sizes);
	EXPECT_EQ(0, attr.reserved);
}

TEST_HARNESS_MAIN
