/* SPDX-License-Identifier: MIT */
/*
 * RSMAPI: remote shared memory for programs. Link with -lrsm.
 *
 * Every function but rsm_free_interconnect_topology(), rsm_strerror() and
 * rsm_strerrorname() returns RSM_SUCCESS or an RSMERR_* code; errno has no meaning afterwards, and
 * may have changed. Several threads may call all of them at once, with one exception: a call that
 * destroys a handle (export_destroy, import_disconnect, free_localmemory_handle, the last
 * release_controller) must not run while another call uses that handle.
 *
 * For a handle that is NULL, of another kind or no longer live, a function returns the
 * RSMERR_BAD_*_HNDL of its kind. The lists of errors in this file leave out these codes, and
 * RSMERR_INTERNAL_ERROR, which reports an internal failure without a specific code, such as a
 * descriptor of the library that the program has closed. <linux/rsm_common.h> gives the meaning of
 * a code that has no reason in brackets here.
 *
 * The manual pages of section 3 are made of the comments below, which are the contract in short,
 * and of Documentation/man3/NAME.txt, which explains: tools/make-man3.
 */
#ifndef _RSMAPI_H
#define _RSMAPI_H

#include <poll.h>
#include <sys/param.h>
#include <sys/rsm/rsm_common.h>
#include <sys/rsm/rsmapi_common.h>

/* glibc hides POLLRDNORM unless X/Open or GNU extensions are asked for. */
#ifndef POLLRDNORM
#define POLLRDNORM 0x040
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** Where rsm_memseg_import_map() puts a mapping. */
typedef enum {
	RSM_MAP_NONE = 0x0,    /**< the system chooses */
	RSM_MAP_FIXED = 0x1,   /**< at *address, in place of what is there */
	RSM_MAP_RESERVED = 0x2 /**< ignored */
} rsm_attribute_t;

/* Names that the Programming Interfaces Guide uses in its text. */
typedef rsm_attribute_t rsm_map_attr_t;
typedef rsm_node_id_t rsm_nodeid_t;

/** Head of a topology. */
typedef struct rsm_topology_hdr {
	rsm_node_id_t local_nodeid; /**< id of this node */
	uint_t local_cntlr_count;   /**< entries of rsm_topology_t.connections */
} rsm_topology_hdr_t;

/** Head of what one local controller is connected to. */
typedef struct rsm_connections_hdr {
	char cntlr_name[MAXNAMELEN]; /**< for rsm_get_controller() */
	rsm_addr_t local_hwaddr;     /**< its address */
	int remote_cntlr_count;      /**< entries of rsm_connections_t.remote_cntlr */
} rsm_connections_hdr_t;

/** A path to a controller of another node. */
typedef struct rsm_remote_cntlr {
	rsm_node_id_t remote_nodeid;
	char remote_cntlrname[MAXNAMELEN];
	rsm_addr_t remote_hwaddr;
	uint_t connection_state; /**< usable only if RSM_CONNECTION_ACTIVE */
} rsm_remote_cntlr_t;

/** A local controller. remote_cntlr really has hdr.remote_cntlr_count entries. */
typedef struct rsm_connection {
	rsm_connections_hdr_t hdr;
	rsm_remote_cntlr_t remote_cntlr[1];
} rsm_connections_t;

/** All local controllers. connections really has topology_hdr.local_cntlr_count entries. */
typedef struct rsm_topology {
	rsm_topology_hdr_t topology_hdr;
	rsm_connections_t *connections[1];
} rsm_topology_t;

/* ---- Errors --------------------------------------------------------------------------------- */

/**
 * rsm_strerror - describe a status in words
 * @status: RSM_SUCCESS or an RSMERR_* code; any other number is accepted, too
 *
 * The text names the cause and, where the user of a program can do something, the
 * remedy. It is English, has no full stop and no line break, and is meant to follow
 * the name of the function that failed. The wording may change from release to release:
 * programs compare codes, not texts. The function is safe in a signal handler. It is an
 * extension of RSM for Linux since LIBRSM_2.1; Solaris has none.
 *
 * Return: A constant text that the caller does not free; never NULL. A number that is
 * no code gives "unknown RSMAPI status".
 */
const char *rsm_strerror(int status);

/**
 * rsm_strerrorname - get the name of a status
 * @status: RSM_SUCCESS or an RSMERR_* code; any other number is accepted, too
 *
 * The name is that of <linux/rsm_common.h>, which manual pages and documentation use: it
 * can be searched for. The function is safe in a signal handler. It is an extension of RSM
 * for Linux since LIBRSM_2.1; Solaris has none.
 *
 * Return: A constant text such as "RSMERR_BAD_ADDR", which the caller does not free; never
 * NULL. A number that is no code gives "unknown".
 */
const char *rsm_strerrorname(int status);

/* ---- Controllers ---------------------------------------------------------------------------- */

/**
 * rsm_get_controller - open a controller
 * @name: type and unit, such as "ivshmem0"; the unit defaults to 0, case does
 *	not matter. NULL is "loopback", the controller that reaches this node
 *	only. Not modified.
 * @controller: out: the handle; the same one each time while it is open
 *
 * Each success needs one rsm_release_controller().
 *
 * RSMERR_BAD_CTLR_HNDL (@controller is NULL), RSMERR_CTLR_NOT_PRESENT (no such
 * controller, or no kernel agent that this process may use),
 * RSMERR_INSUFFICIENT_MEM (no memory for the handle).
 */
int rsm_get_controller(char *name, rsmapi_controller_handle_t *controller);

/**
 * rsm_release_controller - give back one reference to a controller
 * @chdl: the handle; dead after the last reference is gone
 *
 * Segments that the program made through the controller keep working.
 */
int rsm_release_controller(rsmapi_controller_handle_t chdl);

/**
 * rsm_get_controller_attr - ask for the attributes of a controller
 * @chdl: the controller
 * @attr: out: its attributes, constant while it is open
 *
 * RSMERR_BAD_ADDR (@attr is NULL).
 */
int rsm_get_controller_attr(rsmapi_controller_handle_t chdl, rsmapi_controller_attr_t *attr);

/* ---- Topology ------------------------------------------------------------------------------- */

/**
 * rsm_get_interconnect_topology - list controllers and their paths to other nodes
 * @topology_data: out: a snapshot, to be freed by
 *	rsm_free_interconnect_topology(); NULL on failure. Loopback is not in it.
 *
 * RSMERR_BAD_TOPOLOGY_PTR (@topology_data is NULL),
 * RSMERR_INSUFFICIENT_MEM (no memory for the snapshot),
 * RSMERR_INSUFFICIENT_RESOURCES (descriptors have run out, or there is no kernel
 * agent).
 */
int rsm_get_interconnect_topology(rsm_topology_t **topology_data);

/**
 * rsm_free_interconnect_topology - free a snapshot
 * @topology_data: the snapshot or NULL
 */
void rsm_free_interconnect_topology(rsm_topology_t *topology_data);

/* ---- Segment ids ---------------------------------------------------------------------------- */

/**
 * rsm_get_segmentid_range - look up the segment ids reserved for an application
 * @appid: application id; case does not matter
 * @baseid: out: first id
 * @length: out: number of ids
 *
 * Reads /etc/rsm/rsm.segmentid on each call.
 *
 * RSMERR_BAD_ADDR (an argument is NULL), RSMERR_BAD_APPID (not in the file),
 * RSMERR_BAD_CONF (file missing, unreadable or malformed).
 */
int rsm_get_segmentid_range(const char *appid, rsm_memseg_id_t *baseid, uint32_t *length);

/* ---- Export --------------------------------------------------------------------------------- */

/**
 * rsm_memseg_export_create - make a segment of the caller's memory
 * @controller: controller through which it will be reached
 * @memseg: out: the segment; NULL on failure
 * @vaddr: start of the memory, page aligned
 * @size: bytes, a multiple of the page size
 * @flags: RSM_ALLOW_REBIND, RSM_CREATE_SEG_DONTWAIT; other bits are ignored
 *
 * The call makes the memory resident and pins it until the segment is destroyed. The effective user
 * id, group id and umask at the time of the call determine the default permission.
 *
 * If the interconnect has memory of its own (ivshmem), the contents move there, and @vaddr shows
 * them there until the segment is destroyed: pointers stay valid. Stores of other threads during
 * the call may be lost. Until the segment is destroyed, the memory is shared with children of
 * fork(), can't be exported again, and must not be used for O_DIRECT, for futexes between processes
 * or for rsm_create_localmemory_handle(). Shared memory and memory of hugetlbfs can't move:
 * RSMERR_BAD_ADDR.
 *
 * Example: examples/hello.c
 *
 * RSMERR_BAD_SEG_HNDL (@memseg is NULL), RSMERR_BAD_ADDR (@vaddr is NULL, or part
 * of the range is unmapped or a shared mapping of a file), RSMERR_BAD_LENGTH (0 or
 * more than the controller allows), RSMERR_BAD_MEM_ALIGNMENT (@vaddr or @size is no
 * multiple of the page size),
 * RSMERR_CTLR_NOT_PRESENT, RSMERR_PERM_DENIED (part of the range is not readable
 * and writable), RSMERR_INSUFFICIENT_MEM (no memory, or a limit on locked or exported
 * memory: RLIMIT_MEMLOCK of the process, max_exported_memory of the node or of a user),
 * RSMERR_INSUFFICIENT_RESOURCES (descriptors, or max_segments of the node, or room in
 * the interconnect's memory), RSMERR_INTERRUPTED.
 */
int rsm_memseg_export_create(rsmapi_controller_handle_t controller, rsm_memseg_export_handle_t *memseg,
			     void *vaddr, size_t size, uint_t flags);

/**
 * rsm_memseg_export_destroy - end a segment
 * @memseg: the segment; dead afterwards
 *
 * The memory stays with the caller and keeps its contents. If the contents had moved to memory of
 * the interconnect, they move back into ordinary memory like that from malloc(): earlier calls of
 * mlock() or madvise() for the range have no effect any more, and stores of other threads during
 * the call may be lost.
 *
 * RSMERR_POLLFD_IN_USE (rsm_memseg_release_pollfd() is due).
 */
int rsm_memseg_export_destroy(rsm_memseg_export_handle_t memseg);

/**
 * rsm_memseg_export_publish - let others connect to a segment
 * @memseg: the segment
 * @segment_id: in: an id from RSM_HPC_ID_BASE to 0x7FFFFFFF, or 0 to have one
 *	assigned; out: the id
 * @access_list: who may connect; NULL: everybody, with 0666 less the creator's
 *	umask. Copied. On loopback one entry at most, for this node.
 * @access_list_length: entries of @access_list, 64 at most
 *
 * RSMERR_BAD_SEGID (@segment_id is NULL), RSMERR_BAD_ACL (NULL with a length, too
 * many entries, a node above 64 or that the controller can't reach, a permission
 * above 0666), RSMERR_SEG_ALREADY_PUBLISHED, RSMERR_RESERVED_SEGID (an id that is
 * not 0 and outside of the range above), RSMERR_NOT_CREATOR, RSMERR_BAD_ADDR (the
 * list can't be read), RSMERR_SEGID_IN_USE, RSMERR_INSUFFICIENT_MEM,
 * RSMERR_INSUFFICIENT_RESOURCES (no id is left to assign), RSMERR_INTERRUPTED.
 */
int rsm_memseg_export_publish(rsm_memseg_export_handle_t memseg, rsm_memseg_id_t *segment_id,
			      rsmapi_access_entry_t access_list[], uint_t access_list_length);

/**
 * rsm_memseg_export_republish - replace the access list of a published segment
 * @memseg: the segment
 * @access_list: who may connect from now on, as for publish
 * @access_list_length: entries of @access_list
 *
 * Existing connections keep their rights.
 *
 * RSMERR_SEG_NOT_PUBLISHED (the segment has no id), RSMERR_BAD_ACL (NULL with a
 * length, too many entries, a node above 64 or that the controller can't reach, a
 * permission above 0666), RSMERR_NOT_CREATOR, RSMERR_BAD_ADDR (the list can't be
 * read), RSMERR_INSUFFICIENT_MEM, RSMERR_INTERRUPTED.
 */
int rsm_memseg_export_republish(rsm_memseg_export_handle_t memseg, rsmapi_access_entry_t access_list[],
				uint_t access_list_length);

/**
 * rsm_memseg_export_unpublish - break all connections and free the id
 * @memseg: the segment; can be published again
 *
 * RSMERR_SEG_NOT_PUBLISHED (the segment has no id), RSMERR_POLLFD_IN_USE, RSMERR_NOT_CREATOR,
 * RSMERR_INTERRUPTED (the segment is still published).
 */
int rsm_memseg_export_unpublish(rsm_memseg_export_handle_t memseg);

/**
 * rsm_memseg_export_rebind - put other memory behind a segment
 * @memseg: a segment made with RSM_ALLOW_REBIND
 * @vaddr: start of the new memory, page aligned
 * @off: ignored
 * @size: bytes; must be the size of the segment
 *
 * Connections and mappings stay and reach the new memory. Old and new memory keep their contents;
 * nothing is copied between them. If the interconnect has memory of its own (see
 * rsm_memseg_export_create()), stores during the call may be lost, and old and new memory must not
 * overlap.
 *
 * RSMERR_BAD_ADDR (@vaddr is NULL or not page aligned, or part of the range is
 * unmapped or a shared mapping of a file), RSMERR_REBIND_NOT_ALLOWED,
 * RSMERR_NOT_CREATOR, RSMERR_BAD_LENGTH (not the size of the segment),
 * RSMERR_PERM_DENIED (part of the range is not readable and writable),
 * RSMERR_INSUFFICIENT_MEM (no memory, or a limit on locked or exported memory:
 * RLIMIT_MEMLOCK of the process, max_exported_memory of the node or of a user),
 * RSMERR_BAD_SEG_HNDL (not a live export
 * segment, or the old range is gone and the segment with it), RSMERR_INTERRUPTED.
 */
int rsm_memseg_export_rebind(rsm_memseg_export_handle_t memseg, void *vaddr, offset_t off, size_t size);

/* ---- Import --------------------------------------------------------------------------------- */

/**
 * rsm_memseg_import_connect - connect to a published segment
 * @controller: controller to reach it through
 * @node_id: node that exports it
 * @segment_id: its id
 * @perm: rights asked for: RSM_PERM_READ, RSM_PERM_WRITE, RSM_PERM_RDWR or
 *	RSM_PERM_NONE
 * @im_memseg: out: the connection; NULL on failure
 *
 * Example: examples/hello.c
 *
 * RSMERR_BAD_SEG_HNDL (@im_memseg is NULL), RSMERR_PERM_DENIED (bad @perm, or the
 * exporter refuses), RSMERR_CTLR_NOT_PRESENT (also: loopback and another node),
 * RSMERR_REMOTE_NODE_UNREACHABLE, RSMERR_SEG_NOT_PUBLISHED (no segment of that node
 * has the id), RSMERR_SEG_NOT_PUBLISHED_TO_NODE, RSMERR_INTERRUPTED,
 * RSMERR_CONN_ABORTED (the path to the node was lost meanwhile),
 * RSMERR_BAD_DRIVER_VERSION, RSMERR_INSUFFICIENT_MEM,
 * RSMERR_INSUFFICIENT_RESOURCES (descriptors, or max_segments of the node).
 */
int rsm_memseg_import_connect(rsmapi_controller_handle_t controller, rsm_node_id_t node_id,
			      rsm_memseg_id_t segment_id, rsm_permission_t perm,
			      rsm_memseg_import_handle_t *im_memseg);

/**
 * rsm_memseg_import_get_length - ask how long the segment is
 * @im_memseg: the connection
 * @length: out: bytes of the segment, as its exporter created it
 *
 * The length never changes, not even by rsm_memseg_export_rebind(). The call needs no right to the
 * segment, works after the connection has been broken, and makes no system call. It is an extension
 * of RSM for Linux since LIBRSM_2.1; Solaris has none.
 *
 * RSMERR_BAD_ADDR (@length is NULL).
 */
int rsm_memseg_import_get_length(rsm_memseg_import_handle_t im_memseg, size_t *length);

/**
 * rsm_memseg_import_disconnect - end a connection
 * @im_memseg: the connection; dead afterwards, and its barriers with it
 *
 * RSMERR_SEG_STILL_MAPPED (rsm_memseg_import_unmap() is due), RSMERR_POLLFD_IN_USE
 * (rsm_memseg_release_pollfd() is due).
 */
int rsm_memseg_import_disconnect(rsm_memseg_import_handle_t im_memseg);

/**
 * rsm_memseg_import_get8 - read items of 8 bits from a segment
 * @im_memseg: the connection
 * @offset: bytes from the start of the segment, a multiple of the item size
 * @datap: where the items go, aligned to the item size
 * @rep_cnt: number of items
 *
 * All put and get functions but putv and getv have these rules. On a controller that can map, the
 * calling thread moves each item by one access of its width. In implicit barrier mode the program
 * must have initialised a barrier for the connection; success then means that all items arrived.
 *
 * RSMERR_BAD_ADDR (@datap is NULL; where the kernel moves the data, because the
 * controller can't map, also memory that can't be accessed), RSMERR_BAD_MEM_ALIGNMENT
 * (@datap or @offset is no multiple of the item size), RSMERR_PERM_DENIED (connected
 * without the right), RSMERR_BAD_OFFSET (beyond the segment, or beyond the part of it
 * that rsm_memseg_import_map() has mapped), RSMERR_BAD_LENGTH (the same, on a
 * controller that can't map), RSMERR_BARRIER_UNINITIALIZED (implicit mode, and no
 * barrier was initialised), RSMERR_CONN_ABORTED, RSMERR_MAP_FAILED,
 * RSMERR_INSUFFICIENT_RESOURCES (no memory for a mapping, which the first put or get
 * makes), RSMERR_INSUFFICIENT_MEM.
 */
int rsm_memseg_import_get8(rsm_memseg_import_handle_t im_memseg, off_t offset, uint8_t *datap,
			   ulong_t rep_cnt);

/** rsm_memseg_import_get16 - as rsm_memseg_import_get8(), items of 16 bits */
int rsm_memseg_import_get16(rsm_memseg_import_handle_t im_memseg, off_t offset, uint16_t *datap,
			    ulong_t rep_cnt);

/** rsm_memseg_import_get32 - as rsm_memseg_import_get8(), items of 32 bits */
int rsm_memseg_import_get32(rsm_memseg_import_handle_t im_memseg, off_t offset, uint32_t *datap,
			    ulong_t rep_cnt);

/** rsm_memseg_import_get64 - as rsm_memseg_import_get8(), items of 64 bits */
int rsm_memseg_import_get64(rsm_memseg_import_handle_t im_memseg, off_t offset, uint64_t *datap,
			    ulong_t rep_cnt);

/**
 * rsm_memseg_import_get - read a range of bytes from a segment
 * @im_memseg: the connection
 * @offset: bytes from the start of the segment
 * @dst_addr: where they go
 * @length: bytes
 *
 * No alignment is needed and no width of access promised; otherwise the rules are
 * those of rsm_memseg_import_get8().
 *
 * RSMERR_BAD_ADDR (@dst_addr is NULL; where the kernel moves the data, because the
 * controller can't map, also memory that can't be accessed), RSMERR_PERM_DENIED
 * (connected without the right), RSMERR_BAD_OFFSET (beyond the segment, or beyond the
 * part of it that rsm_memseg_import_map() has mapped), RSMERR_BAD_LENGTH (the same, on
 * a controller that can't map), RSMERR_BARRIER_UNINITIALIZED (implicit mode, and no
 * barrier was initialised), RSMERR_CONN_ABORTED, RSMERR_MAP_FAILED,
 * RSMERR_INSUFFICIENT_RESOURCES (no memory for a mapping, which the first put or get
 * makes), RSMERR_INSUFFICIENT_MEM.
 */
int rsm_memseg_import_get(rsm_memseg_import_handle_t im_memseg, off_t offset, void *dst_addr, size_t length);

/**
 * rsm_memseg_import_put8 - write items of 8 bits to a segment
 * @im_memseg: the connection
 * @offset: bytes from the start of the segment, a multiple of the item size
 * @datap: the items, aligned to the item size; not modified
 * @rep_cnt: number of items
 *
 * The rules are those of rsm_memseg_import_get8().
 *
 * As rsm_memseg_import_get8().
 */
int rsm_memseg_import_put8(rsm_memseg_import_handle_t im_memseg, off_t offset, uint8_t *datap,
			   ulong_t rep_cnt);

/** rsm_memseg_import_put16 - as rsm_memseg_import_put8(), items of 16 bits */
int rsm_memseg_import_put16(rsm_memseg_import_handle_t im_memseg, off_t offset, uint16_t *datap,
			    ulong_t rep_cnt);

/** rsm_memseg_import_put32 - as rsm_memseg_import_put8(), items of 32 bits */
int rsm_memseg_import_put32(rsm_memseg_import_handle_t im_memseg, off_t offset, uint32_t *datap,
			    ulong_t rep_cnt);

/** rsm_memseg_import_put64 - as rsm_memseg_import_put8(), items of 64 bits */
int rsm_memseg_import_put64(rsm_memseg_import_handle_t im_memseg, off_t offset, uint64_t *datap,
			    ulong_t rep_cnt);

/**
 * rsm_memseg_import_put - write a range of bytes to a segment
 * @im_memseg: the connection
 * @offset: bytes from the start of the segment
 * @src_addr: the bytes; not modified
 * @length: bytes
 *
 * No alignment is needed and no width of access promised; otherwise the rules are
 * those of rsm_memseg_import_get8().
 *
 * As rsm_memseg_import_get(), and RSMERR_BAD_ADDR (@src_addr is NULL; where the kernel
 * moves the data, because the controller can't map, also memory that can't be accessed).
 */
int rsm_memseg_import_put(rsm_memseg_import_handle_t im_memseg, off_t offset, void *src_addr, size_t length);

/* ---- Scatter-gather ------------------------------------------------------------------------- */

/**
 * rsm_memseg_import_putv - write several pieces of local memory to a segment
 * @sg_io: what to do; io_residual_count is set to the number of entries not
 *	completed, nothing else is modified
 *
 * The call checks all entries before it starts the first, and then moves them in order. No barrier
 * is needed. In explicit mode the call may return before the entries are complete: they are
 * complete after the program has ordered or closed a barrier. The program may change memory that an
 * entry names by address at once, and memory that an entry names by a handle after the barrier.
 * With RSM_IMPLICIT_SIGPOST the call posts one event to the exporter at the end; if that fails, the
 * call returns its error.
 *
 * Example: examples/gather.c
 *
 * RSMERR_BAD_SEG_HNDL (remote_handle is not a live connection), RSMERR_BAD_SGIO
 * (@sg_io is NULL, 0 or more than 16 entries, unknown entry type, a local handle that is
 * dead, of the parent process, or whose memory has gone),
 * RSMERR_BAD_ADDR (NULL iovec or address), RSMERR_PERM_DENIED, RSMERR_BAD_OFFSET
 * (remote_offset beyond the segment), RSMERR_BAD_LENGTH (an entry ends beyond the
 * segment or its local memory), RSMERR_PERM_DENIED (connected without the right),
 * RSMERR_CONN_ABORTED, RSMERR_REMOTE_NODE_UNREACHABLE (the event can't be posted),
 * RSMERR_MAP_FAILED, RSMERR_INSUFFICIENT_MEM, RSMERR_INSUFFICIENT_RESOURCES,
 * RSMERR_INTERRUPTED.
 */
int rsm_memseg_import_putv(rsm_scat_gath_t *sg_io);

/** rsm_memseg_import_getv - as rsm_memseg_import_putv(), from the segment to local memory */
int rsm_memseg_import_getv(rsm_scat_gath_t *sg_io);

/**
 * rsm_create_localmemory_handle - prepare local memory for scatter-gather
 * @cntrl_handle: controller of the segments it will be used with
 * @local_handle: out: the handle
 * @local_vaddr: start of the memory, page aligned
 * @length: bytes, rounded up to whole pages
 *
 * The memory is pinned until the handle is freed. The kernel moves the data of entries that name
 * the handle. When the program has unmapped, protected, truncated or discarded the memory, and in a
 * forked child, putv and getv return RSMERR_BAD_SGIO for such entries.
 *
 * Example: examples/gather.c
 *
 * RSMERR_BAD_ADDR (misaligned, NULL or unmapped), RSMERR_BAD_LOCALMEM_HNDL
 * (@local_handle is NULL), RSMERR_BAD_LENGTH (0), RSMERR_PERM_DENIED (not readable
 * and writable), RSMERR_INSUFFICIENT_MEM (no memory, or a limit on locked or exported
 * memory), RSMERR_INSUFFICIENT_RESOURCES (descriptors, or max_segments of the node).
 */
int rsm_create_localmemory_handle(rsmapi_controller_handle_t cntrl_handle,
				  rsm_localmemory_handle_t *local_handle, caddr_t local_vaddr,
				  size_t length);

/**
 * rsm_free_localmemory_handle - undo rsm_create_localmemory_handle()
 * @cntrl_handle: a controller
 * @handle: the handle; dead afterwards
 */
int rsm_free_localmemory_handle(rsmapi_controller_handle_t cntrl_handle, rsm_localmemory_handle_t handle);

/* ---- Mapping -------------------------------------------------------------------------------- */

/**
 * rsm_memseg_import_map - map a segment, or part of it, for loads and stores
 * @im_memseg: the connection; it takes one mapping at a time
 * @address: in: the place, if @attr has RSM_MAP_FIXED; out: the place
 * @attr: RSM_MAP_NONE or RSM_MAP_FIXED
 * @perm: RSM_PERM_* that the connection has
 * @offset: first byte of the segment to map, page aligned
 * @length: bytes; the last page is mapped whole
 *
 * While part of a segment is mapped, put and get reach only that part. When the connection is
 * broken, the mapping shows zeros and discards stores.
 *
 * RSMERR_BAD_ADDR (@address is NULL), RSMERR_SEG_ALREADY_MAPPED, RSMERR_BAD_PERMS
 * (@perm has undefined bits, or rights that the connection lacks; or @perm has the right to write,
 * and the exporter does not allow the caller to read: page tables can't map memory for writing
 * only), RSMERR_BAD_LENGTH (0, beyond the segment, or no address space), RSMERR_BAD_OFFSET
 * (negative), RSMERR_BAD_MEM_ALIGNMENT (@offset or a fixed address), RSMERR_CONN_ABORTED,
 * RSMERR_MAP_FAILED (also if the controller can't), RSMERR_INSUFFICIENT_RESOURCES.
 */
int rsm_memseg_import_map(rsm_memseg_import_handle_t im_memseg, void **address, rsm_attribute_t attr,
			  rsm_permission_t perm, off_t offset, size_t length);

/**
 * rsm_memseg_import_unmap - undo rsm_memseg_import_map()
 * @im_memseg: the connection
 *
 * The call unmaps only mappings of the connection. If the program has unmapped the range by
 * munmap() and mapped something else there, that mapping stays.
 *
 * RSMERR_SEG_NOT_MAPPED (neither map nor a put or get has been called since
 * connect or the last unmap).
 */
int rsm_memseg_import_unmap(rsm_memseg_import_handle_t im_memseg);

/* ---- Barriers ------------------------------------------------------------------------------- */

/**
 * rsm_memseg_import_init_barrier - bind a barrier object to a connection
 * @im_memseg: the connection
 * @type: RSM_BAR_DEFAULT; any value is accepted
 * @barrier: the caller's object; what it held does not matter
 *
 * RSMERR_BAD_BARRIER_PTR (@barrier is NULL).
 */
int rsm_memseg_import_init_barrier(rsm_memseg_import_handle_t im_memseg, rsm_barrier_type_t type,
				   rsmapi_barrier_t *barrier);

/**
 * rsm_memseg_import_open_barrier - begin an interval of error detection
 * @barrier: an initialised barrier; begins anew if it is open
 *
 * RSMERR_BAD_BARRIER_PTR (@barrier is NULL), RSMERR_BARRIER_UNINITIALIZED (zeroed or
 * destroyed), RSMERR_BAD_SEG_HNDL (disconnected meanwhile),
 * RSMERR_BARRIER_OPEN_FAILED (by the controller; none does at present).
 */
int rsm_memseg_import_open_barrier(rsmapi_barrier_t *barrier);

/**
 * rsm_memseg_import_order_barrier - make earlier writes arrive before later ones
 * @barrier: an open barrier; stays open
 *
 * On a controller that can't map, puts of explicit mode have arrived when the call returns.
 *
 * Example: examples/barrier.c
 *
 * As rsm_memseg_import_destroy_barrier(), and RSMERR_BARRIER_NOT_OPENED,
 * RSMERR_CONN_ABORTED, RSMERR_BARRIER_FAILURE.
 */
int rsm_memseg_import_order_barrier(rsmapi_barrier_t *barrier);

/**
 * rsm_memseg_import_close_barrier - end an interval of error detection
 * @barrier: an open barrier; closed afterwards, also on failure of the interval
 *
 * If the call succeeds, every access since the barrier was opened has completed. If it fails, the
 * program must not rely on any of them.
 *
 * As rsm_memseg_import_destroy_barrier(), and RSMERR_BARRIER_NOT_OPENED,
 * RSMERR_CONN_ABORTED, RSMERR_BARRIER_FAILURE.
 */
int rsm_memseg_import_close_barrier(rsmapi_barrier_t *barrier);

/**
 * rsm_memseg_import_destroy_barrier - undo rsm_memseg_import_init_barrier()
 * @barrier: the barrier, open or closed; zeroed
 *
 * RSMERR_BAD_BARRIER_PTR (@barrier is NULL), RSMERR_BARRIER_UNINITIALIZED (zeroed or
 * destroyed), RSMERR_BAD_SEG_HNDL (disconnected meanwhile).
 */
int rsm_memseg_import_destroy_barrier(rsmapi_barrier_t *barrier);

/**
 * rsm_memseg_import_set_mode - let the library or the program put barriers around put and get
 * @im_memseg: the connection; in implicit mode at first
 * @mode: RSM_BARRIER_MODE_IMPLICIT or RSM_BARRIER_MODE_EXPLICIT
 *
 * In explicit mode a put may return before the data has arrived. The next call that orders or
 * closes a barrier of the connection waits until the data has arrived, or returns the error. The
 * program may change the source memory at once.
 *
 * Example: examples/barrier.c
 *
 * RSMERR_BAD_MODE (another @mode).
 */
int rsm_memseg_import_set_mode(rsm_memseg_import_handle_t im_memseg, rsm_barrier_mode_t mode);

/**
 * rsm_memseg_import_get_mode - ask for the barrier mode
 * @im_memseg: the connection
 * @mode: out: its mode
 *
 * RSMERR_BAD_ADDR (@mode is NULL).
 */
int rsm_memseg_import_get_mode(rsm_memseg_import_handle_t im_memseg, rsm_barrier_mode_t *mode);

/* ---- Events --------------------------------------------------------------------------------- */

/**
 * rsm_intr_signal_post - deliver an event
 * @memseg: a connection: the event goes to the exporter. An export segment: to
 *	each of its importers.
 * @flags: 0 or RSM_SIGPOST_NO_ACCUMULATE (not to those who have one pending)
 *
 * Example: examples/events.c
 *
 * RSMERR_CONN_ABORTED or RSMERR_REMOTE_NODE_UNREACHABLE (on a connection only).
 */
int rsm_intr_signal_post(void *memseg, uint_t flags);

/**
 * rsm_intr_signal_wait - wait for an event and consume it
 * @memseg: a connection or an export segment
 * @timeout: milliseconds; 0 to test only, negative for no limit
 *
 * The wait does not end when the other side does: neither when the exporter dies nor, on an export
 * segment, when an administrator revokes it. A program that waits without a limit calls
 * rsm_intr_signal_wait_pollfd() instead, with POLLRDHUP added to the events of the entry that
 * rsm_memseg_get_pollfd() filled in. The function is a cancellation point where it sleeps:
 * pthread_cancel(3) ends a thread that waits here.
 *
 * RSMERR_TIMEOUT, RSMERR_INTERRUPTED (by a signal), RSMERR_INSUFFICIENT_MEM,
 * RSMERR_INSUFFICIENT_RESOURCES, RSMERR_BAD_ARGS_ERRORS (any failure without a specific code).
 */
int rsm_intr_signal_wait(void *memseg, int timeout);

/**
 * rsm_intr_signal_wait_pollfd - poll(), and consume events of segments
 * @fds: descriptors, from rsm_memseg_get_pollfd() and others
 * @nfds: entries of @fds
 * @timeout: milliseconds as for poll()
 * @numfdsp: out, may be NULL: number of entries with non-zero revents
 *
 * The function waits as poll() does, and consumes one event for each entry of a segment that
 * reports POLLRDNORM. It is a cancellation point, as poll() is.
 *
 * An entry with POLLRDHUP among its events reports POLLRDHUP when its connection is
 * broken, so that a wait for the peer's events ends with the peer: when the exporter
 * unpublishes or destroys the segment or dies, when the path to its node is lost, and
 * when an administrator revokes the segment. On an export segment POLLRDHUP reports an end that the
 * exporter did not ask for: a revocation, or memory that was unmapped. The call reports an event
 * that arrived before the end together with the end, and the next call reports the end again. For
 * an entry without POLLRDHUP the wait goes on. <poll.h> defines POLLRDHUP where _GNU_SOURCE is
 * defined.
 *
 * Example: examples/hangup.c
 *
 * RSMERR_TIMEOUT, RSMERR_INTERRUPTED (by a signal), RSMERR_BAD_ADDR (@fds can't
 * be accessed), RSMERR_INSUFFICIENT_MEM, RSMERR_INSUFFICIENT_RESOURCES,
 * RSMERR_BAD_ARGS_ERRORS (@nfds is too large).
 */
int rsm_intr_signal_wait_pollfd(struct pollfd fds[], nfds_t nfds, int timeout, int *numfdsp);

/**
 * rsm_memseg_get_pollfd - get a descriptor that polls readable while an event is pending
 * @memseg: a connection or an export segment
 * @pollfd: out: fd and events; revents is left alone
 *
 * The library owns the descriptor: a program may only poll it. poll(), select() and epoll accept
 * the descriptor and don't consume the event. Add POLLRDHUP (EPOLLRDHUP) to the events to learn of
 * the end of the peer: see rsm_intr_signal_wait_pollfd(). Each success needs one
 * rsm_memseg_release_pollfd() before the segment can be destroyed, disconnected or unpublished.
 *
 * Example: examples/events.c
 *
 * RSMERR_BAD_ADDR (@pollfd is NULL), RSMERR_INSUFFICIENT_MEM.
 */
int rsm_memseg_get_pollfd(void *memseg, struct pollfd *pollfd);

/**
 * rsm_memseg_release_pollfd - undo one rsm_memseg_get_pollfd()
 * @memseg: the same segment; a call without a matching rsm_memseg_get_pollfd() has no effect
 */
int rsm_memseg_release_pollfd(void *memseg);

#ifdef __cplusplus
}
#endif

#endif /* _RSMAPI_H */
