/* SPDX-License-Identifier: GPL-2.0 */
/* An export without an id, four pages with a pattern, and grants of it. */
#ifndef GRANT_TEST_H
#define GRANT_TEST_H

#include "rsm_test.h"

#define PAGES 4

#define NO_SUCH_TICKET RSMERR_SEG_NOT_PUBLISHED

FIXTURE(grants) {
	unsigned char *memory;
	/* one page more, for data of this process */
	unsigned char *local;
	int exported;
	int blank;
	size_t page;
	size_t size;
	struct counters before;
};

static inline unsigned char pattern(size_t at)
{
	return at % 251 + 1;
}

static inline void fill(unsigned char *memory, size_t size)
{
	size_t at;

	for (at = 0; at < size; at++)
		memory[at] = pattern(at);
}

FIXTURE_SETUP(grants)
{
	self->page = page_size();
	self->size = PAGES * self->page;
	self->memory = pages(PAGES);
	self->local = pages(PAGES + 1);
	ASSERT_NE(NULL, self->memory);
	ASSERT_NE(NULL, self->local);
	self->exported = open_segment();
	self->blank = open_segment();
	ASSERT_EQ(0, bind_memory(self->exported, self->memory, self->size,
				 RSM_BIND_LOCAL | RSM_ALLOW_REBIND));
	fill(self->memory, self->size);
	self->before = read_counters();
}

/* A grant that is to succeed. */
static inline struct ticket granted_with(int fd, __u64 offset, __u64 length, __u32 permission)
{
	struct ticket ticket = {};

	CHECK(grant_flagged(fd, &ticket, offset, length, permission, 0) == 0);
	return ticket;
}

static inline struct ticket granted(int fd, __u64 offset, __u64 length)
{
	return granted_with(fd, offset, length, RSM_PERM_RDWR);
}

/* A handle that has redeemed a ticket. */
static inline int redeemed(struct ticket ticket)
{
	int fd = open_segment();

	CHECK(redeem_ticket(fd, ticket) == 0);
	return fd;
}

static inline bool same_ticket(struct ticket one, struct ticket other)
{
	return !memcmp(one.word, other.word, sizeof(one.word));
}

static inline void tell_ticket(int line, struct ticket ticket)
{
	tell(line, ticket.word[0]);
	tell(line, ticket.word[1]);
}

static inline struct ticket hear_ticket(int line)
{
	struct ticket ticket;

	ticket.word[0] = hear(line);
	ticket.word[1] = hear(line);
	return ticket;
}

/* Whether the memory outside a range is as the set-up left it. */
static inline bool untouched_outside(const unsigned char *memory, size_t size, size_t offset,
				     size_t length)
{
	size_t at;

	for (at = 0; at < size; at++)
		if ((at < offset || at >= offset + length) && memory[at] != pattern(at))
			return false;
	return true;
}

#endif /* GRANT_TEST_H */
