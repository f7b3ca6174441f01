/* SPDX-License-Identifier: MIT */
/* Waits for events of a segment until the process on the other side is gone, here because it is killed. */
#define _GNU_SOURCE		/* <poll.h> then has POLLRDHUP */
#include "example.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

/* Waits for an event of a connection or an export segment and consumes it; 0 if the peer is gone instead. */
static int peer_rang(void *segment)
{
	struct pollfd entry;
	int status;

	DO(rsm_memseg_get_pollfd(segment, &entry));
	entry.events |= POLLRDHUP;
	do
		status = rsm_intr_signal_wait_pollfd(&entry, 1, -1, NULL);
	while (status == RSMERR_INTERRUPTED);
	DO(status);
	DO(rsm_memseg_release_pollfd(segment));
	/* An event that came before the end counts; the next wait then tells of the end. */
	return (entry.revents & POLLRDNORM) != 0;
}

/* The exporter: waits for the importer, rings once, and dies without a word. */
static void export_and_die(int to_importer)
{
	rsmapi_controller_handle_t loopback;
	rsm_memseg_export_handle_t segment;
	rsm_memseg_id_t id = 0;

	DO(rsm_get_controller("loopback", &loopback));
	DO(rsm_memseg_export_create(loopback, &segment, pages(1), PAGE, 0));
	DO(rsm_memseg_export_publish(segment, &id, NULL, 0));
	expect(write(to_importer, &id, sizeof(id)) == sizeof(id), "the importer gets the id");
	expect(peer_rang(segment), "the importer rings");
	DO(rsm_intr_signal_post(segment, 0));
	raise(SIGKILL);
}

int main(void)
{
	rsmapi_controller_handle_t loopback;
	rsm_memseg_import_handle_t connection;
	rsm_memseg_id_t id;
	int from_exporter[2];
	pid_t exporter;

	expect(pipe(from_exporter) == 0, "there is a pipe");
	fflush(stdout);
	exporter = fork();
	if (exporter == 0)
		export_and_die(from_exporter[1]);
	expect(exporter > 0, "there is an exporter");
	/* With this end open read() would wait for ever if the exporter has failed. */
	close(from_exporter[1]);

	expect(read(from_exporter[0], &id, sizeof(id)) == sizeof(id), "the importer hears the id");
	DO(rsm_get_controller("loopback", &loopback));
	DO(rsm_memseg_import_connect(loopback, local_node(), id, RSM_PERM_RDWR, &connection));
	DO(rsm_intr_signal_post(connection, 0));
	expect(peer_rang(connection), "the exporter rings");
	expect(!peer_rang(connection), "the wait ends with the exporter");

	DO(rsm_memseg_import_disconnect(connection));
	DO(rsm_release_controller(loopback));
	expect(waitpid(exporter, NULL, 0) == exporter, "the exporter was killed");
	return 0;
}
