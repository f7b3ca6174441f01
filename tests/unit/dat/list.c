/* SPDX-License-Identifier: GPL-2.0 */
/* Prints the adapters of dat.conf. Status 3 unless it runs set-user-id. */
#include <dat/udat.h>
#include <stdio.h>
#include <sys/auxv.h>

/* More than a machine's own dat.conf names: Debian's names 62. */
#define ROOM 1024

int main(void)
{
	static DAT_PROVIDER_INFO infos[ROOM], *list[ROOM];
	DAT_COUNT entries = 0;
	int i;

	for (i = 0; i < ROOM; i++)
		list[i] = &infos[i];
	if (dat_registry_list_providers(ROOM, &entries, list) != DAT_SUCCESS)
		return 1;
	for (i = 0; i < entries; i++)
		printf("%s\n", infos[i].ia_name);
	return getauxval(AT_SECURE) ? 0 : 3;
}
