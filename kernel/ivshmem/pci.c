// SPDX-License-Identifier: GPL-2.0
/*
 * QEMU's ivshmem-doorbell device as an RSM controller: probe, interrupts, and removal.
 */

#include "ivshmem.h"

#include <linux/idr.h>
#include <linux/interrupt.h>

static DEFINE_IDA(numbers);

static irqreturn_t window_interrupt(int irq, void *data)
{
	window_answer_bells(data);
	return IRQ_HANDLED;
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

/* End the tick. Links and interrupts may queue it once more until they have ended, too. */
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
	err = request_interrupt(w);
	if (err)
		goto err_remove;
	window_wake_tick(w);
	/* Wait for the first tick: when modprobe returns, the node is in the window. */
	flush_delayed_work(&w->tick);
	pci_set_drvdata(w->pdev, w);
	return 0;

err_remove:
	rsm_remove_controller(&w->ctl);
	window_exit_links(w);
err_free_number:
	ida_free(&numbers, w->number);
	return err;
}

/* Is this a device that the controller can use, and is it allowed to? */
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

/* Handles may outlive the device: programs can only close them then. */
static void window_remove(struct pci_dev *pdev)
{
	struct window *w = pci_get_drvdata(pdev);

	end_tick(w);
	/* While the links are up: importers answer that they no longer use the chunks. */
	rsm_abort_exports(&w->ctl);
	window_leave(w);
	rsm_remove_controller(&w->ctl);
	free_interrupt(w);
	window_exit_links(w);
	/* The links and the interrupt may have queued the tick once more. */
	end_tick(w);
	ida_free(&numbers, w->number);
	window_destroy(w);
	disclaim_device(pdev);
}

/* Leave the window, so that the other nodes do not have to wait for a silence. */
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
MODULE_AUTHOR("RSM for Linux contributors");
MODULE_VERSION(RSM_MODULE_VERSION);
MODULE_LICENSE("GPL");
