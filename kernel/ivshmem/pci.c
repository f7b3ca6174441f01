// SPDX-License-Identifier: GPL-2.0
/* QEMU's ivshmem-doorbell device, which a window comes from. */

#include "device.h"

#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/pgtable.h>
#include <linux/slab.h>

#define BAR_REGS	0
#define BAR_MEMORY	2

#define REG_POSITION	8
#define REG_DOORBELL	12

/**
 * struct pci_window - a device
 * @device: as its window sees it
 * @pdev: as the bus sees it
 * @regs: its registers
 */
struct pci_window {
	struct window_device device;
	struct pci_dev *pdev;
	void __iomem *regs;
};

static struct pci_window *to_pci_window(struct window_device *device)
{
	return container_of(device, struct pci_window, device);
}

static irqreturn_t pci_window_interrupt(int irq, void *data)
{
	window_answer_bells(data);
	return IRQ_HANDLED;
}

static int pci_window_listen(struct window_device *device, struct window *w)
{
	struct pci_dev *pdev = to_pci_window(device)->pdev;
	int err;

	pci_set_master(pdev);
	err = pci_alloc_irq_vectors(pdev, 1, 1, PCI_IRQ_MSIX);
	if (err < 0)
		return err;
	err = request_irq(pci_irq_vector(pdev, 0), pci_window_interrupt, 0, window_name(w), w);
	if (err)
		pci_free_irq_vectors(pdev);
	return err;
}

static void pci_window_deafen(struct window_device *device, struct window *w)
{
	struct pci_dev *pdev = to_pci_window(device)->pdev;

	free_irq(pci_irq_vector(pdev, 0), w);
	pci_free_irq_vectors(pdev);
}

static void pci_window_ring(struct window_device *device, u32 position)
{
	writel(position << 16, to_pci_window(device)->regs + REG_DOORBELL);
}

static void pci_window_close(struct window_device *device)
{
	struct pci_window *window = to_pci_window(device);

	pci_iounmap(window->pdev, window->regs);
}

static void pci_window_free(struct window_device *device)
{
	memunmap(device->base);
	kfree(to_pci_window(device));
}

static const struct window_device_ops pci_window_ops = {
	.listen = pci_window_listen,
	.deafen = pci_window_deafen,
	.ring = pci_window_ring,
	.close = pci_window_close,
	.free = pci_window_free,
};

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

static int map_device(struct pci_window *window)
{
	struct window_device *device = &window->device;
	int err;

	err = window_check_size(device);
	if (err)
		return err;
	window->regs = pci_iomap(window->pdev, BAR_REGS, 0);
	if (!window->regs)
		return -ENOMEM;
	device->base = memremap(device->phys, device->size, MEMREMAP_WB);
	if (!device->base) {
		pci_iounmap(window->pdev, window->regs);
		return -ENOMEM;
	}
	if (!is_cached(device->base))
		dev_warn(device->dev, "memory at %pa is not cached, all access is slow: have it placed above 4 GiB\n",
			 &device->phys);
	return 0;
}

static struct pci_window *pci_window_open(struct pci_dev *pdev)
{
	struct pci_window *window = kzalloc(sizeof(*window), GFP_KERNEL);
	int err;

	if (!window)
		return ERR_PTR(-ENOMEM);
	window->pdev = pdev;
	window->device.ops = &pci_window_ops;
	window->device.dev = &pdev->dev;
	window->device.phys = pci_resource_start(pdev, BAR_MEMORY);
	window->device.size = pci_resource_len(pdev, BAR_MEMORY);
	err = map_device(window);
	if (err) {
		kfree(window);
		return ERR_PTR(err);
	}
	window->device.position = ioread32(window->regs + REG_POSITION);
	return window;
}

static int claim_device(struct pci_dev *pdev)
{
	int err;

	if (!pdev->msix_cap) {
		dev_err(&pdev->dev, "no doorbell: this is ivshmem-plain, not ivshmem-doorbell\n");
		return -ENODEV;
	}
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

static int pci_window_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct pci_window *window;
	struct window *w;
	int err;

	err = claim_device(pdev);
	if (err)
		return err;
	window = pci_window_open(pdev);
	if (IS_ERR(window)) {
		err = PTR_ERR(window);
		goto err_disclaim;
	}
	w = window_start(&window->device);
	if (IS_ERR(w)) {
		err = PTR_ERR(w);
		goto err_disclaim;
	}
	pci_set_drvdata(pdev, w);
	return 0;

err_disclaim:
	disclaim_device(pdev);
	return err;
}

static void pci_window_remove(struct pci_dev *pdev)
{
	window_stop(pci_get_drvdata(pdev));
	disclaim_device(pdev);
}

static void pci_window_shutdown(struct pci_dev *pdev)
{
	window_shutdown(pci_get_drvdata(pdev));
}

static const struct pci_device_id pci_window_ids[] = {
	{ PCI_DEVICE(PCI_VENDOR_ID_REDHAT_QUMRANET, 0x1110) },
	{}
};
MODULE_DEVICE_TABLE(pci, pci_window_ids);

static struct pci_driver pci_window_driver = {
	.name = KBUILD_MODNAME,
	.id_table = pci_window_ids,
	.probe = pci_window_probe,
	.remove = pci_window_remove,
	.shutdown = pci_window_shutdown,
};
module_pci_driver(pci_window_driver);
