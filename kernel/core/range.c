// SPDX-License-Identifier: GPL-2.0
/* Ranges: do they fit, and may this memory of a process become a segment? */

#include "internal.h"

#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/mm.h>
#include <linux/mount.h>

/**
 * rsm_range_ok() - does a range lie within a limit?
 * @offset: its start
 * @length: its length
 * @limit: the range must not reach beyond this
 *
 * Return: true if it does. Any values are allowed, also those whose sum overflows.
 */
bool rsm_range_ok(u64 offset, u64 length, u64 limit)
{
	return offset <= limit && length <= limit - offset;
}

/**
 * rsm_range_exportable() - do the numbers of a range allow an export?
 * @vaddr: start of the range
 * @length: bytes
 * @max_length: most bytes that the controller takes, 0 for any number
 *
 * Return: RSM_SUCCESS, RSMERR_BAD_ADDR, RSMERR_BAD_LENGTH or RSMERR_BAD_MEM_ALIGNMENT.
 */
rsm_status_t rsm_range_exportable(u64 vaddr, u64 length, u64 max_length)
{
	if (!vaddr)
		return RSM_STS_BAD_ADDR;
	if (!length || length > RSM_MAX_LENGTH || (max_length && length > max_length))
		return RSM_STS_BAD_LENGTH;
	if (!PAGE_ALIGNED(vaddr) || !PAGE_ALIGNED(length))
		return RSM_STS_BAD_MEM_ALIGNMENT;
	if (!rsm_range_ok(vaddr, length, TASK_SIZE))
		return RSM_STS_BAD_ADDR;
	return RSM_STS_SUCCESS;
}

/*
 * Memory without a file name (System V segments, memfd, shared anonymous memory) may be exported.
 * A file with a name may not: other processes could truncate it, and the kernel writes it back
 * while importers write. tmpfs never writes back. A truncated file of tmpfs under a segment without
 * an id harms the segment's owner and the holders of its tickets only, so RSM_BIND_LOCAL
 * allows it.
 */
static bool is_refused_file(struct file *file, u32 flags)
{
	unsigned long magic = file_inode(file)->i_sb->s_magic;

	/* A device node on devtmpfs has the magic number of tmpfs, and memory of its driver. */
	if (!S_ISREG(file_inode(file)->i_mode))
		return true;
	if (file->f_path.mnt->mnt_flags & MNT_INTERNAL)
		return magic != TMPFS_MAGIC && magic != HUGETLBFS_MAGIC;
	return !(flags & RSM_BIND_LOCAL) || magic != TMPFS_MAGIC;
}

static rsm_status_t check_vma(struct vm_area_struct *vma, vm_flags_t refused, u32 flags)
{
	vm_flags_t needed = flags & RSM_BIND_READ ? VM_READ : VM_READ | VM_WRITE;

	if (vma->vm_flags & (VM_IO | VM_PFNMAP | refused))
		return RSM_STS_BAD_ADDR;
	if (vma->vm_flags & VM_MAYSHARE && vma->vm_file &&
	    is_refused_file(vma->vm_file, flags))
		return RSM_STS_BAD_ADDR;
	return (vma->vm_flags & needed) == needed ? RSM_STS_SUCCESS : RSM_STS_PERM_DENIED;
}

/**
 * rsm_range_pinnable() - may this range of the caller's be pinned?
 * @vaddr: start of the range
 * @length: bytes
 * @refused: kinds of mappings that will not do
 * @flags: those of BIND
 *
 * The answer holds until a mapping of the range is replaced; the range's watch notices that.
 *
 * Return: RSM_SUCCESS, RSMERR_BAD_ADDR, RSMERR_PERM_DENIED or RSMERR_INTERRUPTED.
 */
rsm_status_t rsm_range_pinnable(u64 vaddr, u64 length, vm_flags_t refused, u32 flags)
{
	unsigned long addr = vaddr, end = vaddr + length;
	struct mm_struct *mm = current->mm;
	rsm_status_t status = RSM_STS_SUCCESS;

	if (mmap_read_lock_killable(mm))
		return RSM_STS_INTERRUPTED;
	while (addr < end && !status) {
		struct vm_area_struct *vma = find_vma(mm, addr);

		if (!vma || vma->vm_start > addr) {
			status = RSM_STS_BAD_ADDR;
		} else {
			status = check_vma(vma, refused, flags);
			addr = vma->vm_end;
		}
	}
	mmap_read_unlock(mm);
	return status;
}
