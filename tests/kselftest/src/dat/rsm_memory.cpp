// SPDX-License-Identifier: GPL-2.0
// Registered memory as provider rsm has it: whole pages pinned, bytes reached; binds that wait.
#include "dat/support/side.hpp"

#include <cstring>
#include <fcntl.h>
#include <sys/resource.h>
#include <vector>

using namespace rsmtest;
using namespace rsmtest::dat;

namespace {

// The answer of dat_lmr_create.
struct Made {
    DAT_RETURN result;
    DAT_LMR_HANDLE lmr = DAT_HANDLE_NULL;
    DAT_LMR_CONTEXT lmr_context = 0;
    DAT_RMR_CONTEXT rmr_context = 0;
    DAT_VLEN size = 0;
    DAT_VADDR address = 0;
};

class RsmMemory : public testing::Test {
protected:
    Made make(DAT_MEM_TYPE type, DAT_REGION_DESCRIPTION region, DAT_VLEN length, int privileges)
    {
        Made made{};
        made.result = dat_lmr_create(adapter, type, region, length, pz,
                                     static_cast<DAT_MEM_PRIV_FLAGS>(privileges), &made.lmr,
                                     &made.lmr_context, &made.rmr_context, &made.size,
                                     &made.address);
        return made;
    }
    Made at(void *start, DAT_VLEN length, int privileges = DAT_MEM_PRIV_ALL_FLAG)
    {
        DAT_REGION_DESCRIPTION region{};
        region.for_va = start;
        return make(DAT_MEM_TYPE_VIRTUAL, region, length, privileges);
    }
    Made over(DAT_LMR_HANDLE lmr, int privileges)
    {
        DAT_REGION_DESCRIPTION region{};
        region.for_lmr_handle = lmr;
        return make(DAT_MEM_TYPE_LMR, region, 0, privileges);
    }

    Adapter adapter;
    DAT_PZ_HANDLE pz = adapter.make_pz();
    const std::size_t page = page_size();
    Pages pages{4};
};

// Binds of an endpoint whose queue does not move: the peer receives nothing yet.
class RsmMemoryBinds : public testing::Test {
protected:
    static constexpr DAT_COUNT sends = 8;
    static constexpr std::size_t size = 16000;

    void SetUp() override
    {
        peer.accept_from(side);
        for (DAT_UINT64 i = 0; i < sends; ++i)
            ASSERT_OK(side.send(0, size, i));
        ASSERT_OK(dat_rmr_create(side.pz, &rmr));
        for (auto &context : contexts)
            ASSERT_OK(dat_rmr_bind(rmr, &part, DAT_MEM_PRIV_ALL_FLAG, side.ep, cookie(99),
                                   DAT_COMPLETION_DEFAULT_FLAG, &context));
        EXPECT_NE(contexts[0], contexts[1]);
        EXPECT_DAT(bad_state(DAT_INVALID_STATE_LMR_IN_USE), dat_lmr_free(side.memory.lmr));
    }
    void let_go_on()
    {
        for (DAT_UINT64 i = 0; i < sends; ++i)
            ASSERT_OK(peer.receive(0, size, i));
        for (DAT_UINT64 i = 0; i < sends; ++i)
            expect_completion(side.requests, i);
    }
    DAT_RMR_CONTEXT bound() const
    {
        DAT_RMR_PARAM param{};
        EXPECT_OK(dat_rmr_query(rmr, DAT_RMR_FIELD_ALL, &param));
        return param.rmr_context;
    }
    void expect_bind(DAT_DTO_COMPLETION_STATUS status)
    {
        const DAT_EVENT event = expect_event(side.requests, DAT_RMR_BIND_COMPLETION_EVENT);
        EXPECT_EQ(event.event_data.rmr_completion_event_data.status, status);
    }
    void free_memory()
    {
        EXPECT_OK(dat_lmr_free(side.memory.lmr));
        side.memory.lmr = DAT_HANDLE_NULL;
    }

    Side side, peer;
    const DAT_LMR_TRIPLET part = side.memory.piece(100, 50);
    DAT_RMR_HANDLE rmr = DAT_HANDLE_NULL;
    DAT_RMR_CONTEXT contexts[2] = {};
};

} // namespace

TEST_F(RsmMemory, pages_are_pinned)
{
    const Made made = at(pages.data() + page - 1, 2);
    ASSERT_OK(made.result);
    EXPECT_EQ(made.address, reinterpret_cast<DAT_VADDR>(pages.data()));
    EXPECT_EQ(made.size, 2 * page);
    const Made again = over(made.lmr, DAT_MEM_PRIV_LOCAL_READ_FLAG);
    ASSERT_OK(again.result);
    EXPECT_EQ(again.address, made.address);
    EXPECT_EQ(again.size, made.size);
    EXPECT_EQ(again.rmr_context, 0u);
    EXPECT_OK(dat_lmr_free(made.lmr));
    DAT_LMR_PARAM param{};
    EXPECT_OK(dat_lmr_query(again.lmr, DAT_LMR_FIELD_ALL, &param));
    EXPECT_EQ(param.length, 2u);
    EXPECT_OK(dat_lmr_free(again.lmr));
}

TEST_F(RsmMemory, of_lmr_may_ask_for_more)
{
    constexpr int reads = DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_REMOTE_READ_FLAG;
    const Pages constant(1, PROT_READ);
    EXPECT_DAT(bad_argument(6), at(constant.data(), 10).result);
    const Made fixed = at(constant.data(), 10, reads);
    ASSERT_OK(fixed.result);
    EXPECT_DAT(bad_argument(6), over(fixed.lmr, DAT_MEM_PRIV_ALL_FLAG).result);
    const Made made = at(pages.data(), 10, reads);
    ASSERT_OK(made.result);
    const Made more = over(made.lmr, DAT_MEM_PRIV_ALL_FLAG);
    ASSERT_OK(more.result);
    EXPECT_NE(more.rmr_context, made.rmr_context);
    for (const auto lmr : {fixed.lmr, made.lmr, more.lmr})
        EXPECT_OK(dat_lmr_free(lmr));
}

// Each region takes a descriptor.
TEST_F(RsmMemory, regions_leave_descriptors_to_the_program)
{
    constexpr rlim_t descriptors = 1200;
    constexpr std::size_t enough = 64;
    const rlimit limit{descriptors, descriptors};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
    std::vector<Made> all;
    Made made = at(pages.data(), 100);
    for (; made.result == DAT_SUCCESS; made = at(pages.data(), 100))
        all.push_back(made);
    EXPECT_DAT(error(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY_REGION), made.result);
    EXPECT_GE(all.size(), enough);
    std::vector<Fd> others;
    while (others.size() < enough && (others.empty() || others.back().valid()))
        others.emplace_back(open("/dev/null", O_RDONLY | O_CLOEXEC));
    EXPECT_TRUE(others.back().valid()) << others.size();
    for (const Made &each : all)
        ASSERT_OK(dat_lmr_free(each.lmr));
}

TEST_F(RsmMemory, same_page_a_thousand_times)
{
    std::vector<Made> all;
    for (std::size_t i = 0; i < 1000; ++i) {
        all.push_back(at(pages.data() + i, 100));
        ASSERT_OK(all.back().result) << i;
    }
    for (const Made &made : all)
        EXPECT_OK(dat_lmr_free(made.lmr));
}

TEST_F(RsmMemoryBinds, take_effect_in_order)
{
    EXPECT_EQ(bound(), 0u);
    let_go_on();
    expect_bind(DAT_DTO_SUCCESS);
    expect_bind(DAT_DTO_SUCCESS);
    EXPECT_EQ(bound(), contexts[1]);
    EXPECT_OK(dat_rmr_free(rmr));
    free_memory();
}

TEST_F(RsmMemoryBinds, rmr_is_freed)
{
    EXPECT_OK(dat_rmr_free(rmr));
    let_go_on();
    expect_event(side.requests, DAT_RMR_BIND_COMPLETION_EVENT);
    expect_event(side.requests, DAT_RMR_BIND_COMPLETION_EVENT);
    EXPECT_EQ(state_of(side.ep), DAT_EP_STATE_CONNECTED);
    free_memory();
}

TEST_F(RsmMemoryBinds, endpoint_is_freed)
{
    EXPECT_OK(dat_ep_free(side.ep));
    EXPECT_EQ(bound(), 0u);
    free_memory();
}

TEST_F(RsmMemoryBinds, both_are_freed)
{
    EXPECT_OK(dat_rmr_free(rmr));
    EXPECT_OK(dat_ep_free(side.ep));
    free_memory();
}

TEST_F(RsmMemoryBinds, all_is_closed)
{
    EXPECT_EQ(state_of(side.ep), DAT_EP_STATE_CONNECTED);
    // By the destructor of the adapter, abruptly: the memory is in use until the binds have been flushed.
    side.memory.lmr = DAT_HANDLE_NULL;
}
