// SPDX-License-Identifier: GPL-2.0
/*
 * The exporter's view of a segment in a window: the mapping of its own handle. The mapping may
 * outlive the export; from the end of the export on it shows a copy of the contents in ordinary
 * pages. A child that inherits the mapping by fork() shares it.
 */

#include "internal.h"
#include "compat.h"

#include <linux/mm.h>

/* Has the exporter given up its range? */
bool rsm_window_range_is_gone(const struct rsm_export *exp)
{
	return exp->view && READ_ONCE(exp->view->gone);
}

/*
 * The exporter unmaps or protects a part of a mapping of its handle. If the part lies in the
 * range of the export as it is now, the export ends; a part of a range before a rebind does not
 * count. The kernel calls this under mmap_lock, also when mmap() or mremap() fail half-way.
 */
static void revoke_view(struct vm_area_struct *vma, unsigned long start, unsigned long end)
{
	struct rsm_export *exp = vma->vm_private_data;
	u64 vaddr = READ_ONCE(exp->vaddr);

	if (vma->vm_mm != exp->view->mm || READ_ONCE(exp->view->seen_at) != vaddr ||
	    end <= vaddr || start >= vaddr + exp->length)
		return;
	WRITE_ONCE(exp->view->gone, true);
	rsm_export_range_gone(exp);
}

static void export_view_open(struct vm_area_struct *vma)
{
	struct rsm_export *exp = vma->vm_private_data;

	atomic_inc(&exp->view->mappings);
}

static void export_view_close(struct vm_area_struct *vma)
{
	struct rsm_export *exp = vma->vm_private_data;

	atomic_dec(&exp->view->mappings);
	revoke_view(vma, vma->vm_start, vma->vm_end);
}

static int export_view_mprotect(struct vm_area_struct *vma, unsigned long start,
				unsigned long end, unsigned long flags)
{
	if ((flags & (VM_READ | VM_WRITE)) != (VM_READ | VM_WRITE))
		revoke_view(vma, start, end);
	return 0;
}

static void note_seen(struct rsm_export *exp, const struct vm_fault *vmf)
{
	u64 vaddr = READ_ONCE(exp->vaddr);

	if (vmf->vma->vm_mm == exp->view->mm &&
	    vmf->address >= vaddr && vmf->address - vaddr < exp->length)
		WRITE_ONCE(exp->view->seen_at, vaddr);
}

static vm_fault_t export_view_fault(struct vm_fault *vmf)
{
	struct rsm_export *exp = vmf->vma->vm_private_data;
	struct rsm_mem *mem;
	int err;

	if (rsm_fill_prepare(vmf->vma, vmf->address))
		return VM_FAULT_OOM;
	mutex_lock(&exp->view->lock);
	mem = exp->mem ?: exp->view->copy;
	err = rsm_fill_around(vmf->vma, vmf->address, mem, exp->view->scratch);
	mutex_unlock(&exp->view->lock);
	if (!err)
		note_seen(exp, vmf);
	return err ? VM_FAULT_OOM : VM_FAULT_NOPAGE;
}

static const struct vm_operations_struct export_view_vm_ops = {
	.open = export_view_open,
	.close = export_view_close,
	.mprotect = export_view_mprotect,
	.fault = export_view_fault,
};

/*
 * A dead export has contents to show only if it was mapped when it ended; false if it was not.
 * mmap() has removed the former mapping of the range before it gets here.
 */
static bool count_mapping(struct rsm_export *exp)
{
	bool contents;

	mutex_lock(&exp->view->lock);
	contents = exp->mem || exp->view->copy;
	if (contents)
		atomic_inc(&exp->view->mappings);
	mutex_unlock(&exp->view->lock);
	return contents;
}

/**
 * rsm_window_map() - let the exporter map its own segment
 * @exp: an export bound by rsm_window_bind()
 * @vma: where to
 *
 * Return: 0, -EINVAL (private mapping), -ENXIO (beyond the end), -EPERM (the
 * caller is not the creator), -EACCES (execution) or -ENODEV (the export is
 * dead and was not mapped when it died).
 */
int rsm_window_map(struct rsm_export *exp, struct vm_area_struct *vma)
{
	if (!(vma->vm_flags & VM_MAYSHARE))
		return -EINVAL;
	if (!rsm_range_ok(vma->vm_pgoff, vma_pages(vma), exp->length >> PAGE_SHIFT))
		return -ENXIO;
	if (vma->vm_mm != exp->view->mm)
		return -EPERM;
	if (vma->vm_flags & VM_EXEC)
		return -EACCES;
	if (!count_mapping(exp))
		return -ENODEV;
	vm_flags_clear(vma, VM_MAYEXEC);
	vm_flags_set(vma, VM_PFNMAP | VM_DONTEXPAND | VM_DONTDUMP);
	vma->vm_ops = &export_view_vm_ops;
	vma->vm_private_data = exp;
	return 0;
}

static bool shows(const struct vm_area_struct *vma, const struct rsm_export *exp)
{
	return vma->vm_ops == &export_view_vm_ops && vma->vm_private_data == exp &&
	       (vma->vm_flags & (VM_READ | VM_WRITE)) == (VM_READ | VM_WRITE);
}

/**
 * rsm_export_view_at() - is an export mapped at some address of the caller?
 * @exp: the export
 * @vaddr: where; the range is as long as the export
 * @in_view: set if all of the range is mappings of the export, to read and write
 *
 * Takes the mmap_lock, which a page fault of the exporter may hold for long: the caller
 * holds no lock.
 *
 * Return: RSM_SUCCESS or RSMERR_INTERRUPTED.
 */
rsm_status_t rsm_export_view_at(struct rsm_export *exp, u64 vaddr, bool *in_view)
{
	unsigned long addr = vaddr, end = vaddr + exp->length;
	struct mm_struct *mm = current->mm;

	if (mmap_read_lock_killable(mm))
		return RSM_STS_INTERRUPTED;
	while (addr < end) {
		struct vm_area_struct *vma = find_vma(mm, addr);

		if (!vma || vma->vm_start > addr || !shows(vma, exp))
			break;
		addr = vma->vm_end;
	}
	*in_view = addr >= end;
	mmap_read_unlock(mm);
	return RSM_STS_SUCCESS;
}

/* The exporter maps the segment at @vaddr, which is or becomes the range of the export. */
void rsm_window_seen_at(struct rsm_export *exp, u64 vaddr)
{
	lockdep_assert_held(&exp->lock);
	WRITE_ONCE(exp->view->seen_at, vaddr);
}

/* Note that the exporter maps the segment at @vaddr, unless it was rebound in another thread. */
static rsm_status_t note_range(struct rsm_export *exp, u64 vaddr)
{
	if (mutex_lock_interruptible(&exp->lock))
		return RSM_STS_INTERRUPTED;
	if (exp->vaddr == vaddr)
		rsm_window_seen_at(exp, vaddr);
	mutex_unlock(&exp->lock);
	return RSM_STS_SUCCESS;
}

/* RSM_IOC_RANGE */
rsm_status_t rsm_range(struct rsm_export *exp, struct rsm_range *arg)
{
	bool in_view = false;
	rsm_status_t status;

	if (!rsm_is_creator(exp))
		return RSM_STS_NOT_CREATOR;
	arg->vaddr = READ_ONCE(exp->vaddr);
	arg->length = exp->length;
	status = rsm_export_view_at(exp, arg->vaddr, &in_view);
	if (!status && in_view)
		status = note_range(exp, arg->vaddr);
	arg->shown = in_view;
	return status;
}
