// SPDX-License-Identifier: GPL-2.0
/* Memory of ordinary pages that the core allocates itself. */

#include "internal.h"

#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/slab.h>

/* Charged to the active cgroup. Users choose the size: a failure must not call the OOM killer. */
#define COPY_GFP	(GFP_KERNEL_ACCOUNT | __GFP_NOWARN | __GFP_RETRY_MAYFAIL)

/**
 * struct rsm_copy - pages that the core has allocated
 * @mem: as the core sees them
 * @page: the pages, in order
 */
struct rsm_copy {
	struct rsm_mem mem;
	struct page *page[];
};

static struct rsm_copy *to_copy(const struct rsm_mem *mem)
{
	return container_of(mem, struct rsm_copy, mem);
}

static unsigned long copy_pfn(const struct rsm_mem *mem, unsigned long index)
{
	return page_to_pfn(to_copy(mem)->page[index]);
}

static void *copy_map_page(const struct rsm_mem *mem, unsigned long index)
{
	return kmap_local_page(to_copy(mem)->page[index]);
}

static void copy_unmap_page(const struct rsm_mem *mem, void *addr)
{
	kunmap_local(addr);
}

static void copy_free_pages(struct rsm_copy *copy)
{
	for (unsigned long i = 0; i < copy->mem.npages && copy->page[i]; i++) {
		__free_page(copy->page[i]);
		cond_resched();
	}
	kvfree(copy);
}

static void copy_release(struct rsm_mem *mem)
{
	copy_free_pages(to_copy(mem));
}

static const struct rsm_mem_ops copy_ops = {
	.pfn = copy_pfn,
	.map_page = copy_map_page,
	.unmap_page = copy_unmap_page,
	.release = copy_release,
};

static bool fill_with_pages(struct rsm_copy *copy)
{
	for (unsigned long i = 0; i < copy->mem.npages; i++) {
		copy->page[i] = alloc_page(COPY_GFP | __GFP_ZERO);
		if (!copy->page[i])
			return false;
		cond_resched();
	}
	return true;
}

/**
 * rsm_mem_alloc() - memory of ordinary pages, zeroed
 * @npages: how many
 *
 * The active memory cgroup is charged. Return: the memory with one reference, or NULL.
 */
struct rsm_mem *rsm_mem_alloc(unsigned long npages)
{
	struct rsm_copy *copy;

	copy = rsm_page_array_alloc(struct_size(copy, page, npages), COPY_GFP | __GFP_ZERO);
	if (!copy)
		return NULL;
	rsm_mem_init(&copy->mem, &copy_ops, npages);
	if (!fill_with_pages(copy)) {
		copy_free_pages(copy);
		return NULL;
	}
	return &copy->mem;
}

/**
 * rsm_mem_copy() - copy all of one memory into another
 * @to: where to
 * @from: where from, of the same size
 */
void rsm_mem_copy(struct rsm_mem *to, struct rsm_mem *from)
{
	for (unsigned long i = 0; i < to->npages; i++) {
		void *target = to->ops->map_page(to, i);
		void *source = from->ops->map_page(from, i);

		copy_page(target, source);
		from->ops->unmap_page(from, source);
		to->ops->unmap_page(to, target);
		cond_resched();
	}
}
