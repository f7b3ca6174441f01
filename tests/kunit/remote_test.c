// SPDX-License-Identifier: GPL-2.0
/* The state of a segment of another node: what its exporter's node may say, and in which state. */

#include <kunit/test.h>

#include "../../kernel/agent/remote.c"

#define HANDLE	5U

static struct rsm_remote_output step(struct rsm_remote_machine *remote,
				     struct rsm_remote_input input)
{
	return rsm_remote_step(remote, &input);
}

static struct rsm_msg_connected answer(u32 status)
{
	return (struct rsm_msg_connected) {
		.status = cpu_to_le32(status),
		.handle = cpu_to_le32(HANDLE),
		.mode = cpu_to_le32(0640),
		.length = cpu_to_le64(PAGE_SIZE),
		.place = { cpu_to_le64(1), 0 },
	};
}

static struct rsm_remote_output receive(struct rsm_remote_machine *remote,
					const struct rsm_msg_connected *connected, bool has_keys)
{
	return step(remote, (struct rsm_remote_input) {
		.event = RSM_REMOTE_ANSWER, .connected = connected, .has_keys = has_keys,
	});
}

static struct rsm_remote_output attached(struct rsm_remote_machine *remote, rsm_status_t status)
{
	return step(remote, (struct rsm_remote_input) {
		.event = RSM_REMOTE_ATTACHED, .status = status,
	});
}

static struct rsm_remote_output named(struct rsm_remote_machine *remote,
				      enum rsm_remote_event event, u32 handle, u32 mode)
{
	return step(remote, (struct rsm_remote_input) {
		.event = event, .handle = handle, .mode = mode,
	});
}

static struct rsm_remote_machine connected(void)
{
	struct rsm_msg_connected yes = answer(RSM_SUCCESS);
	struct rsm_remote_machine remote = {};

	receive(&remote, &yes, false);
	attached(&remote, RSM_STS_SUCCESS);
	return remote;
}

static void an_answer_with_a_place_connects_once_that_is_attached(struct kunit *test)
{
	struct rsm_msg_connected yes = answer(RSM_SUCCESS);
	struct rsm_remote_machine remote = {};
	struct rsm_remote_output output = receive(&remote, &yes, true);

	KUNIT_EXPECT_TRUE(test, output.attach && output.accepted && !output.changed);
	KUNIT_EXPECT_EQ(test, remote.state, RSM_REMOTE_CONNECTING);
	KUNIT_EXPECT_TRUE(test, attached(&remote, RSM_STS_SUCCESS).changed);
	KUNIT_EXPECT_EQ(test, remote.state, RSM_REMOTE_CONNECTED);
	KUNIT_EXPECT_TRUE(test, remote.placed);
	KUNIT_EXPECT_EQ(test, remote.handle, HANDLE);
	KUNIT_EXPECT_EQ(test, remote.mode, 0640);
	KUNIT_EXPECT_EQ(test, remote.length, PAGE_SIZE);
}

static void without_a_place_it_connects_and_waits_for_keys(struct kunit *test)
{
	struct rsm_msg_connected yes = answer(RSM_SUCCESS);
	struct rsm_remote_machine remote = {};
	struct rsm_remote_output output;

	yes.place[0] = 0;
	output = receive(&remote, &yes, true);
	KUNIT_EXPECT_TRUE(test, output.changed && !output.attach);
	KUNIT_EXPECT_EQ(test, remote.state, RSM_REMOTE_CONNECTED);
	KUNIT_EXPECT_FALSE(test, remote.placed);
	KUNIT_EXPECT_TRUE(test, named(&remote, RSM_REMOTE_MOVE, HANDLE, 0).attach);
	KUNIT_EXPECT_TRUE(test, attached(&remote, RSM_STS_SUCCESS).changed);
	KUNIT_EXPECT_TRUE(test, remote.placed);
}

/* The exporter's node could not make the keys. */
static void a_refusal_after_the_answer_ends_what_is_not_placed(struct kunit *test)
{
	struct rsm_msg_connected yes = answer(RSM_SUCCESS);
	struct rsm_msg_connected no = answer(RSMERR_INSUFFICIENT_MEM);
	struct rsm_remote_machine remote = {};

	yes.place[0] = 0;
	receive(&remote, &yes, true);
	KUNIT_EXPECT_TRUE(test, receive(&remote, &no, true).ended);
	KUNIT_EXPECT_EQ(test, rsm_status_to_number(remote.status), RSMERR_INSUFFICIENT_MEM);
	remote = connected();
	KUNIT_EXPECT_FALSE(test, receive(&remote, &no, true).ended);
	KUNIT_EXPECT_EQ(test, remote.state, RSM_REMOTE_CONNECTED);
}

/* A peer cannot make a caller believe that something happened on the caller's own node. */
static void a_strange_refusal_counts_as_not_published(struct kunit *test)
{
	u32 numbers[] = { RSMERR_INTERRUPTED, RSMERR_PERM_DENIED, 12345, U32_MAX };

	for (int i = 0; i < ARRAY_SIZE(numbers); i++) {
		struct rsm_msg_connected no = answer(numbers[i]);
		struct rsm_remote_machine remote = {};

		KUNIT_EXPECT_TRUE(test, receive(&remote, &no, false).ended);
		KUNIT_EXPECT_EQ(test, rsm_status_to_number(remote.status),
				RSMERR_SEG_NOT_PUBLISHED);
	}
}

static void a_length_that_no_segment_has_is_declined(struct kunit *test)
{
	u64 lengths[] = { 0, 1, PAGE_SIZE - 1, PAGE_SIZE + 1, RSM_MAX_LENGTH + PAGE_SIZE, U64_MAX };

	for (int i = 0; i < ARRAY_SIZE(lengths); i++) {
		struct rsm_msg_connected yes = answer(RSM_SUCCESS);
		struct rsm_remote_machine remote = {};
		struct rsm_remote_output output;

		yes.length = cpu_to_le64(lengths[i]);
		output = receive(&remote, &yes, false);
		KUNIT_EXPECT_TRUE(test, output.ended && output.decline && !output.attach);
		KUNIT_EXPECT_EQ(test, remote.length, 0);
	}
}

static void a_bad_place_ends_and_declines(struct kunit *test)
{
	struct rsm_msg_connected yes = answer(RSM_SUCCESS);
	struct rsm_remote_machine remote = {};
	struct rsm_remote_output output;

	receive(&remote, &yes, false);
	output = attached(&remote, RSM_STS_CONN_ABORTED);
	KUNIT_EXPECT_TRUE(test, output.ended && output.decline);
	KUNIT_EXPECT_FALSE(test, remote.placed);
	remote = connected();
	named(&remote, RSM_REMOTE_MOVE, HANDLE, 0);
	KUNIT_EXPECT_TRUE(test, attached(&remote, RSM_STS_CONN_ABORTED).ended);
}

static void a_repeated_answer_of_another_importer_is_declined(struct kunit *test)
{
	struct rsm_msg_connected yes = answer(RSM_SUCCESS);
	struct rsm_remote_machine remote = connected();

	KUNIT_EXPECT_FALSE(test, receive(&remote, &yes, false).decline);
	yes.handle = cpu_to_le32(HANDLE + 1);
	KUNIT_EXPECT_TRUE(test, receive(&remote, &yes, false).decline);
	KUNIT_EXPECT_EQ(test, remote.handle, HANDLE);
}

static void only_the_named_connection_is_changed(struct kunit *test)
{
	enum rsm_remote_event events[] = {
		RSM_REMOTE_UNPUBLISH, RSM_REMOTE_REPUBLISH, RSM_REMOTE_MOVE,
	};

	for (int i = 0; i < ARRAY_SIZE(events); i++) {
		struct rsm_remote_machine remote = connected(), before = remote, fresh = {};
		struct rsm_remote_output none = {}, output;

		output = named(&remote, events[i], HANDLE + 1, 0);
		KUNIT_EXPECT_EQ(test, memcmp(&output, &none, sizeof(none)), 0);
		KUNIT_EXPECT_EQ(test, memcmp(&remote, &before, sizeof(remote)), 0);
		output = named(&fresh, events[i], 0, 0);
		KUNIT_EXPECT_EQ(test, memcmp(&output, &none, sizeof(none)), 0);
	}
}

/* The exporter's node left out the first answer, and sent another before it read the decline. */
static void a_decline_before_the_answer_ends_it(struct kunit *test)
{
	static const enum rsm_remote_event asked[] = { RSM_REMOTE_MOVE, RSM_REMOTE_UNPUBLISH };
	struct rsm_msg_connected yes = answer(RSM_SUCCESS);

	for (size_t i = 0; i < ARRAY_SIZE(asked); i++) {
		struct rsm_remote_machine remote = {};
		struct rsm_remote_output output = named(&remote, asked[i], HANDLE, 0);

		KUNIT_EXPECT_TRUE(test, output.ended && output.changed && !output.attach);
		KUNIT_EXPECT_EQ(test, remote.status, RSM_STS_CONN_ABORTED);
		output = receive(&remote, &yes, false);
		KUNIT_EXPECT_TRUE(test, output.decline && !output.attach && !output.changed);
		KUNIT_EXPECT_EQ(test, remote.state, RSM_REMOTE_ENDED);
	}
}

static void republish_changes_mode_and_may_close(struct kunit *test)
{
	struct rsm_remote_machine remote = connected();

	named(&remote, RSM_REMOTE_REPUBLISH, HANDLE, 07777);
	KUNIT_EXPECT_EQ(test, remote.mode, 0777);
	KUNIT_EXPECT_FALSE(test, remote.closed);
	named(&remote, RSM_REMOTE_REPUBLISH, HANDLE, RSM_MODE_CLOSED);
	KUNIT_EXPECT_TRUE(test, remote.closed);
	KUNIT_EXPECT_EQ(test, remote.mode, 0);
}

static void it_ends_once(struct kunit *test)
{
	struct rsm_remote_machine remote = connected();

	KUNIT_EXPECT_TRUE(test, named(&remote, RSM_REMOTE_UNPUBLISH, HANDLE, 0).ended);
	KUNIT_EXPECT_EQ(test, rsm_status_to_number(remote.status), RSMERR_CONN_ABORTED);
	KUNIT_EXPECT_FALSE(test, named(&remote, RSM_REMOTE_UNPUBLISH, HANDLE, 0).ended);
	KUNIT_EXPECT_FALSE(test, step(&remote, (struct rsm_remote_input) {
		.event = RSM_REMOTE_END }).ended);
}

static void an_answer_after_the_end_is_declined(struct kunit *test)
{
	struct rsm_msg_connected yes = answer(RSM_SUCCESS);
	struct rsm_remote_machine remote = connected();
	struct rsm_remote_output output;

	step(&remote, (struct rsm_remote_input) { .event = RSM_REMOTE_END });
	output = receive(&remote, &yes, false);
	KUNIT_EXPECT_TRUE(test, output.decline && !output.accepted && !output.attach);
	KUNIT_EXPECT_EQ(test, remote.state, RSM_REMOTE_ENDED);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(an_answer_with_a_place_connects_once_that_is_attached),
	KUNIT_CASE(without_a_place_it_connects_and_waits_for_keys),
	KUNIT_CASE(a_refusal_after_the_answer_ends_what_is_not_placed),
	KUNIT_CASE(a_strange_refusal_counts_as_not_published),
	KUNIT_CASE(a_length_that_no_segment_has_is_declined),
	KUNIT_CASE(a_bad_place_ends_and_declines),
	KUNIT_CASE(a_repeated_answer_of_another_importer_is_declined),
	KUNIT_CASE(only_the_named_connection_is_changed),
	KUNIT_CASE(a_decline_before_the_answer_ends_it),
	KUNIT_CASE(republish_changes_mode_and_may_close),
	KUNIT_CASE(it_ends_once),
	KUNIT_CASE(an_answer_after_the_end_is_declined),
	{}
};

static struct kunit_suite suite = {
	.name = "rsm_remote",
	.test_cases = cases,
};

kunit_test_suite(suite);
