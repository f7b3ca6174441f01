// SPDX-License-Identifier: GPL-2.0
/*
 * Tables of words of a process's handles, in pages that the process can map: it then needs no
 * system call to find an event, or to check that a connection lives.
 */

#include "internal.h"
#include "compat.h"

#include <linux/idr.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/xarray.h>

#define SLOTS_PER_PAGE	(PAGE_SIZE / RSM_SLOT_SIZE)
#define TABLE_PAGES	(RSM_TABLE_SLOTS / SLOTS_PER_PAGE)

/**
 * struct rsm_table - the words of handles, one table for each control handle
 * @ref: one for the control handle, one for each slot in use
 * @mm: address space of the process that opened the control handle; only that process may map
 *	the consumed words. Referenced, so that no other address space gets this pointer.
 * @mapping: finds the mappings of the control handle
 * @slots: which slots are in use
 * @lock: serialises the growing of the two arrays
 * @status: pages of struct rsm_status_slot
 * @consumed: pages of struct rsm_consumed_slot
 */
struct rsm_table {
	struct kref ref;
	struct mm_struct *mm;
	struct address_space mapping;
	struct ida slots;
	struct mutex lock; /* of the two arrays' growth */
	struct xarray status;
	struct xarray consumed;
};

struct rsm_table *rsm_table_create(struct file *file)
{
	struct rsm_table *table = kzalloc(sizeof(*table), GFP_KERNEL_ACCOUNT);

	if (!table)
		return NULL;
	kref_init(&table->ref);
	rsm_mapping_init(&table->mapping, file);
	table->mm = current->mm;
	mmgrab(table->mm);
	ida_init(&table->slots);
	mutex_init(&table->lock);
	xa_init_flags(&table->status, XA_FLAGS_ACCOUNT);
	xa_init_flags(&table->consumed, XA_FLAGS_ACCOUNT);
	return table;
}

static void table_free_pages(struct xarray *xa)
{
	struct page *page;
	unsigned long index;

	xa_for_each(xa, index, page)
		put_page(page);
	xa_destroy(xa);
}

static void table_free(struct kref *ref)
{
	struct rsm_table *table = container_of(ref, struct rsm_table, ref);

	table_free_pages(&table->status);
	table_free_pages(&table->consumed);
	ida_destroy(&table->slots);
	mmdrop(table->mm);
	mutex_destroy(&table->lock);
	kfree(table);
}

void rsm_table_get(struct rsm_table *table)
{
	kref_get(&table->ref);
}

void rsm_table_put(struct rsm_table *table)
{
	if (table)
		kref_put(&table->ref, table_free);
}

/* The page at @index, which is allocated if there is none yet; NULL without memory. */
static struct page *table_page(struct rsm_table *table, struct xarray *xa,
			       unsigned long index)
{
	struct page *page = xa_load(xa, index);

	if (page)
		return page;
	mutex_lock(&table->lock);
	page = xa_load(xa, index);
	if (page)
		goto out_unlock;
	page = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (page && xa_err(xa_store(xa, index, page, GFP_KERNEL_ACCOUNT))) {
		put_page(page);
		page = NULL;
	}
out_unlock:
	mutex_unlock(&table->lock);
	return page;
}

static void *slot_address(struct page *page, unsigned int slot)
{
	return page_address(page) + slot % SLOTS_PER_PAGE * RSM_SLOT_SIZE;
}

static int take_slot(struct rsm_words *words, struct rsm_table *table)
{
	struct rsm_status_slot *status;
	struct rsm_consumed_slot *consumed;
	struct page *status_page, *consumed_page;
	int slot;

	slot = ida_alloc_max(&table->slots, RSM_TABLE_SLOTS - 1, GFP_KERNEL_ACCOUNT);
	if (slot < 0)
		return slot;
	status_page = table_page(table, &table->status, slot / SLOTS_PER_PAGE);
	consumed_page = table_page(table, &table->consumed, slot / SLOTS_PER_PAGE);
	if (!status_page || !consumed_page) {
		ida_free(&table->slots, slot);
		return -ENOMEM;
	}

	status = slot_address(status_page, slot);
	consumed = slot_address(consumed_page, slot);
	kref_get(&table->ref);
	words->table = table;
	words->slot = slot;
	words->generation = &status->generation;
	words->posted = &status->posted;
	words->consumed = &consumed->consumed;
	return 0;
}

/**
 * rsm_words_init() - give a handle its words
 * @words: where they are described
 * @table: table to take a slot from, or NULL
 *
 * No event is pending afterwards. The generation continues from the value that the slot's
 * former user has left.
 *
 * Return: 0, -ENOSPC when the table is full, or -ENOMEM.
 */
int rsm_words_init(struct rsm_words *words, struct rsm_table *table)
{
	if (table) {
		int err = take_slot(words, table);

		if (err)
			return err;
	} else {
		words->slot = RSM_NO_SLOT;
		words->generation = &words->own[0];
		words->posted = &words->own[1];
		words->consumed = &words->own[2];
	}
	WRITE_ONCE(*words->posted, 0);
	WRITE_ONCE(*words->consumed, 0);
	return 0;
}

void rsm_words_release(struct rsm_words *words)
{
	if (!words->table)
		return;
	ida_free(&words->table->slots, words->slot);
	rsm_table_put(words->table);
}

static vm_fault_t fault_in(struct vm_fault *vmf, struct xarray *xa,
			   unsigned long first)
{
	struct rsm_table *table = vmf->vma->vm_private_data;
	struct page *page = table_page(table, xa, vmf->pgoff - first);

	if (!page)
		return VM_FAULT_OOM;
	get_page(page);
	vmf->page = page;
	return 0;
}

static vm_fault_t status_fault(struct vm_fault *vmf)
{
	struct rsm_table *table = vmf->vma->vm_private_data;

	return fault_in(vmf, &table->status, RSM_MMAP_STATUS >> PAGE_SHIFT);
}

static vm_fault_t consumed_fault(struct vm_fault *vmf)
{
	struct rsm_table *table = vmf->vma->vm_private_data;

	return fault_in(vmf, &table->consumed, RSM_MMAP_CONSUMED >> PAGE_SHIFT);
}

static const struct vm_operations_struct status_vm_ops = {
	.fault = status_fault,
};

static const struct vm_operations_struct consumed_vm_ops = {
	.fault = consumed_fault,
};

static bool within(struct vm_area_struct *vma, unsigned long offset)
{
	unsigned long first = offset >> PAGE_SHIFT;

	return vma->vm_pgoff >= first && vma->vm_pgoff - first < TABLE_PAGES &&
	       vma_pages(vma) <= TABLE_PAGES - (vma->vm_pgoff - first);
}

/**
 * rsm_table_mmap() - map the words of a control handle
 * @table: its table
 * @vma: where to
 *
 * fork() does not hand down the mapping of the consumed words: a child that has given up rights
 * must not be able to consume its parent's events.
 *
 * Return: 0 or -errno, see RSM_MMAP_STATUS.
 */
int rsm_table_mmap(struct rsm_table *table, struct vm_area_struct *vma)
{
	if (!(vma->vm_flags & VM_MAYSHARE))
		return -EINVAL;
	if (within(vma, RSM_MMAP_STATUS)) {
		if (vma->vm_flags & (VM_WRITE | VM_EXEC))
			return -EACCES;
		vm_flags_clear(vma, VM_MAYWRITE | VM_MAYEXEC);
		vma->vm_ops = &status_vm_ops;
	} else if (within(vma, RSM_MMAP_CONSUMED)) {
		if (table->mm != current->mm)
			return -EPERM;
		vm_flags_clear(vma, VM_MAYEXEC);
		vm_flags_set(vma, VM_DONTCOPY);
		vma->vm_ops = &consumed_vm_ops;
	} else {
		return -EINVAL;
	}
	vm_flags_set(vma, VM_DONTEXPAND | VM_DONTDUMP);
	vma->vm_private_data = table;
	return 0;
}
