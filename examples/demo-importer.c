/* SPDX-License-Identifier: MIT */
/*
 * The demonstration's importer: reads the segment by plain loads, writes it by
 * put, follows a rebind, and outlives the segment. With -d it is somebody whom
 * the access list refuses; with -k it has the exporter killed by a command and
 * outlives that.
 */
#define _GNU_SOURCE	/* POLLRDHUP */
#include "demo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PUT_CHUNK	((size_t)1 << 20)
#define GATHER		8
#define NAP_MS		50

struct connection {
	rsm_memseg_import_handle_t handle;
	rsmapi_barrier_t barrier;
	uint64_t records;
	size_t size;
	char *mapped;
};

static const struct demo_control *control_of(const struct connection *to)
{
	return (const struct demo_control *)to->mapped;
}

static size_t data_size(const struct connection *to)
{
	return to->records * sizeof(struct demo_record);
}

static void nap(void)
{
	const struct timespec pause = { 0, NAP_MS * 1000 * 1000 };

	nanosleep(&pause, NULL);
}

/* The exporter may still be preparing its records, and its node be on its way up. */
static int connect_patiently(rsmapi_controller_handle_t controller, rsm_node_id_t node,
			     rsm_memseg_import_handle_t *handle)
{
	rsm_memseg_id_t id = demo_segment_id();
	int status = RSMERR_SEG_NOT_PUBLISHED;

	for (int waited = 0; waited < DEMO_PATIENCE_MS; waited += NAP_MS) {
		status = rsm_memseg_import_connect(controller, node, id, RSM_PERM_RDWR, handle);
		if (status != RSMERR_SEG_NOT_PUBLISHED &&
		    status != RSMERR_REMOTE_NODE_UNREACHABLE)
			break;
		nap();
	}
	return status;
}

static void map_and_read(struct connection *to)
{
	void *address = NULL;
	uint64_t checksum;

	DEMO(rsm_memseg_import_init_barrier(to->handle, RSM_BAR_DEFAULT, &to->barrier));
	DEMO(rsm_memseg_import_get64(to->handle, offsetof(struct demo_control, records),
				     &to->records, 1));
	to->size = demo_records_offset() + data_size(to);
	DEMO(rsm_memseg_import_map(to->handle, &address, RSM_MAP_NONE, RSM_PERM_RDWR, 0, to->size));
	to->mapped = address;

	checksum = demo_checksum(to->mapped + demo_records_offset(), data_size(to));
	demo_assert(checksum == control_of(to)->checksum, "the records read have the right checksum");
	demo_say("uid %d, gid %d; connected and mapped; plain loads of all records sum to %016llx",
		 (int)getuid(), (int)getgid(), (unsigned long long)checksum);
}

/* New records for the first half, then their checksum, ordered by barriers. */
static void put_half(struct connection *to)
{
	size_t half = to->records / 2 * sizeof(struct demo_record);
	struct demo_record *news = malloc(half);
	uint64_t checksum;

	demo_assert(news != NULL, "there is memory enough");
	for (uint64_t index = 0; index < to->records / 2; index++)
		news[index] = demo_record(3, index);
	checksum = demo_checksum(news, half);

	DEMO(rsm_memseg_import_set_mode(to->handle, RSM_BARRIER_MODE_EXPLICIT));
	DEMO(rsm_memseg_import_open_barrier(&to->barrier));
	for (size_t done = 0; done < half; done += PUT_CHUNK) {
		size_t length = half - done < PUT_CHUNK ? half - done : PUT_CHUNK;

		DEMO(rsm_memseg_import_put(to->handle, (off_t)(demo_records_offset() + done),
					   (char *)news + done, length));
	}
	DEMO(rsm_memseg_import_order_barrier(&to->barrier));
	DEMO(rsm_memseg_import_put64(to->handle, offsetof(struct demo_control, put_checksum),
				     &checksum, 1));
	DEMO(rsm_memseg_import_close_barrier(&to->barrier));
	free(news);
	demo_say("put %zu MiB of new records, order barrier, put64 of %016llx, close barrier; ringing",
		 half >> 20, (unsigned long long)checksum);
	DEMO(rsm_intr_signal_post(to->handle, 0));
}

static void see_rebind(struct connection *to)
{
	uint64_t checksum;

	DEMO(rsm_intr_signal_wait(to->handle, DEMO_PATIENCE_MS));
	checksum = demo_checksum(to->mapped + demo_records_offset(), data_size(to));
	demo_assert(checksum == control_of(to)->checksum, "the new memory has the right checksum");
	demo_say("woken; the mapping I had all along shows the new memory, %016llx",
		 (unsigned long long)checksum);
}

/* A few records from all over the segment, and a bell for the exporter at the end. */
static void gather(struct connection *to)
{
	struct demo_record found[GATHER];
	rsm_iovec_t piece[GATHER];
	rsm_scat_gath_t request;

	memset(&request, 0, sizeof(request));
	for (size_t index = 0; index < GATHER; index++) {
		uint64_t wanted = to->records / GATHER * index;

		piece[index].io_type = RSM_VA_TYPE;
		piece[index].local.vaddr = (caddr_t)found;
		piece[index].local_offset = index * sizeof(*found);
		piece[index].remote_offset = demo_records_offset() + wanted * sizeof(*found);
		piece[index].transfer_length = sizeof(*found);
	}
	request.io_request_count = GATHER;
	request.flags = RSM_IMPLICIT_SIGPOST;
	request.remote_handle = to->handle;
	request.iovec = piece;
	DEMO(rsm_memseg_import_getv(&request));

	for (size_t index = 0; index < GATHER; index++) {
		struct demo_record right = demo_record(2, to->records / GATHER * index);

		demo_assert(memcmp(&found[index], &right, sizeof(right)) == 0,
			    "getv finds the right records");
	}
	demo_say("one getv fetched %d records from all over the segment and rang", GATHER);
}

static int is_blank(const struct connection *to)
{
	for (size_t at = 0; at < to->size; at += sizeof(uint64_t)) {
		uint64_t word;

		memcpy(&word, to->mapped + at, sizeof(word));
		if (word != 0)
			return 0;
	}
	return 1;
}

/* Waits for the end of the connection, then shows that nothing is broken. */
static void outlive(struct connection *to)
{
	struct pollfd connection;
	uint64_t word = 1;

	DEMO(rsm_memseg_get_pollfd(to->handle, &connection));
	connection.events = POLLRDHUP;
	demo_assert(poll(&connection, 1, DEMO_PATIENCE_MS) == 1 && connection.revents & POLLRDHUP,
		    "poll() tells of the disconnect");
	DEMO(rsm_memseg_release_pollfd(to->handle));

	/* The memory is gone for sure when the exporter's unpublish returns. */
	for (int waited = 0; waited < DEMO_PATIENCE_MS && !is_blank(to); waited += NAP_MS)
		nap();
	demo_assert(is_blank(to), "nothing of the segment is left in the mapping");
	memset(to->mapped, 1, to->size);
	demo_say("poll() said POLLRDHUP; alive: the mapping reads as zeroes and takes stores");

	demo_expect(rsm_memseg_import_close_barrier(&to->barrier), RSMERR_CONN_ABORTED,
		    "rsm_memseg_import_close_barrier");
	demo_expect(rsm_intr_signal_post(to->handle, 0), RSMERR_CONN_ABORTED,
		    "rsm_intr_signal_post");
	DEMO(rsm_memseg_import_set_mode(to->handle, RSM_BARRIER_MODE_IMPLICIT));
	demo_expect(rsm_memseg_import_put64(to->handle, 0, &word, 1), RSMERR_CONN_ABORTED,
		    "rsm_memseg_import_put64");
	demo_say("barrier, post and put all say RSMERR_CONN_ABORTED; unmapping and disconnecting");
}

static void use(struct connection *to)
{
	put_half(to);
	see_rebind(to);
	/* Before the exporter is told that it may end the connection. */
	DEMO(rsm_memseg_import_open_barrier(&to->barrier));
	gather(to);
}

static void have_killed(struct connection *to, const char *command)
{
	DEMO(rsm_memseg_import_open_barrier(&to->barrier));
	demo_say("now the exporter is killed: %s", command);
	demo_assert(system(command) == 0, "the command succeeds");
}

int main(int argc, char **argv)
{
	struct demo_place exporter = { 0 };
	rsmapi_controller_handle_t controller;
	struct connection to = { 0 };
	uid_t user = getuid();
	gid_t group = getgid();
	const char *kill = NULL;
	int denied = 0;
	int option;

	while ((option = getopt(argc, argv, "c:n:u:g:dk:")) != -1) {
		switch (option) {
		case 'c':
			exporter.controller = optarg;
			break;
		case 'n':
			exporter.node = (rsm_node_id_t)atoi(optarg);
			break;
		case 'k':
			kill = optarg;
			break;
		case 'u':
			user = (uid_t)atoi(optarg);
			break;
		case 'g':
			group = (gid_t)atoi(optarg);
			break;
		case 'd':
			denied = 1;
			break;
		default:
			fprintf(stderr, "usage: demo-importer [-c CONTROLLER] [-n NODE] [-u UID] [-g GID] "
					"[-d | -k COMMAND]\n");
			return 2;
		}
	}
	demo_role(denied ? "stranger" : "importer");
	demo_fill_place(&exporter);
	demo_become(user, group);
	DEMO(rsm_get_controller(exporter.controller, &controller));

	if (denied) {
		demo_expect(connect_patiently(controller, exporter.node, &to.handle),
			    RSMERR_PERM_DENIED, "rsm_memseg_import_connect");
		demo_say("uid %d, gid %d; may open /dev/rsm, but the access list says "
			 "RSMERR_PERM_DENIED", (int)getuid(), (int)getgid());
		return 0;
	}

	DEMO(connect_patiently(controller, exporter.node, &to.handle));
	map_and_read(&to);
	if (kill)
		have_killed(&to, kill);
	else
		use(&to);
	outlive(&to);

	DEMO(rsm_memseg_import_unmap(to.handle));
	DEMO(rsm_memseg_import_destroy_barrier(&to.barrier));
	DEMO(rsm_memseg_import_disconnect(to.handle));
	DEMO(rsm_release_controller(controller));
	return 0;
}
