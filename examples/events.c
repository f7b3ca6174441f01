/* SPDX-License-Identifier: MIT */
/*
 * A program that waits for events of a segment and for something else, a pipe, in one poll(). The
 * other process puts data, rings, and closes its end of the pipe.
 */
#include "example.h"

#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_MS	30000

/* The importer: hears the segment's id, puts a word, rings. */
static void ring(int from_exporter)
{
	rsmapi_controller_handle_t loopback;
	rsm_memseg_import_handle_t connection;
	rsmapi_barrier_t barrier;
	rsm_memseg_id_t id;
	uint64_t word = 7;

	expect(read(from_exporter, &id, sizeof(id)) == sizeof(id), "the importer hears the id");
	DO(rsm_get_controller("loopback", &loopback));
	DO(rsm_memseg_import_connect(loopback, local_node(), id, RSM_PERM_RDWR, &connection));
	DO(rsm_memseg_import_init_barrier(connection, RSM_BAR_DEFAULT, &barrier));
	DO(rsm_memseg_import_put64(connection, 0, &word, 1));
	DO(rsm_intr_signal_post(connection, 0));
	DO(rsm_memseg_import_disconnect(connection));
	DO(rsm_release_controller(loopback));
}

/* Waits until the importer has rung and gone; poll() leaves the event, wait takes it. */
static void serve(rsm_memseg_export_handle_t segment, int from_importer)
{
	struct pollfd entries[2] = { { .fd = -1 }, { .fd = from_importer, .events = POLLIN } };
	int rung = 0, gone = 0;

	DO(rsm_memseg_get_pollfd(segment, &entries[0]));
	while (!rung || !gone) {
		expect(poll(entries, 2, PATIENCE_MS) > 0, "poll() finds something in time");
		if (entries[0].revents & POLLRDNORM) {
			DO(rsm_intr_signal_wait(segment, 0));
			rung++;
		}
		if (entries[1].revents & (POLLIN | POLLHUP)) {
			gone = 1;
			entries[1].fd = -1;
		}
	}
	DO(rsm_memseg_release_pollfd(segment));
	expect(rung == 1, "the importer rang once");
}

int main(void)
{
	int to_importer[2], from_importer[2], status;
	uint64_t *memory = pages(1);
	rsmapi_controller_handle_t loopback;
	rsm_memseg_export_handle_t segment;
	rsm_memseg_id_t id = 0;
	pid_t importer;

	expect(pipe(to_importer) == 0 && pipe(from_importer) == 0, "there are pipes");
	fflush(stdout);
	importer = fork();
	if (importer == 0) {
		/* With this end open read() would wait for ever if the exporter has failed. */
		close(to_importer[1]);
		ring(to_importer[0]);
		return 0;
	}
	expect(importer > 0, "there is an importer");
	close(from_importer[1]);

	DO(rsm_get_controller("loopback", &loopback));
	DO(rsm_memseg_export_create(loopback, &segment, memory, PAGE, 0));
	DO(rsm_memseg_export_publish(segment, &id, NULL, 0));
	expect(write(to_importer[1], &id, sizeof(id)) == sizeof(id), "the importer gets the id");
	serve(segment, from_importer[0]);
	expect(memory[0] == 7, "what it put is here");
	expect(waitpid(importer, &status, 0) == importer && status == 0, "it is content");

	DO(rsm_memseg_export_destroy(segment));
	DO(rsm_release_controller(loopback));
	free(memory);
	return 0;
}
