/* SPDX-License-Identifier: MIT */
/*
 * The demonstration's exporter: offers a segment of records, checks what an
 * importer writes into it, puts other memory behind it, and takes it away.
 */
#include "demo.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define OWNER_AND_GROUP	0660

static void *segment_memory(size_t size)
{
	void *memory = NULL;

	demo_assert(posix_memalign(&memory, demo_records_offset(), size) == 0,
		    "there is memory enough");
	return memory;
}

/* Sleeps in poll() until an importer has posted, then takes the event. */
static void await_event(rsm_memseg_export_handle_t segment)
{
	struct pollfd doorbell;

	DEMO(rsm_memseg_get_pollfd(segment, &doorbell));
	demo_assert(poll(&doorbell, 1, DEMO_PATIENCE_MS) == 1, "the importer rings in time");
	demo_assert(doorbell.revents == POLLRDNORM, "poll() reports POLLRDNORM");
	DEMO(rsm_intr_signal_wait(segment, 0));
	DEMO(rsm_memseg_release_pollfd(segment));
}

static rsm_memseg_export_handle_t publish(rsmapi_controller_handle_t controller,
					  rsm_node_id_t node, void *memory, size_t size)
{
	rsmapi_access_entry_t access = { node, OWNER_AND_GROUP };
	rsm_memseg_id_t id = demo_segment_id();
	rsm_memseg_export_handle_t segment;

	DEMO(rsm_memseg_export_create(controller, &segment, memory, size, RSM_ALLOW_REBIND));
	DEMO(rsm_memseg_export_publish(segment, &id, &access, 1));
	demo_say("published as segment %#x of node %u: node %u may connect, rights %04o", id,
		 demo_local_node(), access.ae_node, access.ae_permission);
	return segment;
}

/* The importer has replaced the first half of the records. */
static void verify_put(const void *memory)
{
	const struct demo_control *control = memory;
	const char *records = (const char *)memory + demo_records_offset();
	size_t half = control->records / 2 * sizeof(struct demo_record);
	uint64_t checksum = demo_checksum(records, half);

	demo_assert(checksum == control->put_checksum, "what was put has the announced checksum");
	demo_say("poll() woke me; the %zu MiB that were put sum to %016llx, as announced", half >> 20,
		 (unsigned long long)checksum);
}

static size_t parse(int argc, char **argv, uid_t *user, gid_t *group, struct demo_place *importer)
{
	size_t mebibytes = 64;
	int option;

	while ((option = getopt(argc, argv, "c:n:u:g:m:")) != -1) {
		switch (option) {
		case 'c':
			importer->controller = optarg;
			break;
		case 'n':
			importer->node = (rsm_node_id_t)atoi(optarg);
			break;
		case 'u':
			*user = (uid_t)atoi(optarg);
			break;
		case 'g':
			*group = (gid_t)atoi(optarg);
			break;
		case 'm':
			mebibytes = (size_t)atoi(optarg);
			break;
		default:
			fprintf(stderr, "usage: demo-exporter [-c CONTROLLER] [-n NODE] [-u UID] [-g GID] "
					"[-m MiB]\n");
			exit(2);
		}
	}
	return mebibytes << 20;
}

int main(int argc, char **argv)
{
	uid_t user = getuid();
	gid_t group = getgid();
	struct demo_place importer = { 0 };
	size_t data = parse(argc, argv, &user, &group, &importer);
	size_t size = demo_records_offset() + data;
	uint64_t records = data / sizeof(struct demo_record);
	rsmapi_controller_handle_t controller;
	rsm_memseg_export_handle_t segment;
	void *first, *second;

	demo_role("exporter");
	demo_fill_place(&importer);
	demo_become(user, group);
	first = segment_memory(size);
	second = segment_memory(size);
	demo_fill(first, records, 1);
	demo_fill(second, records, 2);
	demo_say("uid %d, gid %d; generated %llu records, %zu MiB, checksum %016llx", (int)getuid(),
		 (int)getgid(), (unsigned long long)records, data >> 20,
		 (unsigned long long)((struct demo_control *)first)->checksum);

	DEMO(rsm_get_controller(importer.controller, &controller));
	segment = publish(controller, importer.node, first, size);

	await_event(segment);
	verify_put(first);

	DEMO(rsm_memseg_export_rebind(segment, second, 0, size));
	demo_say("put other memory behind the segment (checksum %016llx); ringing the importer",
		 (unsigned long long)((struct demo_control *)second)->checksum);
	DEMO(rsm_intr_signal_post(segment, 0));

	await_event(segment);
	DEMO(rsm_memseg_export_unpublish(segment));
	demo_say("the importer is done with it; unpublished the segment");

	DEMO(rsm_memseg_export_destroy(segment));
	DEMO(rsm_release_controller(controller));
	free(second);
	free(first);
	return 0;
}
