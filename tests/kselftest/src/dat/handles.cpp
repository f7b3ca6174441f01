// SPDX-License-Identifier: GPL-2.0
// Every function with a first handle that is none, and one of every other kind (udapl-functions.md
// G1, G2 and section 11). All other arguments are bad, too: the handle is what is looked at first.
#include "dat/support/objects.hpp"

#include <gtest/gtest.h>
#include <span>

using namespace rsmtest;
using namespace rsmtest::dat;

namespace {

struct Function {
    const char *name;
    DAT_HANDLE_TYPE type;
    DAT_RETURN_SUBTYPE subtype;
    DAT_RETURN (*call)(DAT_HANDLE handle);
};

const auto no_priv = bits<DAT_MEM_PRIV_FLAGS>(0x8000);
const auto no_flags = bits<DAT_COMPLETION_FLAGS>(0x4000);
const auto no_qos = bits<DAT_QOS>(0x4000);
const auto no_connect = bits<DAT_CONNECT_FLAGS>(0x4000);
const auto no_psp = bits<DAT_PSP_FLAGS>(0x4000);
template <class Mask>
const auto no_mask = static_cast<Mask>(0x40000000);
const auto none = DAT_HANDLE_NULL;

#define ROW(function, type, subtype, ...)                                                          \
    Function                                                                                       \
    {                                                                                              \
#function, DAT_HANDLE_TYPE_##type, DAT_INVALID_HANDLE##subtype,                            \
            [](DAT_HANDLE handle) { return function(handle __VA_OPT__(, ) __VA_ARGS__); }          \
    }

const Function of_ia[] = {
    ROW(dat_ia_query, IA, _IA, nullptr, ~DAT_IA_ATTR_MASK{0}, nullptr, 0, nullptr),
    ROW(dat_ia_close, IA, _IA, bits<DAT_CLOSE_FLAGS>(9)),
    ROW(dat_cno_create, IA, _IA, DAT_OS_WAIT_PROXY_AGENT_NULL, nullptr),
    ROW(dat_evd_create, IA, _IA, 0, none, bits<DAT_EVD_FLAGS>(0), nullptr),
    ROW(dat_ep_create, IA, _IA, none, none, none, none, nullptr, nullptr),
    ROW(dat_ep_create_with_srq, IA, _IA, none, none, none, none, none, nullptr, nullptr),
    ROW(dat_lmr_create, IA, _IA, bits<DAT_MEM_TYPE>(17), DAT_REGION_DESCRIPTION{}, 0, none, no_priv,
        nullptr, nullptr, nullptr, nullptr, nullptr),
    ROW(dat_lmr_sync_rdma_read, IA, _IA, nullptr, 1),
    ROW(dat_lmr_sync_rdma_write, IA, _IA, nullptr, 1),
    ROW(dat_psp_create, IA, _IA, 0, none, no_psp, nullptr),
    ROW(dat_psp_create_any, IA, _IA, nullptr, none, no_psp, nullptr),
    ROW(dat_rsp_create, IA, _IA, 0, none, none, nullptr),
    ROW(dat_pz_create, IA, _IA, nullptr),
    ROW(dat_srq_create, IA, _IA, none, nullptr, nullptr),
};

const Function of_events[] = {
    ROW(dat_cno_modify_agent, CNO, _CNO, DAT_OS_WAIT_PROXY_AGENT_NULL),
    ROW(dat_cno_query, CNO, _CNO, no_mask<DAT_CNO_PARAM_MASK>, nullptr),
    ROW(dat_cno_free, CNO, _CNO),
    ROW(dat_cno_wait, CNO, _CNO, 0, nullptr),
    ROW(dat_evd_query, EVD, 1, no_mask<DAT_EVD_PARAM_MASK>, nullptr),
    ROW(dat_evd_modify_cno, EVD, 1, none),
    ROW(dat_evd_enable, EVD, 1),
    ROW(dat_evd_disable, EVD, 1),
    ROW(dat_evd_set_unwaitable, EVD, 1),
    ROW(dat_evd_clear_unwaitable, EVD, 1),
    ROW(dat_evd_wait, EVD, 1, 0, 0, nullptr, nullptr),
    ROW(dat_evd_dequeue, EVD, 1, nullptr),
    ROW(dat_evd_post_se, EVD, 1, nullptr),
    ROW(dat_evd_resize, EVD, 1, 0),
    ROW(dat_evd_free, EVD, 1),
};

const Function of_endpoints[] = {
    ROW(dat_ep_query, EP, _EP, ~DAT_EP_PARAM_MASK{0}, nullptr),
    ROW(dat_ep_get_status, EP, _EP, nullptr, nullptr, nullptr),
    ROW(dat_ep_modify, EP, _EP, ~DAT_EP_PARAM_MASK{0}, nullptr),
    ROW(dat_ep_connect, EP, _EP, nullptr, 0, 0, -1, nullptr, no_qos, no_connect),
    ROW(dat_ep_dup_connect, EP, _EP, none, 0, -1, nullptr, no_qos),
    ROW(dat_ep_disconnect, EP, _EP, bits<DAT_CLOSE_FLAGS>(9)),
    ROW(dat_ep_reset, EP, _EP),
    ROW(dat_ep_free, EP, _EP),
    ROW(dat_ep_post_send, EP, _EP, -1, nullptr, cookie(0), no_flags),
    ROW(dat_ep_post_recv, EP, _EP, -1, nullptr, cookie(0), no_flags),
    ROW(dat_ep_post_rdma_read, EP, _EP, -1, nullptr, cookie(0), nullptr, no_flags),
    ROW(dat_ep_post_rdma_write, EP, _EP, -1, nullptr, cookie(0), nullptr, no_flags),
    ROW(dat_ep_recv_query, EP, _EP, nullptr, nullptr),
    ROW(dat_ep_set_watermark, EP, _EP, -7, -7),
};

const Function of_the_rest[] = {
    ROW(dat_lmr_query, LMR, _LMR, no_mask<DAT_LMR_PARAM_MASK>, nullptr),
    ROW(dat_lmr_free, LMR, _LMR),
    ROW(dat_rmr_create, PZ, _PZ, nullptr),
    ROW(dat_rmr_bind, RMR, _RMR, nullptr, no_priv, none, cookie(0), no_flags, nullptr),
    ROW(dat_rmr_query, RMR, _RMR, no_mask<DAT_RMR_PARAM_MASK>, nullptr),
    ROW(dat_rmr_free, RMR, _RMR),
    ROW(dat_psp_query, PSP, _PSP, no_mask<DAT_PSP_PARAM_MASK>, nullptr),
    ROW(dat_psp_free, PSP, _PSP),
    ROW(dat_rsp_query, RSP, _RSP, no_mask<DAT_RSP_PARAM_MASK>, nullptr),
    ROW(dat_rsp_free, RSP, _RSP),
    ROW(dat_cr_query, CR, _CR, no_mask<DAT_CR_PARAM_MASK>, nullptr),
    ROW(dat_cr_accept, CR, _CR, none, -1, nullptr),
    ROW(dat_cr_reject, CR, _CR),
    ROW(dat_cr_handoff, CR, _CR, 0),
    ROW(dat_pz_query, PZ, _PZ, no_mask<DAT_PZ_PARAM_MASK>, nullptr),
    ROW(dat_pz_free, PZ, _PZ),
    ROW(dat_srq_free, SRQ, _SRQ),
    ROW(dat_srq_post_recv, SRQ, _SRQ, -1, nullptr, cookie(0)),
    ROW(dat_srq_query, SRQ, _SRQ, no_mask<DAT_SRQ_PARAM_MASK>, nullptr),
    ROW(dat_srq_resize, SRQ, _SRQ, 0),
    ROW(dat_srq_set_lw, SRQ, _SRQ, -7),
};

// They take a handle of any kind.
const Function of_anything[] = {
    ROW(dat_set_consumer_context, IA, 1, cookie(1)),
    ROW(dat_get_consumer_context, IA, 1, nullptr),
    ROW(dat_get_handle_type, IA, 1, nullptr),
};

const std::span<const Function> all[] = {of_ia, of_events, of_endpoints, of_the_rest};

void expect_refused(const Function &function, DAT_HANDLE handle, const std::string &what)
{
    EXPECT_DAT(bad_handle(function.subtype), function.call(handle)) << function.name << ' ' << what;
}

void expect_alive(const Objects &objects)
{
    for (int i = 0; i < handle_types; i++) {
        const auto type = static_cast<DAT_HANDLE_TYPE>(i);
        DAT_HANDLE_TYPE found{};
        EXPECT_OK(dat_get_handle_type(objects.of(type), &found)) << name_of(type);
        EXPECT_EQ(found, type);
    }
}

// The values that DAT_EVD_ASYNC_EXISTS and DAT_EVD_OUT_OF_SCOPE have are among them, and aligned
// ones where nothing is mapped.
void refuses_what_is_no_handle(const Function &function)
{
    for (const std::uintptr_t value : {0UL, 1UL, 2UL, 3UL, ~0UL, 8UL, 4096UL, 1UL << 63, ~63UL})
        expect_refused(function, reinterpret_cast<DAT_HANDLE>(value), std::to_string(value));
}

} // namespace

TEST(Handles, what_is_no_handle)
{
    for (const auto &table : all)
        for (const Function &function : table)
            refuses_what_is_no_handle(function);
    for (const Function &function : of_anything)
        refuses_what_is_no_handle(function);
}

TEST(Handles, of_another_kind)
{
    Objects objects;
    for (const auto &table : all)
        for (const Function &function : table)
            for (int type = 0; type < handle_types; type++)
                if (type != function.type)
                    expect_refused(function, objects.of(static_cast<DAT_HANDLE_TYPE>(type)),
                                   name_of(static_cast<DAT_HANDLE_TYPE>(type)));
    expect_alive(objects);
}

TEST(Handles, freed)
{
    Objects objects;
    DAT_HANDLE freed[handle_types];
    for (int type = 0; type < handle_types; type++)
        freed[type] = objects.freed(static_cast<DAT_HANDLE_TYPE>(type));
    for (const auto &table : all)
        for (const Function &function : table)
            expect_refused(function, freed[function.type], "freed");
    for (const Function &function : of_anything)
        for (DAT_HANDLE handle : freed)
            expect_refused(function, handle, "freed");
    expect_alive(objects);
}

TEST(Handles, of_objects_that_went_with_their_ia)
{
    DAT_HANDLE gone[handle_types];
    {
        Objects objects;
        for (int type = 0; type < handle_types; type++)
            gone[type] = objects.of(static_cast<DAT_HANDLE_TYPE>(type));
    }
    // Something else of the provider keeps it loaded.
    Objects others;
    for (const auto &table : all)
        for (const Function &function : table)
            expect_refused(function, gone[function.type], "of a closed IA");
    expect_alive(others);
}

TEST(Handles, types_and_contexts)
{
    Objects objects;
    expect_alive(objects);
    for (int i = 0; i < handle_types; i++) {
        const auto type = static_cast<DAT_HANDLE_TYPE>(i);
        DAT_CONTEXT context = cookie(17);
        EXPECT_OK(dat_get_consumer_context(objects.of(type), &context)) << name_of(type);
        EXPECT_EQ(context.as_64, 0U) << name_of(type);
        EXPECT_OK(dat_set_consumer_context(objects.of(type), cookie(~DAT_UINT64{0} - i)));
    }
    for (int i = 0; i < handle_types; i++) {
        const DAT_HANDLE handle = objects.of(static_cast<DAT_HANDLE_TYPE>(i));
        DAT_CONTEXT context{};
        EXPECT_OK(dat_get_consumer_context(handle, &context));
        EXPECT_EQ(context.as_64, ~DAT_UINT64{0} - i);
        EXPECT_OK(dat_set_consumer_context(handle, cookie(0)));
        EXPECT_OK(dat_get_consumer_context(handle, &context));
        EXPECT_EQ(context.as_64, 0U);
        EXPECT_DAT(bad_argument(2), dat_get_consumer_context(handle, nullptr));
        EXPECT_DAT(bad_argument(2), dat_get_handle_type(handle, nullptr));
    }
}
