// SPDX-License-Identifier: GPL-2.0
/* Grants end with their export, and only its creator grants. */
#include "grant_test.h"

FIXTURE_TEARDOWN(grants)
{
	EXPECT_EQ(0, rsm_failures);
}

/* The import is at its end, and so is the ticket. */
static void expect_ended(struct __test_metadata *_metadata, int handle, void *base,
			 struct ticket ticket)
{
	wait_for_hangup(handle);
	EXPECT_EQ(0, word(base));
	EXPECT_EQ(NO_SUCH_TICKET, redeem_ticket(open_segment(), ticket));
}

/* A process that exports two pages, grants them, and waits until it is told to go. */
static struct ticket start_exporter(struct child *child)
{
	if (child_start(child, ROOT)) {
		void *memory = pages(2);
		int fd = open_segment();

		*word_at(memory, 0) = 111;
		CHECK(bind_memory(fd, memory, 2 * page_size(), RSM_BIND_LOCAL) == 0);
		send_descriptor(child->line, fd);
		tell_ticket(child->line, granted(fd, 0, 2 * page_size()));
		hear(child->line);
		child_end();
	}
	close(receive_descriptor(child->line));
	return hear_ticket(child->line);
}

TEST_F(grants, exporter_killed)
{
	int round;

	for (round = 0; round < 5; round++) {
		struct child exporter;
		struct ticket ticket = start_exporter(&exporter);
		int handle = redeemed(ticket);
		void *base = map(handle, 2 * self->page);

		ASSERT_NE(NULL, base);
		EXPECT_EQ(111, word(base));
		child_kill(&exporter);
		expect_ended(_metadata, handle, base, ticket);
	}
}

TEST_F(grants, exporter_exits)
{
	struct child exporter;
	struct ticket ticket = start_exporter(&exporter);
	int handle = redeemed(ticket);
	void *base = map(handle, 2 * self->page);

	ASSERT_NE(NULL, base);
	tell(exporter.line, 1);
	EXPECT_EQ(0, child_status(&exporter));
	expect_ended(_metadata, handle, base, ticket);
}

static void end_by(struct __test_metadata *_metadata, void (*end)(int fd, void *memory))
{
	void *memory = pages(2), *base;
	size_t page = page_size();
	int fd = open_segment(), handle;
	struct ticket ticket;

	*word_at(memory, 0) = 7;
	ASSERT_EQ(0, bind_memory(fd, memory, 2 * page, RSM_BIND_LOCAL));
	ticket = granted(fd, 0, 2 * page);
	handle = redeemed(ticket);
	base = map(handle, 2 * page);
	ASSERT_NE(NULL, base);
	EXPECT_EQ(7, word(base));
	end(fd, memory);
	expect_ended(_metadata, handle, base, ticket);
}

static void end_by_destroy(int fd, void *memory UNUSED)
{
	CHECK(destroy(fd) == 0);
}

static void end_by_close(int fd, void *memory UNUSED)
{
	close(fd);
}

static void end_by_munmap(int fd UNUSED, void *memory)
{
	munmap(memory + page_size(), page_size());
}

TEST_F(grants, destroyed)
{
	end_by(_metadata, end_by_destroy);
}

TEST_F(grants, closed)
{
	end_by(_metadata, end_by_close);
}

TEST_F(grants, unmapped)
{
	end_by(_metadata, end_by_munmap);
}

TEST_F(grants, destroy_returns_when_importers_are_told)
{
	int handle = redeemed(granted(self->exported, 0, self->size));

	EXPECT_FALSE(hung_up(handle));
	EXPECT_EQ(0, destroy(self->exported));
	EXPECT_TRUE(hung_up(handle));
}

TEST_F(grants, a_forked_child_grants_nothing)
{
	struct ticket ticket = granted(self->exported, 0, self->size);
	struct child child;

	if (child_start(&child, ROOT)) {
		struct ticket own = {};

		CHECK(grant_range(self->exported, &own, 0, 8) == RSMERR_NOT_CREATOR);
		CHECK(revoke_ticket(self->exported, ticket) == RSMERR_NOT_CREATOR);
		CHECK(get(redeemed(ticket), self->local, 0, 8) == 0);
		child_end();
	}
	EXPECT_EQ(0, child_status(&child));
	EXPECT_FALSE(hung_up(redeemed(ticket)));
}

/* A descriptor that another process holds keeps no grant. */
TEST_F(grants, a_passed_descriptor_keeps_no_grant)
{
	struct child exporter;
	struct ticket ticket, own = {};
	int kept, handle;
	void *base;

	if (child_start(&exporter, ROOT)) {
		int fd = open_segment();

		CHECK(bind_memory(fd, pages(2), 2 * self->page, RSM_BIND_LOCAL) == 0);
		send_descriptor(exporter.line, fd);
		tell_ticket(exporter.line, granted(fd, 0, 2 * self->page));
		hear(exporter.line);
		child_end();
	}
	kept = receive_descriptor(exporter.line);
	ticket = hear_ticket(exporter.line);
	handle = redeemed(ticket);
	base = map(handle, 2 * self->page);
	ASSERT_NE(NULL, base);
	EXPECT_EQ(RSMERR_NOT_CREATOR, grant_range(kept, &own, 0, 8));
	child_kill(&exporter);
	expect_ended(_metadata, handle, base, ticket);
}

TEST_F(grants, handles_close_in_any_order)
{
	int exporter = open_segment(), first, second;
	struct ticket ticket;

	ASSERT_EQ(0, bind_memory(exporter, self->local, self->page, RSM_BIND_LOCAL));
	ticket = granted(exporter, 0, self->page);
	first = redeemed(ticket);
	second = redeemed(ticket);
	close(first);
	close(exporter);
	EXPECT_EQ(RSMERR_CONN_ABORTED, post(second));
	close(second);
	UNTIL(same_counters(self->before));
}

TEST_F(grants, pins_are_charged_once)
{
	long long before = self->before.pinned, bound = before < 0 ? before : before + 5;
	size_t size = (PAGES + 1) * self->page;
	int exporter = open_segment(), handle;
	void *base;

	ASSERT_EQ(0, bind_memory(exporter, self->local, size, RSM_BIND_LOCAL));
	EXPECT_EQ(bound, kernel_counter("pinned_pages"));
	handle = redeemed(granted(exporter, 0, size));
	base = map(handle, size);
	ASSERT_NE(NULL, base);
	*word_at(base, 0) = 1;
	EXPECT_EQ(bound, kernel_counter("pinned_pages"));
	close(exporter);
	/* A mapping of what is dead holds nothing. */
	EXPECT_EQ(before, kernel_counter("pinned_pages"));
	EXPECT_EQ(0, word(base));
}

/* Those of a test's controllers. */
FIXTURE(controllers) {
	bool loaded;
	size_t page;
	void *memory;
	int exporter;
};

FIXTURE_SETUP(controllers)
{
	self->loaded = load_test_controllers();
	self->page = page_size();
	self->memory = pages(2);
	self->exporter = open_segment();
	fill(self->memory, 2 * self->page);
}

FIXTURE_TEARDOWN(controllers)
{
	if (self->loaded)
		unload_test_controllers();
	EXPECT_EQ(0, rsm_failures);
}

/* No controller is asked: neither one that has memory of its own, nor one that can't map. */
static void expect_grants(struct __test_metadata *_metadata, const char *controller,
			  unsigned char *memory, int exporter)
{
	size_t page = page_size(), size = 2 * page;
	struct rsm_bind bind = bind_to(controller, memory, size, RSM_BIND_LOCAL);
	unsigned char local[256];
	int handle, mapped;
	void *base;

	ASSERT_EQ(0, RSM_CALL(exporter, RSM_IOC_BIND, &bind));
	EXPECT_EQ(0, bind.window);
	handle = redeemed(granted(exporter, 4, page + 100));
	EXPECT_EQ(ENXIO, refused(handle, page, PROT_READ, 0));
	EXPECT_EQ(0, get(handle, local, page, 104));
	EXPECT_EQ(0, memcmp(local, memory + page, 104));
	EXPECT_EQ(0, post(handle));
	EXPECT_EQ(0, take_event(exporter));
	EXPECT_EQ(0, post(exporter));
	EXPECT_EQ(0, take_event(handle));
	EXPECT_EQ(0, barrier(handle, RSM_BARRIER_CLOSE));
	mapped = redeemed(granted(exporter, 0, size));
	base = map(mapped, size);
	ASSERT_NE(NULL, base);
	*word_at(base, page) = 12;
	EXPECT_EQ(12, *word_at(memory, page));
	EXPECT_EQ(0, destroy(exporter));
	EXPECT_EQ(0, *word_at(base, page));
}

TEST_F(controllers, with_a_window)
{
	NEEDS_CONTROLLERS(self);
	expect_grants(_metadata, "window0", self->memory, self->exporter);
}

TEST_F(controllers, without_mappings)
{
	NEEDS_CONTROLLERS(self);
	expect_grants(_metadata, "nomap0", self->memory, self->exporter);
}

TEST_F(controllers, of_the_node_itself)
{
	NEEDS_CONTROLLERS(self);
	expect_grants(_metadata, "loopback", self->memory, self->exporter);
}

TEST_F(controllers, that_go_away)
{
	struct rsm_bind bind = bind_to("window0", self->memory, 2 * self->page, RSM_BIND_LOCAL);
	struct ticket ticket;
	int handle, other = open_segment();
	__u64 value = 0;
	void *base;

	NEEDS_CONTROLLERS(self);
	ASSERT_EQ(0, RSM_CALL(self->exporter, RSM_IOC_BIND, &bind));
	ASSERT_EQ(0, bind_memory(other, pages(1), self->page, RSM_BIND_LOCAL));
	ticket = granted(self->exporter, 0, 2 * self->page);
	handle = redeemed(ticket);
	base = map(handle, 2 * self->page);
	ASSERT_NE(NULL, base);
	EXPECT_NE(0, word(base));
	ASSERT_TRUE(write_text("/sys/module/rsm_testctl/parameters/remove_window", "1"));
	/* The removal returns when importers are told. */
	EXPECT_TRUE(hung_up(handle));
	expect_ended(_metadata, handle, base, ticket);
	EXPECT_EQ(RSMERR_CONN_ABORTED, put(handle, &value, 0, 8));
	EXPECT_EQ(RSMERR_BAD_SEG_HNDL, grant_range(self->exporter, &ticket, 0, 8));
	EXPECT_EQ(0, post(self->exporter));
	/* An export of another controller lives on. */
	EXPECT_FALSE(hung_up(redeemed(granted(other, 0, 8))));
}

TEST_HARNESS_MAIN
