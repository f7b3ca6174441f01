/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR MIT */
/*
 * Generic netlink family "rsm": the state of the node, events, and changes by an administrator.
 * Documentation/netlink/specs/rsm.yaml specifies arguments and answers of each command; a test
 * checks that this file agrees with it.
 */
#ifndef _UAPI_LINUX_RSM_NETLINK_H
#define _UAPI_LINUX_RSM_NETLINK_H

#define RSM_FAMILY_NAME		"rsm"
#define RSM_FAMILY_VERSION	1

/** RSM_MCGRP_EVENTS - the multicast group of all events; joining it takes CAP_NET_ADMIN. */
#define RSM_MCGRP_EVENTS	"events"

/**
 * enum rsm_node_state - state of the link to a node
 * @RSM_NODE_STATE_DOWN: No node answers, or this node refuses the one that answers
 * @RSM_NODE_STATE_GREETING: The controller has found a node that has not answered yet
 * @RSM_NODE_STATE_ACTIVE: Connections can be made
 * @RSM_NODE_STATE_ENDING: The node has failed or left; the kernel is aborting its connections
 */
enum rsm_node_state {
	RSM_NODE_STATE_DOWN,
	RSM_NODE_STATE_GREETING,
	RSM_NODE_STATE_ACTIVE,
	RSM_NODE_STATE_ENDING,
};

/**
 * enum rsm_segment_state - state of an export segment
 * @RSM_SEGMENT_STATE_BOUND: The segment has memory and no id
 * @RSM_SEGMENT_STATE_PUBLISHED: The segment has memory and an id
 * @RSM_SEGMENT_STATE_DEAD: The memory of the segment is gone; the handle can only be closed
 */
enum rsm_segment_state {
	RSM_SEGMENT_STATE_BOUND,
	RSM_SEGMENT_STATE_PUBLISHED,
	RSM_SEGMENT_STATE_DEAD,
};

/**
 * enum rsm_limit - limits that may refuse a request
 * @RSM_LIMIT_MEMLOCK: RLIMIT_MEMLOCK of the process, in bytes
 * @RSM_LIMIT_EXPORTED_MEMORY: Parameter max_exported_memory of module rsm, or all memory
 *	of the node, in bytes
 * @RSM_LIMIT_SEGMENTS: Parameter max_segments of module rsm, in handles
 * @RSM_LIMIT_SLOTS: Segments of one control handle. librsm opens one control handle per
 *	process
 * @RSM_LIMIT_GRANTS: Live tickets of one export
 * @RSM_LIMIT_CONTROLLER_MEMORY: Memory of the controller, in bytes; the window, if the
 *	controller has one, or the share of it of the user or the node
 * @RSM_LIMIT_MEMORY: The memory cgroup of the process or the memory of the node, in bytes
 * @RSM_LIMIT_USER_SEGMENTS: Parameter max_segments_per_user of module rsm, in handles of
 *	the user
 * @RSM_LIMIT_USER_MEMORY: Parameter max_exported_memory_per_user of module rsm, in bytes
 *	of the user
 */
enum rsm_limit {
	RSM_LIMIT_MEMLOCK,
	RSM_LIMIT_EXPORTED_MEMORY,
	RSM_LIMIT_SEGMENTS,
	RSM_LIMIT_SLOTS,
	RSM_LIMIT_GRANTS,
	RSM_LIMIT_CONTROLLER_MEMORY,
	RSM_LIMIT_MEMORY,
	RSM_LIMIT_USER_SEGMENTS,
	RSM_LIMIT_USER_MEMORY,
};

/**
 * enum rsm_reason - why a segment is not published, or an import not connected, any more
 * @RSM_REASON_ASKED: The process that owns the segment or import asked for it, closed the
 *	handle, or ended
 * @RSM_REASON_RANGE_GONE: The exporter's memory was unmapped, protected or discarded, or
 *	the exporter has ended
 * @RSM_REASON_CONTROLLER_GONE: The controller was removed, or has lost its memory to
 *	other nodes
 * @RSM_REASON_REVOKED: An administrator has revoked the segment, or the exporter the grant
 * @RSM_REASON_EXPORTER: The exporter does not publish the segment any more
 * @RSM_REASON_NODE_DOWN: The exporter's node is down
 * @RSM_REASON_PEER_ERROR: The exporter's node has sent a message that breaks the protocol
 */
enum rsm_reason {
	RSM_REASON_ASKED,
	RSM_REASON_RANGE_GONE,
	RSM_REASON_CONTROLLER_GONE,
	RSM_REASON_REVOKED,
	RSM_REASON_EXPORTER,
	RSM_REASON_NODE_DOWN,
	RSM_REASON_PEER_ERROR,
};

/**
 * enum rsm_denial - why a connect was denied
 * @RSM_DENIAL_USER: The segment's access list, or default permission, gives the user fewer rights
 * @RSM_DENIAL_NODE: The segment's access list has no entry for the node
 */
enum rsm_denial {
	RSM_DENIAL_USER,
	RSM_DENIAL_NODE,
};

/* Attribute set controller. */
enum {
	RSM_A_CONTROLLER_PAD = 1,
	RSM_A_CONTROLLER_NAME,
	RSM_A_CONTROLLER_NODE_ID,
	RSM_A_CONTROLLER_HWADDR,
	RSM_A_CONTROLLER_MAPPABLE,
	RSM_A_CONTROLLER_CONFIGURABLE,
	RSM_A_CONTROLLER_WINDOW_BYTES,
	RSM_A_CONTROLLER_SEGMENTS,
	RSM_A_CONTROLLER_IMPORTS,
	RSM_A_CONTROLLER_LINKS,

	__RSM_A_CONTROLLER_MAX,
	RSM_A_CONTROLLER_MAX = (__RSM_A_CONTROLLER_MAX - 1)
};

/* Attribute set node. */
enum {
	RSM_A_NODE_PAD = 1,
	RSM_A_NODE_CONTROLLER,
	RSM_A_NODE_NODE_ID,
	RSM_A_NODE_STATE,
	RSM_A_NODE_HWADDR,
	RSM_A_NODE_ADDRESS,
	RSM_A_NODE_INCARNATION,
	RSM_A_NODE_SEGMENTS,
	RSM_A_NODE_IMPORTERS,
	RSM_A_NODE_REASON,
	RSM_A_NODE_SECRET,

	__RSM_A_NODE_MAX,
	RSM_A_NODE_MAX = (__RSM_A_NODE_MAX - 1)
};

/* Attribute set acl-entry. */
enum {
	RSM_A_ACL_ENTRY_NODE_ID = 1,
	RSM_A_ACL_ENTRY_MODE,

	__RSM_A_ACL_ENTRY_MAX,
	RSM_A_ACL_ENTRY_MAX = (__RSM_A_ACL_ENTRY_MAX - 1)
};

/* Attribute set segment. */
enum {
	RSM_A_SEGMENT_PAD = 1,
	RSM_A_SEGMENT_NUMBER,
	RSM_A_SEGMENT_ID,
	RSM_A_SEGMENT_CONTROLLER,
	RSM_A_SEGMENT_STATE,
	RSM_A_SEGMENT_LENGTH,
	RSM_A_SEGMENT_UID,
	RSM_A_SEGMENT_GID,
	RSM_A_SEGMENT_MODE,
	RSM_A_SEGMENT_ACL,
	RSM_A_SEGMENT_PID,
	RSM_A_SEGMENT_FLAGS,
	RSM_A_SEGMENT_IMPORTERS,
	RSM_A_SEGMENT_REMOTE_IMPORTERS,
	RSM_A_SEGMENT_GRANTS,
	RSM_A_SEGMENT_PINNED_BYTES,
	RSM_A_SEGMENT_EVENTS,
	RSM_A_SEGMENT_PUT_BYTES,
	RSM_A_SEGMENT_GET_BYTES,
	RSM_A_SEGMENT_REASON,

	__RSM_A_SEGMENT_MAX,
	RSM_A_SEGMENT_MAX = (__RSM_A_SEGMENT_MAX - 1)
};

/* Attribute set import. */
enum {
	RSM_A_IMPORT_PAD = 1,
	RSM_A_IMPORT_NUMBER,
	RSM_A_IMPORT_CONTROLLER,
	RSM_A_IMPORT_NODE_ID,
	RSM_A_IMPORT_ID,
	RSM_A_IMPORT_EXPORTER,
	RSM_A_IMPORT_UID,
	RSM_A_IMPORT_PID,
	RSM_A_IMPORT_RIGHTS,
	RSM_A_IMPORT_LENGTH,
	RSM_A_IMPORT_ABORTED,
	RSM_A_IMPORT_REASON,
	RSM_A_IMPORT_EVENTS,
	RSM_A_IMPORT_PUT_BYTES,
	RSM_A_IMPORT_GET_BYTES,

	__RSM_A_IMPORT_MAX,
	RSM_A_IMPORT_MAX = (__RSM_A_IMPORT_MAX - 1)
};

/* Attribute set process. */
enum {
	RSM_A_PROCESS_PAD = 1,
	RSM_A_PROCESS_PID,
	RSM_A_PROCESS_UID,
	RSM_A_PROCESS_COMM,
	RSM_A_PROCESS_PINNED_BYTES,
	RSM_A_PROCESS_CHARGED_BYTES,
	RSM_A_PROCESS_LIMIT_BYTES,
	RSM_A_PROCESS_SEGMENTS,
	RSM_A_PROCESS_IMPORTS,

	__RSM_A_PROCESS_MAX,
	RSM_A_PROCESS_MAX = (__RSM_A_PROCESS_MAX - 1)
};

/* Attribute set limit. */
enum {
	RSM_A_LIMIT_PAD = 1,
	RSM_A_LIMIT_KIND,
	RSM_A_LIMIT_HITS,
	RSM_A_LIMIT_WANTED,
	RSM_A_LIMIT_VALUE,
	RSM_A_LIMIT_PID,
	RSM_A_LIMIT_UID,
	RSM_A_LIMIT_CONTROLLER,

	__RSM_A_LIMIT_MAX,
	RSM_A_LIMIT_MAX = (__RSM_A_LIMIT_MAX - 1)
};

/* Attribute set stats. */
enum {
	RSM_A_STATS_PAD = 1,
	RSM_A_STATS_HANDLES,
	RSM_A_STATS_MAX_SEGMENTS,
	RSM_A_STATS_SEGMENTS,
	RSM_A_STATS_PUBLISHED,
	RSM_A_STATS_IMPORTS,
	RSM_A_STATS_GRANTS,
	RSM_A_STATS_PINNED_BYTES,
	RSM_A_STATS_MAX_PINNED_BYTES,
	RSM_A_STATS_LIMIT,
	RSM_A_STATS_DENIALS,

	__RSM_A_STATS_MAX,
	RSM_A_STATS_MAX = (__RSM_A_STATS_MAX - 1)
};

/** RSM_SECRET_SIZE - bytes of a secret. */
#define RSM_SECRET_SIZE		32

/* Attribute set secret. */
enum {
	RSM_A_SECRET_CONTROLLER = 1,
	RSM_A_SECRET_USE,
	RSM_A_SECRET_ACCEPT,

	__RSM_A_SECRET_MAX,
	RSM_A_SECRET_MAX = (__RSM_A_SECRET_MAX - 1)
};

/* Attribute set denial. */
enum {
	RSM_A_DENIAL_KIND = 1,
	RSM_A_DENIAL_CONTROLLER,
	RSM_A_DENIAL_NODE_ID,
	RSM_A_DENIAL_ID,
	RSM_A_DENIAL_IMPORTER_NODE_ID,
	RSM_A_DENIAL_RIGHTS,
	RSM_A_DENIAL_UID,
	RSM_A_DENIAL_PID,

	__RSM_A_DENIAL_MAX,
	RSM_A_DENIAL_MAX = (__RSM_A_DENIAL_MAX - 1)
};

/* Commands, and events of the multicast group. */
enum {
	RSM_CMD_CONTROLLER_GET = 1,
	RSM_CMD_NODE_GET,
	RSM_CMD_SEGMENT_GET,
	RSM_CMD_IMPORT_GET,
	RSM_CMD_PROCESS_GET,
	RSM_CMD_STATS_GET,
	RSM_CMD_NODE_ADD,
	RSM_CMD_NODE_SET,
	RSM_CMD_NODE_DEL,
	RSM_CMD_SEGMENT_REVOKE,
	RSM_EVENT_PUBLISH,
	RSM_EVENT_UNPUBLISH,
	RSM_EVENT_CONNECT,
	RSM_EVENT_DISCONNECT,
	RSM_EVENT_NODE_UP,
	RSM_EVENT_NODE_DOWN,
	RSM_EVENT_LIMIT_HIT,
	RSM_CMD_SECRET_SET,
	RSM_CMD_SECRET_DEL,
	RSM_EVENT_DENIED,

	__RSM_CMD_MAX,
	RSM_CMD_MAX = (__RSM_CMD_MAX - 1)
};

#endif /* _UAPI_LINUX_RSM_NETLINK_H */
