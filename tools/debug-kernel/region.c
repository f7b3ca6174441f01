// SPDX-License-Identifier: GPL-2.0
/*
 * Files of the host as physical memory that User-Mode Linux does not manage: where a device's memory
 * is elsewhere.
 */
#include <linux/cleanup.h>
#include <linux/export.h>
#include <linux/io.h>
#include <linux/list.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/vmalloc.h>
#include <asm/page.h>
#include <asm/region.h>
#include <os.h>

struct region {
	struct list_head entry;
	struct vm_struct *area;
	unsigned long phys;
	size_t size;
	int fd;
};

static LIST_HEAD(regions);
static DEFINE_SPINLOCK(regions_lock); /* guards the list; innermost */

int uml_region_mapping(unsigned long phys, unsigned long long *offset)
{
	struct region *region;

	guard(spinlock_irqsave)(&regions_lock);
	list_for_each_entry(region, &regions, entry) {
		if (phys >= region->phys && phys - region->phys < region->size) {
			*offset = phys - region->phys;
			return region->fd;
		}
	}
	return -1;
}

static void region_add(struct region *region)
{
	guard(spinlock_irqsave)(&regions_lock);
	list_add(&region->entry, &regions);
}

static struct region *region_remove(const void *base)
{
	struct region *region;

	guard(spinlock_irqsave)(&regions_lock);
	list_for_each_entry(region, &regions, entry) {
		if (region->area->addr == base) {
			list_del(&region->entry);
			return region;
		}
	}
	return NULL;
}

/* The physical address is the one that belongs to the virtual one, as nobody else has either. */
static int region_place(struct region *region)
{
	unsigned long begin;

	region->area = get_vm_area(region->size, VM_IOREMAP);
	if (!region->area)
		return -ENOMEM;
	begin = (unsigned long)region->area->addr;
	region->phys = __pa(begin);
	region_add(region);
	return vmap_page_range(begin, begin + region->size, region->phys, PAGE_KERNEL);
}

static void region_free(struct region *region)
{
	if (region->area)
		free_vm_area(region->area);
	kfree(region);
}

void *uml_map_region(int fd, size_t size)
{
	struct region *region = kzalloc(sizeof(*region), GFP_KERNEL);

	if (!region)
		return NULL;
	region->fd = fd;
	region->size = size;
	if (region_place(region)) {
		if (region->area)
			region_remove(region->area->addr);
		region_free(region);
		return NULL;
	}
	return region->area->addr;
}
EXPORT_SYMBOL_GPL(uml_map_region);

void uml_unmap_region(void *base)
{
	struct region *region = region_remove(base);

	if (WARN_ON(!region))
		return;
	os_close_file(region->fd);
	region_free(region);
}
EXPORT_SYMBOL_GPL(uml_unmap_region);
