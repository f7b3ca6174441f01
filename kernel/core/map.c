// SPDX-License-Identifier: GPL-2.0
/*
 * Mappings of import segments: page faults, and revocation.
 *
 * A process cannot map anonymous pages of another process as pages, so these mappings hold page
 * frame numbers, which the memory management does not follow to a struct page. Before 6.12 such
 * mappings get no huge faults; a fault therefore fills all entries around it that one page
 * table holds.
 */

#include "internal.h"
#include "compat.h"

#include <linux/pgtable.h>
#include <linux/sched/signal.h>
#include <linux/swap.h>

/**
 * rsm_mapping_init() - give an open file an address space of its own
 * @mapping: the address space, zeroed; has no pages, and lives until the file is released
 * @file: a file that is being opened
 */
void rsm_mapping_init(struct address_space *mapping, struct file *file)
{
	address_space_init_once(mapping);
	init_rwsem(&mapping->invalidate_lock);
	mapping->host = file_inode(file);
	mapping->a_ops = &empty_aops;
	mapping_set_gfp_mask(mapping, GFP_KERNEL);
	file->f_mapping = mapping;
}

/**
 * rsm_import_zap() - make the next access to each mapping fault
 * @imp: the import
 */
void rsm_import_zap(struct rsm_import *imp)
{
	lockdep_assert_held_write(&imp->map_lock);
	rsm_zap_handle(imp->seg.handle);
}

/* Make the next access to each mapping of a handle fault. */
void rsm_zap_handle(struct rsm_handle *h)
{
	unmap_mapping_range(&h->mapping, 0, 0, 1);
}

/**
 * struct fill - what to put into empty page table entries
 * @mem: memory to show, or NULL for the scratch page everywhere
 * @scratch: page frame number of the scratch page
 * @index: page of @mem for the next entry
 * @vma: the mapping
 */
struct fill {
	struct rsm_mem *mem;
	unsigned long scratch;
	unsigned long index;
	struct vm_area_struct *vma;
};

/*
 * userfaultfd leaves a marker in an empty entry that it is asked to write-protect. Replace the
 * marker by a write-protected entry: if it stayed, the access would fault for ever.
 */
static int fill_entry(pte_t *pte, unsigned long addr, void *data)
{
	struct fill *fill = data;
	struct vm_area_struct *vma = fill->vma;
	unsigned long index = fill->index++;
	unsigned long pfn = fill->scratch;
	pte_t entry, before = ptep_get(pte);

	if (!pte_none(before) && !pte_is_marker(before))
		return 0;
	if (fill->mem)
		pfn = fill->mem->ops->pfn(fill->mem, index);
	entry = pte_mkyoung(pte_mkspecial(pfn_pte(pfn, vma->vm_page_prot)));
	if (vma->vm_flags & VM_WRITE)
		entry = pte_mkdirty(entry);
	if (!pte_none(before))
		entry = pte_mkuffd(pte_wrprotect(entry));
	set_pte_at(vma->vm_mm, addr, pte, entry);
	return 0;
}

static unsigned long segment_index(struct vm_area_struct *vma, unsigned long addr)
{
	return vma->vm_pgoff + ((addr - vma->vm_start) >> PAGE_SHIFT);
}

/*
 * Fill the entries of @vma that are in the same page table as @addr: with pages of @mem, or with
 * @scratch if @mem is NULL. The caller holds the lock that keeps @mem and @scratch as they are.
 */
int rsm_fill_around(struct vm_area_struct *vma, unsigned long addr,
		    struct rsm_mem *mem, struct page *scratch)
{
	unsigned long start = max(addr & PMD_MASK, vma->vm_start);
	unsigned long end = min((addr & PMD_MASK) + PMD_SIZE, vma->vm_end);
	struct fill fill = {
		.mem = mem,
		.scratch = page_to_pfn(scratch),
		.index = segment_index(vma, start),
		.vma = vma,
	};

	return apply_to_page_range(vma->vm_mm, start, end - start, fill_entry, &fill);
}

static int fill_nothing(pte_t *pte, unsigned long addr, void *data)
{
	return 0;
}

/*
 * Allocate the page table for @addr now, so that rsm_fill_around() need not: a full cgroup would
 * make this process wait, and others with it for the lock that is held then.
 */
int rsm_fill_prepare(struct vm_area_struct *vma, unsigned long addr)
{
	return apply_to_page_range(vma->vm_mm, addr & PAGE_MASK, PAGE_SIZE, fill_nothing, NULL);
}

static vm_fault_t import_fault(struct vm_fault *vmf)
{
	struct rsm_import *imp = vmf->vma->vm_private_data;
	int err;

	if (rsm_fill_prepare(vmf->vma, vmf->address))
		return VM_FAULT_OOM;
	down_read(&imp->map_lock);
	err = rsm_fill_around(vmf->vma, vmf->address, imp->mem, imp->scratch);
	up_read(&imp->map_lock);
	return err ? VM_FAULT_OOM : VM_FAULT_NOPAGE;
}

/* ptrace() and /proc/PID/mem get here: they cannot follow page frame numbers by themselves. */
static int import_access(struct vm_area_struct *vma, unsigned long addr, void *buf,
			 int len, int write)
{
	struct rsm_import *imp = vma->vm_private_data;
	u64 offset = ((u64)segment_index(vma, addr) << PAGE_SHIFT) + offset_in_page(addr);
	int n = min_t(u64, len, vma->vm_end - addr);

	/*
	 * A debugger may read if the process could give itself the right to read. It may
	 * write only if the process can write now.
	 */
	if (!(vma->vm_flags & (write ? VM_WRITE : VM_MAYREAD)))
		return -EACCES;
	down_read(&imp->map_lock);
	if (!imp->mem)
		n = -EIO;
	else if (write)
		rsm_mem_write(imp->mem, offset, buf, n);
	else
		rsm_mem_read(imp->mem, offset, buf, n);
	up_read(&imp->map_lock);
	return n;
}

static const struct vm_operations_struct import_vm_ops = {
	.fault = import_fault,
	.access = import_access,
};

/**
 * rsm_map_mem() - map an import whose memory the CPU can reach
 * @imp: the import
 * @vma: where to; checked and placed by the core
 *
 * Return: 0.
 */
int rsm_map_mem(struct rsm_import *imp, struct vm_area_struct *vma)
{
	vm_flags_set(vma, VM_PFNMAP | VM_DONTEXPAND | VM_DONTDUMP);
	vma->vm_ops = &import_vm_ops;
	vma->vm_private_data = imp;
	return 0;
}
EXPORT_SYMBOL_GPL(rsm_map_mem);

/*
 * A mapping of a connection that has no right which a mapping could use. RSMAPI has such
 * mappings: they take up addresses, and each access ends with SIGBUS or SIGSEGV.
 */
static vm_fault_t hidden_fault(struct vm_fault *vmf)
{
	return VM_FAULT_SIGBUS;
}

static const struct vm_operations_struct hidden_vm_ops = {
	.fault = hidden_fault,
};

/**
 * rsm_import_mappable() - can a mapping use the import's rights?
 * @imp: the import
 *
 * Page tables can't allow writes and refuse reads. A connection with only the right to write
 * can therefore be mapped only if the segment's owner allows that user to read, too, so that
 * the user could have asked for the right to read.
 *
 * Return: true if the import has a right that a mapping can give.
 */
bool rsm_import_mappable(const struct rsm_import *imp)
{
	return imp->ops->map && imp->rights &&
	       (imp->rights & RSM_PERM_READ || imp->may_read);
}

/*
 * The process that has connected may read if @imp->may_read is set. A process that has received
 * the descriptor has the connection's rights only.
 */
static bool write_shows_no_more(const struct rsm_import *imp)
{
	return imp->rights & RSM_PERM_READ ||
	       (imp->may_read && imp->owner.tgid == task_tgid(current));
}

/* Refuse rights that the connection does not have, now and for a later mprotect(). */
static int limit_rights(struct rsm_import *imp, struct vm_area_struct *vma)
{
	vm_flags_t refused = VM_EXEC;

	if (!(imp->rights & RSM_PERM_READ))
		refused |= VM_READ;
	if (!(imp->rights & RSM_PERM_WRITE) || !write_shows_no_more(imp))
		refused |= VM_WRITE;
	if (vma->vm_flags & refused)
		return -EACCES;
	/* VM_MAYREAD is VM_READ shifted by 4; so are VM_MAYWRITE and VM_MAYEXEC. */
	vm_flags_clear(vma, refused << 4);
	return 0;
}

/* Has limit_rights() left the mapping without any right, for ever? */
static bool is_hidden(const struct vm_area_struct *vma)
{
	return !(vma->vm_flags & (VM_MAYREAD | VM_MAYWRITE));
}

static void map_nothing(struct rsm_import *imp, struct vm_area_struct *vma)
{
	vm_flags_set(vma, VM_PFNMAP | VM_DONTEXPAND | VM_DONTDUMP);
	vma->vm_ops = &hidden_vm_ops;
	vma->vm_private_data = imp;
}

/*
 * A fault after the end of the connection shows the scratch page and must not fail for want of
 * one, so mmap() allocates it. The allocation is made without map_lock, since the exporter may
 * wait for that.
 */
static int need_scratch(struct rsm_import *imp)
{
	struct page *page = NULL;
	int err = 0;

	if (!READ_ONCE(imp->scratch)) {
		page = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
		if (!page)
			return -ENOMEM;
	}
	down_write(&imp->map_lock);
	if (imp->aborted)
		err = -ENODEV;
	else if (!imp->scratch)
		swap(imp->scratch, page);
	up_write(&imp->map_lock);
	if (page)
		__free_page(page);
	return err;
}

/* Only pages that lie in the import's range as a whole can be mapped. */
static bool is_reachable(const struct rsm_import *imp, struct vm_area_struct *vma)
{
	return vma->vm_pgoff >= PAGE_ALIGN(imp->start) >> PAGE_SHIFT &&
	       rsm_range_ok(vma->vm_pgoff, vma_pages(vma), imp->end >> PAGE_SHIFT);
}

/* mmap of an import handle; see RSM_IOC_CONNECT for what it returns. */
int rsm_import_mmap(struct rsm_import *imp, struct vm_area_struct *vma)
{
	int err;

	if (!(vma->vm_flags & VM_MAYSHARE))
		return -EINVAL;
	if (!is_reachable(imp, vma))
		return -ENXIO;
	err = limit_rights(imp, vma);
	if (err)
		return err;
	if (!imp->ops->map)
		return READ_ONCE(imp->aborted) ? -ENODEV : -EOPNOTSUPP;

	err = need_scratch(imp);
	if (err)
		return err;
	if (!is_hidden(vma))
		return imp->ops->map(imp, vma);
	map_nothing(imp, vma);
	return 0;
}

/*
 * Find the first part of [@start, @end) that maps @imp, and narrow the range to
 * that part.
 */
static rsm_status_t rsm_next_mapping(const struct rsm_import *imp, unsigned long *start,
				     unsigned long *end)
{
	rsm_status_t status = RSM_STS_SEG_NOT_MAPPED;
	struct mm_struct *mm = current->mm;
	struct vm_area_struct *vma;

	if (mmap_read_lock_killable(mm))
		return RSM_STS_INTERRUPTED;
	vma = find_vma(mm, *start);
	while (vma && vma->vm_start < *end && vma->vm_private_data != imp)
		vma = find_vma(mm, vma->vm_end);
	if (vma && vma->vm_start < *end) {
		*start = max(*start, vma->vm_start);
		*end = min(*end, vma->vm_end);
		status = RSM_STS_SUCCESS;
	}
	mmap_read_unlock(mm);
	return status;
}

/* ioctl(RSM_IOC_UNMAP) on an import. */
rsm_status_t rsm_import_unmap(const struct rsm_import *imp, const struct rsm_unmap *arg)
{
	rsm_status_t status = RSM_STS_SUCCESS;
	unsigned long start, end;

	if (!PAGE_ALIGNED(arg->vaddr))
		return RSM_STS_BAD_MEM_ALIGNMENT;
	if (!arg->length || arg->length > TASK_SIZE ||
	    arg->vaddr > TASK_SIZE - arg->length)
		return RSM_STS_BAD_ADDR;

	start = arg->vaddr;
	end = PAGE_ALIGN(arg->vaddr + arg->length);
	while (start < end && !status) {
		unsigned long first = start, last = end;

		status = rsm_next_mapping(imp, &first, &last);
		if (!status && vm_munmap(first, last - first))
			status = RSM_STS_INSUFFICIENT_MEM;
		start = last;
	}
	return status == RSM_STS_SEG_NOT_MAPPED ? RSM_STS_SUCCESS : status;
}
