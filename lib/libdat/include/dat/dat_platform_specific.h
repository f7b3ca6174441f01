/* SPDX-License-Identifier: MIT */
/* uDAPL 1.2: base types, as Linux has them. Included by <dat/udat.h>. */
#ifndef _DAT_PLATFORM_SPECIFIC_H_
#define _DAT_PLATFORM_SPECIFIC_H_

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

/* Direction of an argument, for those who like to write it. */
#ifndef IN
#define IN
#endif
#ifndef OUT
#define OUT
#endif
#ifndef INOUT
#define INOUT
#endif

#ifndef UINT64_C
#define UINT64_C(c) c##ULL
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef uint32_t DAT_UINT32;
typedef uint64_t DAT_UINT64;
/* C90 and C++98 have none. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wlong-long"
typedef unsigned long long DAT_UVERYLONG;
#pragma GCC diagnostic pop

typedef void *DAT_PVOID;
typedef int DAT_COUNT; /**< signed: -1 and -2 are reserved, see DAT_VALUE_UNKNOWN */
typedef DAT_UINT64 DAT_PADDR;

typedef struct sockaddr DAT_SOCK_ADDR;
typedef struct sockaddr_in6 DAT_SOCK_ADDR6;

#define DAT_AF_INET AF_INET
#define DAT_AF_INET6 AF_INET6

#ifdef __cplusplus
}
#endif

#endif /* _DAT_PLATFORM_SPECIFIC_H_ */
