// SPDX-License-Identifier: GPL-2.0
/*
 * A page of the caller's that does not come holds up nobody but the caller.
 * /dev/rsm_hanging of rsm_testctl.ko offers such pages: read() returns when
 * somebody hangs on one, write() lets the page come.
 */
#include "rsm_test.h"

#define ID 0x600090

FIXTURE(hanging) {
	int memory;
	int page;
	int exporter;
	int importer;
	bool loaded;
};

FIXTURE_SETUP(hanging)
{
	self->loaded = load_test_controllers();
	if (!self->loaded)
		return;
	self->page = open("/dev/rsm_hanging", O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->page);
	/* Memory that this process can take away without its mmap_lock. */
	self->memory = memfd_create("exported", MFD_CLOEXEC);
	ASSERT_EQ(0, ftruncate(self->memory, page_size()));
	self->exporter = open_segment();
	self->importer = open_segment();
}

FIXTURE_TEARDOWN(hanging)
{
	if (self->loaded)
		unload_test_controllers();
}

/* Returns when somebody hangs. */
static void wait_until_hanging(int page)
{
	CHECK(read(page, NULL, 0) == 0);
}

/* Nobody hangs any more. */
static void give(int page)
{
	CHECK(write(page, "", 1) == 1);
}

/* In the exporter: memory is published, then rebound to the page that hangs. */
static void rebind_to_hanging(int line, int fd, int memory, int page)
{
	size_t size = page_size();
	void *old = mmap(NULL, size, PROT_RW, MAP_SHARED, memory, 0);
	void *hanging = mmap(NULL, size, PROT_RW, MAP_PRIVATE, page, 0);
	__u32 id = ID;

	CHECK(bind_memory(fd, old, size, RSM_ALLOW_REBIND) == 0);
	CHECK(publish(fd, &id) == 0);
	tell(line, rebind(fd, hanging, size));
	hear(line);
}

TEST_F(hanging, rebind_works_when_the_page_has_come)
{
	struct child child;

	NEEDS_CONTROLLERS(self);
	if (child_start(&child, ROOT)) {
		rebind_to_hanging(child.line, self->exporter, self->memory, self->page);
		child_end();
	}
	wait_until_hanging(self->page);
	ASSERT_EQ(0, connect_segment(self->importer, ID));
	give(self->page);
	EXPECT_EQ(0, hear(child.line));
	tell(child.line, 1);
	EXPECT_EQ(0, child_status(&child));
	wait_for_hangup(self->importer);
}

TEST_F(hanging, importers_are_told_of_a_lost_range_during_a_rebind)
{
	struct child child;

	NEEDS_CONTROLLERS(self);
	if (child_start(&child, ROOT)) {
		rebind_to_hanging(child.line, self->exporter, self->memory, self->page);
		child_end();
	}
	wait_until_hanging(self->page);
	ASSERT_EQ(0, connect_segment(self->importer, ID));
	ASSERT_EQ(0, ftruncate(self->memory, 0));
	wait_for_hangup(self->importer);
	give(self->page);
	EXPECT_EQ(RSMERR_BAD_SEG_HNDL, hear(child.line));
	tell(child.line, 1);
	EXPECT_EQ(0, child_status(&child));
}

/* The kernel looks at the range in its own time, unless it has refused it. */
static long bind_two_pages(int fd, int memory, int page)
{
	size_t size = page_size();
	void *range = pages(2);
	long outcome;
	__u32 id = ID;

	CHECK(mmap(range, size, PROT_RW, MAP_SHARED | MAP_FIXED, memory, 0) == range);
	CHECK(mmap(range + size, size, PROT_RW, MAP_PRIVATE | MAP_FIXED, page, 0) == range + size);
	outcome = bind_memory(fd, range, 2 * size, 0);
	while (!outcome) {
		outcome = publish(fd, &id);
		if (!outcome)
			unpublish(fd);
	}
	return outcome;
}

/* The first page is pinned, and lost, before the export has its range. */
TEST_F(hanging, a_page_that_goes_while_another_is_awaited_ends_the_export)
{
	struct child child;
	__u64 outcome;

	NEEDS_CONTROLLERS(self);
	if (child_start(&child, ROOT)) {
		tell(child.line, bind_two_pages(self->exporter, self->memory, self->page));
		hear(child.line);
		child_end();
	}
	wait_until_hanging(self->page);
	ASSERT_EQ(0, ftruncate(self->memory, 0));
	give(self->page);
	outcome = hear(child.line);
	EXPECT_TRUE(outcome == RSMERR_BAD_SEG_HNDL || outcome == RSMERR_BAD_ADDR);
	tell(child.line, 1);
	EXPECT_EQ(0, child_status(&child));
}

TEST_HARNESS_MAIN
