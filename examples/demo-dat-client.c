/* SPDX-License-Identifier: MIT */
/*
 * The client of the uDAPL demonstration: connects, plays ping-pong, writes into the server's
 * memory, reads from there, hangs up.
 *
 * usage: demo-dat-client [IA [ADDRESS]]   (without an address: the IA's own)
 */
#include "demo-dat.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define READ_COOKIE	3
#define WRITE_COOKIE	4

static struct demo_side side = { .name = "client" };

static struct sockaddr_in server_address(const char *text)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	DAT_IA_ATTR attributes;

	if (!text) {
		DEMO_DO(&side, dat_ia_query(side.ia, NULL, DAT_IA_FIELD_IA_ADDRESS_PTR, &attributes,
					    0, NULL));
		memcpy(&address, attributes.ia_address_ptr, sizeof(address));
	} else if (inet_pton(AF_INET, text, &address.sin_addr) != 1) {
		demo_fail(&side, "%s is no address", text);
	}
	return address;
}

/* True when there is a connection; the server may not listen yet. */
static int try_to_connect(struct sockaddr_in *address, struct demo_offer *offer)
{
	static const char greeting[] = "good morning";
	DAT_EVENT event;
	DAT_COUNT more;
	DAT_CONNECTION_EVENT_DATA *data = &event.event_data.connect_event_data;

	DEMO_DO(&side, dat_ep_connect(side.ep, (DAT_IA_ADDRESS_PTR)address, DEMO_SERVICE,
				      DEMO_PATIENCE, sizeof(greeting) - 1, (DAT_PVOID)greeting,
				      DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
	do {
		DEMO_DO(&side, dat_evd_wait(side.evd, DEMO_PATIENCE, 1, &event, &more));
	} while (event.event_number == DAT_DTO_COMPLETION_EVENT); /* a receive, flushed */
	if (event.event_number != DAT_CONNECTION_EVENT_ESTABLISHED)
		return 0;
	if (data->private_data_size != sizeof(*offer))
		demo_fail(&side, "%d bytes of private data", data->private_data_size);
	memcpy(offer, data->private_data, sizeof(*offer));
	return 1;
}

static struct demo_offer connect_to(const char *text)
{
	struct sockaddr_in address = server_address(text);
	struct timespec pause = { .tv_nsec = 100000000 };
	struct demo_offer offer;

	for (int tries = 0; !try_to_connect(&address, &offer); tries++) {
		if (tries == 100)
			demo_fail(&side, "nobody listens");
		nanosleep(&pause, NULL);
		DEMO_DO(&side, dat_ep_reset(side.ep));
		demo_post_receive(&side);
	}
	demo_say(&side, "is connected, and offered %llu bytes", (unsigned long long)offer.length);
	return offer;
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void play_ping_pong(uint32_t rounds)
{
	double began = seconds();

	for (uint64_t number = 1; number <= rounds; number++) {
		demo_send(&side, number, 0);
		demo_complete(&side, 1);
		if (demo_in(&side)->number != number)
			demo_fail(&side, "the wrong answer");
		demo_post_receive(&side);
	}
	demo_say(&side, "has had %u messages answered, %.1f us each", rounds,
		 (seconds() - began) / rounds * 1e6);
}

static void write_and_read(const struct demo_offer *offer)
{
	DAT_LMR_TRIPLET piece = demo_piece(&side, demo_bulk(&side), side.length);
	DAT_RMR_TRIPLET remote = {
		.rmr_context = offer->rmr_context,
		.target_address = offer->address,
		.segment_length = offer->length,
	};
	DAT_DTO_COOKIE cookie = { .as_64 = WRITE_COOKIE };

	demo_fill_bulk(&side, 1);
	DEMO_DO(&side, dat_ep_post_rdma_write(side.ep, 1, &piece, cookie, &remote,
					      DAT_COMPLETION_DEFAULT_FLAG));
	demo_complete(&side, WRITE_COOKIE);
	demo_send(&side, offer->rounds + 1, demo_bulk_checksum(&side));
	demo_complete(&side, 1);

	cookie.as_64 = READ_COOKIE;
	DEMO_DO(&side, dat_ep_post_rdma_read(side.ep, 1, &piece, cookie, &remote,
					     DAT_COMPLETION_DEFAULT_FLAG));
	demo_complete(&side, READ_COOKIE);
	if (demo_in(&side)->checksum != demo_bulk_checksum(&side))
		demo_fail(&side, "the checksum of what it has read is wrong");
	demo_say(&side, "has written and read %zu bytes, checksum right", side.length);
}

int main(int argc, char **argv)
{
	struct demo_offer offer;

	demo_open(&side, argc > 1 ? argv[1] : "rsm0", 4 << 20);
	offer = connect_to(argc > 2 ? argv[2] : NULL);
	play_ping_pong(offer.rounds);
	write_and_read(&offer);
	DEMO_DO(&side, dat_ep_disconnect(side.ep, DAT_CLOSE_GRACEFUL_FLAG));
	demo_expect(&side, side.evd, DAT_CONNECTION_EVENT_DISCONNECTED);
	demo_say(&side, "has hung up");
	demo_close(&side);
	return 0;
}
