// SPDX-License-Identifier: GPL-2.0
// Every operation of an endpoint in every state (udapl-functions.md 4.3).
#include "dat/support/stage.hpp"

#include <gtest/gtest.h>
#include <list>

using namespace rsmtest;
using namespace rsmtest::dat;

namespace {

struct Operation {
    const char *name;
    // For UN RE PA TE AC CP CO DP DI: '-' refused, '=' succeeds and leaves the state as it is,
    // '+' succeeds and changes it.
    std::string_view table;
    DAT_RETURN (*call)(Stage &stage);
};

DAT_RETURN connect_it(Stage &stage)
{
    sockaddr_in address = stage.near.adapter.address();
    return dat_ep_connect(stage.ep, reinterpret_cast<DAT_IA_ADDRESS_PTR>(&address), 77, DAT_TIMEOUT_INFINITE,
                          0, nullptr, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG);
}

DAT_RETURN dup_connect(DAT_EP_HANDLE ep, DAT_EP_HANDLE dup)
{
    return dat_ep_dup_connect(ep, dup, DAT_TIMEOUT_INFINITE, 0, nullptr, DAT_QOS_BEST_EFFORT);
}

DAT_RETURN reserve(Stage &stage)
{
    DAT_RSP_HANDLE rsp = DAT_HANDLE_NULL;
    return dat_rsp_create(stage.near.adapter, Objects::unused_qualifier(), stage.ep,
                          stage.near.arrivals, &rsp);
}

DAT_RETURN send(Stage &stage)
{
    DAT_LMR_TRIPLET piece = stage.near.memory.piece(0, 8);
    // Else all that is posted later may wait behind it.
    if (state_of(stage.ep) == DAT_EP_STATE_CONNECTED) {
        EXPECT_OK(stage.far.receive(0, 8, 8));
    }
    return dat_ep_post_send(stage.ep, 1, &piece, cookie(3), DAT_COMPLETION_DEFAULT_FLAG);
}

DAT_RETURN receive(Stage &stage)
{
    DAT_LMR_TRIPLET piece = stage.near.memory.piece(0, 8);
    return dat_ep_post_recv(stage.ep, 1, &piece, cookie(4), DAT_COMPLETION_DEFAULT_FLAG);
}

DAT_RETURN write(Stage &stage)
{
    DAT_LMR_TRIPLET piece = stage.near.memory.piece(0, 8);
    const DAT_RMR_TRIPLET remote = stage.far.memory.remote(0, 8);
    return dat_ep_post_rdma_write(stage.ep, 1, &piece, cookie(5), &remote,
                                  DAT_COMPLETION_DEFAULT_FLAG);
}

DAT_RETURN read(Stage &stage)
{
    DAT_LMR_TRIPLET piece = stage.near.memory.piece(0, 8);
    const DAT_RMR_TRIPLET remote = stage.far.memory.remote(0, 8);
    return dat_ep_post_rdma_read(stage.ep, 1, &piece, cookie(6), &remote,
                                 DAT_COMPLETION_DEFAULT_FLAG);
}

DAT_RETURN bind(Stage &stage)
{
    const DAT_LMR_TRIPLET piece = stage.near.memory.piece(0, 8);
    DAT_RMR_HANDLE rmr = DAT_HANDLE_NULL;
    DAT_RMR_CONTEXT context = 0;
    EXPECT_OK(dat_rmr_create(stage.near.pz, &rmr));
    const DAT_RETURN result = dat_rmr_bind(rmr, &piece, DAT_MEM_PRIV_REMOTE_READ_FLAG, stage.ep,
                                           cookie(7), DAT_COMPLETION_DEFAULT_FLAG, &context);
    // The LMR is in use until both are over: the bind may wait for what the peer says of a write before it.
    while (result == DAT_SUCCESS) {
        const DAT_EVENT_NUMBER number = next_event(stage.near.requests).event_number;
        if (number == DAT_RMR_BIND_COMPLETION_EVENT || number == DAT_EVENT_NUMBER{}) // the wait has failed
            break;
    }
    EXPECT_OK(dat_rmr_free(rmr));
    return result;
}

// Everything as it is, field by field.
DAT_RETURN modify(Stage &stage, DAT_EP_PARAM_MASK fields)
{
    DAT_EP_PARAM param{};
    EXPECT_OK(dat_ep_query(stage.ep, DAT_EP_FIELD_ALL, &param));
    return dat_ep_modify(stage.ep, fields, &param);
}

constexpr DAT_EP_PARAM_MASK evd_fields = DAT_EP_FIELD_RECV_EVD_HANDLE |
                                         DAT_EP_FIELD_REQUEST_EVD_HANDLE |
                                         DAT_EP_FIELD_CONNECT_EVD_HANDLE;
constexpr DAT_EP_PARAM_MASK named_fields =
    DAT_EP_FIELD_EP_ATTR_NUM_TRANSPORT_ATTR | DAT_EP_FIELD_EP_ATTR_TRANSPORT_SPECIFIC_ATTR |
    DAT_EP_FIELD_EP_ATTR_NUM_PROVIDER_ATTR | DAT_EP_FIELD_EP_ATTR_PROVIDER_SPECIFIC_ATTR;
// Receive flags can only change before the first receive is posted, in any state.
constexpr DAT_EP_PARAM_MASK attribute_fields = DAT_EP_FIELD_EP_ATTR_ALL & ~named_fields &
                                               ~DAT_EP_FIELD_EP_ATTR_SRQ_SOFT_HW &
                                               ~DAT_EP_FIELD_EP_ATTR_RECV_COMPLETION_FLAGS;

#define CALL(...) [](Stage &stage) { return __VA_ARGS__; }

const Operation operations[] = {
    {"connect", "+--------", connect_it},
    {"dup_connect with itself", "---------", CALL(dup_connect(stage.ep, stage.ep))},
    {"dup_connect of another like it", "------=--",
     CALL(dup_connect(stage.another_ep(), stage.ep))},
    {"rsp_create", "+--------", reserve},
    {"cr_accept", "+--------", CALL(dat_cr_accept(stage.request(), stage.ep, 0, nullptr))},
    {"disconnect, abrupt", "----++++=", CALL(dat_ep_disconnect(stage.ep, DAT_CLOSE_ABRUPT_FLAG))},
    {"disconnect, graceful",
     "----+++==", CALL(dat_ep_disconnect(stage.ep, DAT_CLOSE_GRACEFUL_FLAG))},
    {"reset", "=-------+", CALL(dat_ep_reset(stage.ep))},
    {"free", "+---+++++", CALL(dat_ep_free(stage.ep))},
    {"modify: PZ", "=--=-----", CALL(modify(stage, DAT_EP_FIELD_PZ_HANDLE))},
    {"modify: EVDs", "====-----", CALL(modify(stage, evd_fields))},
    {"modify: attributes", "====-----", CALL(modify(stage, attribute_fields))},
    {"modify: receive flags", "====-----",
     CALL(modify(stage, DAT_EP_FIELD_EP_ATTR_RECV_COMPLETION_FLAGS))},
    {"modify: named attributes", "=--------", CALL(modify(stage, named_fields))},
    {"post_send", "------=-=", send},
    {"post_rdma_write", "------=-=", write},
    {"post_rdma_read", "------=-=", read},
    {"rmr_bind", "------=-=", bind},
    {"post_recv", "=========", receive},
    {"recv_query", "=========",
     [](Stage &stage) {
         DAT_COUNT buffers = 0;
         DAT_COUNT span = 0;
         return dat_ep_recv_query(stage.ep, &buffers, &span);
     }},
    {"set_watermark", "=========",
     CALL(dat_ep_set_watermark(stage.ep, DAT_WATERMARK_INFINITE, DAT_WATERMARK_INFINITE))},
};

class States : public testing::TestWithParam<At> {
protected:
    static constexpr std::size_t most_changes = 4;

    void SetUp() override
    {
        if (state == At::CP)
            for (std::size_t i = 0; i < most_changes; i++)
                stopped.emplace_back();
    }
    StoppedPeer *next_peer()
    {
        if (stopped.empty())
            return nullptr;
        used.splice(used.end(), stopped, stopped.begin());
        return &used.back();
    }
    char entry(const Operation &operation) const
    {
        return operation.table[static_cast<std::size_t>(state)];
    }

    const At state = GetParam();
    std::list<StoppedPeer> stopped;
    std::list<StoppedPeer> used;
};

std::string name_of_state(const testing::TestParamInfo<At> &info)
{
    return std::string(state_names[static_cast<int>(info.param)]);
}

} // namespace

TEST_P(States, what_changes_nothing)
{
    Stage stage(state, next_peer());
    for (const Operation &operation : operations) {
        if (entry(operation) == '+')
            continue;
        const Result expected =
            entry(operation) == '=' ? Result{DAT_SUCCESS} : bad_state(subtype_of(state));
        EXPECT_EQ(expected, Result{operation.call(stage)}) << operation.name;
        EXPECT_EQ(state_of(stage.ep), number_of(state)) << operation.name;
    }
}

TEST_P(States, what_changes_the_state)
{
    for (const Operation &operation : operations) {
        if (entry(operation) != '+')
            continue;
        Stage stage(state, next_peer());
        EXPECT_OK(operation.call(stage)) << operation.name;
        DAT_EP_STATE now = number_of(state);
        const bool alive = dat_ep_get_status(stage.ep, &now, nullptr, nullptr) == DAT_SUCCESS;
        EXPECT_TRUE(!alive || now != number_of(state)) << operation.name;
    }
}

INSTANTIATE_TEST_SUITE_P(Of, States,
                         testing::Values(At::UN, At::RE, At::PA, At::TE, At::AC, At::CP, At::CO,
                                         At::DP, At::DI),
                         name_of_state);
