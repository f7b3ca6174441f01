// SPDX-License-Identifier: GPL-2.0
/* Not a byte more than was granted, by whatever way. */
#include "grant_test.h"

FIXTURE_TEARDOWN(grants)
{
	EXPECT_EQ(0, rsm_failures);
}

/* Grants with every kind of edge, in bytes around the pages P. */
#define P 4096
static const struct range {
	size_t offset, length;
} ranges[] = {
	{ 0, 4 * P },	   { 0, 1 },	    { 1, 1 },	   { P - 1, 1 },   { P - 1, 2 },
	{ P, P },	   { P, 1 },	    { P + 1, 2 * P - 1 }, { 7, 3 * P }, { 0, P - 1 },
	{ P, 2 * P },	   { P - 1, 2 * P + 2 }, { 4 * P - 1, 1 }, { 3, 4 * P - 6 },
	{ 3 * P, P },	   { P + 8, P },    { P - 8, P },  { 0, P + 1 },
};

#define EXPECT_TRANSFER(result, at, bytes)						\
	EXPECT_EQ(result, transfer(fd, command, entry_of(local, at, bytes))) {		\
		TH_LOG("%llu +%llu of %zu +%zu", (unsigned long long)(at),		\
		       (unsigned long long)(bytes), range->offset, range->length);	\
	}

static void expect_refusals(struct __test_metadata *_metadata, int fd, unsigned long command,
			    void *local, const struct range *range)
{
	const __u64 from = range->offset, length = range->length, end = from + length;

	if (from > 0) {
		EXPECT_TRANSFER(RSMERR_BAD_OFFSET, from - 1, 1);
		EXPECT_TRANSFER(RSMERR_BAD_OFFSET, from - 1, length + 1);
		EXPECT_TRANSFER(RSMERR_BAD_OFFSET, 0, PAGES * page_size());
		EXPECT_TRANSFER(RSMERR_BAD_OFFSET, 0, 0);
		EXPECT_TRANSFER(RSMERR_BAD_LENGTH, from, ~0ULL - from + 1);
	}
	EXPECT_TRANSFER(RSMERR_BAD_LENGTH, from, length + 1);
	EXPECT_TRANSFER(RSMERR_BAD_LENGTH, from, ~0ULL);
	EXPECT_TRANSFER(RSMERR_BAD_LENGTH, end, 1);
	EXPECT_TRANSFER(RSM_SUCCESS, end, 0);
	EXPECT_TRANSFER(RSMERR_BAD_OFFSET, end + 1, 0);
	EXPECT_TRANSFER(RSMERR_BAD_OFFSET, ~0ULL, 1);
}

TEST_F(grants, transfers_beyond)
{
	size_t i;

	if (self->page != P)
		SKIP(return, "ranges are for pages of 4096 bytes");
	for (i = 0; i < ARRAY_SIZE(ranges); i++) {
		int fd = redeemed(granted(self->exported, ranges[i].offset, ranges[i].length));

		expect_refusals(_metadata, fd, RSM_IOC_PUTV, self->local, &ranges[i]);
		expect_refusals(_metadata, fd, RSM_IOC_GETV, self->local, &ranges[i]);
		/* A refused transfer does nothing. */
		ASSERT_TRUE(untouched_outside(self->memory, self->size, 0, 0));
	}
}

TEST_F(grants, transfers_within)
{
	size_t i;

	if (self->page != P)
		SKIP(return, "ranges are for pages of 4096 bytes");
	for (i = 0; i < ARRAY_SIZE(ranges); i++) {
		const size_t from = ranges[i].offset, length = ranges[i].length;
		int fd = redeemed(granted(self->exported, from, length));

		fill(self->memory, self->size);
		memset(self->local, 0xee, self->size + self->page);
		ASSERT_EQ(0, get(fd, self->local, from, length));
		EXPECT_EQ(0, memcmp(self->local, self->memory + from, length));
		EXPECT_EQ(0xee, self->local[length]);
		memset(self->local, 0xdd, self->size + self->page);
		ASSERT_EQ(0, put(fd, self->local, from, length));
		EXPECT_EQ(0, memcmp(self->local, self->memory + from, length));
		EXPECT_TRUE(untouched_outside(self->memory, self->size, from, length));
	}
}

TEST_F(grants, one_bad_entry_spoils_all)
{
	int handle = redeemed(granted(self->exported, 10, 20));
	struct rsm_transfer_entry entries[] = { entry_of(self->local, 10, 20),
						entry_of(self->local, 29, 2) };
	struct rsm_transfer request = transfer_of(entries, 2, RSM_IMPLICIT_SIGPOST);

	EXPECT_EQ(RSMERR_BAD_LENGTH, RSM_CALL(handle, RSM_IOC_PUTV, &request));
	EXPECT_EQ(2, request.residual);
	EXPECT_TRUE(untouched_outside(self->memory, self->size, 0, 0));
	EXPECT_EQ(RSMERR_TIMEOUT, take_event(self->exported));
}

TEST_F(grants, mappings)
{
	size_t page = self->page, first, count, i;

	if (page != P)
		SKIP(return, "ranges are for pages of 4096 bytes");
	for (i = 0; i < ARRAY_SIZE(ranges); i++) {
		const size_t from = ranges[i].offset, end = from + ranges[i].length;
		int fd = redeemed(granted(self->exported, from, ranges[i].length));

		for (first = 0; first <= PAGES; first++) {
			for (count = 1; count <= PAGES + 1; count++) {
				bool inside = first * page >= from && (first + count) * page <= end;

				EXPECT_EQ(inside ? 0 : ENXIO,
					  refused(fd, count * page, PROT_READ, first * page));
			}
		}
		/* PROT_NONE would be a way in, too, if it were allowed. */
		if (from > 0)
			EXPECT_EQ(ENXIO, refused(fd, page, PROT_NONE, 0));
		EXPECT_EQ(ENXIO, refused(fd, page, PROT_READ, 1LL << 42));
	}
}

TEST_F(grants, a_mapping_shows_its_offset_in_the_segment)
{
	size_t page = self->page;
	int handle = redeemed(granted(self->exported, page - 4, 2 * page + 8));
	void *base = map_at(handle, 2 * page, PROT_RW, page);

	ASSERT_NE(NULL, base);
	EXPECT_EQ(0, memcmp(base, self->memory + page, 2 * page));
	*word_at(base, 2 * page - 8) = 42;
	EXPECT_EQ(42, *word_at(self->memory, 3 * page - 8));
}

TEST_F(grants, mappings_do_not_move_over_the_edge)
{
	size_t page = self->page;
	int handle = redeemed(granted(self->exported, page, page));
	void *base = map_at(handle, page, PROT_RW, page), *copy, *moved;

	ASSERT_NE(NULL, base);
	EXPECT_EQ(MAP_FAILED, mremap(base, page, 2 * page, MREMAP_MAYMOVE));
	EXPECT_EQ(MAP_FAILED, mremap(base, page, 2 * page, 0));
	EXPECT_EQ(MAP_FAILED, mremap(base, 0, 2 * page, MREMAP_MAYMOVE));
	copy = mremap(base, 0, page, MREMAP_MAYMOVE);
	if (copy != MAP_FAILED)
		EXPECT_EQ(*word_at(self->memory, page), word(copy));
	moved = mremap(base, page, page, MREMAP_MAYMOVE | MREMAP_FIXED, self->local + page);
	ASSERT_EQ(self->local + page, moved);
	EXPECT_EQ(*word_at(self->memory, page), word(moved));
	EXPECT_EQ(*word_at(self->memory, 2 * page - 8), *word_at(moved, page - 8));
}

/* The old way to show another part of a file in place: it maps anew. */
TEST_F(grants, remap_file_pages)
{
	size_t page = self->page;
	int handle = redeemed(granted(self->exported, page, page));
	const size_t others[] = { 0, 2, 3 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(others); i++) {
		void *base = map_at(handle, page, PROT_READ, page);

		ASSERT_NE(NULL, base);
		EXPECT_NE(0, remap_file_pages(base, page, 0, others[i], 0));
		munmap(base, page);
	}
}

TEST_F(grants, debuggers_stay_inside)
{
	size_t page = self->page;
	int handle = redeemed(granted(self->exported, page - 100, 2 * page));
	int mem = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	void *base = map_at(handle, page, PROT_RW, page);
	void *hole = pages_with(2, PROT_NONE), *moved;

	ASSERT_NE(NULL, base);
	ASSERT_LE(0, mem);
	moved = mremap(base, page, page, MREMAP_MAYMOVE | MREMAP_FIXED, hole);
	ASSERT_EQ(hole, moved);
	ASSERT_EQ(0, munmap(hole + page, page));
	memset(self->local, 0xee, 3 * page);
	EXPECT_EQ(page, pread(mem, self->local, 3 * page, address_of(moved)));
	EXPECT_EQ(0, memcmp(self->local, self->memory + page, page));
	EXPECT_EQ(0xee, self->local[page]);
	EXPECT_EQ(page, pwrite(mem, self->local + page, 2 * page, address_of(moved)));
	EXPECT_EQ(0xee, self->memory[2 * page - 1]);
	EXPECT_TRUE(untouched_outside(self->memory, self->size, page, page));
}

static void expect_rights(struct __test_metadata *_metadata, int fd, __u32 rights, void *local)
{
	const bool reads = rights & RSM_PERM_READ, writes = rights & RSM_PERM_WRITE;
	int mem = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	size_t page = page_size();
	void *base;

	EXPECT_EQ(reads ? 0 : RSMERR_PERM_DENIED, get(fd, local, 0, 8));
	EXPECT_EQ(writes ? 0 : RSMERR_PERM_DENIED, put(fd, local, 0, 8));
	EXPECT_EQ(reads ? 0 : EACCES, refused(fd, page, PROT_READ, 0));
	/* A mapping that can be written can be read. */
	EXPECT_EQ(reads && writes ? 0 : EACCES, refused(fd, page, PROT_WRITE, 0));
	EXPECT_EQ(reads && writes ? 0 : EACCES, refused(fd, page, PROT_RW, 0));
	EXPECT_EQ(EACCES, refused(fd, page, PROT_READ | PROT_EXEC, 0));
	EXPECT_NE(0, mapping_error(fd, page, PROT_READ, 0, MAP_PRIVATE));
	base = map_at(fd, page, PROT_NONE, 0);
	ASSERT_NE(NULL, base);
	EXPECT_EQ(reads ? 0 : -1, mprotect(base, page, PROT_READ));
	EXPECT_EQ(reads && writes ? 0 : -1, mprotect(base, page, PROT_WRITE));
	EXPECT_EQ(reads && writes ? 0 : -1, mprotect(base, page, PROT_RW));
	EXPECT_EQ(-1, mprotect(base, page, PROT_EXEC));
	EXPECT_EQ(reads ? 8 : -1, pread(mem, local, 8, address_of(base)));
	close(mem);
}

TEST_F(grants, rights)
{
	const __u32 rights[] = { RSM_PERM_READ, RSM_PERM_WRITE, RSM_PERM_RDWR };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rights); i++) {
		int fd = redeemed(granted_with(self->exported, 0, self->size, rights[i]));

		expect_rights(_metadata, fd, rights[i], self->local);
	}
}

TEST_F(grants, debuggers_do_not_write_bytes_granted_to_be_read)
{
	int handle = redeemed(granted_with(self->exported, 0, self->size, RSM_PERM_READ));
	int mem = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	void *base = map_at(handle, self->page, PROT_READ, 0);

	ASSERT_NE(NULL, base);
	EXPECT_GT(8, pwrite(mem, self->local, 8, address_of(base)));
	EXPECT_TRUE(untouched_outside(self->memory, self->size, 0, 0));
}

TEST_F(grants, rebind_keeps_grants_and_their_bounds)
{
	size_t page = self->page;
	int handle = redeemed(granted(self->exported, page + 3, 2 * page));
	void *base = map_at(handle, page, PROT_RW, 2 * page);
	void *other = pages(PAGES);

	ASSERT_NE(NULL, base);
	*word_at(other, 2 * page) = 17;
	ASSERT_EQ(0, rebind(self->exported, other, self->size));
	EXPECT_EQ(17, word(base));
	*word_at(base, 8) = 18;
	EXPECT_EQ(18, *word_at(other, 2 * page + 8));
	/* The old memory is out of reach. */
	EXPECT_TRUE(untouched_outside(self->memory, self->size, 0, 0));
	EXPECT_EQ(RSMERR_BAD_OFFSET, put(handle, self->local, page + 2, 2));
	ASSERT_EQ(0, destroy(self->exported));
}

TEST_HARNESS_MAIN
