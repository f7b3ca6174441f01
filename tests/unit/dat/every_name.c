/* SPDX-License-Identifier: MIT */
/*
 * Uses every type and function of uDAPL 1.2, as a program or a provider from Solaris
 * would. C and C++.
 */
#include <dat/udat.h>

#include <dat/dat_registry.h>

/* Types. */
struct every_type {
	DAT_ASYNCH_ERROR_EVENT_DATA t0;
	DAT_BOOLEAN t1;
	DAT_CLOSE_FLAGS t2;
	DAT_CNO_HANDLE t3;
	DAT_CNO_PARAM t4;
	DAT_CNO_PARAM_MASK t5;
	DAT_COMPLETION_FLAGS t6;
	DAT_CONNECTION_EVENT_DATA t7;
	DAT_CONNECT_FLAGS t8;
	DAT_CONN_QUAL t9;
	DAT_CONTEXT t10;
	DAT_CR_ARRIVAL_EVENT_DATA t11;
	DAT_CR_HANDLE t12;
	DAT_CR_PARAM t13;
	DAT_CR_PARAM_MASK t14;
	DAT_DTO_COMPLETION_EVENT_DATA t15;
	DAT_DTO_COMPLETION_STATUS t16;
	DAT_DTO_COOKIE t17;
	DAT_EP_ASYNC_ERROR_REASON t18;
	DAT_EP_ATTR t19;
	DAT_EP_CREATOR_FOR_PSP t20;
	DAT_EP_HANDLE t21;
	DAT_EP_PARAM t22;
	DAT_EP_PARAM_MASK t23;
	DAT_EP_STATE t24;
	DAT_EVD_ASYNC_ERROR_REASON t25;
	DAT_EVD_FLAGS t26;
	DAT_EVD_HANDLE t27;
	DAT_EVD_PARAM t28;
	DAT_EVD_PARAM_MASK t29;
	DAT_EVD_STATE t30;
	DAT_EVENT t31;
	DAT_EVENT_DATA t32;
	DAT_EVENT_NUMBER t33;
	DAT_HANDLE t34;
	DAT_HANDLE_TYPE t35;
	DAT_IA_ADDRESS_PTR t36;
	DAT_IA_ASYNC_ERROR_REASON t37;
	DAT_IA_ATTR t38;
	DAT_IA_ATTR_MASK t39;
	DAT_IA_HANDLE t40;
	DAT_IOV_OWNERSHIP t41;
	DAT_LMR_ASYNC_ERROR_REASON t42;
	DAT_LMR_CONTEXT t43;
	DAT_LMR_HANDLE t44;
	DAT_LMR_PARAM t45;
	DAT_LMR_PARAM_MASK t46;
	DAT_LMR_TRIPLET t47;
	DAT_MEM_PRIV_FLAGS t48;
	DAT_MEM_TYPE t49;
	DAT_NAMED_ATTR t50;
	DAT_NAME_PTR t51;
	DAT_OS_WAIT_PROXY_AGENT t52;
	DAT_PORT_QUAL t53;
	DAT_PROVIDER t54;
	DAT_PROVIDER_ATTR t55;
	DAT_PROVIDER_ATTR_MASK t56;
	DAT_PROVIDER_INFO t57;
	DAT_PSP_FLAGS t58;
	DAT_PSP_HANDLE t59;
	DAT_PSP_PARAM t60;
	DAT_PSP_PARAM_MASK t61;
	DAT_PZ_ASYNC_ERROR_REASON t62;
	DAT_PZ_HANDLE t63;
	DAT_PZ_PARAM t64;
	DAT_PZ_PARAM_MASK t65;
	DAT_PZ_SUPPORT t66;
	DAT_QOS t67;
	DAT_REGION_DESCRIPTION t68;
	DAT_RETURN t69;
	DAT_RETURN_SUBTYPE t70;
	DAT_RETURN_TYPE t71;
	DAT_RMR_ASYNC_ERROR_REASON t72;
	DAT_RMR_BIND_COMPLETION_EVENT_DATA t73;
	DAT_RMR_CONTEXT t74;
	DAT_RMR_COOKIE t75;
	DAT_RMR_HANDLE t76;
	DAT_RMR_PARAM t77;
	DAT_RMR_PARAM_MASK t78;
	DAT_RMR_TRIPLET t79;
	DAT_RSP_HANDLE t80;
	DAT_RSP_PARAM t81;
	DAT_RSP_PARAM_MASK t82;
	DAT_SERVICE_TYPE t83;
	DAT_SHARED_MEMORY t84;
	DAT_SOFTWARE_EVENT_DATA t85;
	DAT_SP_HANDLE t86;
	DAT_SRQ_ASYNC_ERROR_REASON t87;
	DAT_SRQ_ATTR t88;
	DAT_SRQ_HANDLE t89;
	DAT_SRQ_PARAM t90;
	DAT_SRQ_PARAM_MASK t91;
	DAT_SRQ_STATE t92;
	DAT_TIMEOUT t93;
	DAT_VADDR t94;
	DAT_VLEN t95;
	DAT_LMR_COOKIE t96;
};

struct every_type *types(void);
struct every_type *types(void)
{
	static struct every_type every;

	return &every;
}

/* The table of a provider, in its order. */
static DAT_RETURN open_adapter(const DAT_NAME_PTR name, DAT_COUNT qlen, DAT_EVD_HANDLE *evd,
			       DAT_IA_HANDLE *ia, DAT_BOOLEAN ro_aware)
{
	return dat_ia_openv(name, qlen, evd, ia, DAT_VERSION_MAJOR, DAT_VERSION_MINOR, ro_aware);
}

DAT_PROVIDER *provider(void);
DAT_PROVIDER *provider(void)
{
	static DAT_PROVIDER table = {
		"every0",
		NULL,
		open_adapter,
		dat_ia_query,
		dat_ia_close,
		dat_set_consumer_context,
		dat_get_consumer_context,
		dat_get_handle_type,
		dat_cno_create,
		dat_cno_modify_agent,
		dat_cno_query,
		dat_cno_free,
		dat_cno_wait,
		dat_cr_query,
		dat_cr_accept,
		dat_cr_reject,
		dat_cr_handoff,
		dat_evd_create,
		dat_evd_query,
		dat_evd_modify_cno,
		dat_evd_enable,
		dat_evd_disable,
		dat_evd_wait,
		dat_evd_resize,
		dat_evd_post_se,
		dat_evd_dequeue,
		dat_evd_free,
		dat_ep_create,
		dat_ep_query,
		dat_ep_modify,
		dat_ep_connect,
		dat_ep_dup_connect,
		dat_ep_disconnect,
		dat_ep_post_send,
		dat_ep_post_recv,
		dat_ep_post_rdma_read,
		dat_ep_post_rdma_write,
		dat_ep_get_status,
		dat_ep_free,
		dat_lmr_create,
		dat_lmr_query,
		dat_lmr_free,
		dat_rmr_create,
		dat_rmr_query,
		dat_rmr_bind,
		dat_rmr_free,
		dat_psp_create,
		dat_psp_query,
		dat_psp_free,
		dat_rsp_create,
		dat_rsp_query,
		dat_rsp_free,
		dat_pz_create,
		dat_pz_query,
		dat_pz_free,
		dat_psp_create_any,
		dat_ep_reset,
		dat_evd_set_unwaitable,
		dat_evd_clear_unwaitable,
		dat_lmr_sync_rdma_read,
		dat_lmr_sync_rdma_write,
		dat_ep_create_with_srq,
		dat_ep_recv_query,
		dat_ep_set_watermark,
		dat_srq_create,
		dat_srq_free,
		dat_srq_post_recv,
		dat_srq_query,
		dat_srq_resize,
		dat_srq_set_lw
	};

	return &table;
}

/* Types of functions, and what they are. */
struct every_function {
	DAT_AGENT_FUNC f0;
	DAT_CNO_CREATE_FUNC f1;
	DAT_CNO_FREE_FUNC f2;
	DAT_CNO_MODIFY_AGENT_FUNC f3;
	DAT_CNO_QUERY_FUNC f4;
	DAT_CNO_WAIT_FUNC f5;
	DAT_CR_ACCEPT_FUNC f6;
	DAT_CR_HANDOFF_FUNC f7;
	DAT_CR_QUERY_FUNC f8;
	DAT_CR_REJECT_FUNC f9;
	DAT_EP_CONNECT_FUNC f10;
	DAT_EP_CREATE_FUNC f11;
	DAT_EP_CREATE_WITH_SRQ_FUNC f12;
	DAT_EP_DISCONNECT_FUNC f13;
	DAT_EP_DUP_CONNECT_FUNC f14;
	DAT_EP_FREE_FUNC f15;
	DAT_EP_GET_STATUS_FUNC f16;
	DAT_EP_MODIFY_FUNC f17;
	DAT_EP_POST_RDMA_READ_FUNC f18;
	DAT_EP_POST_RDMA_WRITE_FUNC f19;
	DAT_EP_POST_RECV_FUNC f20;
	DAT_EP_POST_SEND_FUNC f21;
	DAT_EP_QUERY_FUNC f22;
	DAT_EP_RECV_QUERY_FUNC f23;
	DAT_EP_RESET_FUNC f24;
	DAT_EP_SET_WATERMARK_FUNC f25;
	DAT_EVD_CLEAR_UNWAITABLE_FUNC f26;
	DAT_EVD_CREATE_FUNC f27;
	DAT_EVD_DEQUEUE_FUNC f28;
	DAT_EVD_DISABLE_FUNC f29;
	DAT_EVD_ENABLE_FUNC f30;
	DAT_EVD_FREE_FUNC f31;
	DAT_EVD_MODIFY_CNO_FUNC f32;
	DAT_EVD_POST_SE_FUNC f33;
	DAT_EVD_QUERY_FUNC f34;
	DAT_EVD_RESIZE_FUNC f35;
	DAT_EVD_SET_UNWAITABLE_FUNC f36;
	DAT_EVD_WAIT_FUNC f37;
	DAT_GET_CONSUMER_CONTEXT_FUNC f38;
	DAT_GET_HANDLE_TYPE_FUNC f39;
	DAT_IA_CLOSE_FUNC f40;
	DAT_IA_OPENV_FUNC f41;
	DAT_IA_OPEN_FUNC f42;
	DAT_IA_QUERY_FUNC f43;
	DAT_LMR_CREATE_FUNC f44;
	DAT_LMR_FREE_FUNC f45;
	DAT_LMR_QUERY_FUNC f46;
	DAT_LMR_SYNC_RDMA_READ_FUNC f47;
	DAT_LMR_SYNC_RDMA_WRITE_FUNC f48;
	DAT_PROVIDER_FINI_FUNC f49;
	DAT_PROVIDER_INIT_FUNC f50;
	DAT_PSP_CREATE_ANY_FUNC f51;
	DAT_PSP_CREATE_FUNC f52;
	DAT_PSP_FREE_FUNC f53;
	DAT_PSP_QUERY_FUNC f54;
	DAT_PZ_CREATE_FUNC f55;
	DAT_PZ_FREE_FUNC f56;
	DAT_PZ_QUERY_FUNC f57;
	DAT_RMR_BIND_FUNC f58;
	DAT_RMR_CREATE_FUNC f59;
	DAT_RMR_FREE_FUNC f60;
	DAT_RMR_QUERY_FUNC f61;
	DAT_RSP_CREATE_FUNC f62;
	DAT_RSP_FREE_FUNC f63;
	DAT_RSP_QUERY_FUNC f64;
	DAT_SET_CONSUMER_CONTEXT_FUNC f65;
	DAT_SRQ_CREATE_FUNC f66;
	DAT_SRQ_FREE_FUNC f67;
	DAT_SRQ_POST_RECV_FUNC f68;
	DAT_SRQ_QUERY_FUNC f69;
	DAT_SRQ_RESIZE_FUNC f70;
	DAT_SRQ_SET_LW_FUNC f71;
};

static void agent(DAT_PVOID instance_data, DAT_EVD_HANDLE evd)
{
	*(DAT_EVD_HANDLE *)instance_data = evd;
}

const struct every_function *functions(void);
const struct every_function *functions(void)
{
	static const struct every_function every = {
		agent,
		dat_cno_create,
		dat_cno_free,
		dat_cno_modify_agent,
		dat_cno_query,
		dat_cno_wait,
		dat_cr_accept,
		dat_cr_handoff,
		dat_cr_query,
		dat_cr_reject,
		dat_ep_connect,
		dat_ep_create,
		dat_ep_create_with_srq,
		dat_ep_disconnect,
		dat_ep_dup_connect,
		dat_ep_free,
		dat_ep_get_status,
		dat_ep_modify,
		dat_ep_post_rdma_read,
		dat_ep_post_rdma_write,
		dat_ep_post_recv,
		dat_ep_post_send,
		dat_ep_query,
		dat_ep_recv_query,
		dat_ep_reset,
		dat_ep_set_watermark,
		dat_evd_clear_unwaitable,
		dat_evd_create,
		dat_evd_dequeue,
		dat_evd_disable,
		dat_evd_enable,
		dat_evd_free,
		dat_evd_modify_cno,
		dat_evd_post_se,
		dat_evd_query,
		dat_evd_resize,
		dat_evd_set_unwaitable,
		dat_evd_wait,
		dat_get_consumer_context,
		dat_get_handle_type,
		dat_ia_close,
		dat_ia_openv,
		open_adapter,
		dat_ia_query,
		dat_lmr_create,
		dat_lmr_free,
		dat_lmr_query,
		dat_lmr_sync_rdma_read,
		dat_lmr_sync_rdma_write,
		DAT_PROVIDER_FINI_FUNC_NAME,
		DAT_PROVIDER_INIT_FUNC_NAME,
		dat_psp_create_any,
		dat_psp_create,
		dat_psp_free,
		dat_psp_query,
		dat_pz_create,
		dat_pz_free,
		dat_pz_query,
		dat_rmr_bind,
		dat_rmr_create,
		dat_rmr_free,
		dat_rmr_query,
		dat_rsp_create,
		dat_rsp_free,
		dat_rsp_query,
		dat_set_consumer_context,
		dat_srq_create,
		dat_srq_free,
		dat_srq_post_recv,
		dat_srq_query,
		dat_srq_resize,
		dat_srq_set_lw
	};

	return &every;
}

void DAT_PROVIDER_INIT_FUNC_NAME(const DAT_PROVIDER_INFO *info, const char *instance_data)
{
	if (instance_data)
		dat_registry_add_provider(provider(), info);
}

void DAT_PROVIDER_FINI_FUNC_NAME(const DAT_PROVIDER_INFO *info)
{
	dat_registry_remove_provider(provider(), info);
}

/* A program. */
static char name[DAT_NAME_MAX_LENGTH] = "every0";

DAT_RETURN adapter(DAT_EVD_HANDLE *async_evd, DAT_IA_HANDLE *ia);
DAT_RETURN adapter(DAT_EVD_HANDLE *async_evd, DAT_IA_HANDLE *ia)
{
	DAT_PROVIDER_INFO info;
	DAT_PROVIDER_INFO *list[1];
	const char *major, *minor;
	DAT_COUNT count;
	DAT_RETURN ret;

	list[0] = &info;
	dat_registry_list_providers(1, &count, list);
	*async_evd = DAT_EVD_ASYNC_EXISTS;
	ret = dat_ia_open(name, 8, async_evd, ia);
	if (ret != DAT_SUCCESS && DAT_GET_TYPE(ret) != DAT_PROVIDER_NOT_FOUND)
		dat_strerror(ret, &major, &minor);
	return ret;
}

DAT_RETURN notification(DAT_IA_HANDLE ia, DAT_CNO_HANDLE *cno, DAT_EVD_HANDLE *evd);
DAT_RETURN notification(DAT_IA_HANDLE ia, DAT_CNO_HANDLE *cno, DAT_EVD_HANDLE *evd)
{
	DAT_OS_WAIT_PROXY_AGENT mine = DAT_OS_WAIT_PROXY_AGENT_NULL;

	mine.instance_data = evd;
	mine.proxy_agent_func = agent;
	if (dat_cno_create(ia, mine, cno) != DAT_SUCCESS)
		return dat_cno_create(ia, DAT_OS_WAIT_PROXY_AGENT_NULL, cno);
	return dat_evd_create(ia, 8, *cno, DAT_EVD_DEFAULT_FLAG, evd);
}

/* Some of what it tells its peer. */
DAT_VADDR message(const DAT_LMR_PARAM *lmr, DAT_IA_ATTR *attr);
DAT_VADDR message(const DAT_LMR_PARAM *lmr, DAT_IA_ATTR *attr)
{
	attr->max_mtu_size = DAT_VLEN_TO_LSB(lmr->length) + DAT_VLEN_TO_MSB(lmr->length);
	attr->max_rdma_read_per_ep = DAT_VALUE_UNKNOWN;
	return DAT_VADDR_TO_LSB(lmr->registered_address) + DAT_VADDR_TO_MSB(lmr->length) +
	       DAT_LMRC_TO_LSB(lmr->lmr_context) + DAT_LMRC_TO_MSB(lmr->lmr_context) +
	       DAT_RMRC_TO_LSB(lmr->rmr_context) + DAT_RMRC_TO_MSB(lmr->rmr_context);
}

/* Calls of a provider. */
static DAT_RETURN call_ia_query(DAT_IA_HANDLE ia_handle, DAT_EVD_HANDLE *async_evd_handle,
				DAT_IA_ATTR_MASK ia_attr_mask, DAT_IA_ATTR *ia_attr,
				DAT_PROVIDER_ATTR_MASK provider_attr_mask,
				DAT_PROVIDER_ATTR *provider_attr)
{
	return DAT_IA_QUERY(ia_handle, async_evd_handle, ia_attr_mask, ia_attr, provider_attr_mask,
		provider_attr);
}

static DAT_RETURN call_set_consumer_context(DAT_HANDLE dat_handle, DAT_CONTEXT context)
{
	return DAT_SET_CONSUMER_CONTEXT(dat_handle, context);
}

static DAT_RETURN call_get_consumer_context(DAT_HANDLE dat_handle, DAT_CONTEXT *context)
{
	return DAT_GET_CONSUMER_CONTEXT(dat_handle, context);
}

static DAT_RETURN call_get_handle_type(DAT_HANDLE dat_handle, DAT_HANDLE_TYPE *handle_type)
{
	return DAT_GET_HANDLE_TYPE(dat_handle, handle_type);
}

static DAT_RETURN call_cno_create(DAT_IA_HANDLE ia_handle, DAT_OS_WAIT_PROXY_AGENT agent,
				  DAT_CNO_HANDLE *cno_handle)
{
	return DAT_CNO_CREATE(ia_handle, agent, cno_handle);
}

static DAT_RETURN call_cno_modify_agent(DAT_CNO_HANDLE cno_handle, DAT_OS_WAIT_PROXY_AGENT agent)
{
	return DAT_CNO_MODIFY_AGENT(cno_handle, agent);
}

static DAT_RETURN call_cno_query(DAT_CNO_HANDLE cno_handle, DAT_CNO_PARAM_MASK cno_param_mask,
				 DAT_CNO_PARAM *cno_param)
{
	return DAT_CNO_QUERY(cno_handle, cno_param_mask, cno_param);
}

static DAT_RETURN call_cno_free(DAT_CNO_HANDLE cno_handle)
{
	return DAT_CNO_FREE(cno_handle);
}

static DAT_RETURN call_cno_wait(DAT_CNO_HANDLE cno_handle, DAT_TIMEOUT timeout,
				DAT_EVD_HANDLE *evd_handle)
{
	return DAT_CNO_WAIT(cno_handle, timeout, evd_handle);
}

static DAT_RETURN call_cr_query(DAT_CR_HANDLE cr_handle, DAT_CR_PARAM_MASK cr_param_mask,
				DAT_CR_PARAM *cr_param)
{
	return DAT_CR_QUERY(cr_handle, cr_param_mask, cr_param);
}

static DAT_RETURN call_cr_accept(DAT_CR_HANDLE cr_handle, DAT_EP_HANDLE ep_handle,
				 DAT_COUNT private_data_size, const DAT_PVOID private_data)
{
	return DAT_CR_ACCEPT(cr_handle, ep_handle, private_data_size, private_data);
}

static DAT_RETURN call_cr_reject(DAT_CR_HANDLE cr_handle)
{
	return DAT_CR_REJECT(cr_handle);
}

static DAT_RETURN call_cr_handoff(DAT_CR_HANDLE cr_handle, DAT_CONN_QUAL handoff)
{
	return DAT_CR_HANDOFF(cr_handle, handoff);
}

static DAT_RETURN call_evd_create(DAT_IA_HANDLE ia_handle, DAT_COUNT evd_min_qlen,
				  DAT_CNO_HANDLE cno_handle, DAT_EVD_FLAGS evd_flags,
				  DAT_EVD_HANDLE *evd_handle)
{
	return DAT_EVD_CREATE(ia_handle, evd_min_qlen, cno_handle, evd_flags, evd_handle);
}

static DAT_RETURN call_evd_query(DAT_EVD_HANDLE evd_handle, DAT_EVD_PARAM_MASK evd_param_mask,
				 DAT_EVD_PARAM *evd_param)
{
	return DAT_EVD_QUERY(evd_handle, evd_param_mask, evd_param);
}

static DAT_RETURN call_evd_modify_cno(DAT_EVD_HANDLE evd_handle, DAT_CNO_HANDLE cno_handle)
{
	return DAT_EVD_MODIFY_CNO(evd_handle, cno_handle);
}

static DAT_RETURN call_evd_enable(DAT_EVD_HANDLE evd_handle)
{
	return DAT_EVD_ENABLE(evd_handle);
}

static DAT_RETURN call_evd_disable(DAT_EVD_HANDLE evd_handle)
{
	return DAT_EVD_DISABLE(evd_handle);
}

static DAT_RETURN call_evd_wait(DAT_EVD_HANDLE evd_handle, DAT_TIMEOUT timeout,
				DAT_COUNT threshold, DAT_EVENT *event, DAT_COUNT *nmore)
{
	return DAT_EVD_WAIT(evd_handle, timeout, threshold, event, nmore);
}

static DAT_RETURN call_evd_resize(DAT_EVD_HANDLE evd_handle, DAT_COUNT evd_min_qlen)
{
	return DAT_EVD_RESIZE(evd_handle, evd_min_qlen);
}

static DAT_RETURN call_evd_post_se(DAT_EVD_HANDLE evd_handle, const DAT_EVENT *event)
{
	return DAT_EVD_POST_SE(evd_handle, event);
}

static DAT_RETURN call_evd_dequeue(DAT_EVD_HANDLE evd_handle, DAT_EVENT *event)
{
	return DAT_EVD_DEQUEUE(evd_handle, event);
}

static DAT_RETURN call_evd_free(DAT_EVD_HANDLE evd_handle)
{
	return DAT_EVD_FREE(evd_handle);
}

static DAT_RETURN call_ep_create(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE pz_handle,
				 DAT_EVD_HANDLE recv_evd_handle, DAT_EVD_HANDLE request_evd_handle,
				 DAT_EVD_HANDLE connect_evd_handle,
				 const DAT_EP_ATTR *ep_attributes, DAT_EP_HANDLE *ep_handle)
{
	return DAT_EP_CREATE(ia_handle, pz_handle, recv_evd_handle, request_evd_handle,
		connect_evd_handle, ep_attributes, ep_handle);
}

static DAT_RETURN call_ep_query(DAT_EP_HANDLE ep_handle, DAT_EP_PARAM_MASK ep_param_mask,
				DAT_EP_PARAM *ep_param)
{
	return DAT_EP_QUERY(ep_handle, ep_param_mask, ep_param);
}

static DAT_RETURN call_ep_modify(DAT_EP_HANDLE ep_handle, DAT_EP_PARAM_MASK ep_param_mask,
				 const DAT_EP_PARAM *ep_param)
{
	return DAT_EP_MODIFY(ep_handle, ep_param_mask, ep_param);
}

static DAT_RETURN call_ep_connect(DAT_EP_HANDLE ep_handle, DAT_IA_ADDRESS_PTR remote_ia_address,
				  DAT_CONN_QUAL remote_conn_qual, DAT_TIMEOUT timeout,
				  DAT_COUNT private_data_size, const DAT_PVOID private_data,
				  DAT_QOS quality_of_service, DAT_CONNECT_FLAGS connect_flags)
{
	return DAT_EP_CONNECT(ep_handle, remote_ia_address, remote_conn_qual, timeout, private_data_size,
		private_data, quality_of_service, connect_flags);
}

static DAT_RETURN call_ep_dup_connect(DAT_EP_HANDLE ep_handle, DAT_EP_HANDLE dup_ep_handle,
				      DAT_TIMEOUT timeout, DAT_COUNT private_data_size,
				      const DAT_PVOID private_data, DAT_QOS quality_of_service)
{
	return DAT_EP_DUP_CONNECT(ep_handle, dup_ep_handle, timeout, private_data_size, private_data,
		quality_of_service);
}

static DAT_RETURN call_ep_disconnect(DAT_EP_HANDLE ep_handle, DAT_CLOSE_FLAGS disconnect_flags)
{
	return DAT_EP_DISCONNECT(ep_handle, disconnect_flags);
}

static DAT_RETURN call_ep_post_send(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments,
				    DAT_LMR_TRIPLET *local_iov, DAT_DTO_COOKIE user_cookie,
				    DAT_COMPLETION_FLAGS completion_flags)
{
	return DAT_EP_POST_SEND(ep_handle, num_segments, local_iov, user_cookie, completion_flags);
}

static DAT_RETURN call_ep_post_recv(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments,
				    DAT_LMR_TRIPLET *local_iov, DAT_DTO_COOKIE user_cookie,
				    DAT_COMPLETION_FLAGS completion_flags)
{
	return DAT_EP_POST_RECV(ep_handle, num_segments, local_iov, user_cookie, completion_flags);
}

static DAT_RETURN call_ep_post_rdma_read(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments,
					 DAT_LMR_TRIPLET *local_iov, DAT_DTO_COOKIE user_cookie,
					 const DAT_RMR_TRIPLET *remote_iov,
					 DAT_COMPLETION_FLAGS completion_flags)
{
	return DAT_EP_POST_RDMA_READ(ep_handle, num_segments, local_iov, user_cookie, remote_iov,
		completion_flags);
}

static DAT_RETURN call_ep_post_rdma_write(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments,
					  DAT_LMR_TRIPLET *local_iov, DAT_DTO_COOKIE user_cookie,
					  const DAT_RMR_TRIPLET *remote_iov,
					  DAT_COMPLETION_FLAGS completion_flags)
{
	return DAT_EP_POST_RDMA_WRITE(ep_handle, num_segments, local_iov, user_cookie, remote_iov,
		completion_flags);
}

static DAT_RETURN call_ep_get_status(DAT_EP_HANDLE ep_handle, DAT_EP_STATE *ep_state,
				     DAT_BOOLEAN *recv_idle, DAT_BOOLEAN *request_idle)
{
	return DAT_EP_GET_STATUS(ep_handle, ep_state, recv_idle, request_idle);
}

static DAT_RETURN call_ep_free(DAT_EP_HANDLE ep_handle)
{
	return DAT_EP_FREE(ep_handle);
}

static DAT_RETURN call_lmr_create(DAT_IA_HANDLE ia_handle, DAT_MEM_TYPE mem_type,
				  DAT_REGION_DESCRIPTION region_description, DAT_VLEN length,
				  DAT_PZ_HANDLE pz_handle, DAT_MEM_PRIV_FLAGS privileges,
				  DAT_LMR_HANDLE *lmr_handle, DAT_LMR_CONTEXT *lmr_context,
				  DAT_RMR_CONTEXT *rmr_context, DAT_VLEN *registered_size,
				  DAT_VADDR *registered_address)
{
	return DAT_LMR_CREATE(ia_handle, mem_type, region_description, length, pz_handle, privileges,
		lmr_handle, lmr_context, rmr_context, registered_size, registered_address);
}

static DAT_RETURN call_lmr_query(DAT_LMR_HANDLE lmr_handle, DAT_LMR_PARAM_MASK lmr_param_mask,
				 DAT_LMR_PARAM *lmr_param)
{
	return DAT_LMR_QUERY(lmr_handle, lmr_param_mask, lmr_param);
}

static DAT_RETURN call_lmr_free(DAT_LMR_HANDLE lmr_handle)
{
	return DAT_LMR_FREE(lmr_handle);
}

static DAT_RETURN call_rmr_create(DAT_PZ_HANDLE pz_handle, DAT_RMR_HANDLE *rmr_handle)
{
	return DAT_RMR_CREATE(pz_handle, rmr_handle);
}

static DAT_RETURN call_rmr_query(DAT_RMR_HANDLE rmr_handle, DAT_RMR_PARAM_MASK rmr_param_mask,
				 DAT_RMR_PARAM *rmr_param)
{
	return DAT_RMR_QUERY(rmr_handle, rmr_param_mask, rmr_param);
}

static DAT_RETURN call_rmr_bind(DAT_RMR_HANDLE rmr_handle, const DAT_LMR_TRIPLET *lmr_triplet,
				DAT_MEM_PRIV_FLAGS mem_priv, DAT_EP_HANDLE ep_handle,
				DAT_RMR_COOKIE user_cookie, DAT_COMPLETION_FLAGS completion_flags,
				DAT_RMR_CONTEXT *rmr_context)
{
	return DAT_RMR_BIND(rmr_handle, lmr_triplet, mem_priv, ep_handle, user_cookie, completion_flags,
		rmr_context);
}

static DAT_RETURN call_rmr_free(DAT_RMR_HANDLE rmr_handle)
{
	return DAT_RMR_FREE(rmr_handle);
}

static DAT_RETURN call_psp_create(DAT_IA_HANDLE ia_handle, DAT_CONN_QUAL conn_qual,
				  DAT_EVD_HANDLE evd_handle, DAT_PSP_FLAGS psp_flags,
				  DAT_PSP_HANDLE *psp_handle)
{
	return DAT_PSP_CREATE(ia_handle, conn_qual, evd_handle, psp_flags, psp_handle);
}

static DAT_RETURN call_psp_query(DAT_PSP_HANDLE psp_handle, DAT_PSP_PARAM_MASK psp_param_mask,
				 DAT_PSP_PARAM *psp_param)
{
	return DAT_PSP_QUERY(psp_handle, psp_param_mask, psp_param);
}

static DAT_RETURN call_psp_free(DAT_PSP_HANDLE psp_handle)
{
	return DAT_PSP_FREE(psp_handle);
}

static DAT_RETURN call_rsp_create(DAT_IA_HANDLE ia_handle, DAT_CONN_QUAL conn_qual,
				  DAT_EP_HANDLE ep_handle, DAT_EVD_HANDLE evd_handle,
				  DAT_RSP_HANDLE *rsp_handle)
{
	return DAT_RSP_CREATE(ia_handle, conn_qual, ep_handle, evd_handle, rsp_handle);
}

static DAT_RETURN call_rsp_query(DAT_RSP_HANDLE rsp_handle, DAT_RSP_PARAM_MASK rsp_param_mask,
				 DAT_RSP_PARAM *rsp_param)
{
	return DAT_RSP_QUERY(rsp_handle, rsp_param_mask, rsp_param);
}

static DAT_RETURN call_rsp_free(DAT_RSP_HANDLE rsp_handle)
{
	return DAT_RSP_FREE(rsp_handle);
}

static DAT_RETURN call_pz_create(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE *pz_handle)
{
	return DAT_PZ_CREATE(ia_handle, pz_handle);
}

static DAT_RETURN call_pz_query(DAT_PZ_HANDLE pz_handle, DAT_PZ_PARAM_MASK pz_param_mask,
				DAT_PZ_PARAM *pz_param)
{
	return DAT_PZ_QUERY(pz_handle, pz_param_mask, pz_param);
}

static DAT_RETURN call_pz_free(DAT_PZ_HANDLE pz_handle)
{
	return DAT_PZ_FREE(pz_handle);
}

static DAT_RETURN call_psp_create_any(DAT_IA_HANDLE ia_handle, DAT_CONN_QUAL *conn_qual,
				      DAT_EVD_HANDLE evd_handle, DAT_PSP_FLAGS psp_flags,
				      DAT_PSP_HANDLE *psp_handle)
{
	return DAT_PSP_CREATE_ANY(ia_handle, conn_qual, evd_handle, psp_flags, psp_handle);
}

static DAT_RETURN call_ep_reset(DAT_EP_HANDLE ep_handle)
{
	return DAT_EP_RESET(ep_handle);
}

static DAT_RETURN call_evd_set_unwaitable(DAT_EVD_HANDLE evd_handle)
{
	return DAT_EVD_SET_UNWAITABLE(evd_handle);
}

static DAT_RETURN call_evd_clear_unwaitable(DAT_EVD_HANDLE evd_handle)
{
	return DAT_EVD_CLEAR_UNWAITABLE(evd_handle);
}

static DAT_RETURN call_lmr_sync_rdma_read(DAT_IA_HANDLE ia_handle,
					  const DAT_LMR_TRIPLET *local_segments,
					  DAT_VLEN num_segments)
{
	return DAT_LMR_SYNC_RDMA_READ(ia_handle, local_segments, num_segments);
}

static DAT_RETURN call_lmr_sync_rdma_write(DAT_IA_HANDLE ia_handle,
					   const DAT_LMR_TRIPLET *local_segments,
					   DAT_VLEN num_segments)
{
	return DAT_LMR_SYNC_RDMA_WRITE(ia_handle, local_segments, num_segments);
}

static DAT_RETURN call_ep_create_with_srq(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE pz_handle,
					  DAT_EVD_HANDLE recv_evd_handle,
					  DAT_EVD_HANDLE request_evd_handle,
					  DAT_EVD_HANDLE connect_evd_handle,
					  DAT_SRQ_HANDLE srq_handle,
					  const DAT_EP_ATTR *ep_attributes,
					  DAT_EP_HANDLE *ep_handle)
{
	return DAT_EP_CREATE_WITH_SRQ(ia_handle, pz_handle, recv_evd_handle, request_evd_handle,
		connect_evd_handle, srq_handle, ep_attributes, ep_handle);
}

static DAT_RETURN call_ep_recv_query(DAT_EP_HANDLE ep_handle, DAT_COUNT *nbufs_allocated,
				     DAT_COUNT *bufs_alloc_span)
{
	return DAT_EP_RECV_QUERY(ep_handle, nbufs_allocated, bufs_alloc_span);
}

static DAT_RETURN call_ep_set_watermark(DAT_EP_HANDLE ep_handle, DAT_COUNT soft_high_watermark,
					DAT_COUNT hard_high_watermark)
{
	return DAT_EP_SET_WATERMARK(ep_handle, soft_high_watermark, hard_high_watermark);
}

static DAT_RETURN call_srq_create(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE pz_handle,
				  DAT_SRQ_ATTR *srq_attr, DAT_SRQ_HANDLE *srq_handle)
{
	return DAT_SRQ_CREATE(ia_handle, pz_handle, srq_attr, srq_handle);
}

static DAT_RETURN call_srq_free(DAT_SRQ_HANDLE srq_handle)
{
	return DAT_SRQ_FREE(srq_handle);
}

static DAT_RETURN call_srq_post_recv(DAT_SRQ_HANDLE srq_handle, DAT_COUNT num_segments,
				     DAT_LMR_TRIPLET *local_iov, DAT_DTO_COOKIE user_cookie)
{
	return DAT_SRQ_POST_RECV(srq_handle, num_segments, local_iov, user_cookie);
}

static DAT_RETURN call_srq_query(DAT_SRQ_HANDLE srq_handle, DAT_SRQ_PARAM_MASK srq_param_mask,
				 DAT_SRQ_PARAM *srq_param)
{
	return DAT_SRQ_QUERY(srq_handle, srq_param_mask, srq_param);
}

static DAT_RETURN call_srq_resize(DAT_SRQ_HANDLE srq_handle, DAT_COUNT srq_max_recv_dto)
{
	return DAT_SRQ_RESIZE(srq_handle, srq_max_recv_dto);
}

static DAT_RETURN call_srq_set_lw(DAT_SRQ_HANDLE srq_handle, DAT_COUNT low_watermark)
{
	return DAT_SRQ_SET_LW(srq_handle, low_watermark);
}

const void *calls(void);
const void *calls(void)
{
	static DAT_PROVIDER table = {
		"every1",
		NULL,
		open_adapter,
		call_ia_query,
		dat_ia_close,
		call_set_consumer_context,
		call_get_consumer_context,
		call_get_handle_type,
		call_cno_create,
		call_cno_modify_agent,
		call_cno_query,
		call_cno_free,
		call_cno_wait,
		call_cr_query,
		call_cr_accept,
		call_cr_reject,
		call_cr_handoff,
		call_evd_create,
		call_evd_query,
		call_evd_modify_cno,
		call_evd_enable,
		call_evd_disable,
		call_evd_wait,
		call_evd_resize,
		call_evd_post_se,
		call_evd_dequeue,
		call_evd_free,
		call_ep_create,
		call_ep_query,
		call_ep_modify,
		call_ep_connect,
		call_ep_dup_connect,
		call_ep_disconnect,
		call_ep_post_send,
		call_ep_post_recv,
		call_ep_post_rdma_read,
		call_ep_post_rdma_write,
		call_ep_get_status,
		call_ep_free,
		call_lmr_create,
		call_lmr_query,
		call_lmr_free,
		call_rmr_create,
		call_rmr_query,
		call_rmr_bind,
		call_rmr_free,
		call_psp_create,
		call_psp_query,
		call_psp_free,
		call_rsp_create,
		call_rsp_query,
		call_rsp_free,
		call_pz_create,
		call_pz_query,
		call_pz_free,
		call_psp_create_any,
		call_ep_reset,
		call_evd_set_unwaitable,
		call_evd_clear_unwaitable,
		call_lmr_sync_rdma_read,
		call_lmr_sync_rdma_write,
		call_ep_create_with_srq,
		call_ep_recv_query,
		call_ep_set_watermark,
		call_srq_create,
		call_srq_free,
		call_srq_post_recv,
		call_srq_query,
		call_srq_resize,
		call_srq_set_lw
	};

	return &table;
}
