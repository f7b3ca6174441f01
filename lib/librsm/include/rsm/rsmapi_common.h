/* SPDX-License-Identifier: MIT */
/* The name under which the Programming Interfaces Guide knows this header. */
#ifndef _RSM_RSMAPI_COMMON_H
#define _RSM_RSMAPI_COMMON_H

#include <sys/rsm/rsmapi_common.h>

#endif /* _RSM_RSMAPI_COMMON_H */
