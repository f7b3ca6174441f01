/* SPDX-License-Identifier: GPL-2.0 */
/* Controllers for tests. */
#ifndef TESTCTL_H
#define TESTCTL_H

#include "rsm_controller.h"

/* A peer that two list: where nothing is, so that it can be seen. The third has a link to it. */
#define TESTCTL_PEER_NODE	7

extern struct rsm_controller testctl_nomap;
extern struct rsm_controller testctl_window;

int testctl_linked_init(void);
void testctl_linked_exit(void);

u32 testctl_check_acl(struct rsm_controller *ctl, const struct rsm_acl *acl);
u32 testctl_connect(struct rsm_import *imp);
unsigned int testctl_peers(struct rsm_controller *ctl,
			   struct rsm_topology_peer *peers, unsigned int max);

#endif /* TESTCTL_H */
