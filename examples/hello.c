/* SPDX-License-Identifier: MIT */
/* Exports a page, imports it again, and writes through the import. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <rsmapi.h>

static void check(int status, const char *call)
{
	if (status != RSM_SUCCESS) {
		fprintf(stderr, "%s: %s\n", call, rsm_strerror(status));
		exit(1);
	}
}
#define DO(call) check(call, #call)

int main(void)
{
	rsmapi_controller_handle_t loopback;
	rsm_memseg_export_handle_t exported;
	rsm_memseg_import_handle_t imported;
	rsm_memseg_id_t id = 0;			/* 0: let the system choose */
	rsm_topology_t *topology;
	rsmapi_barrier_t barrier;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint64_t word = 42, *memory = aligned_alloc(page, page);

	DO(rsm_get_controller("loopback", &loopback));
	DO(rsm_get_interconnect_topology(&topology));
	DO(rsm_memseg_export_create(loopback, &exported, memory, page, 0));
	DO(rsm_memseg_export_publish(exported, &id, NULL, 0));
	DO(rsm_memseg_import_connect(loopback, topology->topology_hdr.local_nodeid, id,
				     RSM_PERM_RDWR, &imported));
	rsm_free_interconnect_topology(topology);
	DO(rsm_memseg_import_init_barrier(imported, RSM_BAR_DEFAULT, &barrier));
	DO(rsm_memseg_import_put64(imported, 0, &word, 1));
	printf("segment %#x holds %llu\n", id, (unsigned long long)memory[0]);
	return memory[0] != 42;			/* exit gives everything back */
}
