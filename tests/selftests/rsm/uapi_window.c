// SPDX-License-Identifier: GPL-2.0
/*
 * Exports in a window, memory of the interconnect: mmap() of the handle,
 * REBIND and RANGE, RSM_BIND_LOCAL. Controller window0 of rsm_testctl.ko has
 * such a window.
 */
#include "rsm_test.h"

#define PAGES 4

FIXTURE(window) {
	volatile void *memory;
	size_t page;
	size_t size;
	int exporter;
	__u32 id;
	bool loaded;
};

FIXTURE_SETUP(window)
{
	struct rsm_bind bind;
	int i;

	self->loaded = load_test_controllers();
	if (!self->loaded)
		return;
	self->page = page_size();
	self->size = PAGES * self->page;
	self->memory = pages(PAGES);
	ASSERT_NE(NULL, self->memory);
	for (i = 0; i < PAGES; i++)
		*word_at(self->memory, i * self->page) = i + 1;
	self->exporter = open_segment();
	bind = bind_to("window0", self->memory, self->size, RSM_ALLOW_REBIND);
	ASSERT_EQ(0, RSM_CALL(self->exporter, RSM_IOC_BIND, &bind));
	ASSERT_EQ(1, bind.window);
	ASSERT_EQ(0, publish(self->exporter, &self->id));
}

FIXTURE_TEARDOWN(window)
{
	if (self->loaded)
		unload_test_controllers();
}

/* Whether the pages still hold what the set-up put there. */
static bool holds_pattern(volatile void *memory)
{
	int i;

	for (i = 0; i < PAGES; i++)
		if (*word_at(memory, i * page_size()) != i + 1)
			return false;
	return true;
}

/* Maps the handle over a range, as a library does. */
static bool show(int fd, volatile void *range, size_t size)
{
	return mmap((void *)range, size, PROT_RW, MAP_SHARED | MAP_FIXED, fd, 0) == range;
}

static struct rsm_range range_of(int fd)
{
	struct rsm_range range = {};

	CHECK(RSM_CALL(fd, RSM_IOC_RANGE, &range) == 0);
	return range;
}

static bool shown(int fd)
{
	return range_of(fd).shown == 1;
}

static bool dead(int fd)
{
	__u32 id = 0;

	return publish(fd, &id) == RSMERR_BAD_SEG_HNDL;
}

TEST_F(window, errors_of_mmap)
{
	size_t size = self->size, page = self->page;
	int fd = self->exporter;
	struct child child;

	NEEDS_CONTROLLERS(self);
	EXPECT_EQ(0, refused(fd, size, PROT_RW, 0));
	EXPECT_EQ(0, refused(fd, size, PROT_READ, 0));
	EXPECT_EQ(0, refused(fd, page, PROT_RW, 3 * page));
	EXPECT_EQ(EINVAL, mapping_error(fd, size, PROT_RW, 0, MAP_PRIVATE));
	EXPECT_EQ(ENXIO, refused(fd, size + page, PROT_RW, 0));
	EXPECT_EQ(ENXIO, refused(fd, size, PROT_RW, page));
	EXPECT_EQ(ENXIO, refused(fd, page, PROT_RW, 4 * page));
	EXPECT_EQ(EACCES, refused(fd, size, PROT_READ | PROT_EXEC, 0));
	if (child_start(&child, ROOT)) {
		CHECK(refused(fd, size, PROT_RW, 0) == EPERM);
		child_end();
	}
	EXPECT_EQ(0, child_status(&child));
	ASSERT_EQ(0, destroy(fd));
	EXPECT_EQ(ENODEV, refused(fd, size, PROT_RW, 0));
}

TEST_F(window, never_executable_and_never_larger)
{
	void *view;

	NEEDS_CONTROLLERS(self);
	view = map(self->exporter, self->size);
	ASSERT_NE(NULL, view);
	EXPECT_EQ(-1, mprotect(view, self->size, PROT_READ | PROT_EXEC));
	EXPECT_EQ(EACCES, errno);
	EXPECT_EQ(MAP_FAILED, mremap(view, self->size, self->size + self->page, MREMAP_MAYMOVE));
	munmap(view, self->size);
	/* A mapping that is not over the range may go. */
	EXPECT_EQ(0, unpublish(self->exporter));
}

TEST_F(window, a_mapping_keeps_the_segment)
{
	int handle = open_segment();
	volatile void *theirs;

	NEEDS_CONTROLLERS(self);
	ASSERT_TRUE(show(self->exporter, self->memory, self->size));
	ASSERT_EQ(0, connect_segment(handle, self->id));
	theirs = map(handle, self->size);
	ASSERT_NE(NULL, theirs);
	*word_at(self->memory, 8) = 5;
	EXPECT_EQ(5, *word_at(theirs, 8));
	close(self->exporter);
	EXPECT_EQ(5, *word_at(theirs, 8));
	*word_at(theirs, 8) = 6;
	EXPECT_EQ(6, *word_at(self->memory, 8));
}

/*
 * Otherwise a segment that dies while a library maps it over the range would
 * leave a hole there, which another thread's mmap() could get.
 */
TEST_F(window, mapped_once_more_after_the_end)
{
	void *view;

	NEEDS_CONTROLLERS(self);
	view = map(self->exporter, self->size);
	ASSERT_NE(NULL, view);
	ASSERT_EQ(0, destroy(self->exporter));
	ASSERT_TRUE(show(self->exporter, self->memory, self->size));
	EXPECT_TRUE(holds_pattern(self->memory));
	*word_at(self->memory, 8) = 5;
	EXPECT_EQ(5, *word_at(view, 8));
	munmap(view, self->size);
	EXPECT_EQ(5, *word_at(self->memory, 8));
}

TEST_F(window, importers_do_not_see_the_private_copy)
{
	int handle = open_segment();
	void *theirs;

	NEEDS_CONTROLLERS(self);
	ASSERT_TRUE(show(self->exporter, self->memory, self->size));
	ASSERT_EQ(0, connect_segment(handle, self->id));
	theirs = map(handle, self->size);
	ASSERT_NE(NULL, theirs);
	ASSERT_EQ(0, destroy(self->exporter));
	EXPECT_TRUE(holds_pattern(self->memory));
	*word_at(self->memory, 8) = 6;
	EXPECT_EQ(0, *word_at(theirs, 8));
	*word_at(theirs, 8) = 7;
	EXPECT_EQ(6, *word_at(self->memory, 8));
	EXPECT_TRUE(shown(self->exporter));
}

TEST_F(window, range_tells_whether_it_is_shown)
{
	struct rsm_range range = {};
	struct child child;
	int i;

	NEEDS_CONTROLLERS(self);
	EXPECT_FALSE(shown(self->exporter));
	EXPECT_EQ(address_of(self->memory), range_of(self->exporter).vaddr);
	EXPECT_EQ(self->size, range_of(self->exporter).length);
	/* Piece by piece. */
	for (i = PAGES - 1; i >= 0; i--) {
		void *piece = (void *)self->memory + i * self->page;

		EXPECT_FALSE(shown(self->exporter));
		ASSERT_EQ(piece, mmap(piece, self->page, PROT_RW, MAP_SHARED | MAP_FIXED,
				      self->exporter, i * self->page));
	}
	EXPECT_TRUE(shown(self->exporter));
	if (child_start(&child, ROOT)) {
		CHECK(RSM_CALL(self->exporter, RSM_IOC_RANGE, &range) == RSMERR_NOT_CREATOR);
		child_end();
	}
	EXPECT_EQ(0, child_status(&child));
}

TEST_F(window, a_range_that_is_not_all_there_is_not_shown)
{
	void *memory = (void *)self->memory;

	NEEDS_CONTROLLERS(self);
	ASSERT_TRUE(show(self->exporter, memory, self->size));
	ASSERT_EQ(0, mprotect(memory, self->page, PROT_READ));
	EXPECT_FALSE(shown(self->exporter));
	ASSERT_EQ(0, mprotect(memory, self->page, PROT_RW));
	EXPECT_TRUE(shown(self->exporter));
	ASSERT_EQ(0, munmap(memory + self->page, self->page));
	EXPECT_FALSE(shown(self->exporter));
	UNTIL(dead(self->exporter));
}

TEST_F(window, range_of_a_segment_that_is_in_no_window)
{
	struct published pinned;

	NEEDS_CONTROLLERS(self);
	ASSERT_TRUE(publish_pages(&pinned, 1, 0));
	EXPECT_FALSE(shown(pinned.fd));
}

/* Another segment's mapping over the range is none of this one. */
TEST_F(window, range_is_not_fooled_by_another_segment)
{
	struct rsm_bind bind = bind_to("window0", pages(PAGES), self->size, 0);
	int second = open_segment();

	NEEDS_CONTROLLERS(self);
	ASSERT_EQ(0, RSM_CALL(second, RSM_IOC_BIND, &bind));
	ASSERT_TRUE(show(second, self->memory, self->size));
	EXPECT_FALSE(shown(self->exporter));
}

TEST_F(window, rebind_and_back)
{
	void *memory = (void *)self->memory;
	void *other = pages(PAGES);
	int fd = self->exporter;

	NEEDS_CONTROLLERS(self);
	ASSERT_TRUE(show(fd, memory, self->size));
	*word_at(other, 0) = 100;
	ASSERT_EQ(0, rebind(fd, other, self->size));
	/* The old range shows the segment still, the new one not yet. */
	EXPECT_EQ(100, word(memory));
	EXPECT_FALSE(shown(fd));
	EXPECT_EQ(address_of(other), range_of(fd).vaddr);
	*word_at(memory, 0) = 1;
	ASSERT_EQ(0, rebind(fd, memory, self->size));
	/* Nothing was copied. */
	EXPECT_EQ(1, word(memory));
	EXPECT_EQ(0, *word_at(memory, self->page));
	EXPECT_TRUE(shown(fd));
	ASSERT_EQ(0, munmap(memory, self->page));
	EXPECT_EQ(RSMERR_BAD_SEG_HNDL, rebind(fd, other, self->size));
	UNTIL(dead(fd));
}

TEST_F(window, memory_that_a_window_does_not_take)
{
	void *shared = mmap(NULL, self->size, PROT_RW, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct rsm_bind bind = bind_to("window0", shared, self->size, 0);

	NEEDS_CONTROLLERS(self);
	EXPECT_EQ(RSMERR_BAD_ADDR, RSM_CALL(open_segment(), RSM_IOC_BIND, &bind));
}

TEST_F(window, local_handles_are_where_they_are)
{
	static const char *const controllers[] = { "window0", "nomap0", "loopback" };
	size_t size = 2 * self->page, i;
	__u32 id = 0;

	NEEDS_CONTROLLERS(self);
	for (i = 0; i < ARRAY_SIZE(controllers); i++) {
		void *memory = pages(2);
		struct rsm_bind bind = bind_to(controllers[i], memory, size, RSM_BIND_LOCAL);
		int local = open_segment(), handle = open_segment();
		__u64 value = 0;

		*word_at(memory, 0) = 3;
		ASSERT_EQ(0, RSM_CALL(local, RSM_IOC_BIND, &bind));
		EXPECT_EQ(0, bind.window);
		EXPECT_EQ(RSMERR_BAD_SEG_HNDL, publish(local, &id));
		EXPECT_EQ(ENODEV, refused(local, size, PROT_RW, 0));
		ASSERT_EQ(0, connect_segment(handle, self->id));
		ASSERT_EQ(0, transfer(handle, RSM_IOC_PUTV, entry_of_handle(local, 0, 16, 8)));
		ASSERT_EQ(0, get(handle, &value, 16, sizeof(value)));
		EXPECT_EQ(3, value);
	}
}

TEST_HARNESS_MAIN
