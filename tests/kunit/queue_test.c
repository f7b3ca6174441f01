// SPDX-License-Identifier: GPL-2.0
/* Queues whose other end may write anything. */

#include <kunit/test.h>

#include "../../kernel/ivshmem/queue.c"

#define SLOTS	RSM_WINDOW_QUEUE_SLOTS

static struct rsm_window_queue *make_queue(struct kunit *test, u32 position)
{
	struct rsm_window_queue *queue = kunit_kzalloc(test, sizeof(*queue), GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, queue);
	queue->head = cpu_to_le32(position);
	queue->tail = cpu_to_le32(position);
	return queue;
}

/* Fill it, find it full, empty it again; @position counts both ends. */
static void fill_and_empty(struct kunit *test, struct rsm_window_queue *queue, u32 position)
{
	u64 message[RSM_MESSAGE_MAX / sizeof(u64)];
	u64 i;

	for (i = 0; i < SLOTS; i++)
		KUNIT_ASSERT_EQ(test, window_queue_put(queue, position + i, &i, sizeof(i)), 0);
	KUNIT_EXPECT_EQ(test, window_queue_put(queue, position + SLOTS, &i, sizeof(i)), -EAGAIN);
	for (i = 0; i < SLOTS; i++) {
		KUNIT_ASSERT_EQ(test, window_queue_get(queue, position + i, message), sizeof(i));
		KUNIT_ASSERT_EQ(test, message[0], i);
		window_queue_done(queue, position + i + 1);
	}
	KUNIT_EXPECT_EQ(test, window_queue_get(queue, position + SLOTS, message), 0);
}

static void in_order(struct kunit *test)
{
	struct rsm_window_queue *queue = make_queue(test, 0);

	fill_and_empty(test, queue, 0);
	fill_and_empty(test, queue, SLOTS);
}

static void numbers_wrap(struct kunit *test)
{
	u32 position = U32_MAX - SLOTS / 2;

	fill_and_empty(test, make_queue(test, position), position);
}

static void longest_message(struct kunit *test)
{
	struct rsm_window_queue *queue = make_queue(test, 0);
	u8 sent[RSM_MESSAGE_MAX], received[RSM_MESSAGE_MAX];

	memset(sent, 0x5a, sizeof(sent));
	KUNIT_EXPECT_EQ(test, window_queue_put(queue, 0, sent, sizeof(sent)), 0);
	KUNIT_EXPECT_EQ(test, window_queue_get(queue, 0, received), sizeof(sent));
	KUNIT_EXPECT_EQ(test, memcmp(sent, received, sizeof(sent)), 0);
}

static void hostile_head(struct kunit *test)
{
	static const u32 wrong[] = { 101, 100 - SLOTS - 1, 0, U32_MAX, 100 + BIT(31) };
	struct rsm_window_queue *queue = make_queue(test, 100);
	u64 message = 0;

	for (int i = 0; i < ARRAY_SIZE(wrong); i++) {
		queue->head = cpu_to_le32(wrong[i]);
		KUNIT_EXPECT_EQ_MSG(test, window_queue_put(queue, 100, &message, sizeof(message)),
				    -EPROTO, "head %u", wrong[i]);
	}
	KUNIT_EXPECT_EQ(test, le32_to_cpu(queue->tail), 100);
}

static void hostile_tail(struct kunit *test)
{
	static const u32 wrong[] = { 99, 100 + SLOTS + 1, 0, U32_MAX, 100 + BIT(31) };
	struct rsm_window_queue *queue = make_queue(test, 100);
	u64 message[RSM_MESSAGE_MAX / sizeof(u64)];

	for (int i = 0; i < ARRAY_SIZE(wrong); i++) {
		queue->tail = cpu_to_le32(wrong[i]);
		KUNIT_EXPECT_EQ_MSG(test, window_queue_get(queue, 100, message), -EPROTO,
				    "tail %u", wrong[i]);
	}
}

static void hostile_length(struct kunit *test)
{
	static const u32 wrong[] = { 0, RSM_MESSAGE_MAX + 1, BIT(31), U32_MAX };
	struct rsm_window_queue *queue = make_queue(test, 0);
	u8 message[RSM_MESSAGE_MAX + 8];

	memset(message, 0x5a, sizeof(message));
	queue->tail = cpu_to_le32(1);
	for (int i = 0; i < ARRAY_SIZE(wrong); i++) {
		queue->message[0].len = cpu_to_le32(wrong[i]);
		KUNIT_EXPECT_EQ_MSG(test, window_queue_get(queue, 0, message), -EPROTO,
				    "length %u", wrong[i]);
	}
	KUNIT_EXPECT_PTR_EQ(test, memchr_inv(message, 0x5a, sizeof(message)), NULL);
}

static struct kunit_case queue_cases[] = {
	KUNIT_CASE(in_order),
	KUNIT_CASE(numbers_wrap),
	KUNIT_CASE(longest_message),
	KUNIT_CASE(hostile_head),
	KUNIT_CASE(hostile_tail),
	KUNIT_CASE(hostile_length),
	{}
};

static struct kunit_suite queue_suite = {
	.name = "rsm_window_queue",
	.test_cases = queue_cases,
};

kunit_test_suite(queue_suite);
