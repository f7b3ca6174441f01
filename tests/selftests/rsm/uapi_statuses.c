// SPDX-License-Identifier: GPL-2.0
/* Each status of the commands of one node: arguments that are well-formed but wrong. */
#include "rsm_test.h"

FIXTURE(statuses) {
	struct published published;
	int control;
	int blank;
	int imported;
	volatile void *memory;
	size_t page;
	size_t size;
	struct counters before;
};

FIXTURE_SETUP(statuses)
{
	self->page = page_size();
	self->size = 2 * self->page;
	ASSERT_TRUE(publish_pages(&self->published, 2, RSM_ALLOW_REBIND));
	self->control = open_control();
	self->blank = open_segment();
	self->imported = open_segment();
	ASSERT_EQ(0, connect_segment(self->imported, self->published.id));
	self->memory = pages(2);
	ASSERT_NE(NULL, self->memory);
	self->before = read_counters();
}

FIXTURE_TEARDOWN(statuses)
{
}

TEST_F(statuses, attr_of_no_controller)
{
	struct rsm_attr attr = { .controller = "nosuch0" };
	struct rsm_attr unnamed = {};

	EXPECT_EQ(RSMERR_CTLR_NOT_PRESENT, RSM_CALL(self->control, RSM_IOC_ATTR, &attr));
	EXPECT_EQ(RSMERR_CTLR_NOT_PRESENT, RSM_CALL(self->control, RSM_IOC_ATTR, &unnamed));
}

TEST_F(statuses, bind_lengths_and_alignment)
{
	EXPECT_EQ(RSMERR_BAD_LENGTH, bind_memory(self->blank, self->memory, 0, 0));
	EXPECT_EQ(RSMERR_BAD_MEM_ALIGNMENT, bind_memory(self->blank, self->memory, 8, 0));
	EXPECT_EQ(RSMERR_BAD_MEM_ALIGNMENT,
		  bind_memory(self->blank, self->memory + 8, self->page, 0));
	EXPECT_EQ(RSMERR_BAD_ADDR, bind_memory(self->blank, NULL, self->page, 0));
	EXPECT_TRUE(same_counters(self->before));
}

TEST_F(statuses, bind_to_no_controller)
{
	struct rsm_bind other = bind_to("nosuch0", self->memory, self->page, 0);
	struct rsm_bind unnamed = bind_to("", self->memory, self->page, 0);

	EXPECT_EQ(RSMERR_CTLR_NOT_PRESENT, RSM_CALL(self->blank, RSM_IOC_BIND, &other));
	EXPECT_EQ(RSMERR_CTLR_NOT_PRESENT, RSM_CALL(self->blank, RSM_IOC_BIND, &unnamed));
	EXPECT_TRUE(same_counters(self->before));
}

TEST_F(statuses, bind_ranges_that_no_process_has)
{
	const __u64 addresses[] = { 0xfffffffffffff000, KERNEL_ADDRESS, 0x00007ffffffff000,
				    0x1000000000000000 };
	const __u64 lengths[] = { 0xfffffffffffff000, 0x8000000000000000, 0x00007ffffffff000,
				  0x100000000000 };
	/* Pages are of 4, 16 or 64 KiB. */
	const __u64 whole_pages = ~((__u64)self->page - 1);
	long outcome;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(addresses); i++)
		EXPECT_EQ(RSMERR_BAD_ADDR,
			  bind_memory(self->blank, (void *)(uintptr_t)(addresses[i] & whole_pages),
				      self->page, 0));
	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		outcome = bind_memory(self->blank, self->memory, lengths[i] & whole_pages, 0);
		EXPECT_TRUE(outcome == RSMERR_BAD_ADDR || outcome == RSMERR_BAD_LENGTH);
	}
	EXPECT_TRUE(same_counters(self->before));
}

TEST_F(statuses, bind_memory_that_is_not_there_or_not_the_callers)
{
	void *unreadable = pages_with(1, PROT_NONE);
	void *read_only = pages_with(1, PROT_READ);
	void *gone = pages(1);

	EXPECT_EQ(RSMERR_PERM_DENIED, bind_memory(self->blank, read_only, self->page, 0));
	EXPECT_EQ(RSMERR_PERM_DENIED, bind_memory(self->blank, unreadable, self->page,
						  RSM_BIND_LOCAL | RSM_BIND_READ));
	munmap(gone, self->page);
	EXPECT_EQ(RSMERR_BAD_ADDR, bind_memory(self->blank, gone, self->page, 0));
	EXPECT_TRUE(same_counters(self->before));
	EXPECT_EQ(0, bind_memory(self->blank, self->memory, self->size, RSM_CREATE_SEG_DONTWAIT));
}

TEST_F(statuses, bind_memory_of_the_device)
{
	void *words = map_at(self->control, self->page, PROT_RW, RSM_MMAP_CONSUMED);
	void *mapped = map(self->imported, self->size);

	ASSERT_NE(NULL, mapped);
	EXPECT_NE(0, bind_memory(self->blank, mapped, self->size, 0));
	ASSERT_NE(NULL, words);
	/* Device nodes lie on devtmpfs, which has the magic number of tmpfs. */
	EXPECT_EQ(RSMERR_BAD_ADDR, bind_memory(self->blank, words, self->page, RSM_BIND_LOCAL));
	EXPECT_TRUE(same_counters(self->before));
}

TEST_F(statuses, connect_to_nothing)
{
	struct rsm_connect foreign = connect_to(self->published.id, RSM_PERM_READ, -1);
	struct rsm_connect nowhere = foreign;

	foreign.node++;
	EXPECT_EQ(RSMERR_CTLR_NOT_PRESENT, RSM_CALL(self->blank, RSM_IOC_CONNECT, &foreign));
	strcpy(nowhere.controller, "nosuch0");
	EXPECT_EQ(RSMERR_CTLR_NOT_PRESENT, RSM_CALL(self->blank, RSM_IOC_CONNECT, &nowhere));
	EXPECT_EQ(RSMERR_SEG_NOT_PUBLISHED, connect_segment(self->blank, 0x600999));
}

TEST_F(statuses, connect_for_rights_that_there_are_not)
{
	const __u32 wrong[] = { 01, 0100, 0777, 0666, 0x80000000, ~0u };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(wrong); i++)
		EXPECT_EQ(RSMERR_PERM_DENIED,
			  connect_with(self->blank, self->published.id, wrong[i]));
}

/* Loopback reaches no other node. */
TEST_F(statuses, lists)
{
	const __u32 node = local_node();
	const struct rsm_acl_entry wrong[] = { { node + 1, 0666 }, { RSM_NODE_MAX + 1, 0666 },
					       { ~0u, 0666 }, { node, 0667 }, { node, ~0u } };
	__u32 id;
	size_t i;

	ASSERT_EQ(0, bind_memory(self->blank, self->memory, self->size, 0));
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		id = 0x600030;
		EXPECT_EQ(RSMERR_BAD_ACL, publish_to(self->blank, &id, &wrong[i], 1));
		EXPECT_EQ(RSMERR_BAD_ACL, republish_to(self->published.fd, &wrong[i], 1));
	}
	id = 0x600030;
	EXPECT_EQ(0, publish(self->blank, &id));
	EXPECT_EQ(0, unpublish(self->blank));
}

TEST_F(statuses, lists_that_are_too_long_or_not_there)
{
	const __u32 counts[] = { RSM_ACL_MAX + 1, 0x20000000, ~0u };
	const __u64 addresses[] = { 0, 8, KERNEL_ADDRESS, ~3ULL };
	size_t i;

	ASSERT_EQ(0, bind_memory(self->blank, self->memory, self->size, 0));
	for (i = 0; i < ARRAY_SIZE(counts); i++) {
		struct rsm_publish request = { .id = 0x600030, .acl_count = counts[i],
					       .acl = address_of(self->memory) };

		EXPECT_EQ(RSMERR_BAD_ACL, RSM_CALL(self->blank, RSM_IOC_PUBLISH, &request));
	}
	for (i = 0; i < ARRAY_SIZE(addresses); i++) {
		struct rsm_publish request = { .id = 0x600030, .acl_count = 1,
					       .acl = addresses[i] };

		EXPECT_EQ(RSMERR_BAD_ADDR, RSM_CALL(self->blank, RSM_IOC_PUBLISH, &request));
	}
}

/* Loopback has one node, and so room for one entry; a list that is refused changes nothing. */
TEST_F(statuses, a_list_of_two_entries)
{
	struct rsm_acl_entry list[] = { { local_node(), 0660 }, { local_node(), 0666 } };
	struct child child;

	ASSERT_EQ(0, republish_to(self->published.fd, list, 1));
	EXPECT_EQ(RSMERR_BAD_ACL, republish_to(self->published.fd, list, ARRAY_SIZE(list)));
	if (child_start(&child, ALICE)) {
		CHECK(connect_with(open_segment(), self->published.id, RSM_PERM_READ) ==
		      RSMERR_PERM_DENIED);
		child_end();
	}
	EXPECT_EQ(0, child_status(&child));
}

TEST_F(statuses, publish_ids)
{
	const __u32 reserved[] = { 1, 0xFFFFF, 0x100000, 0x200000, 0x3FFFFF, 0x80000000, ~0u };
	__u32 id;
	size_t i;

	ASSERT_EQ(0, bind_memory(self->blank, self->memory, self->size, 0));
	for (i = 0; i < ARRAY_SIZE(reserved); i++) {
		id = reserved[i];
		EXPECT_EQ(RSMERR_RESERVED_SEGID, publish(self->blank, &id));
	}
	id = self->published.id;
	EXPECT_EQ(RSMERR_SEG_ALREADY_PUBLISHED, publish(self->published.fd, &id));
	id = 0x600031;
	ASSERT_EQ(0, publish(self->blank, &id));
	ASSERT_EQ(0, unpublish(self->published.fd));
	EXPECT_EQ(RSMERR_SEGID_IN_USE, publish(self->published.fd, &id));
	id = 0;
	EXPECT_EQ(0, publish(self->published.fd, &id));
	EXPECT_LE(RSM_USER_APP_ID_BASE, id);
}

TEST_F(statuses, of_what_is_not_published)
{
	ASSERT_EQ(0, bind_memory(self->blank, self->memory, self->size, 0));
	EXPECT_EQ(RSMERR_SEG_NOT_PUBLISHED, republish(self->blank));
	EXPECT_EQ(RSMERR_SEG_NOT_PUBLISHED, unpublish(self->blank));
	EXPECT_EQ(RSMERR_REBIND_NOT_ALLOWED, rebind(self->blank, self->memory, self->size));
}

TEST_F(statuses, local_memory_has_no_id)
{
	__u32 id = 0;

	ASSERT_EQ(0, bind_memory(self->blank, self->memory, self->size, RSM_BIND_LOCAL));
	EXPECT_EQ(RSMERR_BAD_SEG_HNDL, publish(self->blank, &id));
}

TEST_F(statuses, rebind_statuses)
{
	void *other = pages(2);
	int fd = self->published.fd;

	EXPECT_EQ(RSMERR_BAD_LENGTH, rebind(fd, other, self->page));
	EXPECT_EQ(RSMERR_BAD_LENGTH, rebind(fd, other, ~0ULL));
	EXPECT_EQ(RSMERR_BAD_ADDR, rebind(fd, other + 1, self->size));
	EXPECT_EQ(RSMERR_BAD_ADDR, rebind(fd, NULL, self->size));
	EXPECT_EQ(RSMERR_BAD_ADDR, rebind(fd, (void *)~0xffful, self->size));
	ASSERT_EQ(0, mprotect(other, self->page, PROT_READ));
	EXPECT_EQ(RSMERR_PERM_DENIED, rebind(fd, other, self->size));
	ASSERT_EQ(0, mprotect(other, self->page, PROT_RW));
	EXPECT_TRUE(same_counters(self->before));
	EXPECT_EQ(0, rebind(fd, other, self->size));
	*word_at(other, 8) = 6;
	EXPECT_EQ(0, get(self->imported, self->memory, 8, 8));
	EXPECT_EQ(6, word(self->memory));
}

TEST_F(statuses, unmap_statuses)
{
	void *mapped = map(self->imported, self->size);
	int fd = self->imported;

	ASSERT_NE(NULL, mapped);
	EXPECT_EQ(RSMERR_BAD_MEM_ALIGNMENT, unmap(fd, mapped + 8, self->page));
	EXPECT_EQ(RSMERR_BAD_ADDR, unmap(fd, mapped, 0));
	EXPECT_EQ(RSMERR_BAD_ADDR, unmap(fd, mapped, ~0ULL));
	EXPECT_EQ(RSMERR_BAD_ADDR, unmap(fd, mapped, ~0ULL - self->size));
	EXPECT_EQ(RSMERR_BAD_ADDR, unmap(fd, (void *)~(self->page - 1), self->page));
	/* Nothing of the handle is there. */
	EXPECT_EQ(0, unmap(fd, self->memory, self->size));
	*word_at(self->memory, 0) = 1;
}

/* Another handle's mapping of the same segment stays. */
TEST_F(statuses, unmap_is_about_one_handle)
{
	void *mapped = map(self->imported, self->size);
	int other = open_segment();

	ASSERT_NE(NULL, mapped);
	ASSERT_EQ(0, connect_segment(other, self->published.id));
	EXPECT_EQ(0, unmap(other, mapped, self->size));
	EXPECT_EQ(0, msync(mapped, self->size, MS_ASYNC));
	/* The last page counts as a whole. */
	EXPECT_EQ(0, unmap(self->imported, mapped, self->page + 1));
	EXPECT_EQ(-1, msync(mapped, self->page, MS_ASYNC));
	EXPECT_EQ(-1, msync(mapped + self->page, self->page, MS_ASYNC));
}

TEST_F(statuses, topology_arrays)
{
	struct rsm_topology_query wild = { .controllers = 8, .peers = ~7ULL,
					   .controller_count = ~0u, .peer_count = ~0u };
	struct rsm_topology_query query = {};
	long outcome;

	EXPECT_EQ(0, RSM_CALL(self->control, RSM_IOC_TOPOLOGY, &query));
	EXPECT_EQ(local_node(), query.node_id);
	outcome = RSM_CALL(self->control, RSM_IOC_TOPOLOGY, &wild);
	EXPECT_TRUE(outcome == RSMERR_BAD_ADDR || (!outcome && !wild.controller_count));
}

static const struct transfer_case {
	const char *what;
	__u32 result;
	struct rsm_transfer_entry entry;
} transfer_cases[] = {
	{ "type 0", RSMERR_BAD_SGIO, { .type = 0, .fd = -1, .length = 8 } },
	{ "type 3", RSMERR_BAD_SGIO, { .type = 3, .fd = -1, .length = 8 } },
	{ "no descriptor", RSMERR_BAD_SGIO, { .type = RSM_HANDLE_TYPE, .fd = -1, .length = 8 } },
	{ "a descriptor that is not open", RSMERR_BAD_SGIO,
	  { .type = RSM_HANDLE_TYPE, .fd = 54321, .length = 8 } },
	{ "address 0", RSMERR_BAD_ADDR, { .type = RSM_VA_TYPE, .fd = -1, .length = 8 } },
	{ "kernel address", RSMERR_BAD_ADDR,
	  { .type = RSM_VA_TYPE, .fd = -1, .addr = KERNEL_ADDRESS, .length = 8 } },
	{ "address that wraps", RSMERR_BAD_ADDR,
	  { .type = RSM_VA_TYPE, .fd = -1, .addr = 4096, .local_offset = ~100ULL, .length = 8 } },
	{ "remote offset far beyond", RSMERR_BAD_OFFSET,
	  { .type = RSM_VA_TYPE, .fd = -1, .addr = 4096, .remote_offset = ~0ULL, .length = 8 } },
	{ "remote end that wraps", RSMERR_BAD_LENGTH,
	  { .type = RSM_VA_TYPE, .fd = -1, .addr = 4096, .remote_offset = 16, .length = ~7ULL } },
};

static void expect_transfer(struct __test_metadata *_metadata, int imported, int exported,
			    volatile void *memory, const struct transfer_case *c)
{
	const unsigned long commands[] = { RSM_IOC_PUTV, RSM_IOC_GETV };
	struct rsm_transfer_entry entries[] = { c->entry, entry_of(memory, 64, 8) };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		struct rsm_transfer request = transfer_of(entries, 2, RSM_IMPLICIT_SIGPOST);

		EXPECT_EQ(c->result, RSM_CALL(imported, commands[i], &request)) {
			TH_LOG("%s", c->what);
		}
		EXPECT_EQ(2, request.residual);
		EXPECT_EQ(0, request.done);
		EXPECT_EQ(RSMERR_TIMEOUT, take_event(exported));
	}
}

TEST_F(statuses, transfer_entries)
{
	size_t i;

	*word_at(self->memory, 0) = 5;
	for (i = 0; i < ARRAY_SIZE(transfer_cases); i++)
		expect_transfer(_metadata, self->imported, self->published.fd, self->memory,
				&transfer_cases[i]);
	EXPECT_EQ(0, *word_at(self->published.memory, 64));
	EXPECT_TRUE(same_counters(self->before));
}

TEST_F(statuses, transfer_entries_of_this_process)
{
	int own = open_segment();
	const size_t end = self->published.size;
	const struct transfer_case cases[] = {
		{ "another device", RSMERR_BAD_SGIO,
		  entry_of_handle(open("/dev/null", O_RDWR | O_CLOEXEC), 0, 0, 8) },
		{ "a blank handle", RSMERR_BAD_SGIO, entry_of_handle(self->blank, 0, 0, 8) },
		{ "a control handle", RSMERR_BAD_SGIO, entry_of_handle(self->control, 0, 0, 8) },
		{ "an import", RSMERR_BAD_SGIO, entry_of_handle(self->imported, 0, 0, 8) },
		{ "remote offset beyond", RSMERR_BAD_OFFSET, entry_of(self->memory, end + 1, 8) },
		{ "ends beyond", RSMERR_BAD_LENGTH, entry_of(self->memory, end - 7, 8) },
		{ "local handle too short", RSMERR_BAD_LENGTH,
		  entry_of_handle(own, self->size - 4, 0, 8) },
		{ "offset of the local handle wraps", RSMERR_BAD_LENGTH,
		  entry_of_handle(own, ~3ULL, 0, 8) },
		{ "no access", RSMERR_BAD_ADDR, entry_of(pages_with(1, PROT_NONE), 0, 8) },
	};
	size_t i;

	ASSERT_EQ(0, bind_memory(own, self->memory, self->size, 0));
	for (i = 0; i < ARRAY_SIZE(cases); i++)
		expect_transfer(_metadata, self->imported, self->published.fd, self->memory,
				&cases[i]);
	*word_at(self->memory, 0) = 6;
	EXPECT_EQ(0, transfer(self->imported, RSM_IOC_PUTV, entry_of_handle(own, 0, 8, 8)));
	EXPECT_EQ(6, *word_at(self->published.memory, 8));
}

TEST_F(statuses, transfers_without_entries)
{
	struct rsm_transfer_entry entry = entry_of(self->memory, 0, 8);
	const __u64 addresses[] = { 0, KERNEL_ADDRESS, ~7ULL };
	const __u32 counts[] = { 0, RSM_MAX_SGIOREQS + 1, 0x10000000, ~0u };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(counts); i++) {
		struct rsm_transfer request = transfer_of(&entry, counts[i], 0);

		EXPECT_EQ(RSMERR_BAD_SGIO, RSM_CALL(self->imported, RSM_IOC_PUTV, &request));
	}
	for (i = 0; i < ARRAY_SIZE(addresses); i++) {
		struct rsm_transfer request = transfer_of(NULL, 2, 0);

		request.entries = addresses[i];
		EXPECT_EQ(RSMERR_BAD_ADDR, RSM_CALL(self->imported, RSM_IOC_PUTV, &request));
	}
}

TEST_F(statuses, as_many_entries_as_there_can_be)
{
	struct rsm_transfer_entry entries[RSM_MAX_SGIOREQS] = {};
	struct rsm_transfer request = transfer_of(entries, RSM_MAX_SGIOREQS, RSM_IMPLICIT_SIGPOST);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(entries); i++) {
		*word_at(self->memory, 8 * i) = 100 + i;
		entries[i] = entry_of(self->memory + 8 * i, 16 * i, 8);
	}
	EXPECT_EQ(0, RSM_CALL(self->imported, RSM_IOC_PUTV, &request));
	EXPECT_EQ(0, request.residual);
	for (i = 0; i < ARRAY_SIZE(entries); i++)
		EXPECT_EQ(100 + i, *word_at(self->published.memory, 16 * i));
	EXPECT_EQ(0, take_event(self->published.fd));
}

TEST_F(statuses, getv_into_read_only_memory)
{
	*word_at(self->memory, 0) = 5;
	ASSERT_EQ(0, mprotect((void *)self->memory, self->page, PROT_READ));
	EXPECT_EQ(RSMERR_BAD_ADDR, get(self->imported, self->memory, 0, 8));
	EXPECT_EQ(0, put(self->imported, self->memory, 0, 8));
	EXPECT_EQ(5, word(self->published.memory));
}

TEST_F(statuses, aborted_connections)
{
	struct rsm_transfer_entry entry = entry_of(self->memory, 0, 8);
	struct rsm_transfer request = transfer_of(&entry, 1, 0);

	ASSERT_EQ(0, barrier(self->imported, RSM_BARRIER_OPEN));
	ASSERT_EQ(0, unpublish(self->published.fd));
	EXPECT_EQ(RSMERR_CONN_ABORTED, RSM_CALL(self->imported, RSM_IOC_PUTV, &request));
	EXPECT_EQ(1, request.residual);
	EXPECT_EQ(RSMERR_CONN_ABORTED, get(self->imported, self->memory, 0, 8));
	EXPECT_EQ(RSMERR_CONN_ABORTED, post(self->imported));
	EXPECT_EQ(RSMERR_CONN_ABORTED, barrier(self->imported, RSM_BARRIER_ORDER));
	EXPECT_EQ(RSMERR_CONN_ABORTED, barrier(self->imported, RSM_BARRIER_CLOSE));
	EXPECT_EQ(RSMERR_TIMEOUT, take_event(self->imported));
	EXPECT_EQ(ENODEV, refused(self->imported, self->size, PROT_READ, 0));
	EXPECT_EQ(RSMERR_BAD_SEG_HNDL, connect_segment(self->imported, self->published.id));
}

TEST_HARNESS_MAIN
