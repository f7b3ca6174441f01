// SPDX-License-Identifier: GPL-2.0
/*
 * The least that can ring another guest over QEMU's ivshmem-doorbell device and
 * wait to be rung, to measure RSM against. /dev/ivshmem_raw: write() of four
 * bytes puts them into the doorbell register (peer in the upper half, vector in
 * the lower), read() sleeps until there was an interrupt since the last one.
 *
 * It takes the device only if told to, by driver_override.
 */

#include <linux/completion.h>
#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/wait.h>

#define REG_DOORBELL	12

/**
 * struct raw - a device
 * @pdev: the PCI device
 * @regs: its registers
 * @misc: what user space opens
 * @users: how many have it open, and one for the driver
 * @unused: nobody has any more
 * @gone: the driver lets go of the device
 * @rung: there was an interrupt
 * @wq: who waits for one
 */
struct raw {
	struct pci_dev *pdev;
	void __iomem *regs;
	struct miscdevice misc;
	refcount_t users;
	struct completion unused;
	bool gone;
	bool rung;
	wait_queue_head_t wq;
};

static irqreturn_t raw_interrupt(int irq, void *data)
{
	struct raw *raw = data;

	WRITE_ONCE(raw->rung, true);
	wake_up_interruptible(&raw->wq);
	return IRQ_HANDLED;
}

/* misc_open() has put our miscdevice there, and keeps remove() off meanwhile. */
static int raw_open(struct inode *inode, struct file *file)
{
	struct raw *raw = container_of(file->private_data, struct raw, misc);

	file->private_data = raw;
	refcount_inc(&raw->users);
	return stream_open(inode, file);
}

static void raw_put(struct raw *raw)
{
	if (refcount_dec_and_test(&raw->users))
		complete(&raw->unused);
}

static int raw_release(struct inode *inode, struct file *file)
{
	raw_put(file->private_data);
	return 0;
}

static ssize_t raw_write(struct file *file, const char __user *data, size_t len, loff_t *pos)
{
	struct raw *raw = file->private_data;
	u32 value;

	if (len != sizeof(value))
		return -EINVAL;
	if (get_user(value, (const u32 __user *)data))
		return -EFAULT;
	writel(value, raw->regs + REG_DOORBELL);
	return len;
}

/* Nothing to read: to have been woken is all. */
static ssize_t raw_read(struct file *file, char __user *data, size_t len, loff_t *pos)
{
	struct raw *raw = file->private_data;
	int err;

	err = wait_event_interruptible(raw->wq, xchg(&raw->rung, false) || READ_ONCE(raw->gone));
	if (err)
		return err;
	return READ_ONCE(raw->gone) ? -ENODEV : 0;
}

static const struct file_operations raw_fops = {
	.owner = THIS_MODULE,
	.open = raw_open,
	.release = raw_release,
	.read = raw_read,
	.write = raw_write,
};

static int request_interrupt(struct raw *raw)
{
	int err;

	pci_set_master(raw->pdev);
	err = pci_alloc_irq_vectors(raw->pdev, 1, 1, PCI_IRQ_MSIX);
	if (err < 0)
		return err;
	err = request_irq(pci_irq_vector(raw->pdev, 0), raw_interrupt, 0, KBUILD_MODNAME, raw);
	if (err)
		pci_free_irq_vectors(raw->pdev);
	return err;
}

static void free_interrupt(struct raw *raw)
{
	free_irq(pci_irq_vector(raw->pdev, 0), raw);
	pci_free_irq_vectors(raw->pdev);
}

static struct raw *raw_create(struct pci_dev *pdev)
{
	struct raw *raw = devm_kzalloc(&pdev->dev, sizeof(*raw), GFP_KERNEL);

	if (!raw)
		return NULL;
	raw->pdev = pdev;
	raw->regs = pcim_iomap_table(pdev)[0];
	raw->misc.minor = MISC_DYNAMIC_MINOR;
	raw->misc.name = KBUILD_MODNAME;
	raw->misc.fops = &raw_fops;
	refcount_set(&raw->users, 1);
	init_completion(&raw->unused);
	init_waitqueue_head(&raw->wq);
	return raw;
}

static int raw_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct raw *raw;
	int err;

	err = pcim_enable_device(pdev);
	if (err)
		return err;
	err = pcim_iomap_regions(pdev, BIT(0), KBUILD_MODNAME);
	if (err)
		return err;
	raw = raw_create(pdev);
	if (!raw)
		return -ENOMEM;
	err = request_interrupt(raw);
	if (err)
		return err;
	err = misc_register(&raw->misc);
	if (err)
		free_interrupt(raw);
	else
		pci_set_drvdata(pdev, raw);
	return err;
}

/* Waits until it is closed. A reader is told. */
static void raw_remove(struct pci_dev *pdev)
{
	struct raw *raw = pci_get_drvdata(pdev);

	misc_deregister(&raw->misc);
	WRITE_ONCE(raw->gone, true);
	wake_up_all(&raw->wq);
	raw_put(raw);
	wait_for_completion(&raw->unused);
	free_interrupt(raw);
}

static const struct pci_device_id raw_ids[] = {
	{}
};

static struct pci_driver raw_driver = {
	.name = KBUILD_MODNAME,
	.id_table = raw_ids,
	.probe = raw_probe,
	.remove = raw_remove,
};
module_pci_driver(raw_driver);

MODULE_DESCRIPTION("The bare doorbell of QEMU's ivshmem-doorbell device, to measure against");
MODULE_LICENSE("GPL");
