/* SPDX-License-Identifier: MIT */
/* Common parts of the small C examples: calls that must succeed. */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <rsmapi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PAGE	((size_t)sysconf(_SC_PAGESIZE))

#define DO(call)							\
	do {								\
		int status_ = (call);					\
									\
		if (status_ != RSM_SUCCESS) {				\
			fprintf(stderr, "%s: %s (%s)\n", #call, rsm_strerror(status_), \
				rsm_strerrorname(status_));		\
			exit(1);					\
		}							\
	} while (0)

/* Ends the program unless it is so. */
static inline void expect(int so, const char *what)
{
	printf("%s: %s\n", what, so ? "yes" : "NO");
	if (!so)
		exit(1);
}

/* Zeroed memory as exports want it. */
static inline void *pages(size_t count)
{
	void *memory = aligned_alloc(PAGE, count * PAGE);

	expect(memory != NULL, "there is memory");
	for (size_t at = 0; at < count * PAGE; at++)
		((volatile char *)memory)[at] = 0;
	return memory;
}

static inline rsm_node_id_t local_node(void)
{
	rsm_topology_t *topology;
	rsm_node_id_t node;

	DO(rsm_get_interconnect_topology(&topology));
	node = topology->topology_hdr.local_nodeid;
	rsm_free_interconnect_topology(topology);
	return node;
}

#endif
