/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Files of the host as physical memory that User-Mode Linux does not manage: where a device's memory
 * is elsewhere.
 */
#ifndef __UM_REGION_H
#define __UM_REGION_H

#include <linux/types.h>

/**
 * uml_map_region() - give a file of the host a place in physical memory
 * @fd: the host's descriptor, which the region takes if there is no error
 * @size: bytes, in whole pages
 *
 * The kernel reaches it at the address that __va() has for its physical address. Processes get it as
 * pages that have no &struct page.
 *
 * Return: where it is mapped, or NULL if there is no memory.
 */
void *uml_map_region(int fd, size_t size);

/**
 * uml_unmap_region() - undo uml_map_region(), and close the descriptor
 * @base: where it is mapped
 */
void uml_unmap_region(void *base);

/* The descriptor and offset of a physical address, or -1. */
int uml_region_mapping(unsigned long phys, unsigned long long *offset);

#endif
