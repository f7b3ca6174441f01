/* SPDX-License-Identifier: MIT */
/*
 * Excerpts for the EXAMPLES of RSMAPI's manual pages. A line "example:" names the pages that show what follows it.
 */
#define _GNU_SOURCE /* POLLRDHUP */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <rsmapi.h>

void show_controller(void);
void show_nodes(void);
int publish_in_reserved_range(rsm_memseg_export_handle_t segment);
int share_with_one_node(rsm_memseg_export_handle_t segment, rsm_node_id_t node);
int replace_memory(rsm_memseg_export_handle_t segment, void *other,
		   size_t length);
int read_all(rsm_memseg_import_handle_t segment, void **copy, size_t *length);
int append(rsm_memseg_import_handle_t segment, uint64_t slot, const char *text);
int put_record(rsm_memseg_import_handle_t segment, const void *data,
	       size_t length);
int use_as_memory(rsm_memseg_import_handle_t segment);
int count_down(rsm_memseg_import_handle_t segment);
int wait_and_answer(rsm_memseg_import_handle_t segment);
int poll_once(rsm_memseg_import_handle_t segment, int other);
void give_up(rsm_memseg_import_handle_t import,
	     rsm_memseg_export_handle_t export_);
int gather(rsmapi_controller_handle_t controller,
	   rsm_memseg_import_handle_t segment);

/* example: rsm_get_controller rsm_get_controller_attr rsm_release_controller rsm_strerror rsm_strerrorname */
void show_controller(void)
{
	rsmapi_controller_handle_t controller;
	rsmapi_controller_attr_t attributes;
	int status = rsm_get_controller("loopback", &controller);

	if (status != RSM_SUCCESS) {
		fprintf(stderr, "rsm_get_controller: %s (%s)\n",
			rsm_strerror(status), rsm_strerrorname(status));
		return;
	}
	if (rsm_get_controller_attr(controller, &attributes) == RSM_SUCCESS)
		printf("segments have at most %zu bytes\n",
		       (size_t)attributes.attr_max_export_segment_size);
	rsm_release_controller(controller);
}

/* example: rsm_get_interconnect_topology rsm_free_interconnect_topology */
void show_nodes(void)
{
	rsm_topology_t *topology;
	unsigned int each;
	int at;

	if (rsm_get_interconnect_topology(&topology) != RSM_SUCCESS)
		return;
	printf("this is node %u\n", topology->topology_hdr.local_nodeid);
	for (each = 0; each < topology->topology_hdr.local_cntlr_count;
	     each++) {
		rsm_connections_t *paths = topology->connections[each];

		for (at = 0; at < paths->hdr.remote_cntlr_count; at++)
			printf("%s reaches node %u\n", paths->hdr.cntlr_name,
			       paths->remote_cntlr[at].remote_nodeid);
	}
	rsm_free_interconnect_topology(topology);
}

/* example: rsm_get_segmentid_range rsm_memseg_export_publish */
int publish_in_reserved_range(rsm_memseg_export_handle_t segment)
{
	/* Nodes 1 and 2, over ivshmem or rdma: all users may read. Loopback takes one entry. */
	rsmapi_access_entry_t readers[] = { { 1, 0444 }, { 2, 0444 } };
	rsm_memseg_id_t id;
	uint32_t length;
	int status = rsm_get_segmentid_range("myapp", &id, &length);

	if (status != RSM_SUCCESS)
		return status; /* /etc/rsm/rsm.segmentid has no such line */
	return rsm_memseg_export_publish(segment, &id, readers, 2);
}

/* example: rsm_memseg_export_republish */
int share_with_one_node(rsm_memseg_export_handle_t segment, rsm_node_id_t node)
{
	/* Owner and group read and write, others nothing. RSM_PERM_RDWR is the owner's digit alone. */
	rsmapi_access_entry_t only = { .ae_node = node, .ae_permission = 0660 };

	/* Connections of other nodes stay; new ones need the new rights. */
	return rsm_memseg_export_republish(segment, &only, 1);
}

/* example: rsm_memseg_export_rebind */
int replace_memory(rsm_memseg_export_handle_t segment, void *other,
		   size_t length)
{
	/* Only a segment that was created with RSM_ALLOW_REBIND. */
	return rsm_memseg_export_rebind(segment, other, 0, length);
}

/* example: rsm_memseg_import_get rsm_memseg_import_get_length */
int read_all(rsm_memseg_import_handle_t segment, void **copy, size_t *length)
{
	int status = rsm_memseg_import_get_length(segment, length);

	if (status != RSM_SUCCESS)
		return status;
	*copy = malloc(*length);
	if (!*copy)
		return RSMERR_INSUFFICIENT_MEM;
	status = rsm_memseg_import_get(segment, 0, *copy, *length);
	if (status != RSM_SUCCESS)
		free(*copy);
	return status;
}

/* example: rsm_memseg_import_put rsm_memseg_import_put8 */
int append(rsm_memseg_import_handle_t segment, uint64_t slot, const char *text)
{
	off_t place = (off_t)(64 + slot * 256);
	uint64_t next = slot + 1;
	int status = rsm_memseg_import_put(segment, place, (void *)text,
					   strlen(text) + 1);

	/* The number of slots, at the start, follows what it counts. */
	return status == RSM_SUCCESS
		       ? rsm_memseg_import_put64(segment, 0, &next, 1)
		       : status;
}

/*
 * example: rsm_memseg_import_init_barrier rsm_memseg_import_open_barrier rsm_memseg_import_close_barrier
 *          rsm_memseg_import_order_barrier rsm_memseg_import_destroy_barrier rsm_memseg_import_set_mode
 *          rsm_memseg_import_get_mode
 */
int put_record(rsm_memseg_import_handle_t segment, const void *data,
	       size_t length)
{
	rsmapi_barrier_t barrier;
	rsm_barrier_mode_t before;
	uint32_t valid = 1;
	int status;

	rsm_memseg_import_get_mode(segment, &before);
	rsm_memseg_import_set_mode(segment, RSM_BARRIER_MODE_EXPLICIT);
	rsm_memseg_import_init_barrier(segment, RSM_BAR_DEFAULT, &barrier);
	rsm_memseg_import_open_barrier(&barrier);
	rsm_memseg_import_put(segment, 64, (void *)data, length);
	rsm_memseg_import_order_barrier(
		&barrier); /* data first, then the flag */
	rsm_memseg_import_put32(segment, 0, &valid, 1);
	status = rsm_memseg_import_close_barrier(
		&barrier); /* tells whether all arrived */
	rsm_memseg_import_destroy_barrier(&barrier);
	rsm_memseg_import_set_mode(segment, before);
	return status;
}

/* example: rsm_memseg_import_map rsm_memseg_import_unmap */
int use_as_memory(rsm_memseg_import_handle_t segment)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *memory;
	int status = rsm_memseg_import_map(segment, &memory, RSM_MAP_NONE,
					   RSM_PERM_RDWR, 0, page);

	if (status != RSM_SUCCESS)
		return status; /* RSMERR_MAP_FAILED: use put and get */
	((volatile char *)memory)[0] = 1;
	return rsm_memseg_import_unmap(segment);
}

/* example: rsm_memseg_import_get8 */
int count_down(rsm_memseg_import_handle_t segment)
{
	uint32_t left;
	int status = rsm_memseg_import_get32(segment, 0, &left, 1);

	if (status != RSM_SUCCESS)
		return status;
	left--;
	return rsm_memseg_import_put32(segment, 0, &left, 1);
}

/* example: rsm_intr_signal_wait rsm_intr_signal_post */
int wait_and_answer(rsm_memseg_import_handle_t segment)
{
	int status = rsm_intr_signal_wait(segment, 1000); /* a second */

	return status == RSM_SUCCESS ? rsm_intr_signal_post(segment, 0)
				     : status;
}

/* example: rsm_memseg_get_pollfd rsm_memseg_release_pollfd rsm_intr_signal_wait_pollfd */
int poll_once(rsm_memseg_import_handle_t segment, int other)
{
	struct pollfd both[2] = { { .events = POLLIN },
				  { .fd = other, .events = POLLIN } };
	int ready = 0;
	int status = rsm_memseg_get_pollfd(segment, &both[0]);

	if (status != RSM_SUCCESS)
		return status;
	both[0].events |= POLLRDHUP; /* the other side is gone */
	status = rsm_intr_signal_wait_pollfd(both, 2, -1, &ready);
	if (status == RSM_SUCCESS && (both[0].revents & POLLRDHUP))
		fprintf(stderr, "the exporter has ended the segment\n");
	rsm_memseg_release_pollfd(segment);
	return status;
}

/*
 * example: rsm_memseg_import_disconnect rsm_memseg_export_unpublish rsm_memseg_export_destroy
 */
void give_up(rsm_memseg_import_handle_t import,
	     rsm_memseg_export_handle_t export_)
{
	rsm_memseg_import_disconnect(import); /* unmapped before */
	rsm_memseg_export_unpublish(export_); /* nobody connects any more */
	rsm_memseg_export_destroy(
		export_); /* those who are connected are told */
}

/* example: rsm_create_localmemory_handle rsm_free_localmemory_handle rsm_memseg_import_putv */
int gather(rsmapi_controller_handle_t controller,
	   rsm_memseg_import_handle_t segment)
{
	static char head[16], body[64];
	rsm_localmemory_handle_t memory;
	rsm_iovec_t parts[2] = {
		{ .io_type = RSM_HANDLE_TYPE,
		  .remote_offset = 0,
		  .transfer_length = sizeof(head) },
		{ .io_type = RSM_VA_TYPE,
		  .local.vaddr = body,
		  .remote_offset = 64,
		  .transfer_length = sizeof(body) },
	};
	rsm_scat_gath_t list = { .local_nodeid = 0,
				 .io_request_count = 2,
				 .remote_handle = segment,
				 .iovec = parts };
	int status = rsm_create_localmemory_handle(controller, &memory, head,
						   sizeof(head));

	if (status != RSM_SUCCESS)
		return status;
	parts[0].local.handle = memory;
	status = rsm_memseg_import_putv(&list);
	rsm_free_localmemory_handle(controller, memory);
	return status;
}
