/* SPDX-License-Identifier: GPL-2.0 */
/* A library whose destructor runs after that of libdat: it calls back then. */
#include <stddef.h>

void dat_late_call(void (*function)(void));

static void (*at_end)(void);

void dat_late_call(void (*function)(void))
{
	at_end = function;
}

__attribute__((destructor)) static void end(void)
{
	if (at_end != NULL)
		at_end();
}
