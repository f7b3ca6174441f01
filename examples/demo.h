/* SPDX-License-Identifier: MIT */
/* Common parts of the two programs of the demonstration. */
#ifndef RSM_DEMO_H
#define RSM_DEMO_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <rsmapi.h>

/* Application id under which /etc/rsm/rsm.segmentid reserves segment ids. */
#define DEMO_APPLICATION	"rsm-demo"

/* How long one program waits for the other. */
#define DEMO_PATIENCE_MS	120000

struct demo_record {
	uint64_t key;
	uint64_t time;
	uint64_t value;
	uint64_t check;
};

/* The first page of the segment; the records follow from the second on. */
struct demo_control {
	uint64_t records;
	uint64_t checksum;	/* of all records, by the exporter */
	uint64_t put_checksum;	/* of the first half, by the importer */
};

/* Offset of the records, and so the size of the control page. */
size_t demo_records_offset(void);

/* Fills a segment's memory with generated records and their control page. */
void demo_fill(void *segment, uint64_t records, uint64_t seed);

/* One record of the sequence that seed stands for. */
struct demo_record demo_record(uint64_t seed, uint64_t index);

uint64_t demo_checksum(const void *data, size_t size);

/* Names the program in every line that demo_say() prints. */
void demo_role(const char *role);
void demo_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Ends the program with status 1 unless status is expected / condition holds. */
void demo_expect(int status, int expected, const char *call);
void demo_assert(int condition, const char *what);

#define DEMO(call)	demo_expect(call, RSM_SUCCESS, #call)

/*
 * Becomes that user and group, with access to /dev/rsm as a member of its
 * group. Nothing happens to a caller that is not root.
 */
void demo_become(uid_t user, gid_t group);

/* Programs are "unchanged but for node id and controller name" between machines. */
struct demo_place {
	char *controller;	/* -c, "loopback" unless given */
	rsm_node_id_t node;	/* -n, the own node unless given */
};

/* Fills in options that were not given. */
void demo_fill_place(struct demo_place *place);

rsm_node_id_t demo_local_node(void);
rsm_memseg_id_t demo_segment_id(void);

#endif
