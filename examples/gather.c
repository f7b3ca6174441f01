/* SPDX-License-Identifier: MIT */
/*
 * Scatter-gather: three pieces from different places go into a segment in one call, which ends with
 * an event for the exporter; then they come back into memory that was prepared beforehand.
 */
#include "example.h"

#include <string.h>

static rsm_iovec_t piece_of_text(char *text, size_t where)
{
	rsm_iovec_t piece = { .io_type = RSM_VA_TYPE, .remote_offset = where };

	piece.local.vaddr = text;
	piece.transfer_length = strlen(text);
	return piece;
}

static rsm_scat_gath_t request(rsm_memseg_import_handle_t connection, rsm_iovec_t *pieces,
			       unsigned int count)
{
	rsm_scat_gath_t request = { .io_request_count = count, .remote_handle = connection };

	request.iovec = pieces;
	return request;
}

static void put_three(rsm_memseg_import_handle_t connection)
{
	rsm_iovec_t pieces[] = { piece_of_text("one", 0), piece_of_text("two", 100),
				 piece_of_text("three", 200) };
	rsm_scat_gath_t put = request(connection, pieces, 3);

	put.flags = RSM_IMPLICIT_SIGPOST;
	DO(rsm_memseg_import_putv(&put));
	expect(put.io_residual_count == 0, "nothing is left to do");
}

static void get_back(rsmapi_controller_handle_t loopback, rsm_memseg_import_handle_t connection)
{
	char *memory = pages(1);
	rsm_localmemory_handle_t prepared;
	rsm_iovec_t piece = { .io_type = RSM_HANDLE_TYPE, .local_offset = 64 };
	rsm_scat_gath_t get = request(connection, &piece, 1);

	DO(rsm_create_localmemory_handle(loopback, &prepared, memory, PAGE));
	piece.local.handle = prepared;
	piece.remote_offset = 200;
	piece.transfer_length = 5;
	DO(rsm_memseg_import_getv(&get));
	expect(strcmp(memory + 64, "three") == 0, "the third piece comes back");
	DO(rsm_free_localmemory_handle(loopback, prepared));
	free(memory);
}

int main(void)
{
	char *memory = pages(1);
	rsmapi_controller_handle_t loopback;
	rsm_memseg_export_handle_t segment;
	rsm_memseg_import_handle_t connection;
	rsm_memseg_id_t id = 0;

	DO(rsm_get_controller("loopback", &loopback));
	DO(rsm_memseg_export_create(loopback, &segment, memory, PAGE, 0));
	DO(rsm_memseg_export_publish(segment, &id, NULL, 0));
	DO(rsm_memseg_import_connect(loopback, local_node(), id, RSM_PERM_RDWR, &connection));

	put_three(connection);
	DO(rsm_intr_signal_wait(segment, 0));
	expect(strcmp(memory, "one") == 0 && strcmp(memory + 100, "two") == 0, "the pieces are here");
	get_back(loopback, connection);

	DO(rsm_memseg_import_disconnect(connection));
	DO(rsm_memseg_export_destroy(segment));
	DO(rsm_release_controller(loopback));
	free(memory);
	return 0;
}
