// SPDX-License-Identifier: GPL-2.0
/*
 * The device of a window in User-Mode Linux, a kernel that is a process of the host: the kernel
 * is a client of rsm-ivshmem-server as QEMU is for its guests, by the protocol of QEMU's
 * docs/specs/ivshmem-spec. tools/debug-kernel/adjust-uml makes the kernel for it.
 */

#include "device.h"
#include "layout.h"

#include <linux/err.h>
#include <linux/interrupt.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/slab.h>
#include <asm/page.h>
#include <asm/region.h>
#include <irq_kern.h>
#include <os.h>

#define PROTOCOL_VERSION	0
#define NUMBER_MEMORY		(-1)
#define NO_DESCRIPTOR		(-1)

static char *socket;
module_param(socket, charp, 0400);
MODULE_PARM_DESC(socket, "the host's path of the socket of rsm-ivshmem-server");

/**
 * struct uml_window - a connection to the server
 * @device: as its window sees it
 * @w: its window, from listen on
 * @socket: the connection
 * @socket_irq: the server has sent something
 * @bell_irq: somebody rings us
 * @doorbell: eventfd of each position, NO_DESCRIPTOR until the server has sent it
 */
struct uml_window {
	struct window_device device;
	struct window *w;
	int socket;
	int socket_irq;
	int bell_irq;
	int doorbell[RSM_WINDOW_SLOTS_MAX];
};

static struct uml_window *to_uml_window(struct window_device *device)
{
	return container_of(device, struct uml_window, device);
}

/*
 * Returns 0 or an error: -EAGAIN if there is no message, and the connection does not wait. The
 * descriptor is NO_DESCRIPTOR if none came.
 */
static int uml_window_receive(int socket, s64 *number, int *descriptor)
{
	__le64 word;
	ssize_t got;

	do {
		*descriptor = NO_DESCRIPTOR;
		got = os_rcv_fd_msg(socket, descriptor, 1, &word, sizeof(word));
	} while (got == -EINTR);
	if (got < 0)
		return got;
	if (got != sizeof(word))
		return -EPIPE;
	*number = le64_to_cpu(word);
	if (*descriptor >= 0)
		os_set_exec_close(*descriptor);
	return 0;
}

/* A peer's doorbell stays the same when another peer has its position. */
static void keep_doorbell(struct uml_window *window, s64 position, int descriptor)
{
	if (descriptor < 0)
		return;
	if (position < 0 || position >= RSM_WINDOW_SLOTS_MAX ||
	    window->doorbell[position] != NO_DESCRIPTOR)
		os_close_file(descriptor);
	else
		WRITE_ONCE(window->doorbell[position], descriptor);
}

static irqreturn_t uml_window_hear_server(int irq, void *data)
{
	struct uml_window *window = data;
	int descriptor;
	s64 number;

	while (!uml_window_receive(window->socket, &number, &descriptor))
		keep_doorbell(window, number, descriptor);
	return IRQ_HANDLED;
}

static irqreturn_t uml_window_answer(int irq, void *data)
{
	struct uml_window *window = data;
	u64 rings;

	while (os_read_file(window->doorbell[window->device.position], &rings, sizeof(rings)) > 0)
		;
	window_answer_bells(window->w);
	return IRQ_HANDLED;
}

static int uml_window_listen(struct window_device *device, struct window *w)
{
	struct uml_window *window = to_uml_window(device);
	int bell = window->doorbell[device->position];
	int irq;
	int err;

	window->w = w;
	irq = um_request_irq(UM_IRQ_ALLOC, bell, IRQ_READ, uml_window_answer, 0, window_name(w),
			     window);
	if (irq < 0)
		return irq;
	window->bell_irq = irq;
	/* An eventfd sends no SIGIO: a thread of the kernel's does, which waits for it. */
	sigio_broken();
	err = add_sigio_fd(bell);
	if (err)
		um_free_irq(irq, window);
	return err;
}

static void uml_window_deafen(struct window_device *device, struct window *w)
{
	struct uml_window *window = to_uml_window(device);

	ignore_sigio_fd(window->doorbell[device->position]);
	um_free_irq(window->bell_irq, window);
}

/* A doorbell that is full has been heard of. */
static void uml_window_ring(struct window_device *device, u32 position)
{
	int doorbell = READ_ONCE(to_uml_window(device)->doorbell[position]);
	u64 ring = 1;

	if (doorbell >= 0)
		os_write_file(doorbell, &ring, sizeof(ring));
}

static void leave_server(struct uml_window *window)
{
	os_close_file(window->socket);
	for (u32 position = 0; position < RSM_WINDOW_SLOTS_MAX; position++)
		if (window->doorbell[position] != NO_DESCRIPTOR)
			os_close_file(window->doorbell[position]);
}

static void uml_window_close(struct window_device *device)
{
	struct uml_window *window = to_uml_window(device);

	um_free_irq(window->socket_irq, window);
	leave_server(window);
}

static void uml_window_free(struct window_device *device)
{
	uml_unmap_region(device->base);
	kfree(to_uml_window(device));
}

static const struct window_device_ops uml_window_ops = {
	.listen = uml_window_listen,
	.deafen = uml_window_deafen,
	.ring = uml_window_ring,
	.close = uml_window_close,
	.free = uml_window_free,
};

static int map_memory_of(struct window_device *device, int descriptor)
{
	struct uml_stat stat;
	int err;

	err = os_stat_fd(descriptor, &stat);
	if (err)
		return err;
	device->size = stat.ust_size;
	err = window_check_size(device);
	if (err)
		return err;
	if (device->size % PAGE_SIZE)
		return -EINVAL;
	device->base = uml_map_region(descriptor, device->size);
	if (!device->base)
		return -ENOMEM;
	device->phys = __pa(device->base);
	return 0;
}

/* A number that comes without a descriptor. */
static int receive_number(struct uml_window *window, s64 *number)
{
	int descriptor;
	int err;

	err = uml_window_receive(window->socket, number, &descriptor);
	if (!err && descriptor >= 0)
		os_close_file(descriptor);
	return err;
}

/* The server tells its version, our position, and the memory. */
static int hear_of_memory(struct uml_window *window)
{
	s64 number;
	int descriptor;
	int err;

	err = receive_number(window, &number);
	if (err)
		return err;
	if (number != PROTOCOL_VERSION)
		return -EPROTO;
	err = receive_number(window, &number);
	if (err)
		return err;
	if (number < 0 || number >= RSM_WINDOW_SLOTS_MAX)
		return -ENOSPC;
	window->device.position = number;
	err = uml_window_receive(window->socket, &number, &descriptor);
	if (err)
		return err;
	if (descriptor < 0)
		return -EPROTO;
	err = number == NUMBER_MEMORY ? map_memory_of(&window->device, descriptor) : -EPROTO;
	if (err)
		os_close_file(descriptor);
	return err;
}

/* Our own doorbell comes last. */
static int hear_of_doorbells(struct uml_window *window)
{
	s64 number;
	int descriptor;
	int err;

	while (window->doorbell[window->device.position] == NO_DESCRIPTOR) {
		err = uml_window_receive(window->socket, &number, &descriptor);
		if (err)
			return err;
		keep_doorbell(window, number, descriptor);
	}
	return 0;
}

static int watch_server(struct uml_window *window)
{
	int irq;
	int err;

	err = os_set_fd_block(window->socket, 0);
	if (err)
		return err;
	irq = um_request_irq(UM_IRQ_ALLOC, window->socket, IRQ_READ, uml_window_hear_server, 0,
			     KBUILD_MODNAME, window);
	if (irq < 0)
		return irq;
	window->socket_irq = irq;
	/* A message that came before is no edge. */
	local_irq_disable();
	uml_window_hear_server(irq, window);
	local_irq_enable();
	return 0;
}

static int greet_server(struct uml_window *window)
{
	int err;

	err = hear_of_memory(window);
	if (err)
		return err;
	err = hear_of_doorbells(window);
	if (!err)
		err = watch_server(window);
	if (err)
		uml_unmap_region(window->device.base);
	return err;
}

static struct uml_window *uml_window_alloc(struct device *dev)
{
	struct uml_window *window = kzalloc(sizeof(*window), GFP_KERNEL);

	if (!window)
		return NULL;
	window->device.ops = &uml_window_ops;
	window->device.dev = dev;
	for (u32 position = 0; position < RSM_WINDOW_SLOTS_MAX; position++)
		window->doorbell[position] = NO_DESCRIPTOR;
	return window;
}

static struct uml_window *uml_window_open(struct device *dev)
{
	struct uml_window *window = uml_window_alloc(dev);
	int err;

	if (!window)
		return ERR_PTR(-ENOMEM);
	window->socket = os_connect_socket(socket);
	if (window->socket < 0) {
		err = window->socket;
		goto err_free;
	}
	os_set_exec_close(window->socket);
	err = greet_server(window);
	if (err)
		goto err_leave;
	return window;

err_leave:
	leave_server(window);
err_free:
	kfree(window);
	return ERR_PTR(err);
}

static int uml_window_fail(struct device *dev, int err)
{
	if (err == -EPIPE)
		dev_err(dev, "no window: the server of %s ended the connection, as one does that has no room\n",
			socket);
	else
		dev_err(dev, "no window from %s: error %d\n", socket, err);
	return err;
}

static int uml_window_probe(struct platform_device *pdev)
{
	struct uml_window *window = uml_window_open(&pdev->dev);
	struct window *w;

	if (IS_ERR(window))
		return uml_window_fail(&pdev->dev, PTR_ERR(window));
	w = window_start(&window->device);
	if (IS_ERR(w))
		return PTR_ERR(w);
	platform_set_drvdata(pdev, w);
	return 0;
}

static void uml_window_remove(struct platform_device *pdev)
{
	window_stop(platform_get_drvdata(pdev));
}

static void uml_window_shutdown(struct platform_device *pdev)
{
	window_shutdown(platform_get_drvdata(pdev));
}

static struct platform_driver uml_window_driver = {
	.driver.name = KBUILD_MODNAME,
	.probe = uml_window_probe,
	.remove = uml_window_remove,
	.shutdown = uml_window_shutdown,
};

static struct platform_device *uml_device;

/* Without a socket there is no device, and the driver has nothing to do. */
static int __init uml_window_init(void)
{
	int err;

	err = platform_driver_register(&uml_window_driver);
	if (err || !socket)
		return err;
	uml_device = platform_device_register_simple(KBUILD_MODNAME, PLATFORM_DEVID_NONE, NULL, 0);
	if (IS_ERR(uml_device)) {
		platform_driver_unregister(&uml_window_driver);
		return PTR_ERR(uml_device);
	}
	return 0;
}
module_init(uml_window_init);

static void __exit uml_window_exit(void)
{
	platform_device_unregister(uml_device);
	platform_driver_unregister(&uml_window_driver);
}
module_exit(uml_window_exit);
