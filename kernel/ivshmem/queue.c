// SPDX-License-Identifier: GPL-2.0
/*
 * A queue between two slots. Each end keeps its own index in private memory, and accepts the
 * other's index only if it is one that the other can have.
 */

#include "ivshmem.h"

#include <linux/string.h>
#include <asm/barrier.h>

static_assert(sizeof_field(struct rsm_window_message, data) == RSM_MESSAGE_MAX);

/**
 * window_queue_put() - put a message into a queue
 * @queue: the queue
 * @tail: messages put in so far
 * @message: the message
 * @len: bytes in it, at most RSM_MESSAGE_MAX
 *
 * Return: 0, -EAGAIN when the queue is full, or -EPROTO when its head has a value that it can't
 * have.
 */
int window_queue_put(struct rsm_window_queue *queue, u32 tail, const void *message,
		     size_t len)
{
	/* Pairs with window_queue_done(): the receiver has copied the entry. */
	u32 used = tail - le32_to_cpu(virt_load_acquire(&queue->head));
	struct rsm_window_message *entry;

	if (used > RSM_WINDOW_QUEUE_SLOTS)
		return -EPROTO;
	if (used == RSM_WINDOW_QUEUE_SLOTS)
		return -EAGAIN;
	entry = &queue->message[tail % RSM_WINDOW_QUEUE_SLOTS];
	memcpy(entry->data, message, len);
	WRITE_ONCE(entry->len, cpu_to_le32(len));
	/* Pairs with window_queue_get(): write the entry before the index. */
	virt_store_release(&queue->tail, cpu_to_le32(tail + 1));
	return 0;
}

/**
 * window_queue_get() - copy the oldest message of a queue
 * @queue: the queue
 * @head: messages taken out so far
 * @message: room for RSM_MESSAGE_MAX bytes
 *
 * The message stays in the queue until window_queue_done().
 *
 * Return: bytes in the message, 0 when there is none, or -EPROTO when the queue's tail or the
 * message's length has a value that it can't have.
 */
int window_queue_get(const struct rsm_window_queue *queue, u32 head, void *message)
{
	/* Pairs with window_queue_put(). */
	u32 waiting = le32_to_cpu(virt_load_acquire(&queue->tail)) - head;
	const struct rsm_window_message *entry;
	u32 len;

	if (!waiting)
		return 0;
	if (waiting > RSM_WINDOW_QUEUE_SLOTS)
		return -EPROTO;
	entry = &queue->message[head % RSM_WINDOW_QUEUE_SLOTS];
	len = le32_to_cpu(READ_ONCE(entry->len));
	if (!len || len > RSM_MESSAGE_MAX)
		return -EPROTO;
	memcpy(message, entry->data, len);
	return len;
}

/**
 * window_queue_done() - give entries back to the sender
 * @queue: the queue
 * @head: messages taken out so far
 */
void window_queue_done(struct rsm_window_queue *queue, u32 head)
{
	/* Pairs with window_queue_put(). */
	virt_store_release(&queue->head, cpu_to_le32(head));
}
