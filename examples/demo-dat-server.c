/* SPDX-License-Identifier: MIT */
/*
 * The server of the uDAPL demonstration: accepts a connection, offers memory, answers messages, and
 * looks at what the client has written there.
 *
 * usage: demo-dat-server [IA]
 */
#include "demo-dat.h"

#include <stdio.h>
#include <stdlib.h>

#define LENGTH	(4 << 20)
#define ROUNDS	1000

static struct demo_side side = { .name = "server" };

static DAT_CR_HANDLE wait_for_request(void)
{
	DAT_PSP_HANDLE psp;
	DAT_EVENT event;
	DAT_CR_HANDLE cr;
	DAT_CR_PARAM request;

	DEMO_DO(&side, dat_psp_create(side.ia, DEMO_SERVICE, side.request_evd,
				      DAT_PSP_CONSUMER_FLAG, &psp));
	demo_say(&side, "listens on qualifier %d", DEMO_SERVICE);
	event = demo_expect(&side, side.request_evd, DAT_CONNECTION_REQUEST_EVENT);
	cr = event.event_data.cr_arrival_event_data.cr_handle;
	DEMO_DO(&side, dat_cr_query(cr, DAT_CR_FIELD_ALL, &request));
	demo_say(&side, "is asked by a client that says \"%.*s\"", request.private_data_size,
		 (const char *)request.private_data);
	DEMO_DO(&side, dat_psp_free(psp));
	return cr;
}

static void accept_request(DAT_CR_HANDLE cr)
{
	struct demo_offer offer = {
		.address = (uint64_t)(uintptr_t)demo_bulk(&side),
		.length = side.length,
		.rmr_context = side.rmr_context,
		.rounds = ROUNDS,
	};

	DEMO_DO(&side, dat_cr_accept(cr, side.ep, sizeof(offer), &offer));
	demo_expect(&side, side.evd, DAT_CONNECTION_EVENT_ESTABLISHED);
}

/* Each message has to have the number that follows; the answer has the same. */
static void play_ping_pong(void)
{
	for (uint64_t number = 1; number <= ROUNDS; number++) {
		demo_complete(&side, 1);
		if (demo_in(&side)->number != number)
			demo_fail(&side, "message %llu instead of %llu",
				  (unsigned long long)demo_in(&side)->number,
				  (unsigned long long)number);
		demo_post_receive(&side);
		demo_send(&side, number, 0);
	}
	demo_say(&side, "has answered %d messages", ROUNDS);
}

/* The client has written the bulk data and says what their checksum is. */
static void compare_checksum(void)
{
	uint64_t checksum;

	demo_complete(&side, 1);
	checksum = demo_bulk_checksum(&side);
	if (demo_in(&side)->checksum != checksum)
		demo_fail(&side, "the checksum of what the client has written is wrong");
	demo_say(&side, "finds the %zu bytes that the client has written, checksum right",
		 side.length);
	/* Other data, for the client to read. */
	demo_fill_bulk(&side, 2);
	checksum = demo_bulk_checksum(&side);
	demo_post_receive(&side);
	demo_send(&side, ROUNDS + 1, checksum);
}

int main(int argc, char **argv)
{
	demo_open(&side, argc > 1 ? argv[1] : "rsm0", LENGTH);
	accept_request(wait_for_request());
	play_ping_pong();
	compare_checksum();
	/* The receive that is left over is flushed when the client hangs up. */
	while (demo_expect(&side, side.evd, DAT_DTO_COMPLETION_EVENT)
		       .event_data.dto_completion_event_data.status != DAT_DTO_ERR_FLUSHED)
		continue;
	demo_expect(&side, side.evd, DAT_CONNECTION_EVENT_DISCONNECTED);
	demo_say(&side, "sees the client hang up");
	demo_close(&side);
	return 0;
}
