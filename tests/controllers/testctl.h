/* SPDX-License-Identifier: GPL-2.0 */
/* Controllers for tests. */
#ifndef TESTCTL_H
#define TESTCTL_H

#include "rsm_controller.h"

/* A peer that two list: where nothing is, so that it can be seen. The third has a link to it. */
#define TESTCTL_PEER_NODE	7

/* Nodes that programs play, and how they are known. */
#define TESTCTL_NODES		48U
#define TESTCTL_FIRST_NODE	10U
#define TESTCTL_INCARNATION	0x2000
#define TESTCTL_OWN_INCARNATION	0x1002
#define TESTCTL_PLACE		0x1234
#define TESTCTL_KCOV_HANDLE	1

extern struct rsm_controller testctl_nomap;
extern struct rsm_controller testctl_window;

int testctl_linked_init(void);
void testctl_linked_exit(void);
int testctl_nodes_init(void);
void testctl_nodes_exit(void);
int testctl_end_init(void);
int testctl_hanging_init(void);
void testctl_hanging_exit(void);

struct rsm_mem *testctl_window_alloc(u64 length);

rsm_status_t testctl_check_acl(struct rsm_controller *ctl, const struct rsm_acl *acl);
rsm_status_t testctl_connect(struct rsm_import *imp);
unsigned int testctl_peers(struct rsm_controller *ctl,
			   struct rsm_topology_peer *peers, unsigned int max);

#endif /* TESTCTL_H */
