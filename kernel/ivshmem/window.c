// SPDX-License-Identifier: GPL-2.0
/* The life of a window: from a device's memory to a controller, and back. */

#include "ivshmem.h"

#include <linux/device.h>
#include <linux/idr.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#define ALL_WIDTHS	(1 | 2 | 4 | 8)

static DEFINE_IDA(numbers);

static const struct rsm_link_ops link_ops = {
	.send = window_send,
	.resume = window_resume,
	.down = window_link_down,
	.stirs = window_stirs,
	.place = window_place,
	.attach = window_attach,
};

static void window_free(struct kref *ref)
{
	struct window *w = container_of(ref, struct window, ref);

	window_chunks_free(&w->chunks);
	window_shares_free(&w->shares);
	/* Not before: a transfer under way may hold memory of a segment. */
	w->device->ops->free(w->device);
	kvfree(w);
}

void window_put(struct window *w)
{
	kref_put(&w->ref, window_free);
}

/* Page size of the guests that use a format, in KiB; meaningless for a word that is no format. */
static u32 window_page_kib(u32 format)
{
	return 4U << min_t(u32, format >> RSM_WINDOW_PAGES_SHIFT, RSM_WINDOW_PAGES_MAX);
}

/* Is this window one of ours, and does our peer id fit a slot? */
static int check_window(struct window *w)
{
	struct rsm_window_super *super = w->base;
	const char *why = rsm_window_claim(super, w->layout.size);
	u32 format = le32_to_cpu(READ_ONCE(super->version));

	if (why) {
		dev_err(w->device->dev,
			"not usable: %s (its layout has version %u for pages of %u KiB, ours %u for %lu KiB)\n",
			why, format & RSM_WINDOW_VERSION_MASK, window_page_kib(format),
			RSM_WINDOW_VERSION, PAGE_SIZE / SZ_1K);
		return -EINVAL;
	}
	w->slot = w->device->position;
	if (w->slot >= w->layout.slots) {
		dev_err(w->device->dev, "peer id %u, but this window has %u slots\n", w->slot,
			w->layout.slots);
		return -ENOSPC;
	}
	rsm_membership_init(&w->membership, w->layout.slots, w->slot, jiffies);
	return 0;
}

static void set_up_controller(struct window *w)
{
	u64 bytes = (u64)w->layout.chunks << w->layout.chunk_shift;

	snprintf(w->ctl.name, sizeof(w->ctl.name), "ivshmem%d", w->number);
	w->ctl.ops = &window_ops;
	w->ctl.attr = (struct rsm_attr) {
		.direct_access_sizes = ALL_WIDTHS,
		.atomic_sizes = ALL_WIDTHS,
		.page_size = PAGE_SIZE,
		.max_export_size = bytes,
		.total_export_size = bytes,
		.hwaddr = w->slot,
	};
}

static void exit_links(struct window *w, u32 count)
{
	while (count--)
		rsm_link_exit(&w->peer[count].link);
}

/* Our own slot has a link as well, which is never started. */
static int init_links(struct window *w)
{
	int err;

	for (u32 slot = 0; slot < w->layout.slots; slot++) {
		err = rsm_link_init(&w->peer[slot].link, &w->ctl, &link_ops);
		if (err) {
			exit_links(w, slot);
			return err;
		}
	}
	return 0;
}

static void init_peers(struct window *w)
{
	for (u32 slot = 0; slot < w->layout.slots; slot++) {
		struct window_peer *peer = &w->peer[slot];

		peer->w = w;
		peer->slot = slot;
		spin_lock_init(&peer->send_lock);
		spin_lock_init(&peer->receive_lock);
	}
}

/**
 * window_check_size() - can a window be made of so much memory?
 * @device: of which @dev and @size are set
 *
 * Return: 0, or -EINVAL, for which the log has a reason.
 */
int window_check_size(const struct window_device *device)
{
	struct rsm_window_layout layout;

	if (!rsm_window_layout(&layout, device->size))
		return 0;
	dev_err(device->dev, "memory of %llu bytes, a window has %llu to %llu\n", device->size,
		RSM_WINDOW_MIN, RSM_WINDOW_MAX);
	return -EINVAL;
}

static struct window *window_alloc(struct window_device *device)
{
	struct rsm_window_layout layout;
	struct window *w;

	if (rsm_window_layout(&layout, device->size))
		return ERR_PTR(-EINVAL);
	w = kvzalloc(struct_size(w, peer, layout.slots), GFP_KERNEL);
	if (!w)
		return ERR_PTR(-ENOMEM);
	kref_init(&w->ref);
	w->device = device;
	w->base = device->base;
	w->layout = layout;
	window_shares_init(&w->shares);
	spin_lock_init(&w->membership_lock);
	INIT_DELAYED_WORK(&w->tick, window_tick);
	init_peers(w);
	return w;
}

/* The window is checked, but not registered yet. */
static struct window *window_create(struct window_device *device)
{
	struct window *w = window_alloc(device);
	int err;

	if (IS_ERR(w))
		return w;
	err = check_window(w);
	if (err)
		goto err_free;
	err = window_chunks_init(&w->chunks, w->base + w->layout.chunk_table,
				 w->layout.chunks);
	if (err)
		goto err_free;
	return w;

err_free:
	kvfree(w);
	return ERR_PTR(err);
}

/* Undo window_create(). The last reference on the window frees it, and its device. */
static void window_destroy(struct window *w)
{
	window_chunks_close(&w->chunks);
	window_end_sending(w);
	w->device->ops->close(w->device);
	window_put(w);
}

/*
 * The links are made after the controller is registered and taken away after it is removed. A
 * connect that comes in between finds no active link.
 */
static int window_register(struct window *w)
{
	int err;

	set_up_controller(w);
	/* The registry's, given back by our release(). */
	kref_get(&w->ref);
	err = rsm_register_controller(&w->ctl);
	if (err) {
		window_put(w);
		return err;
	}
	err = init_links(w);
	if (err)
		rsm_remove_controller(&w->ctl);
	return err;
}

/* All links are down, nobody rings, and the controller has been removed. */
static void window_exit_links(struct window *w)
{
	exit_links(w, w->layout.slots);
}

/* End the tick. Links and doorbells may queue it once more until they have ended, too. */
static void end_tick(struct window *w)
{
	WRITE_ONCE(w->leaving, true);
	cancel_delayed_work_sync(&w->tick);
}

static int start_window(struct window *w)
{
	int err;

	w->number = ida_alloc(&numbers, GFP_KERNEL);
	if (w->number < 0)
		return w->number;
	err = window_register(w);
	if (err)
		goto err_free_number;
	err = w->device->ops->listen(w->device, w);
	if (err)
		goto err_remove;
	window_wake_tick(w);
	/* Wait for the first tick: when modprobe returns, the node is in the window. */
	flush_delayed_work(&w->tick);
	return 0;

err_remove:
	rsm_remove_controller(&w->ctl);
	window_exit_links(w);
err_free_number:
	ida_free(&numbers, w->number);
	return err;
}

static void give_up_device(struct window_device *device)
{
	device->ops->close(device);
	device->ops->free(device);
}

/**
 * window_start() - make a controller of a device
 * @device: the device, which the window takes over, also if there is an error
 *
 * Return: the window, or an error, for which the log has a reason.
 */
struct window *window_start(struct window_device *device)
{
	struct window *w;
	int err;

	if (!rsm_node_id()) {
		dev_err(device->dev, "this node has no id, set rsm.node_id\n");
		give_up_device(device);
		return ERR_PTR(-ENODEV);
	}
	w = window_create(device);
	if (IS_ERR(w)) {
		give_up_device(device);
		return w;
	}
	err = start_window(w);
	if (err) {
		window_destroy(w);
		return ERR_PTR(err);
	}
	return w;
}

/**
 * window_stop() - undo window_start()
 * @w: the window
 *
 * Handles may outlive it: programs can only close them then.
 */
void window_stop(struct window *w)
{
	end_tick(w);
	/* While the links are up: importers answer that they no longer use the chunks. */
	rsm_abort_exports(&w->ctl);
	window_leave(w);
	rsm_remove_controller(&w->ctl);
	w->device->ops->deafen(w->device, w);
	window_exit_links(w);
	/* The links and the doorbell may have queued the tick once more. */
	end_tick(w);
	ida_free(&numbers, w->number);
	window_destroy(w);
}

/**
 * window_shutdown() - leave the window, so that the other nodes do not have to wait for a silence
 * @w: the window, on a machine that is about to end
 */
void window_shutdown(struct window *w)
{
	end_tick(w);
	window_leave(w);
	w->device->ops->deafen(w->device, w);
}

/**
 * window_name() - name of the controller
 * @w: the window
 *
 * Return: the name, which lives as long as the window.
 */
const char *window_name(const struct window *w)
{
	return w->ctl.name;
}

MODULE_ALIAS("rsm-ivshmem*");
MODULE_DESCRIPTION("RSM between virtual machines over QEMU's ivshmem-doorbell device");
MODULE_AUTHOR("RSM for Linux contributors");
MODULE_VERSION(RSM_MODULE_VERSION);
MODULE_LICENSE("GPL");
