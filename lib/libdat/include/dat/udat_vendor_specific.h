/* SPDX-License-Identifier: MIT */
/* uDAPL 1.2: what vendors add for user programs. Included by <dat/udat.h>. */
#ifndef _UDAT_VENDOR_SPECIFIC_H_
#define _UDAT_VENDOR_SPECIFIC_H_

#include <dat/dat_vendor_specific.h>

#endif /* _UDAT_VENDOR_SPECIFIC_H_ */
