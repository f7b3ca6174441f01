// SPDX-License-Identifier: GPL-2.0
/* Memory that can be bound to be granted: memory that is only read, and files of tmpfs. */
#include <sys/mount.h>

#include "grant_test.h"

#define TO_READ (RSM_BIND_LOCAL | RSM_BIND_READ)

FIXTURE_TEARDOWN(grants)
{
	EXPECT_EQ(0, rsm_failures);
}

/* An export of memory that is only read, all of it granted and redeemed. */
struct shared {
	int exporter;
	int importer;
	long bound;
};

static struct shared share(const volatile void *memory, size_t length)
{
	struct shared shared = { .exporter = open_segment(), .importer = open_segment() };
	struct ticket ticket;

	shared.bound = bind_memory(shared.exporter, memory, length, TO_READ);
	if (shared.bound)
		return shared;
	ticket = granted_with(shared.exporter, 0, length, RSM_PERM_READ);
	CHECK(redeem_ticket(shared.importer, ticket) == 0);
	return shared;
}

/* The first word as the importer reads it. */
static __u64 first_word(struct shared shared)
{
	__u64 value = ~0ULL;

	CHECK(get(shared.importer, &value, 0, sizeof(value)) == 0);
	return value;
}

/*
 * The export has survived what was done to its memory. The kernel's work items
 * start in the order in which they are queued: when the later loss of another
 * export has been noticed, the look at this one has started.
 */
static void expect_alive(struct shared shared)
{
	void *memory = pages_with(1, PROT_READ);
	struct shared marker = share(memory, page_size());

	CHECK(marker.bound == 0);
	munmap(memory, page_size());
	wait_for_hangup(marker.importer);
	close(marker.importer);
	close(marker.exporter);
	CHECK(!hung_up(shared.importer));
}

TEST_F(grants, private_memory_that_can_not_be_written)
{
	volatile void *memory = pages_with(2, PROT_READ);
	size_t size = 2 * self->page;
	struct ticket ticket;
	struct shared shared;

	EXPECT_EQ(RSMERR_PERM_DENIED, bind_memory(self->blank, memory, size, RSM_BIND_LOCAL));
	shared = share(memory, size);
	ASSERT_EQ(0, shared.bound);
	EXPECT_EQ(0, first_word(shared));
	EXPECT_EQ(RSMERR_PERM_DENIED,
		  grant_flagged(shared.exporter, &ticket, 0, 8, RSM_PERM_WRITE, 0));
	EXPECT_EQ(RSMERR_PERM_DENIED,
		  grant_flagged(shared.exporter, &ticket, 0, 8, RSM_PERM_RDWR, 0));
	EXPECT_EQ(RSMERR_PERM_DENIED, put(shared.importer, self->local, 0, 8));
	EXPECT_EQ(EACCES, refused(shared.importer, self->page, PROT_RW, 0));
	EXPECT_EQ(0, refused(shared.importer, self->page, PROT_READ, 0));
	/* Made writable, it is still the same memory. */
	ASSERT_EQ(0, mprotect((void *)memory, size, PROT_RW));
	*word_at(memory, 0) = 77;
	expect_alive(shared);
	EXPECT_EQ(77, first_word(shared));
}

TEST_F(grants, memory_that_was_never_touched)
{
	void *memory = pages(64);
	struct shared shared = share(memory, 64 * self->page);
	size_t at;

	ASSERT_EQ(0, shared.bound);
	for (at = 0; at < 64 * self->page; at += self->page)
		*word_at(memory, at) = 5;
	expect_alive(shared);
	EXPECT_EQ(5, first_word(shared));
}

TEST_F(grants, private_mapping_of_a_file)
{
	int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	size_t size = 2 * self->page;
	void *text = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0), *base;
	struct shared shared;

	ASSERT_NE(MAP_FAILED, text);
	shared = share(text, size);
	ASSERT_EQ(0, shared.bound);
	ASSERT_EQ(0, get(shared.importer, self->local, 0, size));
	EXPECT_EQ(0, memcmp(self->local, text, size));
	base = map_at(shared.importer, size, PROT_READ, 0);
	ASSERT_NE(NULL, base);
	EXPECT_EQ(0, memcmp(base, "\177ELF", 4));
	ASSERT_EQ(0, mprotect(text, size, PROT_RW));
	*word_at(text, 0) = 78;
	expect_alive(shared);
	EXPECT_EQ(78, first_word(shared));
	/* The file was not written. */
	text = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
	EXPECT_EQ(0, memcmp(text, "\177ELF", 4));
}

TEST_F(grants, lives_for_as_long_as_it_can_be_read)
{
	size_t page = self->page;
	void *memory = pages(2);
	struct shared shared, again;

	*word_at(memory, 0) = 3;
	shared = share(memory, 2 * page);
	ASSERT_EQ(0, shared.bound);
	ASSERT_EQ(0, mprotect(memory, page, PROT_READ));
	expect_alive(shared);
	EXPECT_EQ(3, first_word(shared));
	ASSERT_EQ(0, mprotect(memory, page, PROT_NONE));
	wait_for_hangup(shared.importer);
	again = share(memory + page, page);
	ASSERT_EQ(0, again.bound);
	munmap(memory, 2 * page);
	wait_for_hangup(again.importer);
}

TEST_F(grants, fork_leaves_the_pages_with_the_parent)
{
	void *memory = pages_with(4, PROT_READ);
	size_t size = 4 * self->page;
	struct shared shared = share(memory, size);
	struct child child;

	ASSERT_EQ(0, shared.bound);
	ASSERT_EQ(0, mprotect(memory, size, PROT_RW));
	if (child_start(&child, ROOT)) {
		hear(child.line);
		*word_at(memory, 0) = 1;
		tell(child.line, 1);
		hear(child.line);
		child_end();
	}
	*word_at(memory, 0) = 2;
	tell(child.line, 1);
	hear(child.line);
	expect_alive(shared);
	EXPECT_EQ(2, first_word(shared));
	tell(child.line, 1);
	EXPECT_EQ(0, child_status(&child));
}

TEST_F(grants, memory_that_a_child_shares_already)
{
	void *memory = pages(4);
	struct shared shared;
	struct child child;

	*word_at(memory, 0) = 9;
	if (child_start(&child, ROOT)) {
		hear(child.line);
		CHECK(word(memory) == 9);
		child_end();
	}
	shared = share(memory, 4 * self->page);
	ASSERT_EQ(0, shared.bound);
	*word_at(memory, 0) = 10;
	expect_alive(shared);
	EXPECT_EQ(10, first_word(shared));
	tell(child.line, 1);
	EXPECT_EQ(0, child_status(&child));
}

TEST_F(grants, as_the_local_end)
{
	int handle = redeemed(granted(self->exported, 0, self->size));
	int own = self->blank;
	void *memory = pages(1);

	*word_at(memory, 0) = 21;
	ASSERT_EQ(0, bind_memory(own, memory, self->page, TO_READ));
	EXPECT_EQ(0, transfer(handle, RSM_IOC_PUTV, entry_of_handle(own, 0, 8, 8)));
	EXPECT_EQ(21, *word_at(self->memory, 8));
	*word_at(self->memory, 8) = 22;
	EXPECT_EQ(RSMERR_PERM_DENIED,
		  transfer(handle, RSM_IOC_GETV, entry_of_handle(own, 0, 8, 8)));
	EXPECT_EQ(21, word(memory));
}

TEST_F(grants, rebind_follows_the_same_rules)
{
	void *first = pages_with(1, PROT_READ), *second = pages_with(1, PROT_READ);
	int own = self->blank;

	ASSERT_EQ(0, bind_memory(own, first, self->page, TO_READ | RSM_ALLOW_REBIND));
	EXPECT_EQ(RSMERR_PERM_DENIED, rebind(own, pages_with(1, PROT_NONE), self->page));
	EXPECT_EQ(0, rebind(own, second, self->page));
	EXPECT_EQ(0, rebind(self->exported, self->local, self->size));
	ASSERT_EQ(0, mprotect(self->memory, self->size, PROT_READ));
	EXPECT_EQ(RSMERR_PERM_DENIED, rebind(self->exported, self->memory, self->size));
}

/* A file of a file system that is gone with the descriptor; opened twice. */
static bool open_file(const char *type, size_t size, int *writable, int *readable)
{
	char folder[] = "/tmp/rsm-grant.XXXXXX", name[64];

	if (!mkdtemp(folder) || mount("rsm-test", folder, type, 0, NULL))
		return false;
	snprintf(name, sizeof(name), "%s/file", folder);
	*writable = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	*readable = open(name, O_RDONLY | O_CLOEXEC);
	CHECK(ftruncate(*writable, size) == 0);
	CHECK(umount2(folder, MNT_DETACH) == 0);
	rmdir(folder);
	return true;
}

TEST_F(grants, files_of_tmpfs)
{
	size_t size = 2 * self->page;
	int file, readable, handle;
	void *shared;

	ASSERT_TRUE(open_file("tmpfs", size, &file, &readable));
	shared = mmap(NULL, size, PROT_RW, MAP_SHARED, file, 0);
	ASSERT_NE(MAP_FAILED, shared);
	EXPECT_EQ(RSMERR_BAD_ADDR, bind_memory(self->blank, shared, size, 0));
	ASSERT_EQ(0, bind_memory(self->blank, shared, size, RSM_BIND_LOCAL));
	handle = redeemed(granted(self->blank, 8, 8));
	*word_at(self->local, 0) = 31;
	EXPECT_EQ(0, put(handle, self->local, 8, 8));
	EXPECT_EQ(31, *word_at(shared, 8));
	/* Users who may open the file can end the export so, but nothing else. */
	ASSERT_EQ(0, ftruncate(file, 0));
	wait_for_hangup(handle);
	EXPECT_EQ(RSMERR_CONN_ABORTED, put(handle, self->local, 8, 8));
}

TEST_F(grants, files_of_tmpfs_opened_to_be_read)
{
	size_t size = 2 * self->page;
	int writable, readable;
	void *writer, *reader;
	struct shared shared;

	ASSERT_TRUE(open_file("tmpfs", size, &writable, &readable));
	writer = mmap(NULL, size, PROT_RW, MAP_SHARED, writable, 0);
	reader = mmap(NULL, size, PROT_READ, MAP_SHARED, readable, 0);
	EXPECT_EQ(RSMERR_PERM_DENIED, bind_memory(self->blank, reader, size, RSM_BIND_LOCAL));
	shared = share(reader, size);
	ASSERT_EQ(0, shared.bound);
	*word_at(writer, 0) = 41;
	EXPECT_EQ(41, first_word(shared));
	expect_alive(shared);
}

TEST_F(grants, other_files_with_a_name)
{
	const __u32 flags[] = { 0, RSM_BIND_LOCAL, TO_READ };
	int file, readable;
	void *shared;
	size_t i;

	ASSERT_TRUE(open_file("ramfs", self->page, &file, &readable));
	shared = mmap(NULL, self->page, PROT_RW, MAP_SHARED, file, 0);
	ASSERT_NE(MAP_FAILED, shared);
	for (i = 0; i < ARRAY_SIZE(flags); i++)
		EXPECT_EQ(RSMERR_BAD_ADDR,
			  bind_memory(self->blank, shared, self->page, flags[i]));
}

TEST_HARNESS_MAIN
