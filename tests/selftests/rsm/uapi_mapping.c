// SPDX-License-Identifier: GPL-2.0
/* mmap() of import handles and of control handles. */
#include <linux/userfaultfd.h>
#include <sys/syscall.h>

#include "rsm_test.h"

static const __u32 all_rights[] = { 0, RSM_PERM_READ, RSM_PERM_WRITE, RSM_PERM_RDWR };

FIXTURE(mapping) {
	struct published published;
	volatile void *memory;
	int imported;
	int control;
	size_t size;
	size_t page;
};

FIXTURE_SETUP(mapping)
{
	ASSERT_TRUE(publish_pages(&self->published, 4, RSM_ALLOW_REBIND));
	self->memory = self->published.memory;
	self->size = self->published.size;
	self->page = page_size();
	self->control = open_control();
	self->imported = open_segment();
	ASSERT_EQ(0, connect_segment(self->imported, self->published.id));
}

FIXTURE_TEARDOWN(mapping)
{
}

TEST_F(mapping, rights_of_the_connection)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(all_rights); i++) {
		__u32 rights = all_rights[i];
		int fd = open_segment();

		ASSERT_EQ(0, connect_with(fd, self->published.id, rights));
		EXPECT_EQ(rights & RSM_PERM_READ ? 0 : EACCES,
			  refused(fd, self->size, PROT_READ, 0));
		EXPECT_EQ(rights & RSM_PERM_WRITE ? 0 : EACCES,
			  refused(fd, self->size, PROT_WRITE, 0));
		EXPECT_EQ(rights == RSM_PERM_RDWR ? 0 : EACCES,
			  refused(fd, self->size, PROT_RW, 0));
		EXPECT_EQ(EACCES, refused(fd, self->size, PROT_READ | PROT_EXEC, 0));
		EXPECT_EQ(EACCES, refused(fd, self->size, PROT_EXEC, 0));
		EXPECT_EQ(0, refused(fd, self->size, PROT_NONE, 0));
	}
}

static void expect_debugger(struct __test_metadata *_metadata, int mem, void *base,
			    volatile void *memory, bool may_read, bool may_write)
{
	__u64 value = 0;

	EXPECT_EQ(may_read ? 8 : -1, pread(mem, &value, sizeof(value), address_of(base)));
	EXPECT_EQ(may_read ? 0x5ec4e7 : 0, value);
	value = 1;
	EXPECT_EQ(may_write ? 8 : -1, pwrite(mem, &value, sizeof(value), address_of(base)));
	EXPECT_EQ(may_write ? 1 : 0x5ec4e7, word(memory));
}

/* A debugger's way needs no right to the entry of the page table. */
TEST_F(mapping, debuggers_get_the_rights_of_the_connection)
{
	const int protections[] = { PROT_NONE, PROT_READ, PROT_WRITE, PROT_RW };
	int mem = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	size_t i, j;

	ASSERT_LE(0, mem);
	for (i = 0; i < ARRAY_SIZE(all_rights); i++) {
		for (j = 0; j < ARRAY_SIZE(protections); j++) {
			int fd = open_segment();
			void *base;

			*word_at(self->memory, 0) = 0x5ec4e7;
			ASSERT_EQ(0, connect_with(fd, self->published.id, all_rights[i]));
			base = map_at(fd, self->size, protections[j], 0);
			if (base) {
				expect_debugger(_metadata, mem, base, self->memory,
						all_rights[i] & RSM_PERM_READ,
						protections[j] & PROT_WRITE);
				munmap(base, self->size);
			}
			close(fd);
		}
	}
}

/* PROT_WRITE lets a program read, on x86. */
static void connect_to_write(struct published *segment, bool may_read)
{
	struct rsm_connect connect = connect_to(segment->id, RSM_PERM_WRITE, -1);
	int fd = open_segment();
	struct child child;
	void *base;

	CHECK(RSM_CALL(fd, RSM_IOC_CONNECT, &connect) == 0);
	CHECK(connect.mappable == (may_read ? 1 : 0));
	CHECK(refused(fd, segment->size, PROT_WRITE, 0) == (may_read ? 0 : EACCES));
	CHECK(refused(fd, segment->size, PROT_READ, 0) == EACCES);
	base = map_at(fd, segment->size, PROT_NONE, 0);
	CHECK(base);
	CHECK(mprotect(base, segment->size, PROT_WRITE) == (may_read ? 0 : -1));
	CHECK(mprotect(base, segment->size, PROT_READ) == -1);
	/* A child has the connection's right and not its parent's. */
	if (child_start(&child, ROOT)) {
		__u64 value = may_read;

		CHECK(refused(fd, segment->size, PROT_WRITE, 0) == EACCES);
		CHECK(put(fd, &value, 0, sizeof(value)) == 0);
		child_end();
	}
	CHECK(child_status(&child) == 0);
}

TEST_F(mapping, a_user_who_may_not_read_does_not_map_to_write)
{
	struct child child;
	int may_read;

	for (may_read = 0; may_read < 2; may_read++) {
		struct rsm_acl_entry entry = { local_node(), may_read ? 0666 : 0662 };

		ASSERT_EQ(0, republish_to(self->published.fd, &entry, 1));
		if (child_start(&child, ALICE)) {
			connect_to_write(&self->published, may_read);
			child_end();
		}
		EXPECT_EQ(0, child_status(&child));
		EXPECT_EQ(may_read, word(self->memory));
	}
}

TEST_F(mapping, mprotect_beyond_the_rights)
{
	const int wanted[] = { PROT_WRITE, PROT_RW, PROT_EXEC, PROT_READ | PROT_EXEC };
	const int protections[] = { PROT_READ, PROT_NONE };
	int reader = open_segment();
	size_t i, j;

	ASSERT_EQ(0, connect_with(reader, self->published.id, RSM_PERM_READ));
	for (i = 0; i < ARRAY_SIZE(protections); i++) {
		void *base = map_at(reader, self->size, protections[i], 0);

		ASSERT_NE(NULL, base);
		for (j = 0; j < ARRAY_SIZE(wanted); j++) {
			EXPECT_EQ(-1, mprotect(base, self->size, wanted[j]));
			EXPECT_EQ(EACCES, errno);
		}
		EXPECT_EQ(0, mprotect(base, self->size, PROT_READ));
		EXPECT_EQ(0, word(base));
		munmap(base, self->size);
	}
}

TEST_F(mapping, mprotect_within_the_rights)
{
	void *base = map(self->imported, self->size);

	ASSERT_NE(NULL, base);
	EXPECT_EQ(-1, mprotect(base, self->size, PROT_READ | PROT_EXEC));
	EXPECT_EQ(0, mprotect(base, self->size, PROT_READ));
	EXPECT_EQ(0, mprotect(base, self->size, PROT_RW));
	*word_at(base, 0) = 4;
	EXPECT_EQ(4, word(self->memory));
}

TEST_F(mapping, kinds_of_mapping)
{
	int fd = self->imported, wraps;

	EXPECT_EQ(EINVAL, mapping_error(fd, self->size, PROT_RW, 0, MAP_PRIVATE));
	EXPECT_EQ(EINVAL, mapping_error(fd, self->size, PROT_READ, 0, MAP_PRIVATE));
	EXPECT_EQ(ENXIO, refused(fd, self->size, PROT_RW, self->page));
	EXPECT_EQ(ENXIO, refused(fd, self->size + self->page, PROT_RW, 0));
	EXPECT_EQ(ENXIO, refused(fd, self->page, PROT_RW, 4 * self->page));
	EXPECT_EQ(ENXIO, refused(fd, self->page, PROT_RW, 1LL << 40));
	wraps = refused(fd, self->page, PROT_RW, ~0ULL << 12);
	EXPECT_TRUE(wraps == ENXIO || wraps == EOVERFLOW || wraps == EINVAL);
	EXPECT_EQ(0, refused(fd, self->page, PROT_RW, 3 * self->page));
}

TEST_F(mapping, handles_that_have_nothing_to_map)
{
	EXPECT_EQ(ENODEV, refused(self->published.fd, self->size, PROT_RW, 0));
	EXPECT_EQ(ENODEV, refused(open_segment(), self->page, PROT_RW, 0));
	ASSERT_EQ(0, unpublish(self->published.fd));
	EXPECT_EQ(ENODEV, refused(self->imported, self->size, PROT_RW, 0));
	EXPECT_EQ(ENODEV, refused(self->imported, self->size, PROT_NONE, 0));
}

/*
 * Each handle has an address space of its own: nothing but the offset in the
 * segment tells where a mapping is in there.
 */
TEST_F(mapping, maps_shows_the_offset_in_the_segment)
{
	void *base = map_at(self->imported, self->page, PROT_RW, 2 * self->page);
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long begin, offset = 0;
	char line[512];

	ASSERT_NE(NULL, base);
	ASSERT_NE(NULL, maps);
	while (fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%*x %*s %lx", &begin, &offset) == 2 &&
		    begin == address_of(base))
			break;
	EXPECT_EQ(2 * self->page, offset);
	fclose(maps);
}

/* Calls for files look at the address space, which has no pages. */
TEST_F(mapping, calls_for_files_do_nothing)
{
	const int handles[] = { self->imported, self->published.fd, self->control };
	size_t i;
	int advice;

	for (i = 0; i < ARRAY_SIZE(handles); i++) {
		int fd = handles[i];
		void *base = map(fd, self->size);

		for (advice = POSIX_FADV_NORMAL; advice <= POSIX_FADV_NOREUSE; advice++)
			posix_fadvise(fd, 0, 0, advice);
		EXPECT_EQ(-1, readahead(fd, 0, self->size));
		EXPECT_EQ(-1, fsync(fd));
		EXPECT_EQ(-1, fdatasync(fd));
		EXPECT_EQ(-1, sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE));
		EXPECT_EQ(-1, fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
					self->page));
		EXPECT_EQ(-1, ftruncate(fd, 0));
		EXPECT_EQ(-1, lseek(fd, self->page, SEEK_SET));
		if (base) {
			EXPECT_EQ(-1, msync(base, self->size, MS_SYNC));
			munmap(base, self->size);
		}
	}
	EXPECT_EQ(0, word(self->memory));
}

TEST_F(mapping, mremap_can_not_grow)
{
	void *base = map(self->imported, self->size);
	void *part = map(self->imported, self->page);
	void *copy;

	ASSERT_NE(NULL, base);
	ASSERT_NE(NULL, part);
	EXPECT_EQ(MAP_FAILED, mremap(base, self->size, self->size + self->page, MREMAP_MAYMOVE));
	EXPECT_EQ(MAP_FAILED, mremap(base, self->size, self->size + self->page, 0));
	EXPECT_EQ(MAP_FAILED, mremap(part, self->page, 2 * self->page, MREMAP_MAYMOVE));
	/* A length of 0 duplicates a shared mapping. */
	copy = mremap(part, 0, self->page, MREMAP_MAYMOVE);
	if (copy == MAP_FAILED)
		return;
	*word_at(copy, 0) = 12;
	EXPECT_EQ(12, word(self->memory));
	ASSERT_EQ(0, unpublish(self->published.fd));
	EXPECT_EQ(0, word(copy));
}

TEST_F(mapping, revoked_wherever_it_went)
{
	void *base = map(self->imported, self->size);
	void *target = pages(1), *moved;
	size_t page = self->page;
	int i;

	ASSERT_NE(NULL, base);
	for (i = 0; i < 4; i++)
		*word_at(base, i * page) = i + 1;
	/* A hole in the middle, and the last page moved elsewhere. */
	ASSERT_EQ(0, munmap(base + page, page));
	moved = mremap(base + 3 * page, page, page, MREMAP_MAYMOVE | MREMAP_FIXED, target);
	ASSERT_EQ(target, moved);
	EXPECT_EQ(4, word(moved));
	EXPECT_EQ(3, *word_at(base, 2 * page));
	ASSERT_EQ(0, unpublish(self->published.fd));
	*word_at(self->memory, 8) = 99;
	*word_at(self->memory, 3 * page + 8) = 99;
	EXPECT_EQ(0, word(base));
	EXPECT_EQ(0, *word_at(base, 8));
	EXPECT_EQ(0, *word_at(base, 2 * page));
	EXPECT_EQ(0, word(moved));
	*word_at(moved, 8) = 5;
	EXPECT_EQ(99, *word_at(self->memory, 3 * page + 8));
}

/* A child inherits a mapping, which is revoked like its parent's. */
TEST_F(mapping, revoked_in_a_forked_child)
{
	void *base = map(self->imported, self->size);
	struct child child;

	ASSERT_NE(NULL, base);
	*word_at(base, 0) = 7;
	if (child_start(&child, ROOT)) {
		CHECK(word(base) == 7);
		*word_at(base, 8) = 8;
		tell(child.line, 1);
		hear(child.line);
		CHECK(word(base) == 0);
		*word_at(base, 16) = 9;
		child_end();
	}
	hear(child.line);
	EXPECT_EQ(8, *word_at(self->memory, 8));
	ASSERT_EQ(0, unpublish(self->published.fd));
	tell(child.line, 1);
	EXPECT_EQ(0, child_status(&child));
	EXPECT_EQ(0, *word_at(self->memory, 16));
}

TEST_F(mapping, outlives_the_descriptor)
{
	void *base = map(self->imported, self->size);

	ASSERT_NE(NULL, base);
	close(self->imported);
	*word_at(base, 0) = 3;
	EXPECT_EQ(3, word(self->memory));
	ASSERT_EQ(0, unpublish(self->published.fd));
	EXPECT_EQ(0, word(base));
}

TEST_F(mapping, madvise_and_friends)
{
	const int advices[] = { MADV_REMOVE, MADV_DOFORK, MADV_HUGEPAGE, MADV_MERGEABLE, MADV_FREE,
				MADV_COLD, MADV_PAGEOUT, MADV_POPULATE_READ, MADV_POPULATE_WRITE };
	void *base = map(self->imported, self->size);
	size_t i;

	ASSERT_NE(NULL, base);
	*word_at(base, 0) = 3;
	madvise(base, self->size, MADV_DONTNEED);
	EXPECT_EQ(3, word(base));
	for (i = 0; i < ARRAY_SIZE(advices); i++)
		madvise(base, self->size, advices[i]);
	EXPECT_EQ(3, word(self->memory));
	mlock(base, self->size);
	EXPECT_EQ(3, word(base));
}

/* Asked to write-protect pages that were never touched, it leaves markers behind. */
TEST_F(mapping, userfaultfd_write_protects_asynchronously)
{
	const __u64 unpopulated = 1 << 13, asynchronous = 1 << 15;
	struct uffdio_api api = { .api = UFFD_API, .features = unpopulated | asynchronous };
	struct uffdio_register wanted = { .mode = UFFDIO_REGISTER_MODE_WP };
	struct uffdio_writeprotect protect = { .mode = UFFDIO_WRITEPROTECT_MODE_WP };
	int faults = syscall(SYS_userfaultfd, O_CLOEXEC);
	void *base = map(self->imported, self->size);

	ASSERT_NE(NULL, base);
	if (faults < 0 || ioctl(faults, UFFDIO_API, &api))
		SKIP(return, "this kernel's userfaultfd takes no such mapping");
	wanted.range = (struct uffdio_range) { address_of(base), self->size };
	protect.range = wanted.range;
	/* 6.12.95 takes a mapping of a device, 6.12.117 and 7.2 do not. */
	if (ioctl(faults, UFFDIO_REGISTER, &wanted)) {
		ASSERT_EQ(EINVAL, errno);
		*word_at(base, 0) = 5;
		EXPECT_EQ(5, word(self->memory));
		SKIP(return, "this kernel's userfaultfd takes no mapping of a device");
	}
	ASSERT_EQ(0, ioctl(faults, UFFDIO_WRITEPROTECT, &protect));
	*word_at(self->memory, 0) = 5;
	EXPECT_EQ(5, word(base));
	*word_at(base, 8) = 6;
	EXPECT_EQ(6, *word_at(self->memory, 8));
	ASSERT_EQ(0, unpublish(self->published.fd));
	EXPECT_EQ(0, word(base));
}

TEST_F(mapping, status_words)
{
	const size_t table = (size_t)RSM_TABLE_SLOTS * RSM_SLOT_SIZE;
	int fd = self->control;
	void *words;

	EXPECT_EQ(0, refused(fd, self->page, PROT_READ, RSM_MMAP_STATUS));
	EXPECT_EQ(0, refused(fd, table, PROT_READ, RSM_MMAP_STATUS));
	EXPECT_EQ(EINVAL, refused(fd, table + self->page, PROT_READ, RSM_MMAP_STATUS));
	EXPECT_EQ(EACCES, refused(fd, self->page, PROT_RW, RSM_MMAP_STATUS));
	EXPECT_EQ(EACCES, refused(fd, self->page, PROT_WRITE, RSM_MMAP_STATUS));
	EXPECT_EQ(EINVAL, mapping_error(fd, self->page, PROT_READ, RSM_MMAP_STATUS, MAP_PRIVATE));
	EXPECT_EQ(EINVAL, refused(fd, self->page, PROT_READ, 0x20000000));
	EXPECT_EQ(EINVAL, refused(fd, self->page, PROT_READ, 1LL << 44));
	words = map_at(fd, self->page, PROT_READ, RSM_MMAP_STATUS);
	ASSERT_NE(NULL, words);
	EXPECT_EQ(-1, mprotect(words, self->page, PROT_RW));
}

/* The descriptor is open for reading only: the contract says writable all the same. */
TEST_F(mapping, consumed_words)
{
	const size_t table = (size_t)RSM_TABLE_SLOTS * RSM_SLOT_SIZE;
	int fd = self->control;
	struct child child;

	EXPECT_EQ(0, refused(fd, self->page, PROT_RW, RSM_MMAP_CONSUMED));
	EXPECT_EQ(0, refused(fd, table, PROT_RW, RSM_MMAP_CONSUMED));
	EXPECT_EQ(EINVAL, refused(fd, table + self->page, PROT_RW, RSM_MMAP_CONSUMED));
	EXPECT_EQ(EINVAL, mapping_error(fd, self->page, PROT_RW, RSM_MMAP_CONSUMED, MAP_PRIVATE));
	if (child_start(&child, ROOT)) {
		CHECK(refused(fd, self->page, PROT_RW, RSM_MMAP_CONSUMED) == EPERM);
		CHECK(refused(fd, self->page, PROT_READ, RSM_MMAP_STATUS) == 0);
		child_end();
	}
	EXPECT_EQ(0, child_status(&child));
}

/* The words of one handle, as its control handle's mappings show them. */
struct words {
	volatile struct rsm_status_slot *status;
	volatile struct rsm_consumed_slot *consumed;
	struct rsm_connect connect;
	int handle;
};

static bool connect_words(struct words *words, __u32 id, int control)
{
	volatile char *status = map_at(control, page_size(), PROT_READ, RSM_MMAP_STATUS);
	volatile char *consumed = map_at(control, page_size(), PROT_RW, RSM_MMAP_CONSUMED);
	size_t offset;

	words->handle = open_segment();
	words->connect = connect_to(id, RSM_PERM_RDWR, control);
	if (!status || !consumed || RSM_CALL(words->handle, RSM_IOC_CONNECT, &words->connect))
		return false;
	offset = words->connect.slot * RSM_SLOT_SIZE;
	words->status = (void *)(status + offset);
	words->consumed = (void *)(consumed + offset);
	return offset < page_size();
}

TEST_F(mapping, words_tell_of_events_and_take_them)
{
	struct words words;
	__u32 before;

	ASSERT_TRUE(connect_words(&words, self->published.id, self->control));
	EXPECT_EQ(words.connect.generation, words.status->generation);
	before = words.status->posted;
	EXPECT_EQ(before, words.consumed->consumed);
	ASSERT_EQ(0, post(self->published.fd));
	EXPECT_EQ(before + 1, words.status->posted);
	/* Consuming in user space is consuming for the kernel. */
	EXPECT_EQ(POLLRDNORM, polled(words.handle, POLLRDNORM));
	words.consumed->consumed++;
	EXPECT_EQ(0, polled(words.handle, POLLRDNORM));
	EXPECT_EQ(RSMERR_TIMEOUT, take_event(words.handle));
	ASSERT_EQ(0, post(self->published.fd));
	EXPECT_EQ(0, take_event(words.handle));
	EXPECT_EQ(words.status->posted, words.consumed->consumed);
	ASSERT_EQ(0, unpublish(self->published.fd));
	EXPECT_NE(words.connect.generation, words.status->generation);
}

/* Nonsense there harms nobody but its writer. */
TEST_F(mapping, nonsense_in_consumed_words)
{
	const __u32 nonsense[] = { 0, 1, ~0u, 0x80000000, 0x12345678 };
	struct words words;
	size_t i;

	ASSERT_TRUE(connect_words(&words, self->published.id, self->control));
	for (i = 0; i < ARRAY_SIZE(nonsense); i++) {
		words.consumed->consumed = words.status->posted - nonsense[i];
		EXPECT_EQ(0, post(self->published.fd));
		EXPECT_EQ(0, post_flagged(self->published.fd, RSM_SIGPOST_NO_ACCUMULATE));
		take_event(words.handle);
		polled(words.handle, POLLIN);
	}
	ASSERT_EQ(0, unpublish(self->published.fd));
}

TEST_F(mapping, a_forked_child_sees_status_words_only)
{
	struct words words;
	struct child child;
	__u32 before;

	ASSERT_TRUE(connect_words(&words, self->published.id, self->control));
	before = words.status->posted;
	ASSERT_EQ(0, post(self->published.fd));
	if (child_start(&child, ROOT)) {
		uintptr_t page = address_of(words.consumed) & ~(page_size() - 1);
		unsigned char resident;

		CHECK(words.status->posted == before + 1);
		CHECK(mincore((void *)page, page_size(), &resident) == -1);
		child_end();
	}
	EXPECT_EQ(0, child_status(&child));
}

TEST_F(mapping, a_control_handle_closed_before_its_users)
{
	struct words words;

	ASSERT_TRUE(connect_words(&words, self->published.id, self->control));
	close(self->control);
	EXPECT_EQ(0, post(self->published.fd));
	EXPECT_EQ(0, take_event(words.handle));
	EXPECT_EQ(words.connect.generation, words.status->generation);
	ASSERT_EQ(0, unpublish(self->published.fd));
	EXPECT_NE(words.connect.generation, words.status->generation);
}

TEST_HARNESS_MAIN
