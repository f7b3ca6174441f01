/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The border between a window and the device that it comes from: memory that guests share, and
 * doorbells between them. pci.c has QEMU's ivshmem-doorbell device, uml.c what User-Mode Linux has
 * instead.
 *
 * A driver opens a device, asks window_check_size() before it maps the memory, and hands the device
 * to window_start(). The window calls the operations; the driver calls window_answer_bells(),
 * window_stop() and window_shutdown().
 */
#ifndef RSM_IVSHMEM_DEVICE_H
#define RSM_IVSHMEM_DEVICE_H

#include <linux/types.h>

struct device;
struct window;
struct window_device;

/**
 * struct window_device_ops - what a window asks of its device
 * @listen: begin to call window_answer_bells() of @w whenever another guest rings. Returns 0 or an
 *	error. May sleep
 * @deafen: undo @listen: on return window_answer_bells() does not run and will not. May sleep
 * @ring: interrupt the guest that has a position. Any context
 * @close: no @ring, @listen or @deafen follows; the memory is still in use. May sleep
 * @free: nobody uses the memory any more, so free it and @device, maybe long after the driver has
 *	let the device go. May sleep
 */
struct window_device_ops {
	int (*listen)(struct window_device *device, struct window *w);
	void (*deafen)(struct window_device *device, struct window *w);
	void (*ring)(struct window_device *device, u32 position);
	void (*close)(struct window_device *device);
	void (*free)(struct window_device *device);
};

/**
 * struct window_device - memory that guests share, and doorbells between them
 * @ops: what a window can ask for
 * @dev: the device that messages name; gone after @close
 * @base: where the memory is mapped
 * @phys: physical address of that
 * @size: of that, in bytes. Hostile input
 * @position: number of this guest among those that share the memory. Hostile input
 */
struct window_device {
	const struct window_device_ops *ops;
	struct device *dev;
	void *base;
	phys_addr_t phys;
	u64 size;
	u32 position;
};

int window_check_size(const struct window_device *device);
struct window *window_start(struct window_device *device);
void window_stop(struct window *w);
void window_shutdown(struct window *w);
void window_answer_bells(struct window *w);
const char *window_name(const struct window *w);

#endif /* RSM_IVSHMEM_DEVICE_H */
