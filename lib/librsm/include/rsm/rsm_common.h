/* SPDX-License-Identifier: MIT */
/* The name under which the Programming Interfaces Guide knows this header. */
#ifndef _RSM_RSM_COMMON_H
#define _RSM_RSM_COMMON_H

#include <sys/rsm/rsm_common.h>

#endif /* _RSM_RSM_COMMON_H */
