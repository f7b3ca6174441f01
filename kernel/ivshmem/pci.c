// SPDX-License-Identifier: GPL-2.0
/*
 * QEMU's ivshmem-doorbell device as an RSM controller: finding it, interrupts,
 * and its end.
 */

#include "ivshmem.h"

#include <linux/idr.h>
#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/slab.h>

#define BAR_REGS	0
#define BAR_MEMORY	2
#define ALL_WIDTHS	(1 | 2 | 4 | 8)

static DEFINE_IDA(numbers);

static const struct rsm_link_ops link_ops = {
	.send = window_send,
	.resume = window_resume,
	.down = window_link_down,
	.place = window_place,
	.attach = window_attach,
};

static void window_free(struct kref *ref)
{
	struct window *w = container_of(ref, struct window, ref);

	window_chunks_free(&w->chunks);
	/* Not sooner: a transfer under way may hold memory of a segment. */
	memunmap(w->base);
	kvfree(w);
}

void window_put(struct window *w)
{
	kref_put(&w->ref, window_free);
}

static irqreturn_t window_interrupt(int irq, void *data)
{
	window_answer_bells(data);
	return IRQ_HANDLED;
}

static int map_window(struct window *w)
{
	struct pci_dev *pdev = w->pdev;

	w->regs = pci_iomap(pdev, BAR_REGS, 0);
	if (!w->regs)
		return -ENOMEM;
	w->phys = pci_resource_start(pdev, BAR_MEMORY);
	w->base = memremap(w->phys, w->layout.size, MEMREMAP_WB);
	if (!w->base) {
		pci_iounmap(pdev, w->regs);
		return -ENOMEM;
	}
	return 0;
}

/* Is this window ours to use, and is there a slot for us? */
static int check_window(struct window *w)
{
	const char *why = rsm_window_claim(w->base, w->layout.size);

	if (why) {
		dev_err(&w->pdev->dev, "not usable: %s\n", why);
		return -EINVAL;
	}
	w->slot = ioread32(w->regs + WINDOW_REG_POSITION);
	if (w->slot >= w->layout.slots) {
		dev_err(&w->pdev->dev, "peer id %u, but this window has %u slots\n", w->slot,
			w->layout.slots);
		return -ENOSPC;
	}
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

/* Our own slot has a link, too, that is never started. */
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
		peer->since = jiffies;
		spin_lock_init(&peer->send_lock);
		spin_lock_init(&peer->receive_lock);
	}
}

static struct window *window_alloc(struct pci_dev *pdev)
{
	u64 size = pci_resource_len(pdev, BAR_MEMORY);
	struct rsm_window_layout layout;
	struct window *w;

	if (rsm_window_layout(&layout, size)) {
		dev_err(&pdev->dev, "memory of %llu bytes, a window has %llu to %llu\n", size,
			RSM_WINDOW_MIN, RSM_WINDOW_MAX);
		return ERR_PTR(-EINVAL);
	}
	w = kvzalloc(struct_size(w, peer, layout.slots), GFP_KERNEL);
	if (!w)
		return ERR_PTR(-ENOMEM);
	kref_init(&w->ref);
	w->pdev = pdev;
	w->layout = layout;
	w->next_sweep = jiffies;
	INIT_DELAYED_WORK(&w->tick, window_tick);
	init_peers(w);
	return w;
}

/* A window that is mapped and checked; of that nobody else knows yet. */
static struct window *window_create(struct pci_dev *pdev)
{
	struct window *w = window_alloc(pdev);
	int err;

	if (IS_ERR(w))
		return w;
	err = map_window(w);
	if (err)
		goto err_free;
	err = check_window(w);
	if (err)
		goto err_unmap;
	err = window_chunks_init(&w->chunks, w->base + w->layout.chunk_table,
				 w->layout.chunks);
	if (err)
		goto err_unmap;
	return w;

err_unmap:
	memunmap(w->base);
	pci_iounmap(pdev, w->regs);
err_free:
	kvfree(w);
	return ERR_PTR(err);
}

static void window_destroy(struct window *w)
{
	window_chunks_close(&w->chunks);
	pci_iounmap(w->pdev, w->regs);
	window_put(w);
}

/*
 * The controller's links are made after it is registered and taken away after it
 * is removed: until they are started nobody gets through them anyway.
 */
static int register_window(struct window *w)
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

static int request_interrupt(struct window *w)
{
	struct pci_dev *pdev = w->pdev;
	int err;

	pci_set_master(pdev);
	err = pci_alloc_irq_vectors(pdev, 1, 1, PCI_IRQ_MSIX);
	if (err < 0)
		return err;
	err = request_irq(pci_irq_vector(pdev, 0), window_interrupt, 0, w->ctl.name, w);
	if (err)
		pci_free_irq_vectors(pdev);
	return err;
}

static void free_interrupt(struct window *w)
{
	free_irq(pci_irq_vector(w->pdev, 0), w);
	pci_free_irq_vectors(w->pdev);
}

/* The tick, and who wakes it up: links and interrupts. */
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
	err = register_window(w);
	if (err)
		goto err_free_number;
	err = request_interrupt(w);
	if (err)
		goto err_remove;
	window_kick(w);
	/* Devices are there when their module is loaded: so are nodes. */
	flush_delayed_work(&w->tick);
	pci_set_drvdata(w->pdev, w);
	return 0;

err_remove:
	rsm_remove_controller(&w->ctl);
	exit_links(w, w->layout.slots);
err_free_number:
	ida_free(&numbers, w->number);
	return err;
}

/* Is there something that we could use, and are we to use it? */
static int check_device(struct pci_dev *pdev)
{
	if (!pdev->msix_cap) {
		dev_err(&pdev->dev, "no doorbell: this is ivshmem-plain, not ivshmem-doorbell\n");
		return -ENODEV;
	}
	if (!rsm_node_id()) {
		dev_err(&pdev->dev, "this node has no id, set rsm.node_id\n");
		return -ENODEV;
	}
	return 0;
}

static int claim_device(struct pci_dev *pdev)
{
	int err;

	err = pci_enable_device(pdev);
	if (err)
		return err;
	err = pci_request_regions(pdev, KBUILD_MODNAME);
	if (err)
		pci_disable_device(pdev);
	return err;
}

static void disclaim_device(struct pci_dev *pdev)
{
	pci_release_regions(pdev);
	pci_disable_device(pdev);
}

static int window_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct window *w;
	int err;

	err = check_device(pdev);
	if (err)
		return err;
	err = claim_device(pdev);
	if (err)
		return err;
	w = window_create(pdev);
	if (IS_ERR(w)) {
		err = PTR_ERR(w);
		goto err_disclaim;
	}
	err = start_window(w);
	if (err)
		goto err_destroy;
	return 0;

err_destroy:
	window_destroy(w);
err_disclaim:
	disclaim_device(pdev);
	return err;
}

/* Handles may outlive this. They can only be closed then. */
static void window_remove(struct pci_dev *pdev)
{
	struct window *w = pci_get_drvdata(pdev);

	end_tick(w);
	/* While links are up, so that chunks are known to be unused. */
	rsm_abort_exports(&w->ctl);
	window_leave(w);
	rsm_remove_controller(&w->ctl);
	free_interrupt(w);
	exit_links(w, w->layout.slots);
	/* Both may have woken it once more. */
	end_tick(w);
	ida_free(&numbers, w->number);
	window_destroy(w);
	disclaim_device(pdev);
}

/* The others are to know at once that this guest goes down. */
static void window_shutdown(struct pci_dev *pdev)
{
	struct window *w = pci_get_drvdata(pdev);

	end_tick(w);
	window_leave(w);
	free_interrupt(w);
}

static const struct pci_device_id window_ids[] = {
	{ PCI_DEVICE(PCI_VENDOR_ID_REDHAT_QUMRANET, 0x1110) },
	{}
};
MODULE_DEVICE_TABLE(pci, window_ids);

static struct pci_driver window_driver = {
	.name = KBUILD_MODNAME,
	.id_table = window_ids,
	.probe = window_probe,
	.remove = window_remove,
	.shutdown = window_shutdown,
};
module_pci_driver(window_driver);

MODULE_ALIAS("rsm-ivshmem*");
MODULE_DESCRIPTION("RSM between virtual machines over QEMU's ivshmem-doorbell device");
MODULE_LICENSE("GPL");
