// SPDX-License-Identifier: GPL-2.0
/* /dev/rsm: what open, close, mmap and poll do with a handle. */

#include "internal.h"

#include <linux/file.h>
#include <linux/miscdevice.h>

static const struct file_operations control_fops;

/*
 * User space writes the consumed words through a shared mapping, and the VFS allows a writable
 * shared mapping only of a file that is open for writing. control_fops has no write().
 */
static int open_control(struct file *file)
{
	struct rsm_table *table = rsm_table_create(file);

	if (!table)
		return -ENOMEM;
	file->private_data = table;
	file->f_mode |= FMODE_WRITE;
	/* control_fops has the same owner: the module reference of this open stays valid. */
	file->f_op = &control_fops;
	return 0;
}

static int open_segment(struct file *file)
{
	struct rsm_handle *h = rsm_handle_alloc(file);
	int err;

	if (!h)
		return -ENOMEM;
	err = rsm_handle_enter(h);
	if (err) {
		file->f_mapping = file_inode(file)->i_mapping;
		rsm_handle_put(h);
		return err;
	}
	file->private_data = h;
	return 0;
}

static int rsm_open(struct inode *inode, struct file *file)
{
	int err;

	err = file->f_mode & FMODE_WRITE ? open_segment(file) : open_control(file);
	return err ?: nonseekable_open(inode, file);
}

/* The last descriptor and the last mapping of the handle are gone. */
static int segment_release(struct inode *inode, struct file *file)
{
	struct rsm_handle *h = file->private_data;
	struct rsm_export *exp = rsm_handle_export(h);
	struct rsm_import *imp = rsm_handle_import(h);

	rsm_handle_hide(h);
	if (exp)
		rsm_export_close(exp);
	if (imp)
		rsm_import_close(imp);
	rsm_handle_leave(h);
	file->f_mapping = inode->i_mapping;
	rsm_handle_put(h);
	return 0;
}

static long segment_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	return rsm_dispatch(file->private_data, cmd, (void __user *)arg);
}

static int segment_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct rsm_segment *seg = rsm_handle_segment(file->private_data);

	if (!seg)
		return -ENODEV;
	if (seg->ops->kind == RSM_IMPORT)
		return rsm_import_mmap(to_import(seg), vma);
	if (!to_export(seg)->view)
		return -ENODEV;
	return rsm_window_map(to_export(seg), vma);
}

static __poll_t segment_poll(struct file *file, poll_table *wait)
{
	return rsm_event_poll(file->private_data, file, wait);
}

static int control_release(struct inode *inode, struct file *file)
{
	/* The VFS counted a reader at open(); without FMODE_WRITE it uncounts a reader. */
	file->f_mode &= ~FMODE_WRITE;
	file->f_mapping = inode->i_mapping;
	rsm_table_put(file->private_data);
	return 0;
}

static long control_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	return rsm_dispatch(NULL, cmd, (void __user *)arg);
}

static int control_mmap(struct file *file, struct vm_area_struct *vma)
{
	return rsm_table_mmap(file->private_data, vma);
}

static __poll_t control_poll(struct file *file, poll_table *wait)
{
	return EPOLLERR;
}

static const struct file_operations control_fops = {
	.owner = THIS_MODULE,
	.release = control_release,
	.unlocked_ioctl = control_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.mmap = control_mmap,
	.poll = control_poll,
};

const struct file_operations rsm_segment_fops = {
	.owner = THIS_MODULE,
	.open = rsm_open,
	.release = segment_release,
	.unlocked_ioctl = segment_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.mmap = segment_mmap,
	.poll = segment_poll,
};

/**
 * rsm_table_get_fd() - the table of a control handle
 * @fd: descriptor, -1 for none
 *
 * Return: the table, referenced; NULL for none; or ERR_PTR(-EBADF).
 */
struct rsm_table *rsm_table_get_fd(int fd)
{
	struct rsm_table *table = ERR_PTR(-EBADF);
	struct file *file;

	if (fd == -1)
		return NULL;
	file = fget(fd);
	if (!file)
		return table;
	if (file->f_op == &control_fops) {
		table = file->private_data;
		rsm_table_get(table);
	}
	fput(file);
	return table;
}

static struct miscdevice rsm_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "rsm",
	.fops = &rsm_segment_fops,
	.mode = 0660,
};

int rsm_device_register(void)
{
	return misc_register(&rsm_device);
}

void rsm_device_unregister(void)
{
	misc_deregister(&rsm_device);
}
