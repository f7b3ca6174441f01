/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Events. The core and the agent make one call for each, where the change is made and under the
 * lock that orders the change among others. The call feeds the tracepoint of that name and the
 * listener (netlink/event.c, which sends messages to the processes that watch). All calls may
 * sleep.
 */
#ifndef RSM_NOTIFY_H
#define RSM_NOTIFY_H

#include <linux/rsm_netlink.h>
#include <linux/types.h>

struct rsm_controller;
struct rsm_export;
struct rsm_import;
struct rsm_link;
struct rsm_owner;

/**
 * struct rsm_denied - a connect that was denied
 * @kind: the check that denied it
 * @ctl: controller of the import
 * @node: exporting node
 * @id: segment id there
 * @importer: importing node
 * @owner: owner of the import, NULL if the importer is another node
 * @rights: rights that were asked for; 0 if the importer is another node
 */
struct rsm_denied {
	enum rsm_denial kind;
	const struct rsm_controller *ctl;
	u32 node;
	u32 id;
	u32 importer;
	const struct rsm_owner *owner;
	u32 rights;
};

/**
 * struct rsm_listener - the receiver of events besides tracing
 * @publish: the export has its id and list, and is about to be opened to importers
 * @unpublish: the export still has its id and list, but no importer reaches it any more
 * @connect: a process of this node has connected an import
 * @disconnect: an import's process has closed it, or its connection was aborted
 * @node: another node is up or down
 * @limit_hit: a limit has refused something to the caller's process
 * @denied: a connect was denied
 */
struct rsm_listener {
	void (*publish)(struct rsm_export *exp);
	void (*unpublish)(struct rsm_export *exp, enum rsm_reason reason);
	void (*connect)(struct rsm_import *imp);
	void (*disconnect)(struct rsm_import *imp, enum rsm_reason reason);
	void (*node)(struct rsm_link *link, bool up);
	void (*limit_hit)(enum rsm_limit kind, u64 wanted, u64 value,
			  const struct rsm_controller *ctl);
	void (*denied)(const struct rsm_denied *denied);
};

/* Set the listener: once, when the module is loaded and before the first event. */
void rsm_notify_listen(const struct rsm_listener *listener);

/* Exports of this node. The caller holds the export's lock, or no other task knows the export. */
void rsm_notify_bind(struct rsm_export *exp);
void rsm_notify_rebind(struct rsm_export *exp);
void rsm_notify_publish(struct rsm_export *exp);
void rsm_notify_unpublish(struct rsm_export *exp, enum rsm_reason reason);
void rsm_notify_end(struct rsm_export *exp, enum rsm_reason reason);

/* Imports of this node. The caller holds the import's map_lock for writing. */
void rsm_notify_connect(struct rsm_import *imp);
void rsm_notify_disconnect(struct rsm_import *imp, enum rsm_reason reason);

/* Another node has become an importer of an export, or is none any more. */
void rsm_notify_importer_connect(struct rsm_export *exp, struct rsm_link *link);
void rsm_notify_importer_disconnect(struct rsm_export *exp, struct rsm_link *link);

/* Other nodes. Only the link's work calls these, so that the link is not started meanwhile. */
void rsm_notify_node_up(struct rsm_link *link);
void rsm_notify_node_down(struct rsm_link *link, const char *why);

void rsm_notify_limit_hit(enum rsm_limit kind, u64 wanted, u64 value,
			  const struct rsm_controller *ctl);
void rsm_notify_denied(const struct rsm_denied *denied);

#endif /* RSM_NOTIFY_H */
