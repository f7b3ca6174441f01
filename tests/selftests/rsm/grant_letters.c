// SPDX-License-Identifier: GPL-2.0
/* Tickets for one REDEEM, and messages: SEND and RECEIVE. */
#include "grant_test.h"

#include <sched.h>

#define NOTHING RSMERR_TIMEOUT

FIXTURE_TEARDOWN(grants)
{
	EXPECT_EQ(0, rsm_failures);
}

static struct ticket flagged(int fd, __u32 flags, __u64 length, __u32 permission)
{
	struct ticket ticket = {};

	CHECK(grant_flagged(fd, &ticket, 0, length, permission, flags) == 0);
	return ticket;
}

/* A ticket with which messages can be sent, and nothing else be done. */
static struct ticket for_messages(int fd)
{
	return flagged(fd, RSM_GRANT_SEND, 0, 0);
}

/* The first word of the next message. */
static __u64 receive(int fd)
{
	__u64 first = 0;

	CHECK(receive_message(fd, &first) == 0);
	return first;
}

static bool nothing_left(int fd)
{
	__u64 first;

	return receive_message(fd, &first) == NOTHING;
}

/* Sends messages first, first + 1, ... each by a handle of its own, which stays open. */
static void send_many(struct ticket ticket, __u64 first, int count, int *handles)
{
	int i;

	for (i = 0; i < count; i++) {
		handles[i] = redeemed(ticket);
		CHECK(send_message(handles[i], first + i) == 0);
	}
}

TEST_F(grants, ticket_for_one_redeem)
{
	struct ticket ticket = flagged(self->exported, RSM_GRANT_ONCE, self->size, RSM_PERM_RDWR);
	int first = redeemed(ticket);

	EXPECT_EQ(NO_SUCH_TICKET, redeem_ticket(self->blank, ticket));
	EXPECT_EQ(0, get(first, self->local, 0, 8));
	EXPECT_EQ(0, revoke_ticket(self->exported, ticket));
	EXPECT_TRUE(hung_up(first));
	EXPECT_EQ(NO_SUCH_TICKET, revoke_ticket(self->exported, ticket));
}

/* A REDEEM that fails does not count. */
TEST_F(grants, failed_redeem_leaves_the_ticket_good)
{
	struct ticket ticket = flagged(self->exported, RSM_GRANT_ONCE, self->size, RSM_PERM_READ);

	EXPECT_EQ(RSMERR_BAD_SEG_HNDL, redeem_ticket(self->exported, ticket));
	EXPECT_EQ(0, redeem_ticket(self->blank, ticket));
}

TEST_F(grants, without_the_right_to_send)
{
	int mute = redeemed(granted(self->exported, 0, self->size));

	EXPECT_EQ(RSMERR_PERM_DENIED, send_message(mute, 1));
	EXPECT_TRUE(nothing_left(self->exported));
}

TEST_F(grants, messages_of_connections_by_id)
{
	int handle = open_segment();
	struct published published;

	ASSERT_TRUE(publish_pages(&published, 1, 0));
	ASSERT_EQ(0, connect_segment(handle, published.id));
	EXPECT_EQ(RSMERR_PERM_DENIED, send_message(handle, 1));
}

TEST_F(grants, messages_open_no_byte_to_their_senders)
{
	const int protections[] = { PROT_NONE, PROT_READ, PROT_WRITE };
	int handle = redeemed(for_messages(self->exported));
	size_t i;

	EXPECT_NE(0, get(handle, self->local, 0, 8));
	EXPECT_NE(0, put(handle, self->local, 0, 8));
	for (i = 0; i < ARRAY_SIZE(protections); i++)
		EXPECT_NE(0, refused(handle, self->page, protections[i], 0));
}

TEST_F(grants, messages_wake_the_creator)
{
	int handle = redeemed(for_messages(self->exported));

	EXPECT_EQ(0, polled(self->exported, POLLIN));
	EXPECT_EQ(0, send_message(handle, 100));
	EXPECT_EQ(POLLIN, polled(self->exported, POLLIN));
	EXPECT_EQ(RSMERR_QUEUE_FULL, send_message(handle, 200));
	EXPECT_EQ(100, receive(self->exported));
	EXPECT_EQ(0, send_message(handle, 300));
	EXPECT_EQ(300, receive(self->exported));
	EXPECT_TRUE(nothing_left(self->exported));
}

TEST_F(grants, messages_go_with_their_handle)
{
	int handles[5];

	send_many(for_messages(self->exported), 10, 5, handles);
	close(handles[0]);
	close(handles[2]);
	close(handles[4]);
	EXPECT_EQ(11, receive(self->exported));
	EXPECT_EQ(13, receive(self->exported));
	EXPECT_TRUE(nothing_left(self->exported));
}

TEST_F(grants, messages_are_for_the_creator)
{
	int handle = redeemed(for_messages(self->exported));
	struct child child;

	EXPECT_EQ(0, send_message(handle, 1));
	if (child_start(&child, ROOT)) {
		__u64 first = 0;

		CHECK(receive_message(self->exported, &first) == RSMERR_NOT_CREATOR);
		CHECK(first == 0);
		child_end();
	}
	EXPECT_EQ(0, child_status(&child));
	EXPECT_EQ(1, receive(self->exported));
}

TEST_F(grants, messages_end_with_the_grant)
{
	struct ticket ticket = for_messages(self->exported);
	int handle = redeemed(ticket), other;

	EXPECT_EQ(0, revoke_ticket(self->exported, ticket));
	EXPECT_EQ(RSMERR_CONN_ABORTED, send_message(handle, 1));
	other = redeemed(for_messages(self->exported));
	EXPECT_EQ(0, send_message(other, 2));
	EXPECT_EQ(0, destroy(self->exported));
	EXPECT_EQ(RSMERR_CONN_ABORTED, send_message(other, 3));
}

#define FLOOD 100

static void start_sender(struct child *child, enum user user, struct ticket ticket, __u64 first,
			 int count)
{
	int handles[FLOOD];

	if (child_start(child, user)) {
		send_many(ticket, first, count, handles);
		tell(child->line, 1);
		hear(child->line);
		child_end();
	}
	hear(child->line);
}

/* A sender of many delays others by one. */
TEST_F(grants, messages_of_users_in_turn)
{
	const __u64 expected[] = { 1000, 10, 20, 1001, 11, 21, 1002, 1003 };
	struct ticket ticket = for_messages(self->exported);
	struct child flooder, other;
	int handles[2];
	size_t i;

	start_sender(&flooder, ALICE, ticket, 1000, FLOOD);
	send_many(ticket, 10, 2, handles);
	start_sender(&other, BOB, ticket, 20, 2);
	for (i = 0; i < ARRAY_SIZE(expected); i++)
		EXPECT_EQ(expected[i], receive(self->exported));
	tell(flooder.line, 1);
	EXPECT_EQ(0, child_status(&flooder));
	EXPECT_TRUE(nothing_left(self->exported));
	tell(other.line, 1);
	EXPECT_EQ(0, child_status(&other));
}

/* Another user id of a namespace that ALICE owns. */
static void become_subuser(struct child *child)
{
	CHECK(unshare(CLONE_NEWUSER) == 0);
	tell(child->line, 1);
	hear(child->line);
	CHECK(setresuid(0, 0, 0) == 0);
}

static bool map_subuser(const struct child *child, unsigned int uid)
{
	char path[64], text[64];
	int file, length;
	bool written;

	snprintf(path, sizeof(path), "/proc/%d/uid_map", child->pid);
	length = snprintf(text, sizeof(text), "0 %u 1", uid);
	file = open(path, O_WRONLY | O_CLOEXEC);
	written = write(file, text, length) == length;
	close(file);
	return written;
}

/* The handle is open already: the namespace has no group that may open the device. */
static bool start_subuser(struct child *child, struct ticket ticket, unsigned int uid, __u64 first)
{
	int handles[2];
	bool mapped;

	if (child_start(child, ALICE)) {
		handles[0] = redeemed(ticket);
		handles[1] = redeemed(ticket);
		become_subuser(child);
		CHECK(send_message(handles[0], first) == 0);
		CHECK(send_message(handles[1], first + 1) == 0);
		tell(child->line, 1);
		hear(child->line);
		child_end();
	}
	hear(child->line);
	mapped = map_subuser(child, uid);
	tell(child->line, 1);
	hear(child->line);
	return mapped;
}

/* A sender with many user ids has one turn. */
TEST_F(grants, messages_of_users_of_a_namespace_as_of_one)
{
	const __u64 expected[] = { 1000, 10, 1001, 11, 2000, 2001 };
	struct ticket ticket = for_messages(self->exported);
	struct child first, second;
	int handles[2];
	size_t i;

	EXPECT_TRUE(start_subuser(&first, ticket, 200000, 1000));
	EXPECT_TRUE(start_subuser(&second, ticket, 200001, 2000));
	send_many(ticket, 10, 2, handles);
	for (i = 0; i < ARRAY_SIZE(expected); i++)
		EXPECT_EQ(expected[i], receive(self->exported));
	tell(first.line, 1);
	EXPECT_EQ(0, child_status(&first));
	tell(second.line, 1);
	EXPECT_EQ(0, child_status(&second));
}

TEST_HARNESS_MAIN
