// SPDX-License-Identifier: GPL-2.0
/*
 * Messages in a window: a post that meets the end of the device (a sender is held where
 * it uses the window), and how much an interrupt takes.
 */

#include <kunit/test.h>

#include <linux/cpumask.h>
#include <linux/kthread.h>
#include <linux/sched.h>
#include <linux/sched/task.h>

#include "../../kernel/ivshmem/ivshmem.h"

static int held_put(struct rsm_window_queue *queue, u32 tail, const void *message, size_t len);

/* The sender is held inside of it. */
#define window_queue_put held_put
#include "../../kernel/ivshmem/message.c"
#undef window_queue_put

#define SIZE		RSM_WINDOW_MIN
#define OWN_SLOT	1
#define PEER_SLOT	2

/* Calls of functions that other files have */
static unsigned int received, failed, kicked;

bool rsm_link_receive(struct rsm_link *link, const void *message, size_t len)
{
	received++;
	return true;
}

void rsm_link_fail(struct rsm_link *link, const char *why)
{
	failed++;
}

void window_wake_tick(struct window *w)
{
	kicked++;
}

/**
 * struct held - a window and a sender that is held in it
 * @w: the window, in ordinary memory
 * @device: what would be its device
 * @rung: the guest that was rung last, and one for it not to be 0
 * @remover: the thread that takes the device away
 * @inside: the sender is where it is held
 * @removing: the remover is about to wait for senders
 * @removed: it has done so
 * @used_too_late: the sender was still inside then
 */
struct held {
	struct window *w;
	struct window_device device;
	u32 rung;
	struct task_struct *remover;
	bool inside;
	bool removing;
	bool removed;
	bool used_too_late;
};

static struct held held;

/* The remover sleeps, or believes that nobody uses the device. */
static bool remover_has_decided(void)
{
	if (READ_ONCE(held.removed))
		return true;
	/* Pairs with removal(): a sleep before it is no answer. */
	return smp_load_acquire(&held.removing) &&
	       READ_ONCE(held.remover->__state) != TASK_RUNNING;
}

static int held_put(struct rsm_window_queue *queue, u32 tail, const void *message, size_t len)
{
	/* Pairs with removal(). */
	smp_store_release(&held.inside, true);
	while (!remover_has_decided())
		cpu_relax();
	held.used_too_late = READ_ONCE(held.removed);
	return 0;
}

static void held_ring(struct window_device *device, u32 position)
{
	held.rung = position + 1;
}

static const struct window_device_ops held_ops = { .ring = held_ring };

static int send(struct window *w)
{
	u64 message = 0;

	return window_send(&w->peer[PEER_SLOT].link, &message, sizeof(message));
}

static int removal(void *arg)
{
	/* Pairs with held_put(). */
	while (!smp_load_acquire(&held.inside))
		cpu_relax();
	/* Pairs with remover_has_decided(). */
	smp_store_release(&held.removing, true);
	window_end_sending(arg);
	WRITE_ONCE(held.removed, true);
	return 0;
}

static struct window *make_window(struct kunit *test)
{
	struct rsm_window_layout layout;
	struct window *w;

	KUNIT_ASSERT_EQ(test, rsm_window_layout(&layout, SIZE), 0);
	w = kunit_kzalloc(test, struct_size(w, peer, layout.slots), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, w);
	w->layout = layout;
	w->slot = OWN_SLOT;
	held.device.ops = &held_ops;
	w->device = &held.device;
	/* The node table and the queues, and nothing behind them. */
	w->base = kunit_kzalloc(test, layout.chunk_table, GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, w->base);
	for (u32 slot = 0; slot < layout.slots; slot++) {
		w->peer[slot].w = w;
		w->peer[slot].slot = slot;
		spin_lock_init(&w->peer[slot].send_lock);
		spin_lock_init(&w->peer[slot].receive_lock);
	}
	received = 0;
	failed = 0;
	kicked = 0;
	return w;
}

static struct task_struct *make_remover(struct kunit *test)
{
	struct task_struct *task = kthread_create(removal, held.w, "rsm-kunit");

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	/* It may end before it is stopped. */
	return get_task_struct(task);
}

/* The sender is held with interrupts off, so the remover needs another processor. */
static void end_waits_for_senders(struct kunit *test)
{
	int err;

	if (num_online_cpus() < 2)
		kunit_skip(test, "a sender that is held needs a processor of its own");
	memset(&held, 0, sizeof(held));
	held.w = make_window(test);
	held.remover = make_remover(test);
	migrate_disable();
	kthread_bind(held.remover, cpumask_any_but(cpu_online_mask, raw_smp_processor_id()));
	wake_up_process(held.remover);
	err = send(held.w);
	migrate_enable();
	KUNIT_EXPECT_EQ(test, err, 0);
	KUNIT_EXPECT_EQ(test, kthread_stop(held.remover), 0);
	put_task_struct(held.remover);
	KUNIT_EXPECT_FALSE(test, held.used_too_late);
	KUNIT_EXPECT_EQ(test, held.rung, PEER_SLOT + 1);
	KUNIT_EXPECT_EQ(test, failed, 0);
}

static void nobody_sends_after_the_end(struct kunit *test)
{
	memset(&held, 0, sizeof(held));
	held.w = make_window(test);
	/* held_put() would not wait, and would say so. */
	held.removed = true;
	window_end_sending(held.w);
	KUNIT_EXPECT_EQ(test, send(held.w), -ENOTCONN);
	KUNIT_EXPECT_FALSE(test, held.inside);
	KUNIT_EXPECT_EQ(test, held.rung, 0);
}

/* As much as there is room for, from everybody, and the bells for it. */
static void fill_queues(struct window *w)
{
	u64 message = 0;

	for (u32 slot = 0; slot < w->layout.slots; slot++) {
		if (slot == OWN_SLOT)
			continue;
		for (u32 i = 0; i < RSM_WINDOW_QUEUE_SLOTS; i++)
			window_queue_put(window_queue(w, slot, OWN_SLOT), i, &message,
					 sizeof(message));
		window_node(w, OWN_SLOT)->bell |= cpu_to_le64(BIT_ULL(slot));
		w->peer[slot].running = true;
	}
}

static void interrupt_takes_a_bounded_number(struct kunit *test)
{
	struct window *w = make_window(test);

	fill_queues(w);
	window_answer_bells(w);
	KUNIT_EXPECT_EQ(test, received, INTERRUPT_BUDGET);
	KUNIT_EXPECT_EQ(test, kicked, 1);
	/* The tick takes the rest. */
	for (u32 slot = 0; slot < w->layout.slots; slot++)
		if (w->peer[slot].running)
			window_look(&w->peer[slot]);
	KUNIT_EXPECT_EQ(test, received, (w->layout.slots - 1) * RSM_WINDOW_QUEUE_SLOTS);
	KUNIT_EXPECT_EQ(test, failed, 0);
}

/* One that is rung is not left to the tick. */
static void interrupt_takes_what_it_can(struct kunit *test)
{
	struct window *w = make_window(test);
	u64 message = 0;

	window_queue_put(window_queue(w, PEER_SLOT, OWN_SLOT), 0, &message, sizeof(message));
	window_node(w, OWN_SLOT)->bell = cpu_to_le64(BIT_ULL(PEER_SLOT));
	w->peer[PEER_SLOT].running = true;
	window_answer_bells(w);
	KUNIT_EXPECT_EQ(test, received, 1);
	KUNIT_EXPECT_EQ(test, kicked, 0);
}

static struct kunit_case message_cases[] = {
	KUNIT_CASE(end_waits_for_senders),
	KUNIT_CASE(nobody_sends_after_the_end),
	KUNIT_CASE(interrupt_takes_a_bounded_number),
	KUNIT_CASE(interrupt_takes_what_it_can),
	{}
};

static struct kunit_suite message_suite = {
	.name = "rsm_window_message",
	.test_cases = message_cases,
};

kunit_test_suite(message_suite);
