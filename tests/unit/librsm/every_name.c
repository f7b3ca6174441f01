/* SPDX-License-Identifier: MIT */
/*
 * Uses every type and function of the public headers, as a program from
 * Solaris would: <rsmapi.h> is all it includes. C and C++.
 */
#ifdef TYPES_FIRST
typedef unsigned char uchar_t;
typedef unsigned short ushort_t;
typedef unsigned int uint_t;
typedef unsigned long ulong_t;
typedef long long offset_t;
#define MAXNAMELEN 256
#endif

#include <rsmapi.h>

#ifdef TYPES_LAST
typedef unsigned char uchar_t;
typedef unsigned short ushort_t;
typedef unsigned int uint_t;
typedef unsigned long ulong_t;
typedef long long offset_t;
#endif

#include <rsm/rsm_common.h>
#include <rsm/rsmapi_common.h>
#include <sys/rsm/rsmndi.h>

static char name[MAXNAMELEN] = "loopback";

int controllers(void);
int controllers(void)
{
	rsmapi_controller_handle_t controller;
	rsmapi_controller_attr_t attr;
	rsm_topology_t *topology;
	rsm_topology_hdr_t *hdr;
	rsm_connections_t *connections;
	rsm_remote_cntlr_t *remote;
	rsm_memseg_id_t base;
	uint32_t length;
	int r = rsm_get_controller(name, &controller);

	r |= rsm_get_controller_attr(controller, &attr);
	r |= (attr.attr_direct_access_sizes & (RSM_DAS8 | RSM_DAS16 | RSM_DAS32 | RSM_DAS64)) == 0;
	r |= rsm_get_interconnect_topology(&topology);
	hdr = &topology->topology_hdr;
	connections = topology->connections[0];
	remote = &connections->remote_cntlr[0];
	r |= hdr->local_nodeid == remote->remote_nodeid;
	r |= remote->connection_state == RSM_CONNECTION_ACTIVE;
	r |= connections->hdr.local_hwaddr == remote->remote_hwaddr;
	r |= connections->hdr.cntlr_name[0] == remote->remote_cntlrname[0];
	rsm_free_interconnect_topology(topology);
	r |= rsm_get_segmentid_range("app", &base, &length);
	r |= rsm_strerror(r) == rsm_strerrorname(r);
	return r | rsm_release_controller(controller);
}

int exporting(rsmapi_controller_handle_t controller, void *memory, size_t size);
int exporting(rsmapi_controller_handle_t controller, void *memory, size_t size)
{
	rsm_memseg_export_handle_t segment;
	rsm_memseg_id_t id = RSM_HPC_ID_BASE;
	rsmapi_access_entry_t list[1] = {{0, 0624}};
	offset_t none = 0;
	int r = rsm_memseg_export_create(controller, &segment, memory, size,
					 RSM_ALLOW_REBIND | RSM_CREATE_SEG_DONTWAIT);

	r |= rsm_memseg_export_publish(segment, &id, list, 1);
	r |= rsm_memseg_export_republish(segment, NULL, 0);
	r |= rsm_memseg_export_rebind(segment, memory, none, size);
	r |= rsm_intr_signal_post(segment, RSM_SIGPOST_NO_ACCUMULATE);
	r |= rsm_memseg_export_unpublish(segment);
	return r | rsm_memseg_export_destroy(segment);
}

int moving(rsm_memseg_import_handle_t segment);
int moving(rsm_memseg_import_handle_t segment)
{
	uint8_t u8 = 0;
	uint16_t u16 = 0;
	uint32_t u32 = 0;
	uint64_t u64 = 0;
	off_t at = 0;
	ulong_t one = 1;
	int r = rsm_memseg_import_get8(segment, at, &u8, one);

	r |= rsm_memseg_import_get16(segment, at, &u16, one);
	r |= rsm_memseg_import_get32(segment, at, &u32, one);
	r |= rsm_memseg_import_get64(segment, at, &u64, one);
	r |= rsm_memseg_import_get(segment, at, &u64, sizeof(u64));
	r |= rsm_memseg_import_put8(segment, at, &u8, one);
	r |= rsm_memseg_import_put16(segment, at, &u16, one);
	r |= rsm_memseg_import_put32(segment, at, &u32, one);
	r |= rsm_memseg_import_put64(segment, at, &u64, one);
	return r | rsm_memseg_import_put(segment, at, &u64, sizeof(u64));
}

int scattering(rsmapi_controller_handle_t controller, rsm_memseg_import_handle_t segment, caddr_t local);
int scattering(rsmapi_controller_handle_t controller, rsm_memseg_import_handle_t segment, caddr_t local)
{
	rsm_localmemory_handle_t handle;
	rsm_iovec_t vec[RSM_MAX_SGIOREQS];
	rsm_scat_gath_t io;
	int r = rsm_create_localmemory_handle(controller, &handle, local, 1);

	vec[0].io_type = RSM_HANDLE_TYPE;
	vec[0].local.handle = handle;
	vec[1].io_type = RSM_VA_TYPE;
	vec[1].local.vaddr = local;
	vec[0].local_offset = vec[1].local_offset = 0;
	vec[0].remote_offset = vec[1].remote_offset = 0;
	vec[0].transfer_length = vec[1].transfer_length = 1;
	io.local_nodeid = 0;
	io.io_request_count = 2;
	io.flags = RSM_IMPLICIT_SIGPOST | RSM_SIGPOST_NO_ACCUMULATE;
	io.remote_handle = segment;
	io.iovec = vec;
	r |= rsm_memseg_import_putv(&io);
	r |= rsm_memseg_import_getv(&io);
	r |= io.io_residual_count != 0;
	return r | rsm_free_localmemory_handle(controller, handle);
}

int importing(rsmapi_controller_handle_t controller);
int importing(rsmapi_controller_handle_t controller)
{
	rsm_memseg_import_handle_t segment;
	rsm_barrier_mode_t mode = RSM_BARRIER_MODE_EXPLICIT;
	rsmapi_barrier_t barrier;
	rsm_attribute_t attr = RSM_MAP_NONE;
	rsm_permission_t perm = RSM_PERM_RDWR;
	rsm_node_id_t node = 0;
	void *address = NULL;
	size_t length;
	int r = rsm_memseg_import_connect(controller, node, RSM_OPS_ID_BASE, perm, &segment);

	r |= rsm_memseg_import_get_length(segment, &length) || length == 0;
	r |= rsm_memseg_import_set_mode(segment, mode);
	r |= rsm_memseg_import_get_mode(segment, &mode);
	r |= mode == RSM_BARRIER_MODE_IMPLICIT;
	r |= rsm_memseg_import_map(segment, &address, attr, RSM_PERM_READ | RSM_PERM_WRITE, 0, 1);
	r |= rsm_memseg_import_init_barrier(segment, RSM_BAR_DEFAULT, &barrier);
	r |= rsm_memseg_import_open_barrier(&barrier);
	r |= rsm_memseg_import_order_barrier(&barrier);
	r |= rsm_memseg_import_close_barrier(&barrier);
	r |= rsm_memseg_import_destroy_barrier(&barrier);
	r |= rsm_memseg_import_unmap(segment);
	return r | rsm_memseg_import_disconnect(segment);
}

int waiting(void *segment);
int waiting(void *segment)
{
	struct pollfd fds[1];
	nfds_t count = 1;
	int ready;
	int r = rsm_memseg_get_pollfd(segment, &fds[0]);

	r |= (fds[0].events & POLLRDNORM) == 0;
	r |= rsm_intr_signal_wait_pollfd(fds, count, -1, &ready);
	r |= rsm_intr_signal_wait(segment, 0) == RSMERR_TIMEOUT;
	return r | rsm_memseg_release_pollfd(segment);
}

int rest(void);
int rest(void)
{
	uchar_t a = 0;
	ushort_t b = 0;
	uint_t c = 0;
	rsm_barrier_component_t component;
	rsm_barrier_t barrier;
	rsm_barrier_type_t types[] = {RSM_BARRIER_SEGMENT, RSM_BARRIER_NODE, RSM_BARRIER_SEGMENT_THREAD,
				      RSM_BARRIER_NODE_THREAD};
	rsm_attribute_t attrs[] = {RSM_MAP_NONE, RSM_MAP_FIXED, RSM_MAP_RESERVED};
	rsm_map_attr_t alias = RSM_MAP_FIXED;
	boolean_t yes = B_TRUE, no = B_FALSE;
	minor_t minor_number = 0;
	rsm_segops_t *ops = NULL;
	rsm_lib_funcs_t *funcs = NULL;
	rsm_ndlib_attr_t *attr = NULL;
	rsm_barrier_handle_t handle = NULL;

	component.u64 = a + b + c + minor_number;
	barrier.comp[0] = component;
	return barrier.comp[0].u8[0] == 0 && types[0] == RSM_BAR_DEFAULT && attrs[1] == alias && yes != no &&
	       ops == NULL && funcs == NULL && attr == NULL && handle == NULL &&
	       RSM_LIB_VERSION == RSM_LIB_FUNCS_VERSION;
}
