// SPDX-License-Identifier: GPL-2.0
/*
 * Segments in memory of the interconnect, its window. Binding copies the
 * exporter's range there, and the exporter then maps its handle over the range
 * (librsm does), so that its pointers stay good and show what importers see.
 *
 * The exporter's own mapping outlives the segment: from the end of the export
 * on it shows a copy of the contents in ordinary pages. A child that inherits
 * it by fork shares it.
 */

#include "internal.h"
#include "compat.h"

#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

/*
 * What must not lie in the range: memory that others share would stay behind,
 * and small pages can't be mapped over part of a huge one of hugetlbfs.
 */
#define NOT_MOVABLE	(VM_MAYSHARE | VM_HUGETLB)

/**
 * struct rsm_shown - the exporter's side of a segment in a window
 * @mm: exporter's address space; the segment is charged to it
 * @charged: pages charged, 0 when the export is dead
 * @mappings: mappings of the export's handle
 * @gone: part of the exporter's range has been unmapped or protected
 * @copy: what the mappings show when the export is dead; NULL for @scratch
 * @scratch: a page for that
 *
 * @copy is guarded by the export's importers_lock, as the memory itself is.
 */
struct rsm_shown {
	struct mm_struct *mm;
	unsigned long charged;
	atomic_t mappings;
	bool gone;
	struct rsm_mem *copy;
	struct page *scratch;
};

static struct rsm_shown *shown_alloc(void)
{
	struct rsm_shown *shown = kzalloc(sizeof(*shown), GFP_KERNEL_ACCOUNT);

	if (!shown)
		return NULL;
	shown->scratch = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (!shown->scratch) {
		kfree(shown);
		return NULL;
	}
	shown->mm = current->mm;
	mmgrab(shown->mm);
	return shown;
}

static void shown_free(struct rsm_shown *shown)
{
	mmdrop(shown->mm);
	put_page(shown->scratch);
	rsm_mem_put(shown->copy);
	kfree(shown);
}

/* The export is being freed; its mappings have gone before its handle. */
void rsm_window_free(struct rsm_export *exp)
{
	if (exp->shown)
		shown_free(exp->shown);
}

/*
 * Copy the caller's range. It is pinned for that, so that the copy can't stop
 * half-way.
 */
static u32 copy_range(u64 vaddr, u64 length, struct rsm_mem *to)
{
	struct rsm_mem *range;
	u32 status;

	status = rsm_pin_range(vaddr, length, NOT_MOVABLE, &range);
	if (status)
		return status;
	rsm_mem_copy(to, range);
	rsm_mem_put(range);
	return RSM_SUCCESS;
}

/**
 * rsm_window_bind() - put window memory behind an export
 * @exp: an export with vaddr and length set; the caller is its creator
 * @mem: the memory, of that length; the caller's reference is taken over
 *	unless this fails
 *
 * Return: RSM_SUCCESS, RSMERR_BAD_ADDR (also for memory shared with others or
 * of hugetlbfs), RSMERR_PERM_DENIED, RSMERR_INSUFFICIENT_MEM or
 * RSMERR_INTERRUPTED.
 */
u32 rsm_window_bind(struct rsm_export *exp, struct rsm_mem *mem)
{
	struct rsm_shown *shown;
	u32 status;

	lockdep_assert_held(&exp->lock);
	status = copy_range(exp->vaddr, exp->length, mem);
	if (status)
		return status;
	shown = shown_alloc();
	if (!shown)
		return RSMERR_INSUFFICIENT_MEM;
	if (rsm_charge(shown->mm, mem->npages)) {
		shown_free(shown);
		return RSMERR_INSUFFICIENT_MEM;
	}
	shown->charged = mem->npages;
	exp->shown = shown;
	exp->mem = mem;
	return RSM_SUCCESS;
}
EXPORT_SYMBOL_GPL(rsm_window_bind);

/**
 * rsm_window_rebind() - copy another range into the memory of an export
 * @exp: an export bound by rsm_window_bind()
 * @vaddr: start of the new range
 *
 * Importers stay where they are. The old range is to be given ordinary memory
 * by the exporter, who has kept a copy.
 *
 * Return: as rsm_window_bind(); on failure nothing has changed.
 */
u32 rsm_window_rebind(struct rsm_export *exp, u64 vaddr)
{
	lockdep_assert_held(&exp->lock);
	return copy_range(vaddr, exp->length, exp->mem);
}
EXPORT_SYMBOL_GPL(rsm_window_rebind);

/* Make the exporter's mappings show a copy, without losing a store. */
static void keep_contents(struct rsm_export *exp, struct rsm_mem *mem)
{
	struct rsm_shown *shown = exp->shown;

	lockdep_assert_held(&exp->importers_lock);
	rsm_zap_handle(exp->mapping, exp->seg.number);
	if (!atomic_read(&shown->mappings))
		return;
	shown->copy = rsm_mem_alloc(mem->npages);
	if (!shown->copy)
		pr_warn_ratelimited("rsm: no memory to keep the contents of segment %u\n",
				    exp->id);
	else if (!READ_ONCE(mem->lost))
		rsm_mem_copy(shown->copy, mem);
}

/**
 * rsm_window_unbind() - undo rsm_window_bind()
 * @exp: the export; has no local importers any more
 */
void rsm_window_unbind(struct rsm_export *exp)
{
	struct rsm_shown *shown = exp->shown;
	struct rsm_mem *mem = exp->mem;

	lockdep_assert_held(&exp->lock);
	mutex_lock(&exp->importers_lock);
	keep_contents(exp, mem);
	exp->mem = NULL;
	mutex_unlock(&exp->importers_lock);
	rsm_uncharge(shown->mm, shown->charged);
	shown->charged = 0;
	rsm_mem_put(mem);
}
EXPORT_SYMBOL_GPL(rsm_window_unbind);

/* Has the exporter given up its range? */
bool rsm_window_range_is_gone(const struct rsm_export *exp)
{
	return exp->shown && READ_ONCE(exp->shown->gone);
}

/*
 * The exporter unmaps or protects a part of what it has mapped: if that is of
 * the range that it exports, and not of one that it has rebound, that is the
 * end of the export. Called under mmap_lock.
 */
static void lose(struct vm_area_struct *vma, unsigned long start, unsigned long end)
{
	struct rsm_export *exp = vma->vm_private_data;
	u64 vaddr = READ_ONCE(exp->vaddr);

	if (vma->vm_mm != exp->shown->mm || end <= vaddr || start >= vaddr + exp->length)
		return;
	WRITE_ONCE(exp->shown->gone, true);
	queue_work(rsm_wq, &exp->death);
}

static void shown_open(struct vm_area_struct *vma)
{
	struct rsm_export *exp = vma->vm_private_data;

	atomic_inc(&exp->shown->mappings);
}

static void shown_close(struct vm_area_struct *vma)
{
	struct rsm_export *exp = vma->vm_private_data;

	atomic_dec(&exp->shown->mappings);
	lose(vma, vma->vm_start, vma->vm_end);
}

static int shown_mprotect(struct vm_area_struct *vma, unsigned long start,
			  unsigned long end, unsigned long flags)
{
	if ((flags & (VM_READ | VM_WRITE)) != (VM_READ | VM_WRITE))
		lose(vma, start, end);
	return 0;
}

static vm_fault_t shown_fault(struct vm_fault *vmf)
{
	struct rsm_export *exp = vmf->vma->vm_private_data;
	struct rsm_mem *mem;
	int err;

	mutex_lock(&exp->importers_lock);
	mem = exp->mem ?: exp->shown->copy;
	err = rsm_fill_around(vmf->vma, vmf->address, mem, exp->shown->scratch);
	mutex_unlock(&exp->importers_lock);
	return err ? VM_FAULT_OOM : VM_FAULT_NOPAGE;
}

static const struct vm_operations_struct shown_vm_ops = {
	.open = shown_open,
	.close = shown_close,
	.mprotect = shown_mprotect,
	.fault = shown_fault,
};

/**
 * rsm_window_map() - let the exporter map its own segment
 * @exp: an export bound by rsm_window_bind()
 * @vma: where to
 *
 * Return: 0, -EINVAL (private mapping), -ENXIO (beyond the end), -EPERM (the
 * caller is not the creator), -EACCES (execution) or -ENODEV (the export is
 * dead).
 */
int rsm_window_map(struct rsm_export *exp, struct vm_area_struct *vma)
{
	if (!(vma->vm_flags & VM_MAYSHARE))
		return -EINVAL;
	if (!rsm_range_ok(vma->vm_pgoff, vma_pages(vma), exp->length >> PAGE_SHIFT))
		return -ENXIO;
	if (vma->vm_mm != exp->shown->mm)
		return -EPERM;
	if (vma->vm_flags & VM_EXEC)
		return -EACCES;
	if (READ_ONCE(exp->state) == RSM_DEAD)
		return -ENODEV;
	vm_flags_clear(vma, VM_MAYEXEC);
	vm_flags_set(vma, VM_PFNMAP | VM_DONTEXPAND | VM_DONTDUMP);
	rsm_place_vma(vma, exp->seg.number);
	vma->vm_ops = &shown_vm_ops;
	vma->vm_private_data = exp;
	shown_open(vma);
	return 0;
}
