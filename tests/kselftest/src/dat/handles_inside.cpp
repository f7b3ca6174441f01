// SPDX-License-Identifier: GPL-2.0
// Handles that are not the first argument: none, of another kind, freed, of another instance of the
// IA (udapl-functions.md section 11).
#include "dat/support/objects.hpp"

#include <gtest/gtest.h>
#include <span>

using namespace rsmtest;
using namespace rsmtest::dat;

namespace {

struct Argument {
    const char *name;
    DAT_HANDLE_TYPE type;
    Result expected;
    bool may_be_null;
    DAT_RETURN (*call)(const Objects &good, DAT_HANDLE handle);
};

DAT_RETURN create_ep(const Objects &good, DAT_PZ_HANDLE pz, DAT_EVD_HANDLE receives,
                     DAT_EVD_HANDLE requests, DAT_EVD_HANDLE connections)
{
    DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
    return dat_ep_create(good.side.adapter, pz, receives, requests, connections, nullptr, &ep);
}

DAT_RETURN create_srq_ep(const Objects &good, DAT_PZ_HANDLE pz, DAT_EVD_HANDLE receives,
                         DAT_EVD_HANDLE requests, DAT_EVD_HANDLE connections, DAT_SRQ_HANDLE srq)
{
    const DAT_EP_ATTR attributes = default_attributes(good.side.adapter);
    DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
    return dat_ep_create_with_srq(good.side.adapter, pz, receives, requests, connections, srq,
                                  &attributes, &ep);
}

DAT_RETURN modify_ep(const Objects &good, DAT_EP_PARAM_MASK field, DAT_HANDLE handle)
{
    DAT_EP_PARAM param{};
    param.pz_handle = param.recv_evd_handle = handle;
    param.request_evd_handle = param.connect_evd_handle = handle;
    return dat_ep_modify(good.of(DAT_HANDLE_TYPE_EP), field, &param);
}

DAT_RETURN create_lmr(const Objects &good, DAT_MEM_TYPE type, DAT_PZ_HANDLE pz, DAT_LMR_HANDLE of)
{
    DAT_REGION_DESCRIPTION region{};
    DAT_LMR_HANDLE lmr = DAT_HANDLE_NULL;
    if (type == DAT_MEM_TYPE_LMR)
        region.for_lmr_handle = of;
    else
        region.for_va = good.side.memory.start;
    return dat_lmr_create(good.side.adapter, type, region, 64, pz, DAT_MEM_PRIV_ALL_FLAG, &lmr,
                          nullptr, nullptr, nullptr, nullptr);
}

DAT_RETURN bind_through(const Objects &good, DAT_EP_HANDLE ep)
{
    const DAT_LMR_TRIPLET piece = good.side.memory.piece(0, 64);
    DAT_RMR_CONTEXT context = 0;
    return dat_rmr_bind(good.of(DAT_HANDLE_TYPE_RMR), &piece, DAT_MEM_PRIV_REMOTE_READ_FLAG, ep,
                        cookie(0), DAT_COMPLETION_DEFAULT_FLAG, &context);
}

DAT_RETURN create_service(const Objects &good, DAT_EVD_HANDLE evd)
{
    DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
    return dat_psp_create(good.side.adapter, 12345678901, evd, DAT_PSP_CONSUMER_FLAG, &psp);
}

DAT_RETURN create_any_service(const Objects &good, DAT_EVD_HANDLE evd)
{
    DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
    DAT_CONN_QUAL qualifier = 0;
    return dat_psp_create_any(good.side.adapter, &qualifier, evd, DAT_PSP_CONSUMER_FLAG, &psp);
}

DAT_RETURN create_reserved(const Objects &good, DAT_EP_HANDLE ep, DAT_EVD_HANDLE evd)
{
    DAT_RSP_HANDLE rsp = DAT_HANDLE_NULL;
    return dat_rsp_create(good.side.adapter, 12345678901, ep, evd, &rsp);
}

#define CALL(...) [](const Objects &good, DAT_HANDLE handle) { return __VA_ARGS__; }
#define EVD(role) good.side.role

const Argument arguments[] = {
    {"dat_evd_create cno", DAT_HANDLE_TYPE_CNO, bad_handle(DAT_INVALID_HANDLE_CNO), true,
     [](const Objects &good, DAT_HANDLE handle) {
         DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
         return dat_evd_create(good.side.adapter, 4, handle, DAT_EVD_DTO_FLAG, &evd);
     }},
    {"dat_evd_modify_cno", DAT_HANDLE_TYPE_CNO, bad_handle(DAT_INVALID_HANDLE_CNO), true,
     CALL(dat_evd_modify_cno(good.of(DAT_HANDLE_TYPE_EVD), handle))},
    {"dat_ep_create pz", DAT_HANDLE_TYPE_PZ, bad_handle(DAT_INVALID_HANDLE_PZ), true,
     CALL(create_ep(good, handle, EVD(receives), EVD(requests), EVD(connections)))},
    {"dat_ep_create recv_evd", DAT_HANDLE_TYPE_EVD, bad_handle(DAT_INVALID_HANDLE_EVD_RECV), true,
     CALL(create_ep(good, good.side.pz, handle, EVD(requests), EVD(connections)))},
    {"dat_ep_create request_evd", DAT_HANDLE_TYPE_EVD, bad_handle(DAT_INVALID_HANDLE_EVD_REQUEST),
     true, CALL(create_ep(good, good.side.pz, EVD(receives), handle, EVD(connections)))},
    {"dat_ep_create connect_evd", DAT_HANDLE_TYPE_EVD, bad_handle(DAT_INVALID_HANDLE_EVD_CONN),
     true, CALL(create_ep(good, good.side.pz, EVD(receives), EVD(requests), handle))},
    {"with_srq pz", DAT_HANDLE_TYPE_PZ, bad_handle(DAT_INVALID_HANDLE_PZ), true,
     CALL(create_srq_ep(good, handle, EVD(receives), EVD(requests), EVD(connections),
                        good.of(DAT_HANDLE_TYPE_SRQ)))},
    {"with_srq recv_evd", DAT_HANDLE_TYPE_EVD, bad_handle(DAT_INVALID_HANDLE_EVD_RECV), true,
     CALL(create_srq_ep(good, good.side.pz, handle, EVD(requests), EVD(connections),
                        good.of(DAT_HANDLE_TYPE_SRQ)))},
    {"with_srq request_evd", DAT_HANDLE_TYPE_EVD, bad_handle(DAT_INVALID_HANDLE_EVD_REQUEST), true,
     CALL(create_srq_ep(good, good.side.pz, EVD(receives), handle, EVD(connections),
                        good.of(DAT_HANDLE_TYPE_SRQ)))},
    {"with_srq connect_evd", DAT_HANDLE_TYPE_EVD, bad_handle(DAT_INVALID_HANDLE_EVD_CONN), true,
     CALL(create_srq_ep(good, good.side.pz, EVD(receives), EVD(requests), handle,
                        good.of(DAT_HANDLE_TYPE_SRQ)))},
    {"with_srq srq", DAT_HANDLE_TYPE_SRQ, bad_handle(DAT_INVALID_HANDLE_SRQ), false,
     CALL(create_srq_ep(good, good.side.pz, EVD(receives), EVD(requests), EVD(connections),
                        handle))},
    {"dat_ep_modify pz", DAT_HANDLE_TYPE_PZ, bad_argument(3), true,
     CALL(modify_ep(good, DAT_EP_FIELD_PZ_HANDLE, handle))},
    {"dat_ep_modify recv_evd", DAT_HANDLE_TYPE_EVD, bad_argument(3), true,
     CALL(modify_ep(good, DAT_EP_FIELD_RECV_EVD_HANDLE, handle))},
    {"dat_ep_modify request_evd", DAT_HANDLE_TYPE_EVD, bad_argument(3), true,
     CALL(modify_ep(good, DAT_EP_FIELD_REQUEST_EVD_HANDLE, handle))},
    {"dat_ep_modify connect_evd", DAT_HANDLE_TYPE_EVD, bad_argument(3), true,
     CALL(modify_ep(good, DAT_EP_FIELD_CONNECT_EVD_HANDLE, handle))},
    {"dat_ep_dup_connect", DAT_HANDLE_TYPE_EP, bad_handle(DAT_INVALID_HANDLE_EP), false,
     CALL(dat_ep_dup_connect(good.of(DAT_HANDLE_TYPE_EP), handle, DAT_TIMEOUT_INFINITE, 0, nullptr,
                             DAT_QOS_BEST_EFFORT))},
    {"dat_lmr_create pz", DAT_HANDLE_TYPE_PZ, bad_handle(DAT_INVALID_HANDLE_PZ), false,
     CALL(create_lmr(good, DAT_MEM_TYPE_VIRTUAL, handle, DAT_HANDLE_NULL))},
    {"dat_lmr_create lmr", DAT_HANDLE_TYPE_LMR, bad_handle(DAT_INVALID_HANDLE_LMR), false,
     CALL(create_lmr(good, DAT_MEM_TYPE_LMR, good.side.pz, handle))},
    {"dat_rmr_bind ep", DAT_HANDLE_TYPE_EP, bad_handle(DAT_INVALID_HANDLE_EP), false,
     CALL(bind_through(good, handle))},
    {"dat_psp_create evd", DAT_HANDLE_TYPE_EVD, bad_handle(DAT_INVALID_HANDLE_EVD_CR), false,
     CALL(create_service(good, handle))},
    {"dat_psp_create_any evd", DAT_HANDLE_TYPE_EVD, bad_handle(DAT_INVALID_HANDLE_EVD_CR), false,
     CALL(create_any_service(good, handle))},
    {"dat_rsp_create ep", DAT_HANDLE_TYPE_EP, bad_handle(DAT_INVALID_HANDLE_EP), true,
     CALL(create_reserved(good, handle, EVD(arrivals)))},
    {"dat_rsp_create evd", DAT_HANDLE_TYPE_EVD, bad_handle(DAT_INVALID_HANDLE_EVD_CR), false,
     CALL(create_reserved(good, good.side.ep, handle))},
    {"dat_cr_accept ep", DAT_HANDLE_TYPE_EP, bad_handle(DAT_INVALID_HANDLE_EP), false,
     CALL(dat_cr_accept(good.of(DAT_HANDLE_TYPE_CR), handle, 0, nullptr))},
    {"dat_srq_create pz", DAT_HANDLE_TYPE_PZ, bad_handle(DAT_INVALID_HANDLE_PZ), false,
     [](const Objects &good, DAT_HANDLE handle) {
         DAT_SRQ_ATTR attributes{16, 4, DAT_SRQ_LW_DEFAULT};
         DAT_SRQ_HANDLE srq = DAT_HANDLE_NULL;
         return dat_srq_create(good.side.adapter, handle, &attributes, &srq);
     }},
};

void expect_refused(const Argument &argument, const Objects &good, DAT_HANDLE handle,
                    const char *what)
{
    EXPECT_EQ(argument.expected, Result{argument.call(good, handle)})
        << argument.name << ": " << what;
}

} // namespace

TEST(HandlesInside, that_are_none)
{
    Objects good;
    for (const Argument &argument : arguments) {
        if (!argument.may_be_null)
            expect_refused(argument, good, DAT_HANDLE_NULL, "NULL");
        for (const std::uintptr_t value : {1UL, 2UL, 3UL})
            expect_refused(argument, good, reinterpret_cast<DAT_HANDLE>(value), "no handle");
    }
}

TEST(HandlesInside, of_another_kind)
{
    Objects good;
    for (const Argument &argument : arguments)
        for (int i = 0; i < handle_types; i++) {
            const auto type = static_cast<DAT_HANDLE_TYPE>(i);
            if (type != argument.type)
                expect_refused(argument, good, good.of(type), name_of(type));
        }
}

TEST(HandlesInside, freed_or_of_another_instance)
{
    Objects good;
    Objects others;
    for (const Argument &argument : arguments) {
        expect_refused(argument, good, good.freed(argument.type), "freed");
        expect_refused(argument, good, others.of(argument.type), "of another instance");
    }
}

// An EVD of the IA that is not for this kind of event.
TEST(HandlesInside, evd_without_the_flag)
{
    Objects good;
    for (const Argument &argument : arguments)
        if (argument.type == DAT_HANDLE_TYPE_EVD)
            expect_refused(argument, good, good.of(DAT_HANDLE_TYPE_EVD), "software only");
}

TEST(HandlesInside, asynchronous_evd_to_open_with)
{
    Objects objects;
    for (int i = 0; i < handle_types; i++) {
        const auto type = static_cast<DAT_HANDLE_TYPE>(i);
        if (type == DAT_HANDLE_TYPE_EVD)
            continue;
        DAT_EVD_HANDLE async = objects.of(type);
        DAT_IA_HANDLE ia = &async;
        EXPECT_DAT(bad_handle(DAT_INVALID_HANDLE_EVD_ASYNC),
                   dat_ia_open(const_cast<char *>(ia_name()), 8, &async, &ia))
            << name_of(type);
        EXPECT_EQ(ia, DAT_HANDLE_NULL);
    }
    DAT_EVD_HANDLE async = objects.freed(DAT_HANDLE_TYPE_EVD);
    DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
    EXPECT_DAT(bad_handle(DAT_INVALID_HANDLE_EVD_ASYNC),
               dat_ia_open(const_cast<char *>(ia_name()), 8, &async, &ia));
}
