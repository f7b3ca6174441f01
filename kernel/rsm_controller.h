/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The operations that an interconnect has to offer to become an RSM controller, and the services
 * that the core offers to controllers. A controller includes this file of the core and no other.
 */
#ifndef RSM_CONTROLLER_H
#define RSM_CONTROLLER_H

#include "rsm_status.h"
#include "rsm_turns.h"

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mm_types.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/rsm.h>
#include <linux/rsm_netlink.h>
#include <linux/rwsem.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

struct netlink_ext_ack;
struct rsm_export;
struct rsm_handle;
struct rsm_import;
struct rsm_loan;
struct rsm_mem;
struct rsm_place;
struct rsm_remote_segment;
struct rsm_segment;
struct rsm_export_view;
struct rsm_table;
struct rsm_letter;
struct rsm_ticket;
struct rsm_watch;

/**
 * struct rsm_mem_ops - how to reach the pages of an &struct rsm_mem
 * @owner: module that has these functions; the memory holds it. NULL for memory of the core
 * @pfn: page frame of page @index, for mapping into importers
 * @map_page: kernel address of page @index, valid until @unmap_page; called
 *	and used in the same context without sleeping in between
 * @unmap_page: ends the use of what @map_page returned
 * @page: page @index, for devices that reach memory by themselves; NULL for
 *	memory that has no &struct page
 * @release: the last reference is gone: give the memory back and free @mem
 * @release_later: the same for a caller who must not wait; NULL for memory that is given back
 *	at once, and for memory with an @owner, which is not held any more when this returns
 */
struct rsm_mem_ops {
	struct module *owner;
	unsigned long (*pfn)(const struct rsm_mem *mem, unsigned long index);
	void *(*map_page)(const struct rsm_mem *mem, unsigned long index);
	void (*unmap_page)(const struct rsm_mem *mem, void *addr);
	struct page *(*page)(const struct rsm_mem *mem, unsigned long index);
	void (*release)(struct rsm_mem *mem);
	void (*release_later)(struct rsm_mem *mem);
};

/**
 * struct rsm_mem - memory behind a segment
 * @ref: one for the export, one for each import that may reach it
 * @npages: its size
 * @written: an importer may have written to it
 * @lost: window memory only: other nodes may use it by now
 * @ops: how to reach it
 *
 * Pinned pages of the exporter, pages of an interconnect's window, or other pages of a controller:
 * the core maps and copies them by these operations only. The memory stays until the last
 * reference is dropped.
 */
struct rsm_mem {
	struct kref ref;
	unsigned long npages;
	bool written;
	bool lost;
	const struct rsm_mem_ops *ops;
};

void rsm_mem_init(struct rsm_mem *mem, const struct rsm_mem_ops *ops,
		  unsigned long npages);
struct rsm_mem *rsm_mem_get(struct rsm_mem *mem);
void rsm_mem_put(struct rsm_mem *mem);
void rsm_mem_put_later(struct rsm_mem *mem);
void rsm_mem_read(struct rsm_mem *mem, u64 offset, void *to, size_t len);
void rsm_mem_write(struct rsm_mem *mem, u64 offset, const void *from, size_t len);

/**
 * struct rsm_words - where the words of a handle live
 * @generation: written by the kernel, read by user space
 * @posted: written by the kernel, read by user space
 * @consumed: written by each process that maps it: hostile input
 * @table: table that has the slot, NULL when the words are in @own
 * @slot: number of the slot in @table
 * @own: the words of a handle without a slot
 */
struct rsm_words {
	u32 *generation;
	u32 *posted;
	u32 *consumed;
	struct rsm_table *table;
	u32 slot;
	u32 own[3];
};

/**
 * enum rsm_kind - what a segment handle has become
 * @RSM_EXPORT: an export segment
 * @RSM_IMPORT: an import segment
 */
enum rsm_kind { RSM_EXPORT, RSM_IMPORT };

/**
 * struct rsm_segment_ops - what the core can do with a segment of either kind; private to the core
 * @kind: the kind
 * @free: free the segment: its last reference was dropped
 * @withdraw: optional; called before @kill: ask other nodes to let go, without waiting for them
 * @kill: end the segment, whatever its state; programs can only close its handle then
 */
struct rsm_segment_ops {
	enum rsm_kind kind;
	void (*free)(struct rsm_segment *seg);
	void (*withdraw)(struct rsm_segment *seg);
	void (*kill)(struct rsm_segment *seg, enum rsm_reason reason);
};

/**
 * struct rsm_segment - what export and import segments have in common
 * @ref: one for the open handle, one for each import on an export
 * @ops: the core's operations for its kind
 * @number: number of the handle
 * @ctl: its controller, referenced
 * @on_ctl: place in the controller's list of segments
 * @words: generation and event words
 * @put_bytes: bytes that PUTV has put: by this import, or by all imports of the export
 * @get_bytes: bytes that GETV has got, likewise
 * @handle: the handle that has become it, referenced; waiters for an event wait there
 * @process: the core's: entry of the process that has made it, referenced
 */
struct rsm_segment {
	struct kref ref;
	const struct rsm_segment_ops *ops;
	u32 number;
	struct rsm_controller *ctl;
	struct list_head on_ctl;
	struct rsm_words words;
	atomic64_t put_bytes;
	atomic64_t get_bytes;
	struct rsm_handle *handle;
	struct rsm_process *process;
};

/**
 * struct rsm_owner - the creator of a segment, as it was at that moment
 * @tgid: the process; only it may publish, republish, unpublish and rebind an export
 * @uid: effective user id
 * @gid: effective group id
 * @umask: file mode creation mask
 */
struct rsm_owner {
	struct pid *tgid;
	kuid_t uid;
	kgid_t gid;
	unsigned int umask;
};

/**
 * struct rsm_acl - access list of a published segment
 * @count: entries; 0 means every node with the owner's default permission
 * @entry: the entries, the first one for a node counts
 */
struct rsm_acl {
	u32 count;
	struct rsm_acl_entry entry[];
};

enum rsm_export_state { RSM_BOUND, RSM_PUBLISHED, RSM_DEAD };

/**
 * struct rsm_inbox - letters that an exporter has not received yet (letter.c)
 * @lock: guards the letters, and the field letter of all imports of the export
 * @letters: &struct rsm_letter, in the order in which they are delivered
 */
struct rsm_inbox {
	spinlock_t lock; /* see above; no other lock is taken under it */
	struct rsm_turns letters;
};

/**
 * struct rsm_export - an export segment
 * @seg: common part
 * @ops: operations of its controller, or of the core if the export is local
 * @lock: guards all below except what @importers_lock guards
 * @state: bound, published, or dead; becomes dead under @importers_lock, too
 * @reason: of a dead one: why it is; under @importers_lock
 * @flags: those of BIND
 * @vaddr: start of the range in the creator's address space
 * @length: bytes
 * @owner: creator
 * @mem: its memory, NULL when dead; changed under @lock and @importers_lock
 * @watch: notices the end of the range, NULL for memory that needs no watch
 * @view: window memory only: the exporter's own mapping of it, NULL if none
 * @death: ends the export after @watch or @view has noticed the end of the range
 * @id: segment id while published
 * @acl: access list while published, NULL = default; also under @importers_lock
 * @importers_lock: guards @importers, @remote_importers, @open and @lent; held for a bounded
 *	number of importers at a time, and not while their mappings change
 * @tickets: its tickets
 * @grants: how many there are
 * @inbox: letters from holders of its tickets
 * @importers: connected imports of this node, and marks of tasks that visit them; see
 *	importers.c
 * @importer_count: how many imports there are
 * @remote_importers: the agent's: importing nodes
 * @answers: how many of these have gone, fulfilled a request or no stale key any more
 * @answered: woken by each of these; the holder of @lock waits here
 * @open: connects are accepted
 * @lent: a rebind has borrowed the room of @mem under the limits
 * @priv: the controller's
 */
struct rsm_export {
	struct rsm_segment seg;
	const struct rsm_controller_ops *ops;
	struct mutex lock; /* see above, and internal.h for the order */
	enum rsm_export_state state;
	enum rsm_reason reason;
	u32 flags;
	u64 vaddr;
	u64 length;
	struct rsm_owner owner;
	struct rsm_mem *mem;
	struct rsm_watch *watch;
	struct rsm_export_view *view;
	struct work_struct death;
	u32 id;
	struct rsm_acl *acl;
	struct list_head tickets;
	unsigned int grants;
	struct rsm_inbox inbox;
	struct mutex importers_lock; /* likewise */
	struct list_head importers;
	unsigned int importer_count;
	struct list_head remote_importers;
	atomic_t answers;
	wait_queue_head_t answered;
	bool open;
	bool lent;
	void *priv;
};

/**
 * struct rsm_member - a place in the list of an export's importers
 * @entry: in &rsm_export.importers
 * @is_mark: not an importer: marks how far a visit of the list has come
 */
struct rsm_member {
	struct list_head entry;
	bool is_mark;
};

/**
 * struct rsm_import - an import segment
 * @seg: common part
 * @ops: operations of its controller, or of the core if it was granted
 * @granted: it was connected by a ticket, not by a segment id
 * @ticket: the ticket, referenced, while it is connected; guarded like @exp
 * @may_send: its ticket allows letters; see struct rsm_inbox
 * @letter: the letter that the exporter has not received yet, or NULL; see struct rsm_inbox
 * @node: exporting node
 * @id: segment id there
 * @owner: the process that has connected it
 * @rights: RSM_PERM_READ, RSM_PERM_WRITE, both or none
 * @may_read: that process may read the segment, whether it has asked for that or not
 * @length: bytes
 * @start: first byte that it may access
 * @end: the byte behind the last one
 * @map_lock: guards @mem and @aborted; mappings change only while it is held
 *	for writing
 * @mem: memory behind it; NULL when aborted, or when the CPU can't reach the memory
 * @aborted: the connection is gone for good; set before an importer can notice anything of that,
 *	and never cleared
 * @hung_up: no mapping of it shows the segment any more
 * @reason: reason of the abort
 * @notified: listeners were notified of the connection, and are notified of its end; @map_lock
 * @scratch: page that mappings show after that
 * @exp: local export it is connected to, referenced, or NULL; changed under
 *	@map_lock and the export's importers_lock
 * @exporter: number of the exporter's handle, 0 for a segment of another node
 * @member: its place among @exp's importers
 * @link: the agent's: place among the imports of @remote
 * @remote: the agent's: record of the segment of another node
 * @priv: the controller's
 */
struct rsm_import {
	struct rsm_segment seg;
	const struct rsm_controller_ops *ops;
	bool granted;
	bool may_send;
	struct rsm_ticket *ticket;
	struct rsm_letter *letter;
	u32 node;
	u32 id;
	struct rsm_owner owner;
	u32 rights;
	bool may_read;
	u64 length;
	u64 start;
	u64 end;
	struct rw_semaphore map_lock;
	struct rsm_mem *mem;
	bool aborted;
	bool hung_up;
	enum rsm_reason reason;
	bool notified;
	struct page *scratch;
	struct rsm_export *exp;
	u32 exporter;
	struct rsm_member member;
	struct list_head link;
	struct rsm_remote_segment *remote;
	void *priv;
};

/**
 * struct rsm_local - local end of a transfer
 * @mem: memory of a bound handle, or NULL
 * @user: user address if @mem is NULL
 * @offset: bytes from the start of @mem
 * @done: bytes that have been copied, without a gap from the first on. If a controller's @transfer
 *	returns RSMERR_INTERRUPTED, the caller continues from there
 */
struct rsm_local {
	struct rsm_mem *mem;
	void __user *user;
	u64 offset;
	u64 done;
};

/**
 * enum rsm_direction - which way a transfer copies
 * @RSM_PUT: from the caller to the segment
 * @RSM_GET: from the segment to the caller
 */
enum rsm_direction { RSM_PUT, RSM_GET };

/**
 * struct rsm_prepared - a range of an exporter, ready to be exported
 * @mem: its pages, referenced, or NULL
 * @watch: a watch on it, or NULL
 * @vaddr: window memory only: start of the range
 * @view: window memory only: the view for a new export, or NULL
 * @in_view: window memory only: the exporter maps the segment there already
 * @loan: the core's: room of the memory that a rebind replaces, NULL for a bind
 *
 * The core releases whatever @bind or @rebind has left in it.
 */
struct rsm_prepared {
	struct rsm_mem *mem;
	struct rsm_watch *watch;
	struct rsm_export_view *view;
	u64 vaddr;
	bool in_view;
	struct rsm_loan *loan;
};

/**
 * struct rsm_controller_ops - a controller's side of the contract
 * @owner: module that holds the code; the core keeps it loaded while a handle
 *	uses the controller
 * @prepare: do the part of @bind and @rebind that touches the memory of the caller: the range
 *	at @vaddr that is as long as the export. Called without locks: a page fault may take for
 *	ever, and only a fatal signal ends it. The controller may be removed and the export may
 *	end meanwhile. rsm_pin_prepare() does it for controllers that let importers reach the
 *	exporter's own pages, rsm_window_prepare() for those that have memory of their own.
 * @bind: give @exp the memory that was prepared: set &rsm_export.mem to what importers will
 *	see. Called with the export's lock held, before any other task knows the export; must
 *	not wait for a page fault. rsm_pin_bind() or rsm_window_bind() does it.
 * @rebind: the same for another range of the same length; on failure nothing has changed. Uses
 *	rsm_export_set_mem(). Called with the export's lock held.
 * @unbind: undo @bind. After it &rsm_export.mem is NULL. Called with the export's lock held and no
 *	importers left.
 * @check_acl: can the controller honour this access list, whose numbers are in range?
 *	RSMERR_BAD_ACL if it names unknown nodes
 * @publish: optional; the segment has an id and a list and is about to be
 *	opened to importers
 * @republish: optional; the list has changed. Called with the export's lock held, as is
 *	@unpublish
 * @withdraw: optional; the segment is closed to new connections and will be unpublished: ask the
 *	nodes that import it to let go, without waiting for them. Called with the export's lock
 *	held
 * @unpublish: optional; local importers are gone: abort the imports of other nodes
 * @connect: find the segment that @imp names, and admit or refuse the caller.
 *	Sets length, and mem if memory can be mapped or copied by the CPU.
 *	rsm_local_connect() does it for segments of this node.
 * @disconnect: undo @connect; called once for each successful @connect, also
 *	after an abort
 * @map: optional; map @imp into @vma, whose offset and rights the core has
 *	checked. NULL means that the controller can't map; rsm_map_mem() maps
 *	&rsm_import.mem.
 * @post: deliver an event to the export
 * @post_importers: optional; deliver an event to importers on other nodes
 * @transfer: optional; copy between @local and the segment in the @direction, all of it. With
 *	RSM_TRANSFER_ASYNC in @flags a put may return before the data has arrived; the caller
 *	keeps memory of a handle unchanged until then, and may change user memory at once. A
 *	signal may end it with RSMERR_INTERRUPTED when &rsm_local.done is above 0: the caller
 *	continues from there. rsm_local_transfer() does it for segments of this node. NULL means
 *	that the core copies to and from &rsm_import.mem, which is complete on return.
 * @order: optional; a barrier for transfers that complete later: OPEN forgets past failures;
 *	ORDER and CLOSE wait for all transfers that were started, and return
 *	RSMERR_BARRIER_FAILURE if one has failed since OPEN
 * @peers: optional; describe up to @max paths, return how many there are
 * @add_node: optional; add a node. @address is the text of the administrator; @extack gets a
 *	message that says what is wrong with it. 0 or an error: -EEXIST if the node is configured
 *	already
 * @move_node: optional; give a node another address, -ENOENT if it is not configured
 * @forget_node: optional; remove a node, -ENOENT if it is not configured
 * @set_secret: optional; from now on nodes prove to each other that they know a secret of
 *	RSM_SECRET_SIZE bytes. This node uses @use, and accepts @accept as well if that is not
 *	NULL. If both are NULL there is no secret any more
 * @has_secret: present with @set_secret: is there one? Does not sleep
 * @release: optional; free the controller: it was removed and its last user is gone
 *
 * All are called from process context and may sleep. Those marked optional may be
 * NULL.
 */
struct rsm_controller_ops {
	struct module *owner;
	rsm_status_t (*prepare)(struct rsm_export *exp, u64 vaddr, struct rsm_prepared *prepared);
	rsm_status_t (*bind)(struct rsm_export *exp, struct rsm_prepared *prepared);
	rsm_status_t (*rebind)(struct rsm_export *exp, struct rsm_prepared *prepared);
	void (*unbind)(struct rsm_export *exp);
	rsm_status_t (*check_acl)(struct rsm_controller *ctl, const struct rsm_acl *acl);
	rsm_status_t (*publish)(struct rsm_export *exp);
	void (*republish)(struct rsm_export *exp);
	void (*withdraw)(struct rsm_export *exp);
	void (*unpublish)(struct rsm_export *exp);
	rsm_status_t (*connect)(struct rsm_import *imp);
	void (*disconnect)(struct rsm_import *imp);
	int (*map)(struct rsm_import *imp, struct vm_area_struct *vma);
	rsm_status_t (*post)(struct rsm_import *imp, u32 flags);
	void (*post_importers)(struct rsm_export *exp, u32 flags);
	rsm_status_t (*transfer)(struct rsm_import *imp, struct rsm_local *local, u64 remote_offset,
				 u64 length, enum rsm_direction direction, u32 flags);
	rsm_status_t (*order)(struct rsm_import *imp, enum rsm_barrier_op op);
	unsigned int (*peers)(struct rsm_controller *ctl,
			      struct rsm_topology_peer *peers, unsigned int max);
	int (*add_node)(struct rsm_controller *ctl, u32 node, const char *address,
			struct netlink_ext_ack *extack);
	int (*move_node)(struct rsm_controller *ctl, u32 node, const char *address,
			 struct netlink_ext_ack *extack);
	int (*forget_node)(struct rsm_controller *ctl, u32 node,
			   struct netlink_ext_ack *extack);
	int (*set_secret)(struct rsm_controller *ctl, const void *use, const void *accept,
			  struct netlink_ext_ack *extack);
	bool (*has_secret)(struct rsm_controller *ctl);
	void (*release)(struct rsm_controller *ctl);
};

/**
 * struct rsm_controller - one controller
 * @name: what user space calls it, e.g. "ivshmem0"
 * @ops: its functions
 * @attr: what RSM_IOC_ATTR answers; size, status, controller and mappable are
 *	filled in by the core
 * @max_acl: most entries of an access list, 0 for RSM_ACL_MAX
 * @unlisted: keep it out of the topology
 * @link: the registry's
 * @serial: the registry's: controllers are in the order of their serials
 * @users: the registry's: one for each handle that uses it and, until it is
 *	removed, one for the registry
 * @removed: the registry's: it was removed; only its users still know it
 * @gate: the registry's: held for reading while a segment begins to use it
 * @lock: the registry's: guards @segments and @segment_count
 * @segments: the registry's: segments that use it
 * @segment_count: the registry's: how many there are of each kind
 * @priv: the controller's
 */
struct rsm_controller {
	char name[RSM_NAME_SIZE];
	const struct rsm_controller_ops *ops;
	struct rsm_attr attr;
	u32 max_acl;
	bool unlisted;
	struct list_head link;
	unsigned long serial;
	refcount_t users;
	bool removed;
	struct rw_semaphore gate; /* see above */
	spinlock_t lock; /* likewise */
	struct list_head segments;
	unsigned int segment_count[2];
	void *priv;
};

/* The registry (controller.c). */
int rsm_register_controller(struct rsm_controller *ctl);
int rsm_unregister_controller(struct rsm_controller *ctl);
void rsm_remove_controller(struct rsm_controller *ctl);
void rsm_abort_exports(struct rsm_controller *ctl);

/* Services for controllers. */
u32 rsm_node_id(void);
kuid_t rsm_outermost_user(void);
rsm_status_t rsm_pin_prepare(struct rsm_export *exp, u64 vaddr, struct rsm_prepared *prepared);
rsm_status_t rsm_pin_bind(struct rsm_export *exp, struct rsm_prepared *prepared);
rsm_status_t rsm_pin_rebind(struct rsm_export *exp, struct rsm_prepared *prepared);
void rsm_pin_unbind(struct rsm_export *exp);
rsm_status_t rsm_window_prepare(struct rsm_export *exp, u64 vaddr, struct rsm_prepared *prepared);
rsm_status_t rsm_window_bind(struct rsm_export *exp, struct rsm_prepared *prepared,
			     struct rsm_mem *mem);
rsm_status_t rsm_window_rebind(struct rsm_export *exp, struct rsm_prepared *prepared);
void rsm_window_unbind(struct rsm_export *exp);
void rsm_export_set_mem(struct rsm_export *exp, struct rsm_mem *mem);
rsm_status_t rsm_local_connect(struct rsm_import *imp);
void rsm_local_disconnect(struct rsm_import *imp);
rsm_status_t rsm_local_post(struct rsm_import *imp, u32 flags);
rsm_status_t rsm_local_transfer(struct rsm_import *imp, struct rsm_local *local, u64 remote_offset,
				u64 length, enum rsm_direction direction);
void rsm_import_get(struct rsm_import *imp);
void rsm_import_put(struct rsm_import *imp);
void rsm_import_set_mem(struct rsm_import *imp, struct rsm_mem *mem);
void rsm_import_replace_mem(struct rsm_import *imp, struct rsm_mem *old, struct rsm_mem *mem);
void rsm_import_abort(struct rsm_import *imp, enum rsm_reason reason);
int rsm_map_mem(struct rsm_import *imp, struct vm_area_struct *vma);
void rsm_event_post(struct rsm_segment *seg, u32 flags);
void rsm_limit_hit(enum rsm_limit kind, u64 wanted, u64 value,
		   const struct rsm_controller *ctl);

#endif /* RSM_CONTROLLER_H */
