/* SPDX-License-Identifier: GPL-2.0 */
/* Controllers for tests. */
#ifndef TESTCTL_H
#define TESTCTL_H

#include "rsm_controller.h"

/* A peer that both list: where nothing is, so that it can be seen. */
#define TESTCTL_PEER_NODE	7

extern struct rsm_controller testctl_nomap;
extern struct rsm_controller testctl_window;

u32 testctl_check_acl(struct rsm_controller *ctl, const struct rsm_acl *acl);
u32 testctl_connect(struct rsm_import *imp);
unsigned int testctl_peers(struct rsm_controller *ctl,
			   struct rsm_topology_peer *peers, unsigned int max);

#endif /* TESTCTL_H */
