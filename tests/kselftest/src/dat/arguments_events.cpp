// SPDX-License-Identifier: GPL-2.0
// Answers of IA, EVD, CNO and the queries of all objects to bad arguments, in the order in which
// they look at them (udapl-functions.md sections 10.1 to 10.3, G5).
#include "dat/support/objects.hpp"

#include <gtest/gtest.h>

using namespace rsmtest;
using namespace rsmtest::dat;

namespace {

struct Query {
    const char *name;
    DAT_HANDLE_TYPE type;
    DAT_UINT64 all;
    DAT_RETURN (*call)(DAT_HANDLE handle, DAT_UINT64 mask, void *param);
};

#define QUERY(function, type, all, Mask, Param)                                                    \
    Query                                                                                          \
    {                                                                                              \
#function, DAT_HANDLE_TYPE_##type, all,                                                    \
            [](DAT_HANDLE handle, DAT_UINT64 mask, void *param) {                                  \
                return function(handle, bits<Mask>(static_cast<unsigned>(mask)),                   \
                                static_cast<Param *>(param));                                      \
            }       \
    }

const Query queries[] = {
    QUERY(dat_cno_query, CNO, DAT_CNO_FIELD_ALL, DAT_CNO_PARAM_MASK, DAT_CNO_PARAM),
    QUERY(dat_evd_query, EVD, DAT_EVD_FIELD_ALL, DAT_EVD_PARAM_MASK, DAT_EVD_PARAM),
    QUERY(dat_lmr_query, LMR, DAT_LMR_FIELD_ALL, DAT_LMR_PARAM_MASK, DAT_LMR_PARAM),
    QUERY(dat_rmr_query, RMR, DAT_RMR_FIELD_ALL, DAT_RMR_PARAM_MASK, DAT_RMR_PARAM),
    QUERY(dat_psp_query, PSP, DAT_PSP_FIELD_ALL, DAT_PSP_PARAM_MASK, DAT_PSP_PARAM),
    QUERY(dat_rsp_query, RSP, DAT_RSP_FIELD_ALL, DAT_RSP_PARAM_MASK, DAT_RSP_PARAM),
    QUERY(dat_cr_query, CR, DAT_CR_FIELD_ALL, DAT_CR_PARAM_MASK, DAT_CR_PARAM),
    QUERY(dat_pz_query, PZ, DAT_PZ_FIELD_ALL, DAT_PZ_PARAM_MASK, DAT_PZ_PARAM),
    QUERY(dat_srq_query, SRQ, DAT_SRQ_FIELD_ALL, DAT_SRQ_PARAM_MASK, DAT_SRQ_PARAM),
    {"dat_ep_query", DAT_HANDLE_TYPE_EP, DAT_EP_FIELD_ALL,
     [](DAT_HANDLE handle, DAT_UINT64 mask, void *param) {
         return dat_ep_query(handle, mask, static_cast<DAT_EP_PARAM *>(param));
     }},
};

DAT_RETURN open(const char *name, DAT_COUNT length, DAT_EVD_HANDLE *async, DAT_IA_HANDLE *ia)
{
    return dat_ia_open(const_cast<char *>(name), length, async, ia);
}

DAT_COUNT longest_queue(const Adapter &adapter)
{
    DAT_IA_ATTR attributes{};
    EXPECT_OK(dat_ia_query(adapter, nullptr, DAT_IA_FIELD_ALL, &attributes, 0, nullptr));
    return attributes.max_evd_qlen;
}

DAT_COUNT length_of(DAT_EVD_HANDLE evd)
{
    DAT_EVD_PARAM param{};
    EXPECT_OK(dat_evd_query(evd, DAT_EVD_FIELD_ALL, &param));
    return param.evd_qlen;
}

} // namespace

TEST(Arguments, masks_of_queries)
{
    Objects objects;
    alignas(16) std::byte room[1024];
    for (const Query &query : queries) {
        const DAT_HANDLE handle = objects.of(query.type);
        EXPECT_DAT(bad_argument(2), query.call(handle, query.all + 1, room)) << query.name;
        EXPECT_DAT(bad_argument(2), query.call(handle, 0x80000000, nullptr)) << query.name;
        EXPECT_DAT(bad_argument(3), query.call(handle, query.all, nullptr)) << query.name;
        EXPECT_DAT(bad_argument(3), query.call(handle, 0, nullptr)) << query.name;
        EXPECT_OK(query.call(handle, 0, room)) << query.name;
        for (DAT_UINT64 bit = 1; bit <= query.all; bit <<= 1)
            if (query.all & bit) {
                EXPECT_OK(query.call(handle, bit, room)) << query.name << ' ' << bit;
            }
    }
    EXPECT_DAT(bad_argument(2),
               dat_ep_query(objects.of(DAT_HANDLE_TYPE_EP), DAT_EP_PARAM_MASK{1} << 40,
                            reinterpret_cast<DAT_EP_PARAM *>(room)));
    EXPECT_DAT(bad_argument(2), dat_ep_query(objects.of(DAT_HANDLE_TYPE_EP), 0x800,
                                             reinterpret_cast<DAT_EP_PARAM *>(room)));
}

TEST(Arguments, ia_open)
{
    const std::string too_long(DAT_NAME_MAX_LENGTH, 'n');
    DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
    DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
    EXPECT_DAT(bad_argument(1), open(nullptr, 0, nullptr, nullptr));
    EXPECT_DAT(bad_argument(1), open(too_long.c_str(), 0, nullptr, nullptr));
    EXPECT_DAT(bad_handle(DAT_INVALID_HANDLE_IA), open("no such", 0, nullptr, nullptr));
    EXPECT_DAT(bad_handle(DAT_INVALID_HANDLE_IA), open(ia_name(), 8, &async, nullptr));
    EXPECT_DAT(error(DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED),
               open("no such", 0, nullptr, &ia));
    EXPECT_DAT(bad_argument(3), open(ia_name(), 0, nullptr, &ia));
    for (const DAT_COUNT length : {0, -1, INT32_MIN}) {
        ia = &ia;
        EXPECT_DAT(bad_argument(2), open(ia_name(), length, &async, &ia)) << length;
        EXPECT_EQ(ia, DAT_HANDLE_NULL);
    }
    EXPECT_DAT(error(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_TEVD),
               open(ia_name(), INT32_MAX, &async, &ia));
}

TEST(Arguments, ia_query_and_close)
{
    Adapter adapter;
    DAT_IA_ATTR ia{};
    DAT_PROVIDER_ATTR provider{};
    const DAT_IA_ATTR_MASK bad = DAT_IA_FIELD_ALL + 1;
    const DAT_PROVIDER_ATTR_MASK worse = DAT_PROVIDER_FIELD_ALL + 1;
    EXPECT_DAT(bad_argument(3), dat_ia_query(adapter, nullptr, bad, nullptr, worse, nullptr));
    EXPECT_DAT(bad_argument(3), dat_ia_query(adapter, nullptr, ~0ULL, &ia, 0, nullptr));
    EXPECT_DAT(bad_argument(4), dat_ia_query(adapter, nullptr, 1, nullptr, worse, nullptr));
    EXPECT_DAT(bad_argument(5), dat_ia_query(adapter, nullptr, 1, &ia, worse, nullptr));
    EXPECT_DAT(bad_argument(6), dat_ia_query(adapter, nullptr, 1, &ia, 1, nullptr));
    EXPECT_OK(dat_ia_query(adapter, nullptr, 0, nullptr, 0, nullptr));
    EXPECT_OK(dat_ia_query(adapter, nullptr, 1, &ia, 1, &provider));

    const DAT_PZ_HANDLE pz = adapter.make_pz();
    EXPECT_DAT(bad_argument(2), dat_ia_close(adapter, bits<DAT_CLOSE_FLAGS>(2)));
    EXPECT_DAT(bad_state(DAT_INVALID_STATE_IA_IN_USE),
               dat_ia_close(adapter, DAT_CLOSE_GRACEFUL_FLAG));
    EXPECT_OK(dat_pz_free(pz));
    EXPECT_OK(dat_ia_close(adapter, DAT_CLOSE_GRACEFUL_FLAG));
    EXPECT_DAT(bad_handle(DAT_INVALID_HANDLE_IA), dat_ia_close(adapter, DAT_CLOSE_ABRUPT_FLAG));
    adapter.ia = DAT_HANDLE_NULL;
}

// Each kind of object keeps the IA from being closed gracefully.
TEST(Arguments, graceful_close_with_objects)
{
    Objects objects;
    for (int i = 0; i < handle_types; i++) {
        EXPECT_DAT(bad_state(DAT_INVALID_STATE_IA_IN_USE),
                   dat_ia_close(objects.side.adapter, DAT_CLOSE_GRACEFUL_FLAG));
        DAT_HANDLE_TYPE type{};
        EXPECT_OK(dat_get_handle_type(objects.of(static_cast<DAT_HANDLE_TYPE>(i)), &type));
    }
}

TEST(Arguments, cno)
{
    Adapter adapter;
    DAT_CNO_HANDLE cno = DAT_HANDLE_NULL;
    EXPECT_DAT(bad_argument(3), dat_cno_create(adapter, DAT_OS_WAIT_PROXY_AGENT_NULL, nullptr));
    ASSERT_OK(dat_cno_create(adapter, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno));
    EXPECT_DAT(bad_argument(3), dat_cno_wait(cno, 0, nullptr));
    const DAT_EVD_HANDLE evd = adapter.make_evd(DAT_EVD_SOFTWARE_FLAG, 4, cno);
    EXPECT_DAT(bad_state(DAT_INVALID_STATE_CNO_IN_USE), dat_cno_free(cno));
    EXPECT_OK(dat_evd_modify_cno(evd, DAT_HANDLE_NULL));
    EXPECT_OK(dat_cno_free(cno));
}

TEST(Arguments, evd_create)
{
    Adapter adapter;
    const DAT_COUNT most = longest_queue(adapter);
    const auto bad_flags = bits<DAT_EVD_FLAGS>(0x200);
    const DAT_CNO_HANDLE bad_cno = adapter.ia;
    DAT_EVD_HANDLE evd = &adapter;
    for (const DAT_COUNT length : {0, -1, INT32_MIN})
        EXPECT_DAT(bad_argument(2), dat_evd_create(adapter, length, bad_cno, bad_flags, nullptr));
    EXPECT_DAT(error(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_TEVD),
               dat_evd_create(adapter, most + 1, bad_cno, bad_flags, nullptr));
    EXPECT_DAT(bad_handle(DAT_INVALID_HANDLE_CNO),
               dat_evd_create(adapter, 4, bad_cno, bad_flags, nullptr));
    for (const unsigned flags : {0U, 0x2U, 0x8U, 0x200U, 0x80000000U, 0x21fU})
        EXPECT_DAT(bad_argument(4),
                   dat_evd_create(adapter, 4, DAT_HANDLE_NULL, bits<DAT_EVD_FLAGS>(flags), nullptr))
            << flags;
    EXPECT_DAT(bad_argument(5),
               dat_evd_create(adapter, 4, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, nullptr));
    EXPECT_DAT(bad_argument(4), dat_evd_create(adapter, 4, DAT_HANDLE_NULL, bad_flags, &evd));
    EXPECT_EQ(evd, DAT_HANDLE_NULL);
}

// All streams can be merged, so every combination of flags is an EVD.
TEST(Arguments, evd_create_with_any_flags)
{
    Adapter adapter;
    for (unsigned flags = 1; flags < 0x200; flags++) {
        if (flags & ~0x1f1U)
            continue;
        DAT_EVD_PARAM param{};
        const DAT_EVD_HANDLE evd = adapter.make_evd(bits<DAT_EVD_FLAGS>(flags), 3);
        EXPECT_OK(dat_evd_query(evd, DAT_EVD_FIELD_ALL, &param));
        EXPECT_EQ(static_cast<unsigned>(param.evd_flags), flags);
        EXPECT_GE(param.evd_qlen, 3);
        EXPECT_OK(dat_evd_free(evd));
    }
}

TEST(Arguments, evd_use)
{
    Adapter adapter;
    const DAT_EVD_HANDLE evd = adapter.make_evd(DAT_EVD_SOFTWARE_FLAG, 4);
    const DAT_EVD_HANDLE other = adapter.make_evd(DAT_EVD_DTO_FLAG, 4);
    DAT_EVENT event{};
    DAT_COUNT more = 0;
    EXPECT_DAT(bad_argument(4), dat_evd_wait(evd, 0, 0, nullptr, nullptr));
    EXPECT_DAT(bad_argument(5), dat_evd_wait(evd, 0, 0, &event, nullptr));
    for (const DAT_COUNT threshold : {0, -1, INT32_MIN, length_of(evd) + 1, INT32_MAX})
        EXPECT_DAT(bad_argument(3), dat_evd_wait(evd, 0, threshold, &event, &more)) << threshold;
    EXPECT_DAT(error(DAT_TIMEOUT_EXPIRED), dat_evd_wait(evd, 0, length_of(evd), &event, &more));
    EXPECT_DAT(bad_argument(2), dat_evd_dequeue(evd, nullptr));
    EXPECT_DAT(error(DAT_QUEUE_EMPTY), dat_evd_dequeue(evd, &event));
    EXPECT_DAT(bad_argument(1), dat_evd_post_se(other, nullptr));
    EXPECT_DAT(bad_argument(2), dat_evd_post_se(evd, nullptr));
    for (const unsigned number : {0U, 1U, 0x4001U, 0x10000U, 0x10002U}) {
        event.event_number = bits<DAT_EVENT_NUMBER>(number);
        EXPECT_DAT(bad_argument(2), dat_evd_post_se(evd, &event)) << number;
    }
    for (const DAT_COUNT length : {0, -1, INT32_MIN, longest_queue(adapter) + 1, INT32_MAX})
        EXPECT_DAT(bad_argument(2), dat_evd_resize(evd, length)) << length;
    EXPECT_DAT(error(DAT_QUEUE_EMPTY), dat_evd_dequeue(evd, &event));
}

TEST(Arguments, strerror)
{
    const char *major = nullptr;
    const char *minor = nullptr;
    const auto bare = static_cast<DAT_RETURN>(DAT_INVALID_PARAMETER);
    EXPECT_EQ(dat_strerror(DAT_SUCCESS, &major, &minor), DAT_RETURN{DAT_SUCCESS});
    EXPECT_EQ(dat_strerror(0x80000000U | 0x00990000U, &major, &minor), bare);
    EXPECT_EQ(dat_strerror(0x80000000U | DAT_ABORT | 0x7777U, &major, &minor), bare);
    EXPECT_EQ(dat_strerror(DAT_SUCCESS, nullptr, &minor), bare);
    EXPECT_EQ(dat_strerror(DAT_SUCCESS, &major, nullptr), bare);
}
