// SPDX-License-Identifier: GPL-2.0
/* The memory of segments, whichever controller or process it comes from. */

#include "internal.h"

#include <linux/mm.h>
#include <linux/module.h>
#include <linux/string.h>

void rsm_mem_init(struct rsm_mem *mem, const struct rsm_mem_ops *ops,
		  unsigned long npages)
{
	kref_init(&mem->ref);
	mem->npages = npages;
	mem->written = false;
	mem->lost = false;
	mem->ops = ops;
	/* The caller runs in that module. */
	__module_get(ops->owner);
}
EXPORT_SYMBOL_GPL(rsm_mem_init);

struct rsm_mem *rsm_mem_get(struct rsm_mem *mem)
{
	if (mem)
		kref_get(&mem->ref);
	return mem;
}
EXPORT_SYMBOL_GPL(rsm_mem_get);

/* Let @release free @mem. The caller is outside the owner, which may be unloaded on return. */
static void mem_free(struct rsm_mem *mem, void (*release)(struct rsm_mem *mem))
{
	struct module *owner = mem->ops->owner;

	release(mem);
	module_put(owner);
}

static void mem_release(struct kref *ref)
{
	struct rsm_mem *mem = container_of(ref, struct rsm_mem, ref);

	mem_free(mem, mem->ops->release);
}

void rsm_mem_put(struct rsm_mem *mem)
{
	if (mem)
		kref_put(&mem->ref, mem_release);
}
EXPORT_SYMBOL_GPL(rsm_mem_put);

static void mem_release_later(struct kref *ref)
{
	struct rsm_mem *mem = container_of(ref, struct rsm_mem, ref);

	mem_free(mem, mem->ops->release_later ?: mem->ops->release);
}

/**
 * rsm_mem_put_later() - rsm_mem_put() for a work for whose end others wait
 * @mem: the memory, or NULL. If it is much, another work gives it back
 */
void rsm_mem_put_later(struct rsm_mem *mem)
{
	if (mem)
		kref_put(&mem->ref, mem_release_later);
}
EXPORT_SYMBOL_GPL(rsm_mem_put_later);

static size_t mem_piece(u64 offset, size_t len)
{
	return min_t(size_t, len, PAGE_SIZE - offset_in_page(offset));
}

/**
 * rsm_mem_read() - copy out of a segment's memory
 * @mem: the memory
 * @offset: bytes from its start
 * @to: kernel buffer
 * @len: bytes; the caller has checked that they are there
 */
void rsm_mem_read(struct rsm_mem *mem, u64 offset, void *to, size_t len)
{
	while (len) {
		size_t n = mem_piece(offset, len);
		void *page = mem->ops->map_page(mem, offset >> PAGE_SHIFT);

		memcpy(to, page + offset_in_page(offset), n);
		mem->ops->unmap_page(mem, page);
		offset += n;
		to += n;
		len -= n;
	}
}
EXPORT_SYMBOL_GPL(rsm_mem_read);

/**
 * rsm_mem_write() - copy into a segment's memory
 * @mem: the memory
 * @offset: bytes from its start
 * @from: kernel buffer
 * @len: bytes; the caller has checked that there is room
 */
void rsm_mem_write(struct rsm_mem *mem, u64 offset, const void *from, size_t len)
{
	WRITE_ONCE(mem->written, true);
	while (len) {
		size_t n = mem_piece(offset, len);
		void *page = mem->ops->map_page(mem, offset >> PAGE_SHIFT);

		memcpy(page + offset_in_page(offset), from, n);
		mem->ops->unmap_page(mem, page);
		offset += n;
		from += n;
		len -= n;
	}
}
EXPORT_SYMBOL_GPL(rsm_mem_write);
