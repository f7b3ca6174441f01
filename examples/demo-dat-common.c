/* SPDX-License-Identifier: MIT */
#include "demo-dat.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RECEIVE_COOKIE	1
#define SEND_COOKIE	2

static void say(const struct demo_side *side, const char *format, va_list arguments)
{
	printf("%-6s ", side->name);
	vprintf(format, arguments);
	putchar('\n');
	fflush(stdout);
}

void demo_say(const struct demo_side *side, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say(side, format, arguments);
	va_end(arguments);
}

void demo_fail(const struct demo_side *side, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say(side, format, arguments);
	va_end(arguments);
	exit(1);
}

void demo_check(const struct demo_side *side, DAT_RETURN status, const char *call)
{
	const char *major, *minor;

	if (status == DAT_SUCCESS)
		return;
	if (dat_strerror(status, &major, &minor) != DAT_SUCCESS)
		major = minor = "?";
	demo_fail(side, "%s: %s %s", call, major, minor);
}

struct demo_message *demo_in(const struct demo_side *side)
{
	return side->memory;
}

struct demo_message *demo_out(const struct demo_side *side)
{
	return demo_in(side) + 1;
}

char *demo_bulk(const struct demo_side *side)
{
	return (char *)side->memory + DAT_OPTIMAL_ALIGNMENT;
}

/* One registration for messages and bulk data. */
static void register_memory(struct demo_side *side)
{
	DAT_REGION_DESCRIPTION region;
	size_t total = DAT_OPTIMAL_ALIGNMENT + side->length;

	side->memory = aligned_alloc(DAT_OPTIMAL_ALIGNMENT, total);
	if (!side->memory)
		demo_fail(side, "out of memory");
	memset(side->memory, 0, total);
	region.for_va = side->memory;
	DEMO_DO(side, dat_lmr_create(side->ia, DAT_MEM_TYPE_VIRTUAL, region, total, side->pz,
				     DAT_MEM_PRIV_ALL_FLAG, &side->lmr, &side->lmr_context,
				     &side->rmr_context, NULL, NULL));
}

void demo_open(struct demo_side *side, const char *ia_name, size_t length)
{
	side->length = length;
	side->async_evd = DAT_HANDLE_NULL;
	DEMO_DO(side, dat_ia_open((DAT_NAME_PTR)ia_name, 8, &side->async_evd, &side->ia));
	DEMO_DO(side, dat_pz_create(side->ia, &side->pz));
	DEMO_DO(side, dat_evd_create(side->ia, 32, DAT_HANDLE_NULL,
				     DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG, &side->evd));
	DEMO_DO(side, dat_evd_create(side->ia, 8, DAT_HANDLE_NULL, DAT_EVD_CR_FLAG,
				     &side->request_evd));
	DEMO_DO(side, dat_ep_create(side->ia, side->pz, side->evd, side->evd, side->evd, NULL,
				    &side->ep));
	register_memory(side);
	demo_post_receive(side);
}

void demo_close(struct demo_side *side)
{
	DEMO_DO(side, dat_ep_free(side->ep));
	DEMO_DO(side, dat_lmr_free(side->lmr));
	DEMO_DO(side, dat_evd_free(side->evd));
	DEMO_DO(side, dat_evd_free(side->request_evd));
	DEMO_DO(side, dat_pz_free(side->pz));
	DEMO_DO(side, dat_ia_close(side->ia, DAT_CLOSE_GRACEFUL_FLAG));
	free(side->memory);
}

DAT_LMR_TRIPLET demo_piece(const struct demo_side *side, const void *start, size_t length)
{
	DAT_LMR_TRIPLET piece = {
		.lmr_context = side->lmr_context,
		.virtual_address = (DAT_VADDR)(uintptr_t)start,
		.segment_length = length,
	};

	return piece;
}

DAT_EVENT demo_expect(const struct demo_side *side, DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER number)
{
	DAT_EVENT event;
	DAT_COUNT more;

	DEMO_DO(side, dat_evd_wait(evd, DEMO_PATIENCE, 1, &event, &more));
	if (event.event_number != number)
		demo_fail(side, "event %#x instead of %#x", event.event_number, number);
	return event;
}

void demo_complete(const struct demo_side *side, DAT_UINT64 cookie)
{
	DAT_EVENT event = demo_expect(side, side->evd, DAT_DTO_COMPLETION_EVENT);
	DAT_DTO_COMPLETION_EVENT_DATA *done = &event.event_data.dto_completion_event_data;

	if (done->status != DAT_DTO_SUCCESS || done->user_cookie.as_64 != cookie)
		demo_fail(side, "transfer %llu ended with status %d instead of %llu with 0",
			  (unsigned long long)done->user_cookie.as_64, done->status,
			  (unsigned long long)cookie);
}

void demo_post_receive(const struct demo_side *side)
{
	DAT_LMR_TRIPLET piece = demo_piece(side, demo_in(side), sizeof(struct demo_message));
	DAT_DTO_COOKIE cookie = { .as_64 = RECEIVE_COOKIE };

	DEMO_DO(side, dat_ep_post_recv(side->ep, 1, &piece, cookie, DAT_COMPLETION_DEFAULT_FLAG));
}

/* Suppressed: the answer tells that the message has arrived. */
void demo_send(const struct demo_side *side, uint64_t number, uint64_t checksum)
{
	DAT_LMR_TRIPLET piece = demo_piece(side, demo_out(side), sizeof(struct demo_message));
	DAT_DTO_COOKIE cookie = { .as_64 = SEND_COOKIE };

	demo_out(side)->number = number;
	demo_out(side)->checksum = checksum;
	DEMO_DO(side, dat_ep_post_send(side->ep, 1, &piece, cookie, DAT_COMPLETION_SUPPRESS_FLAG));
}

void demo_fill_bulk(const struct demo_side *side, uint64_t seed)
{
	uint64_t *word = (uint64_t *)demo_bulk(side);

	/* Knuth's multiplicative generator: cheap, and no two alike. */
	for (size_t index = 0; index < side->length / sizeof(*word); index++)
		word[index] = (seed + index) * 6364136223846793005u + 1442695040888963407u;
}

uint64_t demo_bulk_checksum(const struct demo_side *side)
{
	const uint64_t *word = (const uint64_t *)demo_bulk(side);
	uint64_t sum = 0xcbf29ce484222325u;

	for (size_t index = 0; index < side->length / sizeof(*word); index++)
		sum = (sum ^ word[index]) * 0x100000001b3u;
	return sum;
}
