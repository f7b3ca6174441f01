/* SPDX-License-Identifier: MIT */
/*
 * Writes a record and then the flag that says it is complete, without waiting for each: between the
 * two stands a barrier, and at the end one look says whether all of it has arrived.
 */
#include "example.h"

#include <string.h>

struct mailbox {
	uint64_t complete;
	char text[56];
};

static void send_text(rsm_memseg_import_handle_t connection, char *text)
{
	uint64_t complete = 1;
	rsmapi_barrier_t barrier;

	DO(rsm_memseg_import_init_barrier(connection, RSM_BAR_DEFAULT, &barrier));
	DO(rsm_memseg_import_set_mode(connection, RSM_BARRIER_MODE_EXPLICIT));
	DO(rsm_memseg_import_open_barrier(&barrier));
	DO(rsm_memseg_import_put(connection, offsetof(struct mailbox, text), text, strlen(text) + 1));
	DO(rsm_memseg_import_order_barrier(&barrier));
	DO(rsm_memseg_import_put64(connection, offsetof(struct mailbox, complete), &complete, 1));
	DO(rsm_memseg_import_close_barrier(&barrier));
	DO(rsm_memseg_import_destroy_barrier(&barrier));
}

int main(void)
{
	struct mailbox *mailbox = pages(1);
	rsmapi_controller_handle_t loopback;
	rsm_memseg_export_handle_t segment;
	rsm_memseg_import_handle_t connection;
	rsm_memseg_id_t id = 0;

	DO(rsm_get_controller("loopback", &loopback));
	DO(rsm_memseg_export_create(loopback, &segment, mailbox, PAGE, 0));
	DO(rsm_memseg_export_publish(segment, &id, NULL, 0));
	DO(rsm_memseg_import_connect(loopback, local_node(), id, RSM_PERM_RDWR, &connection));

	send_text(connection, "in this order");
	expect(mailbox->complete == 1, "the flag has arrived");
	expect(strcmp(mailbox->text, "in this order") == 0, "and so has the text");

	DO(rsm_memseg_import_disconnect(connection));
	DO(rsm_memseg_export_destroy(segment));
	DO(rsm_release_controller(loopback));
	free(mailbox);
	return 0;
}
