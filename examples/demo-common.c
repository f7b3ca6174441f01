/* SPDX-License-Identifier: MIT */
#include "demo.h"

#include <errno.h>
#include <grp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *role_name = "demo";

size_t demo_records_offset(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

struct demo_record demo_record(uint64_t seed, uint64_t index)
{
	struct demo_record record;

	/* Knuth's multiplicative generator: cheap, and no two alike. */
	record.key = (seed + index) * 6364136223846793005u + 1442695040888963407u;
	record.time = 1700000000000u + index * 20;
	record.value = record.key >> 33;
	record.check = record.key ^ record.time ^ record.value;
	return record;
}

void demo_fill(void *segment, uint64_t records, uint64_t seed)
{
	struct demo_control *control = segment;
	struct demo_record *record =
		(struct demo_record *)((char *)segment + demo_records_offset());

	for (uint64_t index = 0; index < records; index++)
		record[index] = demo_record(seed, index);
	control->records = records;
	control->checksum = demo_checksum(record, records * sizeof(*record));
	control->put_checksum = 0;
}

uint64_t demo_checksum(const void *data, size_t size)
{
	const uint64_t *word = data;
	uint64_t sum = 0xcbf29ce484222325u;

	for (size_t index = 0; index < size / sizeof(*word); index++)
		sum = (sum ^ word[index]) * 0x100000001b3u;
	return sum;
}

void demo_role(const char *role)
{
	role_name = role;
	/* Two programs share the terminal: whole lines only. */
	setvbuf(stdout, NULL, _IOLBF, 0);
}

void demo_say(const char *format, ...)
{
	char text[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	printf("[%s] %s\n", role_name, text);
}

void demo_expect(int status, int expected, const char *call)
{
	if (status == expected)
		return;
	fprintf(stderr, "[%s] FAILED: %s returned %s (%s), not %s\n", role_name, call,
		rsm_strerrorname(status), rsm_strerror(status), rsm_strerrorname(expected));
	exit(1);
}

static _Noreturn void fail(const char *why)
{
	fprintf(stderr, "[%s] FAILED: %s\n", role_name, why);
	exit(1);
}

void demo_assert(int condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "[%s] FAILED: not so: %s\n", role_name, what);
	exit(1);
}

void demo_become(uid_t user, gid_t group)
{
	const struct rlimit no_limit = { RLIM_INFINITY, RLIM_INFINITY };
	struct stat device;

	if (geteuid() != 0)
		return;
	/* Exported memory is locked memory, of which users may have little. In a container root may not change that. */
	if (setrlimit(RLIMIT_MEMLOCK, &no_limit) != 0)
		demo_say("cannot raise the limit of locked memory (%s): use -m 4", strerror(errno));
	if (stat("/dev/rsm", &device) != 0)
		fail("/dev/rsm does not exist: run modprobe rsm");
	demo_assert(setgroups(1, &device.st_gid) == 0 && setgid(group) == 0 && setuid(user) == 0,
		    "root can become another user");
}

void demo_fill_place(struct demo_place *place)
{
	if (!place->controller)
		place->controller = "loopback";
	if (!place->node)
		place->node = demo_local_node();
}

rsm_node_id_t demo_local_node(void)
{
	rsm_topology_t *topology;
	rsm_node_id_t node;

	DEMO(rsm_get_interconnect_topology(&topology));
	node = topology->topology_hdr.local_nodeid;
	rsm_free_interconnect_topology(topology);
	return node;
}

rsm_memseg_id_t demo_segment_id(void)
{
	rsm_memseg_id_t base;
	uint32_t length;

	DEMO(rsm_get_segmentid_range(DEMO_APPLICATION, &base, &length));
	return base;
}
