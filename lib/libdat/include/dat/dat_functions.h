/* SPDX-License-Identifier: MIT */
/*
 * uDAPL 1.2: functions of <dat/dat.h>, which includes this.
 *
 * Every function returns DAT_SUCCESS or an error (<dat/dat_error.h>). The errors
 * are listed by type and subtype without their DAT_ and DAT_INVALID_ prefixes;
 * ARGn is DAT_INVALID_ARGn. Rules for all functions:
 * - DAT_INVALID_HANDLE for a handle that is NULL, not one, of another kind, freed,
 *   or of another IA instance than the first; HANDLE1 is the subtype where the first
 *   argument is an EVD or of any kind, otherwise the kind of the handle;
 * - DAT_INTERNAL_ERROR, and DAT_NOT_IMPLEMENTED if the provider lacks the function;
 * - DAT_INSUFFICIENT_RESOURCES (MEMORY) of functions that make something;
 * - of *_query: INVALID_PARAMETER, ARG2 (undefined bits in the mask) and ARG3 (no
 *   result pointer). At least the fields that the mask names are filled.
 * A function that fails has changed nothing, but may have written to its results. <dat/dat_error.h>
 * gives the meaning of a name without a reason in brackets. "As F(), and" stands for the errors of
 * F, except those that the list names again.
 *
 * The manual pages of section 3 are made of the comments below, which are the contract in short,
 * and of Documentation/man3/NAME.txt, which explains: tools/make-man3.
 *
 * Threads: unless the provider is thread-safe (DAT_THREADSAFE), several threads must not call
 * functions marked "MT: unsafe" on the same object at the same time.
 *
 * Time is in microseconds, sizes are in bytes, queues in entries, and addresses in
 * the byte order of the host.
 */
#ifndef _DAT_FUNCTIONS_H_
#define _DAT_FUNCTIONS_H_

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Registry, errors ------------------------------------------------------------------------ */

/**
 * dat_registry_list_providers - list the IAs of dat.conf
 * @max_to_return: structures in @dat_provider_list; 0 only counts
 * @entries_returned: out: structures filled, or how many there are if that is more
 * @dat_provider_list: pointers to @max_to_return structures of the caller, filled in the
 *	order of the file
 *
 * The list has all versions. If there is no file, the call succeeds with an empty list.
 *
 * INVALID_PARAMETER: ARG1 (@max_to_return is 0, negative or too small; the list is filled as
 * far as it goes), ARG2 (@entries_returned is NULL), ARG3 (the list or one of its elements is
 * NULL). INVALID_STATE (the library was shut down).
 */
DAT_RETURN dat_registry_list_providers(DAT_COUNT max_to_return, DAT_COUNT *entries_returned,
				       DAT_PROVIDER_INFO *dat_provider_list[]);

/**
 * dat_strerror - name an error
 * @value: what a function returned; the class does not matter
 * @major_message: out: name of its type, such as "DAT_INVALID_HANDLE"
 * @minor_message: out: name of its subtype; "" if it has none
 *
 * The texts are constants of the library.
 *
 * Returns DAT_INVALID_PARAMETER itself, without class and subtype, if @value is not defined or
 * a pointer is NULL.
 */
DAT_RETURN dat_strerror(DAT_RETURN value, const char **major_message, const char **minor_message);

/* ---- Interface adapter ----------------------------------------------------------------------- */

/**
 * dat_ia_query - ask for the attributes of an IA and its provider
 * @ia_handle: the IA
 * @async_evd_handle: out: its asynchronous EVD or DAT_EVD_OUT_OF_SCOPE; may be NULL
 * @ia_attr_mask: DAT_IA_FIELD_* that are wanted
 * @ia_attr: out: attributes of the adapter; may be NULL if @ia_attr_mask is 0
 * @provider_attr_mask: DAT_PROVIDER_FIELD_* that are wanted
 * @provider_attr: out: attributes of the provider; may be NULL if @provider_attr_mask is 0
 *
 * INVALID_PARAMETER: ARG3 or ARG5 (undefined bits), ARG4 or ARG6 (no structure).
 */
DAT_RETURN dat_ia_query(DAT_IA_HANDLE ia_handle, DAT_EVD_HANDLE *async_evd_handle,
			DAT_IA_ATTR_MASK ia_attr_mask, DAT_IA_ATTR *ia_attr,
			DAT_PROVIDER_ATTR_MASK provider_attr_mask,
			DAT_PROVIDER_ATTR *provider_attr);

/**
 * dat_ia_close - close an IA
 * @ia_handle: the IA; dead afterwards
 * @ia_flags: DAT_CLOSE_GRACEFUL_FLAG: only if everything that was made through it is freed.
 *	DAT_CLOSE_ABRUPT_FLAG: frees all that, breaks its connections, and ends waits:
 *	dat_evd_wait() returns DAT_ABORT, and dat_cno_wait() and agents get a NULL EVD.
 *
 * The call frees the asynchronous EVD of the IA if dat_ia_open() made it. MT: unsafe.
 *
 * INVALID_PARAMETER: ARG2 (undefined flag). INVALID_STATE: IA_IN_USE (graceful), none (the
 * library was shut down).
 */
DAT_RETURN dat_ia_close(DAT_IA_HANDLE ia_handle, DAT_CLOSE_FLAGS ia_flags);

/* ---- Any object ------------------------------------------------------------------------------ */

/**
 * dat_set_consumer_context - store a context with an object
 * @dat_handle: object of any kind
 * @context: the context; zeros are the same as none
 *
 * MT: unsafe.
 */
DAT_RETURN dat_set_consumer_context(DAT_HANDLE dat_handle, DAT_CONTEXT context);

/**
 * dat_get_consumer_context - return the context of an object
 * @dat_handle: object of any kind
 * @context: out: what was set, at first all zeros
 *
 * MT: unsafe.
 *
 * INVALID_PARAMETER: ARG2 (@context is NULL).
 */
DAT_RETURN dat_get_consumer_context(DAT_HANDLE dat_handle, DAT_CONTEXT *context);

/**
 * dat_get_handle_type - return the kind of an object
 * @dat_handle: object of any kind
 * @handle_type: out: its kind
 *
 * MT: unsafe.
 *
 * INVALID_PARAMETER: ARG2 (@handle_type is NULL).
 */
DAT_RETURN dat_get_handle_type(DAT_HANDLE dat_handle, DAT_HANDLE_TYPE *handle_type);

/* ---- Connection request ---------------------------------------------------------------------- */

/**
 * dat_cr_query - ask for the parameters of a connection request
 * @cr_handle: the request
 * @cr_param_mask: DAT_CR_FIELD_* that are wanted
 * @cr_param: out: the parameters; what it points at lasts until the request is answered
 */
DAT_RETURN dat_cr_query(DAT_CR_HANDLE cr_handle, DAT_CR_PARAM_MASK cr_param_mask,
			DAT_CR_PARAM *cr_param);

/**
 * dat_cr_accept - accept a connection request
 * @cr_handle: the request; dead if the call succeeds
 * @ep_handle: an unconnected EP with PZ and connection EVD; DAT_HANDLE_NULL if the request has
 *	an EP already
 * @private_data_size: bytes for the peer, 0 to max_private_data_size of the provider
 * @private_data: the bytes, copied; may be NULL if there are none
 *
 * The EP becomes DAT_EP_STATE_COMPLETION_PENDING. Its connection EVD gets
 * DAT_CONNECTION_EVENT_ESTABLISHED or DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR later.
 * MT: unsafe.
 *
 * INVALID_HANDLE: EP (none although the request brings none, one although the request brings
 * one, or one that lacks PZ or connection EVD). INVALID_PARAMETER: ARG3 (negative, or beyond
 * max_private_data_size), ARG4 (a size and no data). INVALID_STATE: that of the EP.
 * INSUFFICIENT_RESOURCES: MEMORY, TEP.
 */
DAT_RETURN dat_cr_accept(DAT_CR_HANDLE cr_handle, DAT_EP_HANDLE ep_handle,
			 DAT_COUNT private_data_size, const DAT_PVOID private_data);

/**
 * dat_cr_reject - reject a connection request
 * @cr_handle: the request; dead afterwards
 *
 * The peer gets DAT_CONNECTION_EVENT_PEER_REJECTED. An EP of a reserved service point is
 * unconnected again, and an EP that the provider made is freed. MT: unsafe.
 */
DAT_RETURN dat_cr_reject(DAT_CR_HANDLE cr_handle);

/**
 * dat_cr_handoff - pass a connection request on
 * @cr_handle: the request; dead afterwards
 * @handoff: qualifier of another service point of the same IA, which gets the request as a new one.
 *	If no service point listens on it, the peer gets DAT_CONNECTION_EVENT_NON_PEER_REJECTED.
 *
 * MT: unsafe.
 *
 * INVALID_PARAMETER: ARG2 (it is 0, which is no qualifier).
 */
DAT_RETURN dat_cr_handoff(DAT_CR_HANDLE cr_handle, DAT_CONN_QUAL handoff);

/* ---- Event dispatcher ------------------------------------------------------------------------ */

/**
 * dat_evd_query - ask for the parameters of an EVD
 * @evd_handle: the EVD
 * @evd_param_mask: DAT_EVD_FIELD_* that are wanted
 * @evd_param: out: the parameters; evd_qlen is the real length of the queue
 *
 * MT: unsafe.
 */
DAT_RETURN dat_evd_query(DAT_EVD_HANDLE evd_handle, DAT_EVD_PARAM_MASK evd_param_mask,
			 DAT_EVD_PARAM *evd_param);

/**
 * dat_evd_resize - change the length of an EVD's queue
 * @evd_handle: the EVD
 * @evd_min_qlen: events that it must hold; no event is lost
 *
 * MT: unsafe.
 *
 * INVALID_PARAMETER: ARG2 (not positive, or beyond max_evd_qlen of the IA). INVALID_STATE
 * (fewer than are queued now). INSUFFICIENT_RESOURCES: MEMORY.
 */
DAT_RETURN dat_evd_resize(DAT_EVD_HANDLE evd_handle, DAT_COUNT evd_min_qlen);

/**
 * dat_evd_post_se - queue an event of the program's own
 * @evd_handle: an EVD with DAT_EVD_SOFTWARE_FLAG
 * @event: DAT_SOFTWARE_EVENT and its pointer; the rest does not matter
 *
 * MT: unsafe.
 *
 * INVALID_PARAMETER: ARG1 (not for software events), ARG2 (@event is NULL or of another
 * number). QUEUE_FULL.
 */
DAT_RETURN dat_evd_post_se(DAT_EVD_HANDLE evd_handle, const DAT_EVENT *event);

/**
 * dat_evd_dequeue - take the first event, if there is one
 * @evd_handle: the EVD
 * @event: out: the event
 *
 * INVALID_PARAMETER: ARG2 (@event is NULL). INVALID_STATE: EVD_WAITER (a thread waits), none
 * (drained after an overflow). QUEUE_EMPTY.
 */
DAT_RETURN dat_evd_dequeue(DAT_EVD_HANDLE evd_handle, DAT_EVENT *event);

/**
 * dat_evd_free - free an EVD and what is queued on it
 * @evd_handle: the EVD; dead afterwards
 *
 * MT: unsafe.
 *
 * INVALID_STATE: EVD_IN_USE (an EP or a service point uses it, or it is the asynchronous EVD of an
 * IA), EVD_WAITER (a thread waits).
 */
DAT_RETURN dat_evd_free(DAT_EVD_HANDLE evd_handle);

/* ---- Endpoint -------------------------------------------------------------------------------- */

/**
 * dat_ep_create - make an endpoint
 * @ia_handle: its IA
 * @pz_handle: its PZ, or DAT_HANDLE_NULL until dat_ep_modify()
 * @recv_evd_handle: for completions of receives; DAT_HANDLE_NULL: there are none
 * @request_evd_handle: for completions of everything else; likewise
 * @connect_evd_handle: for events of its connection, or DAT_HANDLE_NULL until
 *	dat_ep_modify()
 * @ep_attributes: the least abilities of the EP, or NULL for the defaults of the provider
 * @ep_handle: out: the EP, unconnected
 *
 * INVALID_HANDLE: PZ (@pz_handle is no live PZ of this IA), EVD_RECV or EVD_REQUEST or EVD_CONN
 * (not an EVD, or one that does not take such events). INVALID_PARAMETER: ARG6 (limits beyond
 * those of the IA, queues that do not match the EVDs, or flags that do not go together), ARG7
 * (@ep_handle is NULL). MODEL_NOT_SUPPORTED (a quality of service or named attributes that the
 * provider lacks). INSUFFICIENT_RESOURCES: MEMORY, TEP.
 */
DAT_RETURN dat_ep_create(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE pz_handle,
			 DAT_EVD_HANDLE recv_evd_handle, DAT_EVD_HANDLE request_evd_handle,
			 DAT_EVD_HANDLE connect_evd_handle, const DAT_EP_ATTR *ep_attributes,
			 DAT_EP_HANDLE *ep_handle);

/**
 * dat_ep_create_with_srq - make an endpoint that takes receives from an SRQ
 * @ia_handle: as for dat_ep_create(), like the next four
 * @pz_handle: unless the provider says srq_ep_pz_difference_supported, that of the SRQ
 * @recv_evd_handle: for completions of the SRQ's buffers that this EP used
 * @request_evd_handle: for completions of requests
 * @connect_evd_handle: for events of its connection
 * @srq_handle: the SRQ, for as long as the EP lives
 * @ep_attributes: not NULL; max_recv_dtos and srq_soft_hw are the hard and soft high
 *	watermarks, max_recv_iov does not matter
 * @ep_handle: out: the EP, unconnected
 *
 * INVALID_HANDLE: PZ (@pz_handle is no live PZ of this IA), EVD_RECV or EVD_REQUEST or EVD_CONN
 * (not an EVD, or one that does not take such events), SRQ (@srq_handle is no live SRQ of this
 * IA). INVALID_PARAMETER: ARG2 (another PZ than that of the SRQ), ARG7 (NULL, limits beyond
 * those of the IA, or flags that do not go together), ARG8 (@ep_handle is NULL).
 * MODEL_NOT_SUPPORTED (a quality of service or named attributes that the provider lacks).
 * INSUFFICIENT_RESOURCES: MEMORY, TEP.
 */
DAT_RETURN dat_ep_create_with_srq(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE pz_handle,
				  DAT_EVD_HANDLE recv_evd_handle,
				  DAT_EVD_HANDLE request_evd_handle,
				  DAT_EVD_HANDLE connect_evd_handle, DAT_SRQ_HANDLE srq_handle,
				  const DAT_EP_ATTR *ep_attributes, DAT_EP_HANDLE *ep_handle);

/**
 * dat_ep_query - ask for the parameters of an EP
 * @ep_handle: the EP
 * @ep_param_mask: DAT_EP_FIELD_* that are wanted
 * @ep_param: out: the parameters. The remote ones are valid from the connection request until the
 *	end of the connection.
 *
 * MT: unsafe.
 */
DAT_RETURN dat_ep_query(DAT_EP_HANDLE ep_handle, DAT_EP_PARAM_MASK ep_param_mask,
			DAT_EP_PARAM *ep_param);

/**
 * dat_ep_modify - change parameters of an EP, all or none
 * @ep_handle: the EP
 * @ep_param_mask: DAT_EP_FIELD_* to change: not IA, state, addresses, ports, SRQ or its
 *	watermark
 * @ep_param: what to change them to
 *
 * The PZ can be changed if the EP is unconnected or tentative; EVDs and attributes if it is
 * reserved or passive, too; named attributes only if it is unconnected; the completion flags of
 * receives only before one is posted. MT: unsafe.
 *
 * INVALID_PARAMETER: ARG2 (a field that can't be changed), ARG3 (a value that the EP can't have).
 * INVALID_STATE: that of the EP. INSUFFICIENT_RESOURCES: MEMORY.
 */
DAT_RETURN dat_ep_modify(DAT_EP_HANDLE ep_handle, DAT_EP_PARAM_MASK ep_param_mask,
			 const DAT_EP_PARAM *ep_param);

/**
 * dat_ep_connect - ask a peer for a connection
 * @ep_handle: an unconnected EP with PZ and connection EVD
 * @remote_ia_address: address of the peer's IA, copied; a port in it does not matter
 * @remote_conn_qual: qualifier on which the peer's service point listens
 * @timeout: microseconds, not 0, or DAT_TIMEOUT_INFINITE
 * @private_data_size: bytes for the peer, 0 to max_private_data_size of the provider
 * @private_data: the bytes, copied; may be NULL if there are none
 * @quality_of_service: DAT_QOS_BEST_EFFORT, or what the provider supports
 * @connect_flags: DAT_CONNECT_DEFAULT_FLAG, or multipath if the provider supports it
 *
 * The EP becomes DAT_EP_STATE_ACTIVE_CONNECTION_PENDING. Later, its connection EVD gets
 * DAT_CONNECTION_EVENT_ESTABLISHED with the private data of the peer, or one of _PEER_REJECTED,
 * _NON_PEER_REJECTED, _UNREACHABLE, _TIMED_OUT, or _DISCONNECTED after dat_ep_disconnect().
 * MT: unsafe.
 *
 * Example: examples/demo-dat-client.c
 *
 * INVALID_HANDLE: EVD_CONN (the EP has no connection EVD). INVALID_PARAMETER: ARG2 (it is NULL),
 * ARG4 (it is 0), ARG5 (negative, or beyond max_private_data_size), ARG6 (a size and no data),
 * ARG7 or ARG8 (undefined bits). INVALID_STATE: that of the EP, EP_NOTREADY (the EP has no PZ).
 * INVALID_ADDRESS: MALFORMED, UNSUPPORTED, UNREACHABLE. MODEL_NOT_SUPPORTED (a quality of
 * service or multipath that the provider lacks). INSUFFICIENT_RESOURCES: MEMORY, TEP.
 */
DAT_RETURN dat_ep_connect(DAT_EP_HANDLE ep_handle, DAT_IA_ADDRESS_PTR remote_ia_address,
			  DAT_CONN_QUAL remote_conn_qual, DAT_TIMEOUT timeout,
			  DAT_COUNT private_data_size, const DAT_PVOID private_data,
			  DAT_QOS quality_of_service, DAT_CONNECT_FLAGS connect_flags);

/**
 * dat_ep_dup_connect - ask the peer of another EP for one more connection
 * @ep_handle: as for dat_ep_connect()
 * @dup_ep_handle: a connected EP; address, qualifier and flags are those of its connection
 * @timeout: as for dat_ep_connect(), like the rest
 * @private_data_size: bytes for the peer
 * @private_data: the bytes
 * @quality_of_service: as for dat_ep_connect()
 *
 * MT: unsafe.
 *
 * INVALID_HANDLE: EP (@ep_handle or @dup_ep_handle is no live EP, or they are of different IAs),
 * EVD_CONN (the EP has no connection EVD). INVALID_PARAMETER: ARG3 (it is 0), ARG4 (negative, or
 * beyond max_private_data_size), ARG5 (a size and no data), ARG6 (undefined bits).
 * INVALID_STATE: that of the EP or of @dup_ep_handle, EP_NOTREADY (the EP has no PZ).
 * MODEL_NOT_SUPPORTED (a quality of service that the provider lacks). INSUFFICIENT_RESOURCES:
 * MEMORY, TEP.
 */
DAT_RETURN dat_ep_dup_connect(DAT_EP_HANDLE ep_handle, DAT_EP_HANDLE dup_ep_handle,
			      DAT_TIMEOUT timeout, DAT_COUNT private_data_size,
			      const DAT_PVOID private_data, DAT_QOS quality_of_service);

/**
 * dat_ep_disconnect - end a connection
 * @ep_handle: an EP that is connected or connecting; on a disconnected one the call has no effect
 * @disconnect_flags: DAT_CLOSE_ABRUPT_FLAG: everything outstanding is flushed.
 *	DAT_CLOSE_GRACEFUL_FLAG: the posted requests complete first.
 *
 * Both sides get DAT_CONNECTION_EVENT_DISCONNECTED. MT: unsafe.
 *
 * INVALID_PARAMETER: ARG2 (undefined flag). INVALID_STATE: that of the EP.
 */
DAT_RETURN dat_ep_disconnect(DAT_EP_HANDLE ep_handle, DAT_CLOSE_FLAGS disconnect_flags);

/**
 * dat_ep_reset - make a disconnected EP unconnected, so that it can be used again
 * @ep_handle: the EP; if it is unconnected, the call has no effect
 *
 * The call may block. MT: unsafe.
 *
 * INVALID_STATE: that of the EP.
 */
DAT_RETURN dat_ep_reset(DAT_EP_HANDLE ep_handle);

/**
 * dat_ep_free - free an EP
 * @ep_handle: the EP, neither reserved nor passive nor tentative; dead afterwards
 *
 * The call ends a connection, and drops completions that the program has not dequeued. MT: unsafe.
 *
 * INVALID_STATE: that of the EP.
 */
DAT_RETURN dat_ep_free(DAT_EP_HANDLE ep_handle);

/**
 * dat_ep_get_status - return the state of an EP
 * @ep_handle: the EP
 * @ep_state: out: its state
 * @recv_idle: out: no receive is outstanding
 * @request_idle: out: no request is outstanding
 *
 * Each result may be NULL.
 */
DAT_RETURN dat_ep_get_status(DAT_EP_HANDLE ep_handle, DAT_EP_STATE *ep_state,
			     DAT_BOOLEAN *recv_idle, DAT_BOOLEAN *request_idle);

/**
 * dat_ep_post_send - send a message
 * @ep_handle: a connected EP; on one that is disconnected the message is flushed at once
 * @num_segments: segments in @local_iov
 * @local_iov: the message, memory with local read privilege
 * @user_cookie: for the completion
 * @completion_flags: SUPPRESS, SOLICITED_WAIT, UNSIGNALLED, BARRIER_FENCE
 *
 * The posts of transfers neither block nor allocate. One thread at a time may post receives to an
 * EP, and one thread at a time may post requests. Segments with length 0 are skipped; a post
 * without segments is a message of 0 bytes. The provider attribute iov_ownership_on_return tells
 * whether the program may use the vector again after the post. The program must not change or free
 * the memory before the transfer completes. MT: unsafe.
 *
 * INVALID_PARAMETER: ARG2 (more segments than the EP takes), ARG3 (no vector, or a segment beyond
 * its LMR), ARG5 (undefined flags, or not for this). PROTECTION_VIOLATION (the PZ of a segment is
 * not that of the EP). PRIVILEGES_VIOLATION (the LMR of a segment lacks the right).
 * INVALID_STATE: that of the EP. INSUFFICIENT_RESOURCES: MEMORY (the queue is full).
 */
DAT_RETURN dat_ep_post_send(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments,
			    DAT_LMR_TRIPLET *local_iov, DAT_DTO_COOKIE user_cookie,
			    DAT_COMPLETION_FLAGS completion_flags);

/**
 * dat_ep_post_recv - provide memory for a message
 * @ep_handle: an EP in any state; on one that is disconnected the receive is flushed at once
 * @num_segments: segments in @local_iov
 * @local_iov: memory with local write privilege, which the message fills from the start
 * @user_cookie: for the completion
 * @completion_flags: UNSIGNALLED
 *
 * As for dat_ep_post_send(), the post neither blocks nor allocates. MT: unsafe.
 *
 * INVALID_PARAMETER: ARG2 (more segments than the EP takes), ARG3 (no vector, or a segment beyond
 * its LMR), ARG5 (undefined flags, or not for this). PROTECTION_VIOLATION (the PZ of a segment is
 * not that of the EP). PRIVILEGES_VIOLATION (the LMR of a segment lacks the right). INVALID_STATE
 * (the EP has an SRQ). INSUFFICIENT_RESOURCES: MEMORY (the queue is full).
 */
DAT_RETURN dat_ep_post_recv(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments,
			    DAT_LMR_TRIPLET *local_iov, DAT_DTO_COOKIE user_cookie,
			    DAT_COMPLETION_FLAGS completion_flags);

/**
 * dat_ep_post_rdma_read - read a peer's memory
 * @ep_handle: as for dat_ep_post_send()
 * @num_segments: segments in @local_iov
 * @local_iov: destination: memory with local write privilege, filled from the start
 * @user_cookie: for the completion
 * @remote_iov: one piece of the peer's memory, all of which is read; copied
 * @completion_flags: SUPPRESS, UNSIGNALLED, BARRIER_FENCE
 *
 * The peer checks the remote side: if the check fails, the completion has
 * DAT_DTO_ERR_REMOTE_ACCESS and the connection breaks. Otherwise the rules are those of
 * dat_ep_post_send(). MT: unsafe.
 *
 * As dat_ep_post_send(), and INVALID_PARAMETER: ARG5 (no @remote_iov), ARG6 (undefined flags, or
 * not for this). LENGTH_ERROR (the local side is smaller).
 */
DAT_RETURN dat_ep_post_rdma_read(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments,
				 DAT_LMR_TRIPLET *local_iov, DAT_DTO_COOKIE user_cookie,
				 const DAT_RMR_TRIPLET *remote_iov,
				 DAT_COMPLETION_FLAGS completion_flags);

/**
 * dat_ep_post_rdma_write - write a peer's memory
 * @ep_handle: as for dat_ep_post_send()
 * @num_segments: segments in @local_iov
 * @local_iov: source: memory with local read privilege
 * @user_cookie: for the completion
 * @remote_iov: one piece of the peer's memory, written from its start; copied
 * @completion_flags: SUPPRESS, UNSIGNALLED, BARRIER_FENCE
 *
 * The peer sees the data before it sees the completion of a receive that matches a later send.
 *
 * The peer checks the remote side: if the check fails, the completion has
 * DAT_DTO_ERR_REMOTE_ACCESS and the connection breaks. Otherwise the rules are those of
 * dat_ep_post_send(). MT: unsafe.
 *
 * As dat_ep_post_send(), and INVALID_PARAMETER: ARG5 (no @remote_iov), ARG6 (undefined flags, or
 * not for this). LENGTH_ERROR (the remote side is smaller).
 */
DAT_RETURN dat_ep_post_rdma_write(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments,
				  DAT_LMR_TRIPLET *local_iov, DAT_DTO_COOKIE user_cookie,
				  const DAT_RMR_TRIPLET *remote_iov,
				  DAT_COMPLETION_FLAGS completion_flags);

/**
 * dat_ep_recv_query - count the receive buffers that an EP holds
 * @ep_handle: the EP
 * @nbufs_allocated: out: buffers held and not completed, or DAT_VALUE_UNKNOWN
 * @bufs_alloc_span: out: messages from the last that completed to the last that holds a buffer,
 *	or DAT_VALUE_UNKNOWN
 *
 * One of the results may be NULL. MT: unsafe.
 *
 * INVALID_PARAMETER: ARG2 (both are NULL). MODEL_NOT_SUPPORTED.
 */
DAT_RETURN dat_ep_recv_query(DAT_EP_HANDLE ep_handle, DAT_COUNT *nbufs_allocated,
			     DAT_COUNT *bufs_alloc_span);

/**
 * dat_ep_set_watermark - limit the receive buffers that an EP holds
 * @ep_handle: the EP
 * @soft_high_watermark: more than that gives one asynchronous event per call of this function
 * @hard_high_watermark: more than that breaks the connection
 *
 * DAT_WATERMARK_INFINITE is no limit. MT: unsafe.
 *
 * INVALID_PARAMETER: ARG2 or ARG3 (negative, but not DAT_WATERMARK_INFINITE).
 * MODEL_NOT_SUPPORTED.
 */
DAT_RETURN dat_ep_set_watermark(DAT_EP_HANDLE ep_handle, DAT_COUNT soft_high_watermark,
				DAT_COUNT hard_high_watermark);

/* ---- Memory ---------------------------------------------------------------------------------- */

/**
 * dat_lmr_free - end the registration of memory
 * @lmr_handle: the LMR; dead afterwards, its contexts as well
 *
 * MT: unsafe.
 *
 * INVALID_STATE: LMR_IN_USE (an RMR is bound to it).
 */
DAT_RETURN dat_lmr_free(DAT_LMR_HANDLE lmr_handle);

/**
 * dat_lmr_sync_rdma_read - let a peer's RDMA Reads see what was written to memory
 * @ia_handle: IA that the memory is registered with
 * @local_segments: the memory; LMRs may differ
 * @num_segments: number of them; 0 is nothing to do
 *
 * If the provider attribute lmr_sync_req is DAT_TRUE, call the function after writing and before
 * the peer reads. MT: unsafe.
 *
 * INVALID_PARAMETER: ARG2 (a segment that is not registered).
 */
DAT_RETURN dat_lmr_sync_rdma_read(DAT_IA_HANDLE ia_handle, const DAT_LMR_TRIPLET *local_segments,
				  DAT_VLEN num_segments);

/**
 * dat_lmr_sync_rdma_write - see what a peer's RDMA Writes wrote to memory
 * @ia_handle: IA that the memory is registered with
 * @local_segments: the memory; LMRs may differ
 * @num_segments: number of them; 0 is nothing to do
 *
 * If the provider attribute lmr_sync_req is DAT_TRUE, call the function after the peer wrote and
 * before reading or writing the memory, and between a local write and the next write of the peer.
 * MT: unsafe.
 *
 * INVALID_PARAMETER: ARG2 (a segment that is not registered).
 */
DAT_RETURN dat_lmr_sync_rdma_write(DAT_IA_HANDLE ia_handle, const DAT_LMR_TRIPLET *local_segments,
				   DAT_VLEN num_segments);

/**
 * dat_rmr_create - make an RMR, not bound to anything
 * @pz_handle: its PZ, for as long as it lives
 * @rmr_handle: out: the RMR
 *
 * INVALID_PARAMETER: ARG2 (@rmr_handle is NULL). INSUFFICIENT_RESOURCES: MEMORY, MEMORY_REGION.
 */
DAT_RETURN dat_rmr_create(DAT_PZ_HANDLE pz_handle, DAT_RMR_HANDLE *rmr_handle);

/**
 * dat_rmr_query - ask for the parameters of an RMR
 * @rmr_handle: the RMR
 * @rmr_param_mask: DAT_RMR_FIELD_* that are wanted
 * @rmr_param: out: the parameters
 *
 * MT: unsafe.
 */
DAT_RETURN dat_rmr_query(DAT_RMR_HANDLE rmr_handle, DAT_RMR_PARAM_MASK rmr_param_mask,
			 DAT_RMR_PARAM *rmr_param);

/**
 * dat_rmr_bind - bind an RMR to part of an LMR, or to nothing
 * @rmr_handle: the RMR; what it was bound to before is no longer reachable through it
 * @lmr_triplet: the memory; length 0 only unbinds
 * @mem_priv: remote rights that it gives; local ones are ignored
 * @ep_handle: a connected EP, on whose request queue the bind is posted; same PZ as RMR and LMR
 * @user_cookie: for the completion, DAT_RMR_BIND_COMPLETION_EVENT
 * @completion_flags: SUPPRESS, UNSIGNALLED, BARRIER_FENCE
 * @rmr_context: out: new context for the peer, valid when the bind has completed, and for a peer
 *	that gets it by a later send on the same EP; may be NULL
 *
 * MT: unsafe.
 *
 * INVALID_HANDLE: EP (@ep_handle is no live EP of the RMR's IA). INVALID_PARAMETER: ARG2 (no
 * piece of an LMR), ARG3 (undefined privileges), ARG6 (undefined flags, or not for this).
 * INVALID_STATE: that of the EP. PROTECTION_VIOLATION (the PZs of RMR, LMR and EP differ).
 * PRIVILEGES_VIOLATION: READ or WRITE (the LMR lacks that local privilege). MODEL_NOT_SUPPORTED.
 * INSUFFICIENT_RESOURCES: MEMORY.
 */
DAT_RETURN dat_rmr_bind(DAT_RMR_HANDLE rmr_handle, const DAT_LMR_TRIPLET *lmr_triplet,
			DAT_MEM_PRIV_FLAGS mem_priv, DAT_EP_HANDLE ep_handle,
			DAT_RMR_COOKIE user_cookie, DAT_COMPLETION_FLAGS completion_flags,
			DAT_RMR_CONTEXT *rmr_context);

/**
 * dat_rmr_free - free an RMR, bound or not
 * @rmr_handle: the RMR; dead afterwards
 *
 * MT: unsafe.
 */
DAT_RETURN dat_rmr_free(DAT_RMR_HANDLE rmr_handle);

/* ---- Service points -------------------------------------------------------------------------- */

/**
 * dat_psp_create - listen on a connection qualifier
 * @ia_handle: the IA
 * @conn_qual: qualifier to listen on, not 0
 * @evd_handle: EVD with DAT_EVD_CR_FLAG; its length is the backlog
 * @psp_flags: the side that makes the EP for a request
 * @psp_handle: out: the service point. Requests may come before the call returns.
 *
 * Example: examples/demo-dat-server.c
 *
 * INVALID_HANDLE: EVD_CR (@evd_handle is no live EVD of this adapter with DAT_EVD_CR_FLAG).
 * INVALID_PARAMETER: ARG2 (qualifier is 0), ARG4 (undefined flags, or not for this), ARG5
 * (@psp_handle is NULL). CONN_QUAL_IN_USE. MODEL_NOT_SUPPORTED (the provider does not make EPs).
 * INSUFFICIENT_RESOURCES: MEMORY.
 */
DAT_RETURN dat_psp_create(DAT_IA_HANDLE ia_handle, DAT_CONN_QUAL conn_qual,
			  DAT_EVD_HANDLE evd_handle, DAT_PSP_FLAGS psp_flags,
			  DAT_PSP_HANDLE *psp_handle);

/**
 * dat_psp_create_any - listen on a connection qualifier that is free
 * @ia_handle: as for dat_psp_create(), like the rest
 * @conn_qual: out: the qualifier
 * @evd_handle: EVD with DAT_EVD_CR_FLAG
 * @psp_flags: the side that makes the EP for a request
 * @psp_handle: out: the service point
 *
 * INVALID_HANDLE: EVD_CR (@evd_handle is no live EVD of this adapter with DAT_EVD_CR_FLAG).
 * INVALID_PARAMETER: ARG2 (@conn_qual is NULL), ARG4 (undefined flags, or not for this), ARG5
 * (@psp_handle is NULL). CONN_QUAL_UNAVAILABLE. MODEL_NOT_SUPPORTED (the provider does not make
 * EPs). INSUFFICIENT_RESOURCES: MEMORY.
 */
DAT_RETURN dat_psp_create_any(DAT_IA_HANDLE ia_handle, DAT_CONN_QUAL *conn_qual,
			      DAT_EVD_HANDLE evd_handle, DAT_PSP_FLAGS psp_flags,
			      DAT_PSP_HANDLE *psp_handle);

/**
 * dat_psp_query - ask for the parameters of a public service point
 * @psp_handle: the service point
 * @psp_param_mask: DAT_PSP_FIELD_* that are wanted
 * @psp_param: out: the parameters
 */
DAT_RETURN dat_psp_query(DAT_PSP_HANDLE psp_handle, DAT_PSP_PARAM_MASK psp_param_mask,
			 DAT_PSP_PARAM *psp_param);

/**
 * dat_psp_free - stop listening
 * @psp_handle: the service point; dead afterwards. Requests that it delivered live on.
 *
 * MT: unsafe.
 */
DAT_RETURN dat_psp_free(DAT_PSP_HANDLE psp_handle);

/**
 * dat_rsp_create - listen for one request, for one EP
 * @ia_handle: the IA
 * @conn_qual: qualifier to listen on, not 0
 * @ep_handle: an unconnected EP, reserved from now on; DAT_HANDLE_NULL: one that the provider
 *	makes, if it makes any
 * @evd_handle: EVD with DAT_EVD_CR_FLAG
 * @rsp_handle: out: the service point
 *
 * INVALID_HANDLE: EP (@ep_handle is no live EP of this IA), EVD_CR (@evd_handle is no live EVD
 * of this adapter with DAT_EVD_CR_FLAG). INVALID_PARAMETER: ARG2 (qualifier is 0), ARG5 (@rsp_handle
 * is NULL). INVALID_STATE: that of the EP. CONN_QUAL_IN_USE. INSUFFICIENT_RESOURCES: MEMORY.
 */
DAT_RETURN dat_rsp_create(DAT_IA_HANDLE ia_handle, DAT_CONN_QUAL conn_qual,
			  DAT_EP_HANDLE ep_handle, DAT_EVD_HANDLE evd_handle,
			  DAT_RSP_HANDLE *rsp_handle);

/**
 * dat_rsp_query - ask for the parameters of a reserved service point
 * @rsp_handle: the service point
 * @rsp_param_mask: DAT_RSP_FIELD_* that are wanted
 * @rsp_param: out: the parameters
 */
DAT_RETURN dat_rsp_query(DAT_RSP_HANDLE rsp_handle, DAT_RSP_PARAM_MASK rsp_param_mask,
			 DAT_RSP_PARAM *rsp_param);

/**
 * dat_rsp_free - stop listening
 * @rsp_handle: the service point; dead afterwards. If no request has come, the EP is unconnected
 *	again.
 *
 * MT: unsafe.
 */
DAT_RETURN dat_rsp_free(DAT_RSP_HANDLE rsp_handle);

/* ---- Protection zone ------------------------------------------------------------------------- */

/**
 * dat_pz_create - make a protection zone
 * @ia_handle: the IA
 * @pz_handle: out: the PZ
 *
 * INVALID_PARAMETER: ARG2 (@pz_handle is NULL). INSUFFICIENT_RESOURCES: MEMORY,
 * PROTECTION_DOMAIN.
 */
DAT_RETURN dat_pz_create(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE *pz_handle);

/**
 * dat_pz_query - ask for the parameters of a protection zone
 * @pz_handle: the PZ
 * @pz_param_mask: DAT_PZ_FIELD_* that are wanted
 * @pz_param: out: the parameters
 */
DAT_RETURN dat_pz_query(DAT_PZ_HANDLE pz_handle, DAT_PZ_PARAM_MASK pz_param_mask,
			DAT_PZ_PARAM *pz_param);

/**
 * dat_pz_free - free a protection zone
 * @pz_handle: the PZ; dead afterwards
 *
 * MT: unsafe.
 *
 * INVALID_STATE: PZ_IN_USE (an EP, LMR, RMR or SRQ has it).
 */
DAT_RETURN dat_pz_free(DAT_PZ_HANDLE pz_handle);

/* ---- Shared receive queue -------------------------------------------------------------------- */

/**
 * dat_srq_create - make a queue of receives for several endpoints
 * @ia_handle: the IA
 * @pz_handle: PZ of the memory that will be posted to it
 * @srq_attr: the least length and segments; dat_srq_query() returns the real ones
 * @srq_handle: out: the SRQ, empty
 *
 * INVALID_HANDLE: PZ (@pz_handle is no live PZ of this IA). INVALID_PARAMETER: ARG3 (NULL, a
 * length or segments that are not positive or beyond the limits of the IA, or a low watermark),
 * ARG4 (@srq_handle is NULL). MODEL_NOT_SUPPORTED. INSUFFICIENT_RESOURCES: MEMORY, SRQ.
 */
DAT_RETURN dat_srq_create(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE pz_handle,
			  DAT_SRQ_ATTR *srq_attr, DAT_SRQ_HANDLE *srq_handle);

/**
 * dat_srq_set_lw - request a warning when buffers run short
 * @srq_handle: the SRQ
 * @low_watermark: fewer buffers than that give one asynchronous event per call of this function,
 *	at once if there are fewer already; DAT_SRQ_LW_DEFAULT: none
 *
 * MT: unsafe.
 *
 * INVALID_PARAMETER: ARG2 (negative, or more than it holds). MODEL_NOT_SUPPORTED.
 */
DAT_RETURN dat_srq_set_lw(DAT_SRQ_HANDLE srq_handle, DAT_COUNT low_watermark);

/**
 * dat_srq_free - free an SRQ and the buffers on it
 * @srq_handle: the SRQ; dead afterwards
 *
 * MT: unsafe.
 *
 * INVALID_STATE: SRQ_IN_USE (an EP has it).
 */
DAT_RETURN dat_srq_free(DAT_SRQ_HANDLE srq_handle);

/**
 * dat_srq_query - ask for the parameters of an SRQ
 * @srq_handle: the SRQ
 * @srq_param_mask: DAT_SRQ_FIELD_* that are wanted
 * @srq_param: out: the parameters; a count that is not known is DAT_VALUE_UNKNOWN
 *
 * MT: unsafe.
 */
DAT_RETURN dat_srq_query(DAT_SRQ_HANDLE srq_handle, DAT_SRQ_PARAM_MASK srq_param_mask,
			 DAT_SRQ_PARAM *srq_param);

/**
 * dat_srq_resize - change the length of an SRQ
 * @srq_handle: the SRQ
 * @srq_max_recv_dto: buffers that it must hold; no buffer is lost
 *
 * MT: unsafe.
 *
 * INVALID_PARAMETER: ARG2 (not positive, or beyond max_recv_per_srq of the IA). INVALID_STATE
 * (fewer than outstanding, or than the low watermark). INSUFFICIENT_RESOURCES: MEMORY, SRQ.
 */
DAT_RETURN dat_srq_resize(DAT_SRQ_HANDLE srq_handle, DAT_COUNT srq_max_recv_dto);

/**
 * dat_srq_post_recv - provide memory for a message to any EP of the SRQ
 * @srq_handle: the SRQ
 * @num_segments: segments in @local_iov
 * @local_iov: memory of the SRQ's PZ with local write privilege
 * @user_cookie: for the completion, on the EVD of the EP that used it
 *
 * MT: unsafe.
 *
 * INVALID_PARAMETER: ARG2 (more segments than the SRQ takes), ARG3 (no vector, or a segment
 * beyond its LMR). PROTECTION_VIOLATION (the PZ of a segment is not that of the SRQ).
 * PRIVILEGES_VIOLATION (the LMR of a segment lacks the right). INSUFFICIENT_RESOURCES: MEMORY
 * (the queue is full).
 */
DAT_RETURN dat_srq_post_recv(DAT_SRQ_HANDLE srq_handle, DAT_COUNT num_segments,
			     DAT_LMR_TRIPLET *local_iov, DAT_DTO_COOKIE user_cookie);

#ifdef __cplusplus
}
#endif

#endif /* _DAT_FUNCTIONS_H_ */
