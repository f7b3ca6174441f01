// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/rsm_hanging: memory whose page faults take as long as a test wants, with
 * mmap_lock held, as those of a file on a server that is gone may. read() waits
 * until somebody waits for a page of this open, write() gives it.
 */

#include "testctl.h"

#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/wait.h>

/**
 * struct hanging - an open of the device
 * @wq: those who wait for a page, and for one who does
 * @wanted: somebody has waited for a page
 * @given: nobody does any more
 */
struct hanging {
	wait_queue_head_t wq;
	bool wanted;
	bool given;
};

static int hanging_open(struct inode *inode, struct file *file)
{
	struct hanging *hanging = kzalloc(sizeof(*hanging), GFP_KERNEL);

	if (!hanging)
		return -ENOMEM;
	init_waitqueue_head(&hanging->wq);
	file->private_data = hanging;
	return 0;
}

static int hanging_release(struct inode *inode, struct file *file)
{
	kfree(file->private_data);
	return 0;
}

static ssize_t hanging_read(struct file *file, char __user *to, size_t size, loff_t *pos)
{
	struct hanging *hanging = file->private_data;

	if (wait_event_interruptible(hanging->wq, READ_ONCE(hanging->wanted)))
		return -EINTR;
	return 0;
}

static ssize_t hanging_write(struct file *file, const char __user *from, size_t size,
			     loff_t *pos)
{
	struct hanging *hanging = file->private_data;

	WRITE_ONCE(hanging->given, true);
	wake_up_all(&hanging->wq);
	return size;
}

static vm_fault_t hanging_fault(struct vm_fault *vmf)
{
	struct hanging *hanging = vmf->vma->vm_file->private_data;

	WRITE_ONCE(hanging->wanted, true);
	wake_up_all(&hanging->wq);
	if (wait_event_killable(hanging->wq, READ_ONCE(hanging->given)))
		return VM_FAULT_SIGBUS;
	vmf->page = alloc_page(GFP_KERNEL | __GFP_ZERO);
	return vmf->page ? 0 : VM_FAULT_OOM;
}

static const struct vm_operations_struct hanging_vm_ops = {
	.fault = hanging_fault,
};

static int hanging_mmap(struct file *file, struct vm_area_struct *vma)
{
	if (vma->vm_flags & VM_SHARED)
		return -EINVAL;
	vma->vm_ops = &hanging_vm_ops;
	return 0;
}

static const struct file_operations hanging_fops = {
	.owner = THIS_MODULE,
	.open = hanging_open,
	.release = hanging_release,
	.read = hanging_read,
	.write = hanging_write,
	.mmap = hanging_mmap,
};

static struct miscdevice hanging_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "rsm_hanging",
	.fops = &hanging_fops,
	.mode = 0600,
};

int testctl_hanging_init(void)
{
	return misc_register(&hanging_device);
}

void testctl_hanging_exit(void)
{
	misc_deregister(&hanging_device);
}
