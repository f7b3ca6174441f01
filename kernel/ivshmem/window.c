// SPDX-License-Identifier: GPL-2.0
/* The life of a window: from a device's memory to a controller, and back. */

#include "ivshmem.h"

#include <linux/io.h>
#include <linux/minmax.h>
#include <linux/pgtable.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#define BAR_REGS	0
#define BAR_MEMORY	2
#define ALL_WIDTHS	(1 | 2 | 4 | 8)

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
	memunmap(w->base);
	kvfree(w);
}

void window_put(struct window *w)
{
	kref_put(&w->ref, window_free);
}

/*
 * memremap() returns uncached memory without an error where the processor's range registers (MTRRs)
 * say so: firmware that places the memory below 4 GiB leaves it in such a range. Mappings of
 * processes get the same type.
 */
static bool is_cached(const void *base)
{
#ifdef CONFIG_X86
	unsigned int level;
	pte_t *pte = lookup_address((unsigned long)base, &level);

	return pte && !(pte_flags(*pte) & (_PAGE_PWT | _PAGE_PCD));
#else
	return true;
#endif
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
	if (!is_cached(w->base))
		dev_warn(&pdev->dev, "memory at %pa is not cached, all access is slow: have it placed above 4 GiB\n",
			 &w->phys);
	return 0;
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
		dev_err(&w->pdev->dev,
			"not usable: %s (its layout has version %u for pages of %u KiB, ours %u for %lu KiB)\n",
			why, format & RSM_WINDOW_VERSION_MASK, window_page_kib(format),
			RSM_WINDOW_VERSION, PAGE_SIZE / SZ_1K);
		return -EINVAL;
	}
	w->slot = ioread32(w->regs + WINDOW_REG_POSITION);
	if (w->slot >= w->layout.slots) {
		dev_err(&w->pdev->dev, "peer id %u, but this window has %u slots\n", w->slot,
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
	window_shares_init(&w->shares);
	spin_lock_init(&w->membership_lock);
	INIT_DELAYED_WORK(&w->tick, window_tick);
	init_peers(w);
	return w;
}

/**
 * window_create() - make a window of a device
 * @pdev: the device, enabled and claimed
 *
 * The window is mapped and checked, but not registered yet.
 *
 * Return: the window, or an error.
 */
struct window *window_create(struct pci_dev *pdev)
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

/* Undo window_create(). The last reference on the window frees it. */
void window_destroy(struct window *w)
{
	window_chunks_close(&w->chunks);
	window_end_sending(w);
	pci_iounmap(w->pdev, w->regs);
	window_put(w);
}

/*
 * The links are made after the controller is registered and taken away after it is removed. A
 * connect that comes in between finds no active link.
 */
int window_register(struct window *w)
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

/* All links are down, the interrupt is freed, and the controller has been removed. */
void window_exit_links(struct window *w)
{
	exit_links(w, w->layout.slots);
}
