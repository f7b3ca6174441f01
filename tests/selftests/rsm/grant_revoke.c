// SPDX-License-Identifier: GPL-2.0
/* The promise of REVOKE: when it returns no holder of the ticket reaches the memory. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "grant_test.h"

FIXTURE_TEARDOWN(grants)
{
	EXPECT_EQ(0, rsm_failures);
}

TEST_F(grants, while_mapped)
{
	struct ticket ticket = granted(self->exported, 0, self->size);
	int control = open_control(), handle = self->blank;
	struct rsm_redeem argument = redeem_of(ticket, control);
	volatile struct rsm_status_slot *slot;
	size_t at;
	void *base;

	ASSERT_EQ(0, RSM_CALL(handle, RSM_IOC_REDEEM, &argument));
	slot = map_at(control, self->page, PROT_READ, RSM_MMAP_STATUS);
	ASSERT_NE(NULL, slot);
	slot = (void *)((char *)slot + argument.slot * RSM_SLOT_SIZE);
	base = map(handle, self->size);
	ASSERT_NE(NULL, base);
	EXPECT_EQ(*word_at(self->memory, self->page), *word_at(base, self->page));
	EXPECT_FALSE(hung_up(handle));
	EXPECT_EQ(argument.generation, slot->generation);

	ASSERT_EQ(0, revoke_ticket(self->exported, ticket));
	EXPECT_NE(argument.generation, slot->generation);
	EXPECT_TRUE(hung_up(handle));
	for (at = 0; at < self->size; at += self->page)
		EXPECT_EQ(0, *word_at(base, at));
	*word_at(base, 8) = 99;
	EXPECT_NE(99, *word_at(self->memory, 8));
	/* One page stands for all. */
	EXPECT_EQ(99, *word_at(base, self->page + 8));
	EXPECT_EQ(RSMERR_CONN_ABORTED, put(handle, self->local, 0, 8));
	EXPECT_EQ(RSMERR_CONN_ABORTED, get(handle, self->local, 0, 8));
	EXPECT_EQ(RSMERR_CONN_ABORTED, post(handle));
	EXPECT_EQ(RSMERR_CONN_ABORTED, barrier(handle, RSM_BARRIER_CLOSE));
	EXPECT_EQ(ENODEV, refused(handle, self->page, PROT_READ, 0));
	EXPECT_EQ(NO_SUCH_TICKET, redeem_ticket(open_segment(), ticket));
}

TEST_F(grants, others_go_on)
{
	struct ticket first = granted(self->exported, 0, self->size);
	struct ticket second = granted(self->exported, 0, self->size);
	int revoked = redeemed(first), revoked_too = redeemed(first), living = redeemed(second);
	void *dead = map(revoked, self->size), *dead_too = map(revoked_too, self->size);
	void *live = map(living, self->size);

	ASSERT_TRUE(dead && dead_too && live);
	ASSERT_EQ(0, revoke_ticket(self->exported, first));
	EXPECT_TRUE(hung_up(revoked));
	EXPECT_TRUE(hung_up(revoked_too));
	EXPECT_FALSE(hung_up(living));
	EXPECT_EQ(0, word(dead));
	*word_at(dead, 0) = 5;
	/* The page that a dead mapping shows is private. */
	EXPECT_EQ(0, word(dead_too));
	*word_at(live, 0) = 6;
	EXPECT_EQ(6, word(self->memory));
	EXPECT_EQ(0, post(self->exported));
	EXPECT_EQ(0, take_event(living));
	EXPECT_EQ(RSMERR_TIMEOUT, take_event(revoked));
}

/* The memory that an attacker's two threads work on, and how often they have done so. */
struct attack {
	int handle;
	void *base;
	size_t size;
	atomic_ullong *stores;
};

static void *store_for_ever(void *argument)
{
	struct attack *attack = argument;
	__u64 n;

	for (n = 1;; n++) {
		*word_at(attack->base, n * 64 % attack->size) = n;
		atomic_store(&attack->stores[0], n);
	}
	return NULL;
}

static void attack_for_ever(struct ticket ticket, size_t page, size_t size, unsigned char *local,
			    atomic_ullong *stores)
{
	struct attack attack = { .handle = redeemed(ticket), .size = 3 * page, .stores = stores };
	pthread_t thread;
	__u64 n;

	attack.base = map_at(attack.handle, attack.size, PROT_RW, page);
	CHECK(attack.base);
	CHECK(pthread_create(&thread, NULL, store_for_ever, &attack) == 0);
	for (n = 1;; n++) {
		*word_at(local, 0) = n;
		put(attack.handle, local, 16, size - 16);
		atomic_store(&stores[1], n);
	}
}

/* Both threads have gone on since. */
static void wait_for_stores(atomic_ullong *stores)
{
	__u64 before[2] = { atomic_load(&stores[0]), atomic_load(&stores[1]) };

	UNTIL(atomic_load(&stores[0]) > before[0] + 1 && atomic_load(&stores[1]) > before[1] + 1);
}

TEST_F(grants, of_a_holder_who_does_not_stop)
{
	atomic_ullong *stores = mmap(NULL, self->page, PROT_RW, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int round;

	ASSERT_NE(MAP_FAILED, stores);
	for (round = 0; round < 12; round++) {
		struct ticket ticket = granted(self->exported, 16, self->size - 16);
		struct child attacker;

		/* Counts of a dead holder, which rise fast once its puts fail. */
		atomic_store(&stores[0], 0);
		atomic_store(&stores[1], 0);
		if (child_start(&attacker, ROOT)) {
			attack_for_ever(ticket, self->page, self->size, self->local, stores);
			child_end();
		}
		wait_for_stores(stores);
		ASSERT_EQ(0, revoke_ticket(self->exported, ticket));
		fill(self->memory, self->size);
		/* The holder goes on, without effect. */
		wait_for_stores(stores);
		ASSERT_TRUE(untouched_outside(self->memory, self->size, 0, 0));
		child_kill(&attacker);
	}
}

/* A ticket that is on offer, word by word, to a thread that redeems it. */
static atomic_ullong offered[2];
static atomic_bool done;

static void *redeem_for_ever(void *argument UNUSED)
{
	while (!atomic_load(&done)) {
		struct ticket ticket = { { atomic_load(&offered[0]), atomic_load(&offered[1]) } };
		int handle = open_segment();

		/* It ends, though nobody will ever revoke it again. */
		if (redeem_ticket(handle, ticket) == 0)
			wait_for_hangup(handle);
		close(handle);
	}
	return NULL;
}

TEST_F(grants, in_the_moment_of_a_redeem)
{
	pthread_t redeemer;
	int round;

	ASSERT_EQ(0, pthread_create(&redeemer, NULL, redeem_for_ever, NULL));
	for (round = 0; round < 2000; round++) {
		struct ticket ticket = granted(self->exported, 0, self->size);

		atomic_store(&offered[0], ticket.word[0]);
		atomic_store(&offered[1], ticket.word[1]);
		if (round % 3 == 0)
			sched_yield();
		EXPECT_EQ(0, revoke_ticket(self->exported, ticket));
	}
	atomic_store(&done, true);
	ASSERT_EQ(0, pthread_join(redeemer, NULL));
	EXPECT_EQ(self->before.grants, kernel_counter("grants"));
}

TEST_F(grants, after_the_holder_has_closed)
{
	struct ticket ticket = granted(self->exported, 0, self->size);
	int handle = redeemed(ticket);
	void *base = map(handle, self->size);

	ASSERT_NE(NULL, base);
	close(handle);
	*word_at(base, 0) = 3;
	EXPECT_EQ(3, word(self->memory));
	ASSERT_EQ(0, revoke_ticket(self->exported, ticket));
	EXPECT_EQ(0, word(base));
	ticket = granted(self->exported, 0, self->size);
	close(redeemed(ticket));
	EXPECT_EQ(0, revoke_ticket(self->exported, ticket));
}

#define MICROSECOND 1000L

static struct timespec after(struct timespec time, long nanoseconds)
{
	long sum = time.tv_nsec + nanoseconds;

	return (struct timespec) { time.tv_sec + sum / 1000000000, sum % 1000000000 };
}

static void sleep_until(struct timespec time)
{
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
}

struct closing {
	struct timespec when;
	int handle;
};

/* This thread preempts the other one. */
static void *close_in_time(void *argument)
{
	const struct sched_param priority = { .sched_priority = 1 };
	struct closing *closing = argument;

	CHECK(sched_setscheduler(0, SCHED_FIFO, &priority) == 0);
	sleep_until(closing->when);
	close(closing->handle);
	return NULL;
}

/*
 * A holder closes its handle while the kernel takes the import from the list
 * and drops its message. The holder preempts the revoker on their one
 * processor, in each round at a later point of REVOKE.
 */
TEST_F(grants, while_the_holder_closes)
{
	cpu_set_t one;
	int round;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	ASSERT_EQ(0, sched_setaffinity(0, sizeof(one), &one));
	for (round = 0; round < 600; round++) {
		struct ticket ticket = granted(self->exported, 0, self->size);
		struct closing closing = { .handle = redeemed(ticket) };
		struct timespec now;
		pthread_t holder;

		clock_gettime(CLOCK_MONOTONIC, &now);
		now = after(now, 8000 * MICROSECOND);
		closing.when = after(now, round * 2 * MICROSECOND);
		ASSERT_EQ(0, pthread_create(&holder, NULL, close_in_time, &closing));
		sleep_until(now);
		EXPECT_EQ(0, revoke_ticket(self->exported, ticket));
		ASSERT_EQ(0, pthread_join(holder, NULL));
	}
}

TEST_HARNESS_MAIN
