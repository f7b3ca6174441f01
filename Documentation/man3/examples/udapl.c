/* SPDX-License-Identifier: MIT */
/*
 * Excerpts for the EXAMPLES of uDAPL's manual pages. A line "example:" names the pages that show what follows it.
 */
#include <stdio.h>
#include <dat/udat.h>
#include <dat/dat_registry.h>

void say(DAT_RETURN status);
DAT_RETURN open_adapter(DAT_IA_HANDLE *ia, DAT_EVD_HANDLE *async,
			DAT_PZ_HANDLE *pz);
void show_adapter(DAT_IA_HANDLE ia);
void close_adapter(DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz);
void list_adapters(void);
DAT_RETURN load_provider(const DAT_PROVIDER *provider,
			 const DAT_PROVIDER_INFO *info);
DAT_RETURN two_queues_one_wait(DAT_IA_HANDLE ia, DAT_EVD_HANDLE evds[2],
			       DAT_CNO_HANDLE *cno);
DAT_RETURN next_of_two(DAT_EVD_HANDLE evds[2], DAT_CNO_HANDLE cno,
		       DAT_EVENT *event);
void agent(DAT_PVOID name, DAT_EVD_HANDLE evd);
DAT_RETURN call_when_triggered(DAT_CNO_HANDLE cno);
void drop_queues(DAT_EVD_HANDLE evds[2], DAT_CNO_HANDLE cno);
DAT_RETURN wait_for_transfer(DAT_EVD_HANDLE evd);
DAT_RETURN stop_waiters(DAT_EVD_HANDLE evd);
DAT_RETURN wake_a_waiter(DAT_EVD_HANDLE evd, char *why);
DAT_RETURN grow(DAT_EVD_HANDLE evd, DAT_COUNT wanted);
DAT_RETURN quiet(DAT_EVD_HANDLE evd, DAT_CNO_HANDLE cno);
DAT_RETURN endpoint(DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz, DAT_EVD_HANDLE evd,
		    DAT_EP_HANDLE *ep);
DAT_RETURN endpoints_that_share(DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz,
				DAT_EVD_HANDLE evd, DAT_EP_HANDLE eps[2]);
DAT_RETURN tend(DAT_SRQ_HANDLE srq, DAT_LMR_TRIPLET *buffer);
DAT_RETURN call_service(DAT_EP_HANDLE ep, DAT_IA_ADDRESS_PTR server,
			DAT_EVD_HANDLE evd);
DAT_RETURN connect_again(DAT_EP_HANDLE ep, DAT_EP_HANDLE like_this_one);
DAT_RETURN hang_up(DAT_EP_HANDLE ep, DAT_EVD_HANDLE evd);
void show_endpoint(DAT_EP_HANDLE ep);
DAT_RETURN serve(DAT_IA_HANDLE ia, DAT_EVD_HANDLE requests, DAT_EP_HANDLE ep);
DAT_RETURN judge(DAT_CR_HANDLE request, DAT_EP_HANDLE ep, DAT_COUNT load);
DAT_RETURN answer_one(DAT_IA_HANDLE ia, DAT_EP_HANDLE ep,
		      DAT_EVD_HANDLE requests);
DAT_RETURN share(DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz, void *memory,
		 DAT_VLEN size, DAT_LMR_HANDLE *lmr, DAT_LMR_TRIPLET *local,
		 DAT_RMR_TRIPLET *remote);
void unshare(DAT_LMR_HANDLE lmr);
DAT_RETURN lend(DAT_PZ_HANDLE pz, DAT_EP_HANDLE ep, DAT_LMR_TRIPLET *part,
		DAT_RMR_HANDLE *rmr, DAT_RMR_CONTEXT *context);
DAT_RETURN take_back(DAT_RMR_HANDLE rmr, DAT_EP_HANDLE ep);
DAT_RETURN data_then_flag(DAT_EP_HANDLE ep, DAT_LMR_TRIPLET *data,
			  DAT_RMR_TRIPLET *there, DAT_LMR_TRIPLET *flag,
			  DAT_RMR_TRIPLET *flag_there);
DAT_RETURN fetch(DAT_EP_HANDLE ep, DAT_LMR_TRIPLET *here,
		 DAT_RMR_TRIPLET *there);
DAT_RETURN ask(DAT_EP_HANDLE ep, DAT_LMR_TRIPLET *question,
	       DAT_LMR_TRIPLET *answer);
DAT_RETURN portable_access(DAT_IA_HANDLE ia, DAT_LMR_TRIPLET *part);
DAT_RETURN remember(DAT_EP_HANDLE ep, void *session);

/* example: dat_strerror */
void say(DAT_RETURN status)
{
	const char *major = "?", *minor = "?";

	if (status != DAT_SUCCESS &&
	    dat_strerror(status, &major, &minor) == DAT_SUCCESS)
		fprintf(stderr, "%s, %s\n", major, minor);
}

/* example: dat_ia_openv dat_pz_create */
DAT_RETURN open_adapter(DAT_IA_HANDLE *ia, DAT_EVD_HANDLE *async,
			DAT_PZ_HANDLE *pz)
{
	DAT_RETURN status;

	*async = DAT_HANDLE_NULL; /* make one of 8 events */
	status = dat_ia_open("rsm0", 8, async, ia);
	return status == DAT_SUCCESS ? dat_pz_create(*ia, pz) : status;
}

/* example: dat_ia_query */
void show_adapter(DAT_IA_HANDLE ia)
{
	DAT_IA_ATTR attributes;
	DAT_RETURN status = dat_ia_query(ia, DAT_HANDLE_NULL, DAT_IA_ALL,
					 &attributes, 0, NULL);

	if (status == DAT_SUCCESS)
		printf("%s: %d endpoints\n", attributes.adapter_name,
		       (int)attributes.max_eps);
}

/* example: dat_ia_close dat_pz_free dat_pz_query */
void close_adapter(DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz)
{
	DAT_PZ_PARAM zone;

	if (dat_pz_query(pz, DAT_PZ_FIELD_ALL, &zone) == DAT_SUCCESS &&
	    zone.ia_handle == ia)
		dat_pz_free(pz); /* fails while endpoints or memory are in it */
	dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG); /* frees what is left */
}

/* example: dat_registry_list_providers */
void list_adapters(void)
{
	DAT_PROVIDER_INFO entries[16], *list[16];
	DAT_COUNT found = 0, at;

	for (at = 0; at < 16; at++)
		list[at] = &entries[at];
	if (dat_registry_list_providers(16, &found, list) != DAT_SUCCESS)
		return;
	for (at = 0; at < found && at < 16; at++)
		printf("%s, uDAPL %u.%u\n", entries[at].ia_name,
		       (unsigned int)entries[at].dapl_version_major,
		       (unsigned int)entries[at].dapl_version_minor);
}

/* example: dat_registry_add_provider dat_registry_remove_provider */
DAT_RETURN load_provider(const DAT_PROVIDER *provider,
			 const DAT_PROVIDER_INFO *info)
{
	/* In the provider's dat_provider_init(); dat_provider_fini() removes it again. */
	DAT_RETURN status = dat_registry_add_provider(provider, info);

	if (status != DAT_SUCCESS)
		dat_registry_remove_provider(provider, info);
	return status;
}

/* example: dat_cno_create dat_evd_create */
DAT_RETURN two_queues_one_wait(DAT_IA_HANDLE ia, DAT_EVD_HANDLE evds[2],
			       DAT_CNO_HANDLE *cno)
{
	DAT_RETURN status =
		dat_cno_create(ia, DAT_OS_WAIT_PROXY_AGENT_NULL, cno);

	if (status == DAT_SUCCESS)
		status = dat_evd_create(
			ia, 64, *cno,
			DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG, &evds[0]);
	if (status == DAT_SUCCESS)
		status = dat_evd_create(ia, 8, *cno, DAT_EVD_CR_FLAG, &evds[1]);
	return status;
}

/* example: dat_cno_wait dat_evd_dequeue */
DAT_RETURN next_of_two(DAT_EVD_HANDLE evds[2], DAT_CNO_HANDLE cno,
		       DAT_EVENT *event)
{
	DAT_EVD_HANDLE which;
	DAT_RETURN status;

	for (;;) {
		int each;

		for (each = 0; each < 2; each++) {
			status = dat_evd_dequeue(evds[each], event);
			if (DAT_GET_TYPE(status) != DAT_QUEUE_EMPTY)
				return status;
		}
		status = dat_cno_wait(cno, DAT_TIMEOUT_INFINITE, &which);
		if (status != DAT_SUCCESS)
			return status;
	}
}

/* example: dat_cno_modify_agent dat_cno_query */
void agent(DAT_PVOID name, DAT_EVD_HANDLE evd)
{
	(void)evd; /* has an event */
	fprintf(stderr, "%s: events\n", (const char *)name);
}

DAT_RETURN call_when_triggered(DAT_CNO_HANDLE cno)
{
	DAT_OS_WAIT_PROXY_AGENT proxy = { (DAT_PVOID) "server", agent };
	DAT_CNO_PARAM now;
	DAT_RETURN status = dat_cno_query(cno, DAT_CNO_FIELD_AGENT, &now);

	if (status == DAT_SUCCESS && now.agent.proxy_agent_func != agent)
		status = dat_cno_modify_agent(cno, proxy);
	return status;
}

/* example: dat_evd_free dat_cno_free */
void drop_queues(DAT_EVD_HANDLE evds[2], DAT_CNO_HANDLE cno)
{
	dat_evd_free(evds[0]); /* after the endpoints that feed it */
	dat_evd_free(evds[1]);
	dat_cno_free(cno); /* after its EVDs */
}

/* example: dat_evd_wait */
DAT_RETURN wait_for_transfer(DAT_EVD_HANDLE evd)
{
	DAT_EVENT event;
	DAT_COUNT left;
	DAT_RETURN status =
		dat_evd_wait(evd, 1000000, 1, &event, &left); /* a second */

	if (DAT_GET_TYPE(status) == DAT_TIMEOUT_EXPIRED)
		fprintf(stderr, "nothing came\n");
	if (status == DAT_SUCCESS &&
	    event.event_number == DAT_DTO_COMPLETION_EVENT &&
	    event.event_data.dto_completion_event_data.status !=
		    DAT_DTO_SUCCESS)
		fprintf(stderr, "the connection broke\n");
	return status;
}

/* example: dat_evd_set_unwaitable dat_evd_clear_unwaitable */
DAT_RETURN stop_waiters(DAT_EVD_HANDLE evd)
{
	/* A thread in dat_evd_wait() returns with DAT_INVALID_STATE. */
	DAT_RETURN status = dat_evd_set_unwaitable(evd);

	/* ... once that thread has stopped, others may wait again: */
	return status == DAT_SUCCESS ? dat_evd_clear_unwaitable(evd) : status;
}

/* example: dat_evd_post_se */
DAT_RETURN wake_a_waiter(DAT_EVD_HANDLE evd, char *why)
{
	/* The EVD was created with DAT_EVD_SOFTWARE_FLAG. */
	DAT_EVENT event = { .event_number = DAT_SOFTWARE_EVENT };

	event.event_data.software_event_data.pointer = why;
	return dat_evd_post_se(evd, &event);
}

/* example: dat_evd_resize dat_evd_query */
DAT_RETURN grow(DAT_EVD_HANDLE evd, DAT_COUNT wanted)
{
	DAT_EVD_PARAM now;
	DAT_RETURN status = dat_evd_query(evd, DAT_EVD_FIELD_EVD_QLEN, &now);

	return status == DAT_SUCCESS && now.evd_qlen < wanted
		       ? dat_evd_resize(evd, wanted)
		       : status;
}

/* example: dat_evd_disable dat_evd_enable dat_evd_modify_cno */
DAT_RETURN quiet(DAT_EVD_HANDLE evd, DAT_CNO_HANDLE cno)
{
	DAT_RETURN status = dat_evd_disable(
		evd); /* events are queued, and trigger nothing */

	if (status == DAT_SUCCESS)
		status = dat_evd_modify_cno(evd, cno);
	return status == DAT_SUCCESS ? dat_evd_enable(evd) : status;
}

/* example: dat_ep_create dat_ep_modify */
DAT_RETURN endpoint(DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz, DAT_EVD_HANDLE evd,
		    DAT_EP_HANDLE *ep)
{
	DAT_EP_PARAM wanted = { .ep_attr = { .max_request_dtos = 64 } };
	DAT_RETURN status = dat_ep_create(ia, pz, evd, evd, evd, NULL, ep);

	/* Before it is connected. */
	return status == DAT_SUCCESS
		       ? dat_ep_modify(*ep,
				       DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_DTOS,
				       &wanted)
		       : status;
}

/* example: dat_srq_create dat_ep_create_with_srq dat_ep_set_watermark dat_ep_recv_query */
DAT_RETURN endpoints_that_share(DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz,
				DAT_EVD_HANDLE evd, DAT_EP_HANDLE eps[2])
{
	DAT_SRQ_ATTR wanted = { .max_recv_dtos = 64,
				.max_recv_iov = 1,
				.low_watermark = DAT_SRQ_LW_DEFAULT };
	DAT_COUNT taken, span;
	DAT_SRQ_HANDLE srq;
	DAT_RETURN status = dat_srq_create(ia, pz, &wanted, &srq);
	int each;

	for (each = 0; each < 2 && status == DAT_SUCCESS; each++)
		status = dat_ep_create_with_srq(ia, pz, evd, evd, evd, srq,
						NULL, &eps[each]);
	if (status == DAT_SUCCESS) /* more than 16 messages at a time: say so */
		status = dat_ep_set_watermark(eps[0], 16,
					      DAT_WATERMARK_INFINITE);
	if (status == DAT_SUCCESS &&
	    dat_ep_recv_query(eps[0], &taken, &span) == DAT_SUCCESS)
		printf("%d receives taken\n", (int)taken);
	return status;
}

/* example: dat_srq_post_recv dat_srq_query dat_srq_resize dat_srq_set_lw dat_srq_free */
DAT_RETURN tend(DAT_SRQ_HANDLE srq, DAT_LMR_TRIPLET *buffer)
{
	DAT_DTO_COOKIE cookie = { .as_ptr = buffer };
	DAT_SRQ_PARAM now;
	DAT_RETURN status = dat_srq_query(srq, DAT_SRQ_FIELD_ALL, &now);

	if (status != DAT_SUCCESS)
		return dat_srq_free(srq);
	if (now.outstanding_dto_count == now.max_recv_dtos)
		status = dat_srq_resize(srq, 2 * now.max_recv_dtos);
	if (status == DAT_SUCCESS)
		status = dat_srq_post_recv(srq, 1, buffer, cookie);
	return status == DAT_SUCCESS
		       ? dat_srq_set_lw(srq, 4)
		       : status; /* an event when fewer are left */
}

/* example: dat_ep_connect */
DAT_RETURN call_service(DAT_EP_HANDLE ep, DAT_IA_ADDRESS_PTR server,
			DAT_EVD_HANDLE evd)
{
	DAT_EVENT event;
	DAT_COUNT left;
	DAT_RETURN status =
		dat_ep_connect(ep, server, 5000, 10 * 1000 * 1000, 0, NULL,
			       DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG);

	if (status == DAT_SUCCESS)
		status = dat_evd_wait(evd, DAT_TIMEOUT_INFINITE, 1, &event,
				      &left);
	if (status == DAT_SUCCESS &&
	    event.event_number != DAT_CONNECTION_EVENT_ESTABLISHED)
		fprintf(stderr, "not connected: event %#x\n",
			(unsigned int)event.event_number);
	return status;
}

/* example: dat_ep_dup_connect */
DAT_RETURN connect_again(DAT_EP_HANDLE ep, DAT_EP_HANDLE like_this_one)
{
	return dat_ep_dup_connect(ep, like_this_one, DAT_TIMEOUT_INFINITE, 0,
				  NULL, DAT_QOS_BEST_EFFORT);
}

/* example: dat_ep_disconnect dat_ep_reset dat_ep_free */
DAT_RETURN hang_up(DAT_EP_HANDLE ep, DAT_EVD_HANDLE evd)
{
	DAT_RETURN status = dat_ep_disconnect(ep, DAT_CLOSE_GRACEFUL_FLAG);
	DAT_EVENT event;
	DAT_COUNT left;

	/* The EVD has the events of this EP alone. Completions come before the end. */
	while (status == DAT_SUCCESS) {
		status = dat_evd_wait(evd, 10 * 1000 * 1000, 1, &event, &left);
		if (status == DAT_SUCCESS &&
		    (event.event_number == DAT_CONNECTION_EVENT_DISCONNECTED ||
		     event.event_number == DAT_CONNECTION_EVENT_BROKEN))
			return dat_ep_reset(ep); /* the EP can connect again */
	}
	dat_ep_free(ep); /* no end so far: this call ends the connection */
	return status;
}

/* example: dat_ep_get_status dat_ep_query */
void show_endpoint(DAT_EP_HANDLE ep)
{
	DAT_BOOLEAN receives_idle, requests_idle;
	DAT_EP_STATE state;
	DAT_EP_PARAM now;

	if (dat_ep_get_status(ep, &state, &receives_idle, &requests_idle) ==
	    DAT_SUCCESS)
		printf("state %d%s\n", (int)state,
		       requests_idle ? ", nothing posted" : "");
	if (dat_ep_query(ep, DAT_EP_FIELD_ALL, &now) == DAT_SUCCESS)
		printf("messages of %llu bytes\n",
		       (unsigned long long)now.ep_attr.max_message_size);
}

/* example: dat_psp_create dat_psp_create_any dat_psp_query dat_psp_free dat_cr_accept */
DAT_RETURN serve(DAT_IA_HANDLE ia, DAT_EVD_HANDLE requests, DAT_EP_HANDLE ep)
{
	DAT_PSP_HANDLE psp;
	DAT_PSP_PARAM point;
	DAT_CONN_QUAL number;
	DAT_EVENT event;
	DAT_COUNT left;
	DAT_RETURN status =
		dat_psp_create(ia, 5000, requests, DAT_PSP_CONSUMER_FLAG, &psp);

	if (DAT_GET_TYPE(status) == DAT_CONN_QUAL_IN_USE)
		status = dat_psp_create_any(ia, &number, requests,
					    DAT_PSP_CONSUMER_FLAG, &psp);
	if (status != DAT_SUCCESS)
		return status;
	if (dat_psp_query(psp, DAT_PSP_FIELD_ALL, &point) == DAT_SUCCESS)
		printf("listens at %llu\n",
		       (unsigned long long)point.conn_qual);
	status = dat_evd_wait(requests, DAT_TIMEOUT_INFINITE, 1, &event, &left);
	if (status == DAT_SUCCESS)
		status = dat_cr_accept(
			event.event_data.cr_arrival_event_data.cr_handle, ep, 0,
			NULL);
	dat_psp_free(psp);
	return status;
}

/* example: dat_cr_query dat_cr_reject dat_cr_handoff */
DAT_RETURN judge(DAT_CR_HANDLE request, DAT_EP_HANDLE ep, DAT_COUNT load)
{
	DAT_CR_PARAM asked;
	DAT_RETURN status = dat_cr_query(request, DAT_CR_FIELD_ALL, &asked);

	if (status != DAT_SUCCESS || asked.private_data_size == 0)
		return dat_cr_reject(request);
	if (load > 100) /* another service point takes it */
		return dat_cr_handoff(request, 5001);
	return dat_cr_accept(request, ep, 0, NULL);
}

/* example: dat_rsp_create dat_rsp_query dat_rsp_free */
DAT_RETURN answer_one(DAT_IA_HANDLE ia, DAT_EP_HANDLE ep,
		      DAT_EVD_HANDLE requests)
{
	DAT_RSP_PARAM point;
	DAT_RSP_HANDLE rsp;
	DAT_RETURN status = dat_rsp_create(ia, 5002, ep, requests, &rsp);

	if (status != DAT_SUCCESS)
		return status;
	if (dat_rsp_query(rsp, DAT_RSP_FIELD_ALL, &point) == DAT_SUCCESS)
		printf("one connection at %llu\n",
		       (unsigned long long)point.conn_qual);
	return dat_rsp_free(rsp);
}

/* example: dat_lmr_create */
DAT_RETURN share(DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz, void *memory,
		 DAT_VLEN size, DAT_LMR_HANDLE *lmr, DAT_LMR_TRIPLET *local,
		 DAT_RMR_TRIPLET *remote)
{
	DAT_REGION_DESCRIPTION region = { .for_va = memory };

	local->virtual_address = remote->target_address =
		(DAT_VADDR)(uintptr_t)memory;
	local->segment_length = remote->segment_length = size;
	/* Whole pages: writes to others take longer (see rsmperf --dat, dat_unaligned). */
	return dat_lmr_create(ia, DAT_MEM_TYPE_VIRTUAL, region, size, pz,
			      DAT_MEM_PRIV_ALL_FLAG, lmr, &local->lmr_context,
			      &remote->rmr_context, NULL, NULL);
}

/* example: dat_lmr_query dat_lmr_free */
void unshare(DAT_LMR_HANDLE lmr)
{
	DAT_LMR_PARAM region;

	if (dat_lmr_query(lmr, DAT_LMR_FIELD_ALL, &region) == DAT_SUCCESS)
		printf("%llu bytes were registered\n",
		       (unsigned long long)region.registered_size);
	dat_lmr_free(lmr); /* before the memory goes away */
}

/* example: dat_rmr_create dat_rmr_bind dat_rmr_query */
DAT_RETURN lend(DAT_PZ_HANDLE pz, DAT_EP_HANDLE ep, DAT_LMR_TRIPLET *part,
		DAT_RMR_HANDLE *rmr, DAT_RMR_CONTEXT *context)
{
	DAT_RMR_COOKIE cookie = { .as_64 = 1 };
	DAT_RMR_PARAM now;
	DAT_RETURN status = dat_rmr_create(pz, rmr);

	/* The peer of ep may write there, and nowhere else; send it the context. */
	if (status == DAT_SUCCESS)
		status = dat_rmr_bind(
			*rmr, part, DAT_MEM_PRIV_REMOTE_WRITE_FLAG, ep, cookie,
			DAT_COMPLETION_DEFAULT_FLAG, context);
	return status == DAT_SUCCESS
		       ? dat_rmr_query(*rmr, DAT_RMR_FIELD_ALL, &now)
		       : status;
}

/* example: dat_rmr_free */
DAT_RETURN take_back(DAT_RMR_HANDLE rmr, DAT_EP_HANDLE ep)
{
	DAT_LMR_TRIPLET nothing = { .segment_length = 0 };
	DAT_RMR_COOKIE cookie = { .as_64 = 2 };
	DAT_RMR_CONTEXT context;
	DAT_RETURN status =
		dat_rmr_bind(rmr, &nothing, DAT_MEM_PRIV_NONE_FLAG, ep, cookie,
			     DAT_COMPLETION_DEFAULT_FLAG, &context);

	return status == DAT_SUCCESS ? dat_rmr_free(rmr) : status;
}

/* example: dat_ep_post_rdma_write */
DAT_RETURN data_then_flag(DAT_EP_HANDLE ep, DAT_LMR_TRIPLET *data,
			  DAT_RMR_TRIPLET *there, DAT_LMR_TRIPLET *flag,
			  DAT_RMR_TRIPLET *flag_there)
{
	DAT_DTO_COOKIE cookie = { .as_64 = 7 };
	DAT_RETURN status = dat_ep_post_rdma_write(
		ep, 1, data, cookie, there, DAT_COMPLETION_SUPPRESS_FLAG);

	/* Writes of a connection take effect in order. */
	if (status == DAT_SUCCESS)
		status = dat_ep_post_rdma_write(ep, 1, flag, cookie, flag_there,
						DAT_COMPLETION_DEFAULT_FLAG);
	return status; /* its event has the cookie */
}

/* example: dat_ep_post_rdma_read */
DAT_RETURN fetch(DAT_EP_HANDLE ep, DAT_LMR_TRIPLET *here,
		 DAT_RMR_TRIPLET *there)
{
	DAT_DTO_COOKIE cookie = { .as_ptr = here };

	/* The bytes are there when its event comes. */
	return dat_ep_post_rdma_read(ep, 1, here, cookie, there,
				     DAT_COMPLETION_DEFAULT_FLAG);
}

/* example: dat_ep_post_send dat_ep_post_recv */
DAT_RETURN ask(DAT_EP_HANDLE ep, DAT_LMR_TRIPLET *question,
	       DAT_LMR_TRIPLET *answer)
{
	DAT_DTO_COOKIE sent = { .as_64 = 1 }, received = { .as_64 = 2 };
	/* The receive first: the answer may be quick. */
	DAT_RETURN status = dat_ep_post_recv(ep, 1, answer, received,
					     DAT_COMPLETION_DEFAULT_FLAG);

	if (status == DAT_SUCCESS)
		status = dat_ep_post_send(ep, 1, question, sent,
					  DAT_COMPLETION_SUPPRESS_FLAG);
	return status;
}

/* example: dat_lmr_sync_rdma_read dat_lmr_sync_rdma_write */
DAT_RETURN portable_access(DAT_IA_HANDLE ia, DAT_LMR_TRIPLET *part)
{
	DAT_RETURN status = dat_lmr_sync_rdma_write(
		ia, part, 1); /* before we read what peers wrote */

	/* ... read it, change it ... */
	return status == DAT_SUCCESS ? dat_lmr_sync_rdma_read(ia, part, 1)
				     : status; /* before peers read it */
}

/* example: dat_set_consumer_context dat_get_consumer_context dat_get_handle_type */
DAT_RETURN remember(DAT_EP_HANDLE ep, void *session)
{
	DAT_CONTEXT context = { .as_ptr = session }, back;
	DAT_HANDLE_TYPE type;
	DAT_RETURN status = dat_get_handle_type(ep, &type);

	if (status == DAT_SUCCESS && type == DAT_HANDLE_TYPE_EP)
		status = dat_set_consumer_context(ep, context);
	return status == DAT_SUCCESS ? dat_get_consumer_context(ep, &back)
				     : status;
}
