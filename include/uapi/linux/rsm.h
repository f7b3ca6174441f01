/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR MIT */
/*
 * /dev/rsm: the contract between the RSM kernel agent and user space.
 *
 * Applications use librsm (<rsmapi.h>), not this file.
 */
#ifndef _UAPI_LINUX_RSM_H
#define _UAPI_LINUX_RSM_H

#include <linux/ioctl.h>
#include <linux/rsm_common.h>
#include <linux/types.h>

/**
 * DOC: handles
 *
 * Each open of /dev/rsm is one handle. Opened read-only it is a *control
 * handle*: it answers questions and owns a table of words that user space can
 * map (see below). Opened for reading and writing it is a *segment handle*:
 * blank at first, then one export segment from its first successful BIND or
 * one import segment from its first successful CONNECT or REDEEM, for life. The
 * last close() destroys or disconnects it, after the last mapping has gone.
 *
 * open() fails with EAGAIN when max_segments handles exist or the user has
 * max_segments_per_user percent of them, and with ENOMEM.
 *
 * Which handle takes which command:
 *
 * ====================  =======  =====  ======  ======
 * command               control  blank  export  import
 * ====================  =======  =====  ======  ======
 * INFO, ATTR, TOPOLOGY  yes      yes    yes     yes
 * BIND                  -        yes    -       -
 * REBIND .. UNPUBLISH   -        -      yes     -
 * DESTROY, RANGE        -        -      yes     -
 * GRANT, REVOKE         -        -      yes     -
 * RECEIVE               -        -      yes     -
 * CONNECT, REDEEM       -        yes    -       -
 * POST, WAIT            -        -      yes     yes
 * PUTV, GETV, BARRIER   -        -      -       yes
 * SEND                  -        -      -       yes
 * ====================  =======  =====  ======  ======
 *
 * "-" is a status of RSMERR_BAD_SEG_HNDL.
 */

/**
 * DOC: ioctl conventions
 *
 * Every argument is a structure whose first field, size, says how large the
 * caller believes it to be. It may be larger than what the kernel knows as
 * long as the rest is zero, and it may not be smaller than the first version.
 * The layouts are the same for 32-bit and 64-bit callers; pointers travel as
 * __u64.
 *
 * ioctl() returns 0 when the kernel has understood the call. The outcome
 * is in the status field: RSM_SUCCESS or an RSMERR_* value. A call that could
 * not be understood fails, changes nothing, and sets errno:
 *
 * - ENOTTY: no such command
 * - EINVAL: size is smaller than the first version of the structure, or a
 *   string has no NUL
 * - E2BIG: size is larger than a page, or there is a non-zero byte behind
 *   what the kernel knows
 * - EOPNOTSUPP: a reserved field is not zero, or a flag or operation is unknown
 * - EFAULT: the structure can't be read, or its result can't be stored (what
 *   the call did stays done). A command whose only result is the status does
 *   not store one that is there already: set it to 0 before the call.
 * - EBADF: control_fd is not a control handle
 * - EINTR: a handler of a signal ran while the call waited, for an event, for
 *   another node or for another call on the same handle. It changed nothing. A
 *   signal without a handler (a stop and what continues it, a debugger, the
 *   freezer) does not end a call: it goes on afterwards.
 *
 * The kernel writes to all of the structure but its size. Status values not
 * listed with a command: RSMERR_BAD_SEG_HNDL when the handle is of another kind,
 * and for PUTV, GETV, BARRIER and POST, which may have done a part of their work,
 * RSMERR_INTERRUPTED instead of EINTR.
 */
#define RSM_IOC_TYPE	0xD7

/** RSM_NAME_SIZE - bytes of a controller name, the NUL included. */
#define RSM_NAME_SIZE	32

/** RSM_ACL_MAX - most entries in an access list. */
#define RSM_ACL_MAX	64

/** RSM_NODE_MAX - largest node id in an access list. */
#define RSM_NODE_MAX	64

/**
 * DOC: status words
 *
 * A control handle owns a table of slots. A segment handle that names it at
 * BIND, CONNECT or REDEEM gets a slot there; that handle's words can then be read, and
 * its events consumed, without a system call. The words of a handle without a
 * slot (control_fd of -1) live in the kernel only.
 *
 * mmap() of the control handle at RSM_MMAP_STATUS, shared and read-only, shows
 * struct rsm_status_slot; at RSM_MMAP_CONSUMED, shared and writable and by the
 * process that opened the handle only, struct rsm_consumed_slot. Slot n is n
 * times RSM_SLOT_SIZE bytes from the start. fork() hands the first mapping
 * down, not the second.
 *
 * That mapping is all that can be written through a control handle, which is open
 * for reading (F_GETFL says so): write() fails.
 *
 * mmap() of a control handle fails with EINVAL (another offset, private,
 * beyond RSM_TABLE_SLOTS slots), EACCES (writable status words) and EPERM
 * (consumed words of another process).
 */
#define RSM_MMAP_STATUS		0x00000000UL
#define RSM_MMAP_CONSUMED	0x40000000UL
#define RSM_SLOT_SIZE		64
#define RSM_TABLE_SLOTS		65536
#define RSM_NO_SLOT		0xFFFFFFFFu

/**
 * struct rsm_status_slot - the words of a handle that the kernel writes
 * @generation: changes when the handle connects and, before any of its
 *	mappings changes, when its connection is aborted. A program that reads
 *	the value it was given by CONNECT after a full memory barrier knows that
 *	all its earlier accesses reached the segment.
 * @posted: events delivered to the handle so far, modulo 2^32
 */
struct rsm_status_slot {
	__u32 generation;
	__u32 posted;
};

/**
 * struct rsm_consumed_slot - the word of a handle that user space writes
 * @consumed: events consumed so far, modulo 2^32. An event is pending while
 *	this differs from posted. Consume one by an atomic compare-and-swap that
 *	adds 1.
 */
struct rsm_consumed_slot {
	__u32 consumed;
};

/**
 * struct rsm_info - ioctl(RSM_IOC_INFO)
 * @size: sizeof(struct rsm_info)
 * @status: out: RSM_SUCCESS
 * @node_id: out: id of this node
 * @max_segments: out: most segment handles on this node
 *
 * Asks for the parameters of the whole node.
 */
struct rsm_info {
	__u32 size;
	__u32 status;
	__u32 node_id;
	__u32 max_segments;
};

#define RSM_IOC_INFO	_IO(RSM_IOC_TYPE, 0x00)

/**
 * struct rsm_attr - ioctl(RSM_IOC_ATTR)
 * @size: sizeof(struct rsm_attr)
 * @status: out: RSM_SUCCESS or RSMERR_CTLR_NOT_PRESENT
 * @controller: name of the controller
 * @direct_access_sizes: out: widths in bytes (1, 2, 4, 8 or-ed) that a CPU
 *	may use on a mapping
 * @atomic_sizes: out: those of them that are indivisible
 * @page_size: out: alignment of exports, in bytes
 * @max_export_size: out: largest segment in bytes, 0 = no limit of its own
 * @total_export_size: out: bytes of all segments, 0 = no limit of its own
 * @max_exports: out: number of segments, 0 = no limit of its own
 * @max_map_size: out: largest mapping in bytes, 0 = no limit of its own
 * @total_map_size: out: bytes of all mappings, 0 = no limit of its own
 * @max_imports: out: number of connections, 0 = no limit of its own
 * @hwaddr: out: the controller's address on its interconnect
 * @mappable: out: 1 if import segments can be mapped, else 0
 * @reserved: must be 0
 *
 * Asks for the attributes of a controller; loads its module if need be.
 */
struct rsm_attr {
	__u32 size;
	__u32 status;
	char controller[RSM_NAME_SIZE];
	__u32 direct_access_sizes;
	__u32 atomic_sizes;
	__aligned_u64 page_size;
	__aligned_u64 max_export_size;
	__aligned_u64 total_export_size;
	__aligned_u64 max_exports;
	__aligned_u64 max_map_size;
	__aligned_u64 total_map_size;
	__aligned_u64 max_imports;
	__aligned_u64 hwaddr;
	__u32 mappable;
	__u32 reserved;
};

#define RSM_IOC_ATTR	_IO(RSM_IOC_TYPE, 0x01)

/**
 * struct rsm_topology_controller - one controller of this node
 * @name: its name
 * @hwaddr: its address on its interconnect
 * @peer_count: how many of the peers are its
 * @reserved: 0
 */
struct rsm_topology_controller {
	char name[RSM_NAME_SIZE];
	__aligned_u64 hwaddr;
	__u32 peer_count;
	__u32 reserved;
};

/**
 * struct rsm_topology_peer - a path from a controller to another node
 * @name: name of the controller at the other end
 * @hwaddr: its address
 * @node_id: the other node
 * @state: 1 down, 2 up but not usable yet, 3 active, 4 going down
 */
struct rsm_topology_peer {
	char name[RSM_NAME_SIZE];
	__aligned_u64 hwaddr;
	__u32 node_id;
	__u32 state;
};

/**
 * struct rsm_topology_query - ioctl(RSM_IOC_TOPOLOGY)
 * @size: sizeof(struct rsm_topology_query)
 * @status: out: RSM_SUCCESS, RSMERR_BAD_ADDR (an array can't be written) or
 *	RSMERR_INSUFFICIENT_MEM
 * @node_id: out: id of this node
 * @reserved: must be 0
 * @controllers: address of an array of struct rsm_topology_controller
 * @peers: address of an array of struct rsm_topology_peer; the peers of the
 *	first controller come first, then those of the second, and so on
 * @controller_count: in: entries that fit in controllers; out: entries there are
 * @peer_count: in: entries that fit in peers; out: entries there are
 *
 * A consistent picture of the interconnects, without loopback. If an array is too
 * small, the kernel writes neither array: call again with larger ones.
 */
struct rsm_topology_query {
	__u32 size;
	__u32 status;
	__u32 node_id;
	__u32 reserved;
	__aligned_u64 controllers;
	__aligned_u64 peers;
	__u32 controller_count;
	__u32 peer_count;
};

#define RSM_IOC_TOPOLOGY	_IO(RSM_IOC_TYPE, 0x02)

/**
 * struct rsm_bind - ioctl(RSM_IOC_BIND)
 * @size: sizeof(struct rsm_bind)
 * @status: out: RSM_SUCCESS, or
 *	RSMERR_BAD_SEG_HNDL (the handle is not blank),
 *	RSMERR_CTLR_NOT_PRESENT,
 *	RSMERR_BAD_ADDR (vaddr is 0, or part of the range is not mapped or is a
 *	shared mapping of a named file; with RSM_BIND_LOCAL one of tmpfs will do),
 *	RSMERR_BAD_LENGTH (length is 0 or more than a segment can have),
 *	RSMERR_BAD_MEM_ALIGNMENT (vaddr or length is no multiple of the page size),
 *	RSMERR_PERM_DENIED (part of the range is not readable and writable; with
 *	RSM_BIND_READ: not readable),
 *	RSMERR_INSUFFICIENT_MEM (memory, RLIMIT_MEMLOCK or max_exported_memory),
 *	RSMERR_INSUFFICIENT_RESOURCES (the table has no free slot)
 * @controller: name of the controller
 * @vaddr: start of the range in the caller's address space
 * @length: its length in bytes
 * @flags: RSM_ALLOW_REBIND, RSM_CREATE_SEG_DONTWAIT, RSM_BIND_LOCAL,
 *	RSM_BIND_READ
 * @control_fd: control handle in whose table the handle gets a slot, or -1
 * @slot: out: the slot, RSM_NO_SLOT if there is none
 * @number: out: number of the handle, unique on the node while it is open
 * @window: out: 1 if the segment lives in memory of the interconnect, else 0
 * @reserved: must be 0
 *
 * Makes a blank handle an export segment: pins the range and charges it to
 * the caller. The caller becomes the segment's creator; its effective user and
 * group id and its umask are remembered.
 *
 * Where a controller has memory of its own, its window, the contents of the
 * range are copied there instead, and charged likewise. RSMERR_BAD_ADDR is then
 * also the answer to memory that is shared (System V, memfd, MAP_SHARED) or of
 * hugetlbfs, and RSMERR_INSUFFICIENT_RESOURCES that to a window without room.
 * The creator alone can map the handle, shared and for reading and writing, to
 * see the segment. It maps the handle over the bound range, so that pointers into
 * the range stay valid. As soon as the creator has read or written a byte there, or
 * RANGE has found the range shown, its unmapping or a loss of a right ends the export.
 * After the end the mapping shows a private copy of the contents. mmap() fails
 * with ENODEV (dead and nothing mapped it at the end, or not in a window), ENXIO
 * (beyond the end), EPERM (another process), EACCES (execution), EINVAL (private)
 * and ENOMEM.
 *
 * RSM_BIND_LOCAL: the memory is only to be the local end of PUTV and GETV, and
 * what GRANT lets others reach. It is pinned where it is whatever the
 * controller, and can't be published (RSMERR_BAD_SEG_HNDL).
 *
 * RSM_BIND_READ, which needs RSM_BIND_LOCAL (EOPNOTSUPP without): nobody writes
 * to the memory by way of the segment. The range need only be readable, and the
 * segment lives for as long as it is.
 */
struct rsm_bind {
	__u32 size;
	__u32 status;
	char controller[RSM_NAME_SIZE];
	__aligned_u64 vaddr;
	__aligned_u64 length;
	__u32 flags;
	__s32 control_fd;
	__u32 slot;
	__u32 number;
	__u32 window;
	__u32 reserved;
};

/** RSM_BIND_LOCAL - flag of BIND besides those of RSMAPI. */
#define RSM_BIND_LOCAL	0x10000

/** RSM_BIND_READ - flag of BIND besides those of RSMAPI. */
#define RSM_BIND_READ	0x20000

#define RSM_IOC_BIND	_IO(RSM_IOC_TYPE, 0x03)

/**
 * struct rsm_rebind - ioctl(RSM_IOC_REBIND)
 * @size: sizeof(struct rsm_rebind)
 * @status: out: RSM_SUCCESS, or
 *	RSMERR_REBIND_NOT_ALLOWED (bound without RSM_ALLOW_REBIND),
 *	RSMERR_NOT_CREATOR,
 *	RSMERR_BAD_ADDR (as for BIND; also a misaligned vaddr),
 *	RSMERR_BAD_LENGTH (not the length of the segment),
 *	RSMERR_BAD_SEG_HNDL (the export is dead, or about to die because the old
 *	range is gone),
 *	RSMERR_PERM_DENIED, RSMERR_INSUFFICIENT_MEM (as for BIND)
 * @vaddr: start of the new range
 * @length: its length in bytes
 *
 * Puts other memory behind the segment. Importers and their mappings stay
 * connected and reach the new memory when the call has returned; the kernel copies
 * nothing. In a window the new range's contents replace those of the old range: the
 * caller has to keep a copy of the old contents, to put ordinary memory with them in
 * place of the old mapping, and to map the handle over the new range. The kernel does
 * not copy a range that is mappings of the handle already: so a caller that fails to
 * do its part can go back to the old range.
 */
struct rsm_rebind {
	__u32 size;
	__u32 status;
	__aligned_u64 vaddr;
	__aligned_u64 length;
};

#define RSM_IOC_REBIND	_IO(RSM_IOC_TYPE, 0x04)

/**
 * struct rsm_acl_entry - what the users of one node may do
 * @node: node id
 * @permission: octal owner, group and other digits of 4 (read) and 2 (write)
 */
struct rsm_acl_entry {
	__u32 node;
	__u32 permission;
};

/**
 * struct rsm_publish - ioctl(RSM_IOC_PUBLISH) and ioctl(RSM_IOC_REPUBLISH)
 * @size: sizeof(struct rsm_publish)
 * @status: out: RSM_SUCCESS, or
 *	RSMERR_SEG_ALREADY_PUBLISHED (PUBLISH),
 *	RSMERR_SEG_NOT_PUBLISHED (REPUBLISH),
 *	RSMERR_NOT_CREATOR,
 *	RSMERR_BAD_ACL (more than RSM_ACL_MAX entries, a node above RSM_NODE_MAX
 *	or that the controller can't reach, a permission above 0666),
 *	RSMERR_BAD_ADDR (the list can't be read),
 *	RSMERR_RESERVED_SEGID, RSMERR_SEGID_IN_USE (PUBLISH),
 *	RSMERR_BAD_SEG_HNDL (PUBLISH: the export is dead, or was bound with
 *	RSM_BIND_LOCAL),
 *	RSMERR_INSUFFICIENT_MEM,
 *	RSMERR_INSUFFICIENT_RESOURCES (no system id is left)
 * @id: PUBLISH: in: segment id, 0 to have one assigned; out: the id.
 *	REPUBLISH: must be 0
 * @acl_count: entries in the list. 0: every node, with 0666 less the umask that
 *	the creator had at BIND
 * @acl: address of an array of struct rsm_acl_entry; the first entry for a
 *	node counts
 *
 * PUBLISH makes the segment importable under an id that is unique on the
 * node. REPUBLISH gives it another list for connections to come.
 */
struct rsm_publish {
	__u32 size;
	__u32 status;
	__u32 id;
	__u32 acl_count;
	__aligned_u64 acl;
};

#define RSM_IOC_PUBLISH		_IO(RSM_IOC_TYPE, 0x05)
#define RSM_IOC_REPUBLISH	_IO(RSM_IOC_TYPE, 0x06)

/**
 * struct rsm_unpublish - ioctl(RSM_IOC_UNPUBLISH)
 * @size: sizeof(struct rsm_unpublish)
 * @status: out: RSM_SUCCESS, RSMERR_SEG_NOT_PUBLISHED or RSMERR_NOT_CREATOR
 *
 * Frees the id and aborts all connections. When it returns no local importer
 * can reach the segment's memory.
 */
struct rsm_unpublish {
	__u32 size;
	__u32 status;
};

#define RSM_IOC_UNPUBLISH	_IO(RSM_IOC_TYPE, 0x07)

/**
 * struct rsm_connect - ioctl(RSM_IOC_CONNECT)
 * @size: sizeof(struct rsm_connect)
 * @status: out: RSM_SUCCESS, or
 *	RSMERR_BAD_SEG_HNDL (the handle is not blank),
 *	RSMERR_CTLR_NOT_PRESENT (no such controller, or one that reaches only
 *	its own node was asked for another),
 *	RSMERR_PERM_DENIED (permission has bits beyond RSM_PERM_RDWR, or the
 *	access list or default permission refuses the caller),
 *	RSMERR_REMOTE_NODE_UNREACHABLE,
 *	RSMERR_SEG_NOT_PUBLISHED, RSMERR_SEG_NOT_PUBLISHED_TO_NODE,
 *	RSMERR_CONN_ABORTED (the path was lost meanwhile),
 *	RSMERR_BAD_DRIVER_VERSION (the other node speaks another protocol),
 *	RSMERR_INSUFFICIENT_MEM,
 *	RSMERR_INSUFFICIENT_RESOURCES (the table has no free slot)
 * @controller: name of the controller
 * @node: node that exports the segment
 * @id: segment id
 * @permission: rights asked for: RSM_PERM_READ, RSM_PERM_WRITE, both or none
 * @control_fd: control handle in whose table the handle gets a slot, or -1
 * @length: out: length of the segment in bytes
 * @slot: out: the slot, RSM_NO_SLOT if there is none
 * @number: out: number of the handle, unique on the node while it is open
 * @generation: out: the slot's generation while the connection lives
 * @mappable: out: 1 if the caller can use the connection's rights through a
 *	mapping, else 0: then PUTV and GETV are the way
 *
 * Makes a blank handle an import segment. A failed CONNECT leaves it blank.
 *
 * mmap() of the handle, shared, maps the segment from the given offset. It
 * fails with ENODEV (connection aborted, or not an import segment), ENXIO
 * (beyond the end of the segment), EACCES (rights beyond the connection's, or
 * execution), ENOTSUP (the controller can't map), EINVAL (private) and ENOMEM.
 *
 * Page tables can't refuse reads where they allow writes. With a connection for
 * writing only, PROT_WRITE is therefore for the process that connected, and only
 * if the access list or default permission allows it to read as well (EACCES).
 * A mapping that has no right, and can get none by mprotect(), is a range of
 * addresses with nothing behind it.
 * When the connection is aborted every page of the mapping shows one page that
 * is private to the handle; an access never faults.
 *
 * poll() reports POLLIN and POLLRDNORM while an event is pending. If POLLRDHUP was
 * asked for, poll() reports it when the connection was aborted and none of its
 * mappings shows the segment any more. On an export segment POLLRDHUP means that the
 * segment is dead: destroyed, revoked by an administrator, or without its range or
 * its controller. poll() of a blank handle reports nothing until the handle becomes a
 * segment, and then what it reports for that segment.
 */
struct rsm_connect {
	__u32 size;
	__u32 status;
	char controller[RSM_NAME_SIZE];
	__u32 node;
	__u32 id;
	__u32 permission;
	__s32 control_fd;
	__aligned_u64 length;
	__u32 slot;
	__u32 number;
	__u32 generation;
	__u32 mappable;
};

#define RSM_IOC_CONNECT		_IO(RSM_IOC_TYPE, 0x08)

/**
 * struct rsm_post - ioctl(RSM_IOC_POST)
 * @size: sizeof(struct rsm_post)
 * @status: out: RSM_SUCCESS, or on an import segment RSMERR_CONN_ABORTED or
 *	RSMERR_REMOTE_NODE_UNREACHABLE
 * @flags: RSM_SIGPOST_NO_ACCUMULATE: don't deliver to a handle that has an
 *	event pending
 * @reserved: must be 0
 *
 * On an import segment: delivers one event to the export segment. On an
 * export segment: delivers one to each of its importers.
 */
struct rsm_post {
	__u32 size;
	__u32 status;
	__u32 flags;
	__u32 reserved;
};

#define RSM_IOC_POST		_IO(RSM_IOC_TYPE, 0x09)

/**
 * struct rsm_wait - ioctl(RSM_IOC_WAIT)
 * @size: sizeof(struct rsm_wait)
 * @status: out: RSM_SUCCESS (one event was consumed) or RSMERR_TIMEOUT
 * @timeout_ns: longest wait in nanoseconds, 0 to test only, negative for no
 *	limit; out: what is left of it, if a signal ends the call with EINTR
 *
 * Waits until an event is pending and consumes it. An aborted connection does
 * not end the wait.
 */
struct rsm_wait {
	__u32 size;
	__u32 status;
	__s64 timeout_ns;
};

#define RSM_IOC_WAIT		_IO(RSM_IOC_TYPE, 0x0A)

/**
 * struct rsm_transfer_entry - one piece of a PUTV or GETV
 * @type: RSM_VA_TYPE or RSM_HANDLE_TYPE
 * @fd: RSM_HANDLE_TYPE: a handle that this process bound; else must be -1
 * @addr: RSM_VA_TYPE: address; else must be 0
 * @local_offset: bytes from addr, or from the start of the handle's range
 * @remote_offset: bytes from the start of the import segment
 * @length: bytes
 */
struct rsm_transfer_entry {
	__u32 type;
	__s32 fd;
	__aligned_u64 addr;
	__aligned_u64 local_offset;
	__aligned_u64 remote_offset;
	__aligned_u64 length;
};

/**
 * struct rsm_transfer - ioctl(RSM_IOC_PUTV) and ioctl(RSM_IOC_GETV)
 * @size: sizeof(struct rsm_transfer)
 * @status: out: RSM_SUCCESS, or
 *	RSMERR_BAD_SGIO (count is 0 or above RSM_MAX_SGIOREQS, unknown type, an
 *	fd that is no bound handle of this process, or whose memory the process has
 *	unmapped, protected, discarded or truncated),
 *	RSMERR_PERM_DENIED (PUTV without write right, GETV without read right,
 *	GETV to a handle bound with RSM_BIND_READ),
 *	RSMERR_BAD_ADDR (memory of an entry, or the entries, can't be accessed),
 *	RSMERR_BAD_OFFSET (remote_offset is beyond the segment, or outside the
 *	bytes granted),
 *	RSMERR_BAD_LENGTH (an entry ends beyond the segment, the bytes granted or
 *	its local handle),
 *	RSMERR_CONN_ABORTED, RSMERR_REMOTE_NODE_UNREACHABLE,
 *	RSMERR_BARRIER_FAILURE, RSMERR_INSUFFICIENT_RESOURCES,
 *	RSMERR_INSUFFICIENT_MEM, RSMERR_INTERRUPTED (see @done)
 * @count: entries
 * @residual: out: entries not completed, the failing one included
 * @flags: RSM_IMPLICIT_SIGPOST: when all is done deliver one event to the
 *	export segment; RSM_SIGPOST_NO_ACCUMULATE: see RSM_IOC_POST;
 *	RSM_TRANSFER_ASYNC: see below
 * @reserved: must be 0
 * @entries: address of an array of struct rsm_transfer_entry
 * @done: out: bytes of the first entry not completed that have been copied, after
 *	RSMERR_INTERRUPTED; 0 otherwise. Absent from the first version of the structure,
 *	which ends with @entries and is still taken.
 *
 * A signal may end a long transfer with RSMERR_INTERRUPTED, but not before something
 * was copied: a caller that goes on behind @residual and @done comes to the end
 * however often signals come. Nothing that comes with the end (RSM_IMPLICIT_SIGPOST)
 * has been done then.
 *
 * Copies local memory to the import segment (PUTV) or back (GETV), entry by
 * entry, in order. All entries are checked before the first is started; the
 * data is in place when the call returns.
 *
 * With RSM_TRANSFER_ASYNC a PUTV has only begun when it returns; the data is in
 * place after RSM_BARRIER_ORDER or CLOSE, which also tell what went wrong.
 * Memory given by address may be changed at once, that of a handle only after
 * the barrier. An event, asked for by flag or posted later, is not delivered
 * before the data of the same import segment is there. GETV, and controllers that
 * have nothing to wait for, take no notice of the flag.
 */
struct rsm_transfer {
	__u32 size;
	__u32 status;
	__u32 count;
	__u32 residual;
	__u32 flags;
	__u32 reserved;
	__aligned_u64 entries;
	__aligned_u64 done;
};

/** RSM_TRANSFER_ASYNC - flag of PUTV besides those of RSMAPI. */
#define RSM_TRANSFER_ASYNC	0x10000

#define RSM_IOC_PUTV		_IO(RSM_IOC_TYPE, 0x0B)
#define RSM_IOC_GETV		_IO(RSM_IOC_TYPE, 0x0C)

/**
 * enum rsm_barrier_op - what a barrier does
 * @RSM_BARRIER_OPEN: begins an interval of error detection
 * @RSM_BARRIER_ORDER: earlier accesses complete before later ones
 * @RSM_BARRIER_CLOSE: all accesses since the opening have completed
 */
enum rsm_barrier_op {
	RSM_BARRIER_OPEN = 0,
	RSM_BARRIER_ORDER = 1,
	RSM_BARRIER_CLOSE = 2,
};

/**
 * struct rsm_barrier_request - ioctl(RSM_IOC_BARRIER)
 * @size: sizeof(struct rsm_barrier_request)
 * @status: out: RSM_SUCCESS, RSMERR_CONN_ABORTED or RSMERR_BARRIER_FAILURE
 *	(ORDER, CLOSE), RSMERR_BARRIER_OPEN_FAILED (OPEN)
 * @op: one of enum rsm_barrier_op
 * @reserved: must be 0
 *
 * Barriers of a connection that is not mapped: what was put with RSM_TRANSFER_ASYNC
 * has arrived after ORDER and CLOSE. Those of a mapped one cost no
 * system call: a full memory barrier and a look at the generation.
 */
struct rsm_barrier_request {
	__u32 size;
	__u32 status;
	__u32 op;
	__u32 reserved;
};

#define RSM_IOC_BARRIER		_IO(RSM_IOC_TYPE, 0x0D)

/**
 * struct rsm_destroy - ioctl(RSM_IOC_DESTROY)
 * @size: sizeof(struct rsm_destroy)
 * @status: out: RSM_SUCCESS or RSMERR_NOT_CREATOR
 *
 * Ends an export at once: connections are aborted, the id is free, pages are
 * unpinned. The handle is dead afterwards and good for close() only. Closing
 * alone would wait for a forked child that holds the descriptor, too.
 */
struct rsm_destroy {
	__u32 size;
	__u32 status;
};

#define RSM_IOC_DESTROY		_IO(RSM_IOC_TYPE, 0x0E)

/**
 * struct rsm_range - ioctl(RSM_IOC_RANGE)
 * @size: sizeof(struct rsm_range)
 * @status: out: RSM_SUCCESS or RSMERR_NOT_CREATOR
 * @vaddr: out: start of the range last bound
 * @length: out: its length in bytes
 * @shown: out: 1 if all of this range is mappings of the handle, to read and
 *	write, else 0
 * @reserved: must be 0
 *
 * For a segment that is in a window, or was until it died: tells the creator whether
 * the bound range still shows the segment, or the creator has put something else there.
 */
struct rsm_range {
	__u32 size;
	__u32 status;
	__aligned_u64 vaddr;
	__aligned_u64 length;
	__u32 shown;
	__u32 reserved;
};

#define RSM_IOC_RANGE		_IO(RSM_IOC_TYPE, 0x0F)

/**
 * DOC: grants
 *
 * Memory bound with RSM_BIND_LOCAL has no id and no access list. Its creator
 * grants rights to some of its bytes instead, and gets a ticket: a number and 96
 * random bits, which can't be guessed. A process of the same node that knows the
 * ticket has the rights until the creator revokes it or the export ends. How the
 * ticket gets to its holder is no business of the kernel.
 */

/** RSM_GRANTS_MAX - most grants of an export at a time. */
#define RSM_GRANTS_MAX	65536

/**
 * struct rsm_grant - ioctl(RSM_IOC_GRANT)
 * @size: sizeof(struct rsm_grant)
 * @status: out: RSM_SUCCESS, or
 *	RSMERR_NOT_CREATOR,
 *	RSMERR_BAD_SEG_HNDL (bound without RSM_BIND_LOCAL, or dead),
 *	RSMERR_PERM_DENIED (permission is none, without RSM_GRANT_SEND, or has bits
 *	beyond RSM_PERM_RDWR, or is to write what was bound with RSM_BIND_READ),
 *	RSMERR_BAD_OFFSET (offset is beyond the segment, or not 0 without permission),
 *	RSMERR_BAD_LENGTH (length is 0, or the range ends beyond the segment; without
 *	permission: length is not 0),
 *	RSMERR_INSUFFICIENT_RESOURCES (there are RSM_GRANTS_MAX grants already),
 *	RSMERR_INSUFFICIENT_MEM
 * @offset: first byte granted, from the start of the segment
 * @length: bytes granted, of any alignment
 * @permission: rights granted: RSM_PERM_READ, RSM_PERM_WRITE, both or, with
 *	RSM_GRANT_SEND, none
 * @flags: RSM_GRANT_ONCE: the ticket is good for one successful REDEEM;
 *	RSM_GRANT_SEND: its holders may SEND. Others: EOPNOTSUPP
 * @ticket: out: what REDEEM and REVOKE take
 *
 * Lets the holders of a ticket reach some bytes of the segment. Nothing is
 * charged besides the segment. REBIND keeps grants, which then are to the new
 * memory.
 */
struct rsm_grant {
	__u32 size;
	__u32 status;
	__aligned_u64 offset;
	__aligned_u64 length;
	__u32 permission;
	__u32 flags;
	__aligned_u64 ticket[2];
};

/** RSM_GRANT_ONCE - flag of GRANT. */
#define RSM_GRANT_ONCE	0x1

/** RSM_GRANT_SEND - flag of GRANT. */
#define RSM_GRANT_SEND	0x2

#define RSM_IOC_GRANT		_IO(RSM_IOC_TYPE, 0x10)

/**
 * struct rsm_revoke - ioctl(RSM_IOC_REVOKE)
 * @size: sizeof(struct rsm_revoke)
 * @status: out: RSM_SUCCESS, RSMERR_NOT_CREATOR or
 *	RSMERR_SEG_NOT_PUBLISHED (the ticket is no live one of this export)
 * @ticket: from GRANT
 *
 * Ends a grant and aborts all connections that were made with its ticket. When
 * it returns no holder of it can reach the memory.
 */
struct rsm_revoke {
	__u32 size;
	__u32 status;
	__aligned_u64 ticket[2];
};

#define RSM_IOC_REVOKE		_IO(RSM_IOC_TYPE, 0x11)

/**
 * struct rsm_redeem - ioctl(RSM_IOC_REDEEM)
 * @size: sizeof(struct rsm_redeem)
 * @status: out: RSM_SUCCESS, or
 *	RSMERR_BAD_SEG_HNDL (the handle is not blank),
 *	RSMERR_SEG_NOT_PUBLISHED (the ticket is not one of a live grant, whatever
 *	it was, or it was good for one REDEEM and has had that),
 *	RSMERR_INSUFFICIENT_MEM,
 *	RSMERR_INSUFFICIENT_RESOURCES (the table has no free slot)
 * @ticket: from GRANT
 * @control_fd: control handle in whose table the handle gets a slot, or -1
 * @reserved: must be 0
 * @length: out: length of the segment in bytes, a multiple of the page size
 * @offset: out: first byte granted
 * @bytes: out: bytes granted
 * @permission: out: rights granted
 * @slot: out: the slot, RSM_NO_SLOT if there is none
 * @number: out: number of the handle, unique on the node while it is open
 * @generation: out: the slot's generation while the connection lives
 *
 * Makes a blank handle an import segment of the export that granted the ticket.
 * Any number of handles can redeem a ticket while the grant lives; with RSM_GRANT_ONCE
 * one handle can. A failed REDEEM leaves the handle blank. The import segment is like
 * one of CONNECT, POST in both directions and the end of the connection included, with
 * these differences: its rights are those of the grant; PUTV and GETV take offsets in
 * the segment that lie in the bytes granted; mmap() takes offsets in the segment, and
 * maps only pages whose bytes are all granted (ENXIO). Without RSM_PERM_READ it maps
 * with PROT_NONE only, and nothing is behind that mapping (EACCES): see RSM_IOC_CONNECT.
 */
struct rsm_redeem {
	__u32 size;
	__u32 status;
	__aligned_u64 ticket[2];
	__s32 control_fd;
	__u32 reserved;
	__aligned_u64 length;
	__aligned_u64 offset;
	__aligned_u64 bytes;
	__u32 permission;
	__u32 slot;
	__u32 number;
	__u32 generation;
};

#define RSM_IOC_REDEEM		_IO(RSM_IOC_TYPE, 0x12)

/**
 * struct rsm_unmap - ioctl(RSM_IOC_UNMAP)
 * @size: sizeof(struct rsm_unmap)
 * @status: out: RSM_SUCCESS, RSMERR_BAD_SEG_HNDL (the handle is no import),
 *	RSMERR_BAD_MEM_ALIGNMENT (@vaddr), RSMERR_BAD_ADDR (the range is empty or
 *	not in the caller's address space), RSMERR_INSUFFICIENT_MEM (a mapping
 *	could not be split; parts of the range may be unmapped already), or
 *	RSMERR_INTERRUPTED (by a fatal signal)
 * @vaddr: start of the range, page aligned
 * @length: its length in bytes; the last page counts as a whole
 *
 * Unmaps what maps the handle in a range of the caller's address space, and
 * nothing else. munmap() would take whatever is there: a program that unmapped
 * the range before may have something else at that address. It is no error if
 * nothing of the handle is mapped there.
 */
struct rsm_unmap {
	__u32 size;
	__u32 status;
	__aligned_u64 vaddr;
	__aligned_u64 length;
};

#define RSM_IOC_UNMAP		_IO(RSM_IOC_TYPE, 0x13)

/** RSM_MESSAGE_WORDS - 64-bit words of a message. */
#define RSM_MESSAGE_WORDS	8

/**
 * struct rsm_message - ioctl(RSM_IOC_SEND) and ioctl(RSM_IOC_RECEIVE)
 * @size: sizeof(struct rsm_message)
 * @status: out: RSM_SUCCESS, or
 *	RSMERR_PERM_DENIED (SEND: the import was not made with a ticket of a grant
 *	with RSM_GRANT_SEND),
 *	RSMERR_QUEUE_FULL (SEND: the exporter has not received the import's last
 *	message),
 *	RSMERR_CONN_ABORTED, RSMERR_INSUFFICIENT_MEM (SEND),
 *	RSMERR_NOT_CREATOR, RSMERR_TIMEOUT (RECEIVE: there is no message)
 * @word: the message; RECEIVE: out
 *
 * SEND leaves a message for the creator of the export that granted the ticket,
 * and delivers an event to the export unless one is pending there. RECEIVE takes
 * one; neither waits. Nobody else sees a message, and none is overwritten. The
 * kernel keeps one message for each import; closing the import removes it.
 *
 * The creator receives the messages of one user (real uid at SEND) in the order in
 * which they were sent, and those of different users in turn, one of each; all users of
 * the user namespaces that a user owns are one user beside that user. So a user with
 * many messages and user ids delays the message of another user by two.
 */
struct rsm_message {
	__u32 size;
	__u32 status;
	__aligned_u64 word[RSM_MESSAGE_WORDS];
};

#define RSM_IOC_SEND		_IO(RSM_IOC_TYPE, 0x14)
#define RSM_IOC_RECEIVE		_IO(RSM_IOC_TYPE, 0x15)

#endif /* _UAPI_LINUX_RSM_H */
