/* SPDX-License-Identifier: MIT */
/* Common parts of the two sides of the uDAPL demonstration. */
#ifndef DEMO_DAT_H
#define DEMO_DAT_H

#include <dat/udat.h>

#include <stddef.h>
#include <stdint.h>

#define DEMO_SERVICE	4711			/* connection qualifier */
#define DEMO_PATIENCE	(20 * 1000 * 1000)	/* microseconds */

/* The message of the server about its memory when it accepts. */
struct demo_offer {
	uint64_t address;
	uint64_t length;
	uint32_t rmr_context;
	uint32_t rounds; /* of ping-pong that the client may play */
};

/* A message, in either direction. */
struct demo_message {
	uint64_t number;
	uint64_t checksum;
};

/* One side: an interface adapter and what a connection needs. */
struct demo_side {
	const char *name;
	DAT_IA_HANDLE ia;
	DAT_PZ_HANDLE pz;
	DAT_EVD_HANDLE async_evd;
	DAT_EVD_HANDLE evd;		/* of connections and transfers */
	DAT_EVD_HANDLE request_evd;	/* of connection requests */
	DAT_EP_HANDLE ep;
	void *memory;			/* the message in, the message out, the bulk data */
	size_t length;			/* of the bulk data */
	DAT_LMR_HANDLE lmr;
	DAT_LMR_CONTEXT lmr_context;
	DAT_RMR_CONTEXT rmr_context;
};

/* Ends the program when a call failed. */
void demo_check(const struct demo_side *side, DAT_RETURN status, const char *call);
#define DEMO_DO(side, call) demo_check(side, call, #call)

void demo_fail(const struct demo_side *side, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void demo_say(const struct demo_side *side, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

void demo_open(struct demo_side *side, const char *ia_name, size_t length);
void demo_close(struct demo_side *side);

struct demo_message *demo_in(const struct demo_side *side);
struct demo_message *demo_out(const struct demo_side *side);
char *demo_bulk(const struct demo_side *side);

/* A triplet for a part of the side's memory. */
DAT_LMR_TRIPLET demo_piece(const struct demo_side *side, const void *start, size_t length);

/* The next event of an EVD, which has to be of this number. */
DAT_EVENT demo_expect(const struct demo_side *side, DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER number);
/* The next event has to be the completion of a transfer that went well. */
void demo_complete(const struct demo_side *side, DAT_UINT64 cookie);

void demo_post_receive(const struct demo_side *side);
void demo_send(const struct demo_side *side, uint64_t number, uint64_t checksum);

void demo_fill_bulk(const struct demo_side *side, uint64_t seed);
uint64_t demo_bulk_checksum(const struct demo_side *side);

#endif
