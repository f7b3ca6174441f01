/* SPDX-License-Identifier: MIT */
/* uDAPL 1.2: which version a program asks for, and whether it needs threads. */
#ifndef _UDAT_CONFIG_H_
#define _UDAT_CONFIG_H_

/* The version that dat_ia_open() asks for. */
#define DAT_VERSION_MAJOR 1
#define DAT_VERSION_MINOR 2

/*
 * DAT_TRUE asks dat_ia_open() for a provider whose functions several threads
 * may call at once on the same object. Define it before <dat/udat.h>.
 */
#ifndef DAT_THREADSAFE
#define DAT_THREADSAFE DAT_FALSE
#endif

#endif /* _UDAT_CONFIG_H_ */
