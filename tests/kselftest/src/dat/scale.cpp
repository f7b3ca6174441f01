// SPDX-License-Identifier: GPL-2.0
// Many objects under Debian's default limits: 1,024 descriptors, and 524,288 if a program asks.
#include "dat/support/side.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <memory>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

using namespace rsmtest;
using namespace rsmtest::dat;

namespace {

class Scale : public testing::Test {
protected:
    void SetUp() override
    {
        const rlimit debian{1024, 524288};
        ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &debian), 0);
    }
    // select() of the program's own: low numbers are still to be had.
    static void expect_low_descriptors()
    {
        const Fd fd(open("/dev/null", O_RDONLY | O_CLOEXEC));
        EXPECT_TRUE(fd.valid());
        EXPECT_LT(fd.get(), 1024);
    }
};

} // namespace

TEST_F(Scale, regions)
{
    Side a, b;
    b.accept_from(a);
    constexpr std::size_t size = 100;
    constexpr std::size_t count = 1200; // more than descriptors
    const Pages memory(count * size / page_size() + 1);
    std::vector<std::unique_ptr<Registered>> regions;
    for (std::size_t i = 0; i < count; i++) {
        regions.push_back(std::make_unique<Registered>(b.adapter, b.pz, memory.data() + i * size,
                                                       size));
        ASSERT_NE(regions.back()->lmr, DAT_HANDLE_NULL) << i;
    }
    expect_low_descriptors();
    for (std::size_t i = 0; i < count; i += 271) {
        a.memory.start[0] = static_cast<std::byte>(i);
        ASSERT_OK(a.write(0, regions[i]->remote(7, 1), i));
        expect_completion(a.requests, i);
        EXPECT_EQ(memory.data()[i * size + 7], static_cast<std::byte>(i));
    }
    regions.clear();
    ASSERT_OK(b.receive(0, 8, 1));
    ASSERT_OK(a.send(0, 8, 2));
    expect_completion(b.receives, 1);
}

TEST_F(Scale, endpoints)
{
    const std::size_t count = 1000 / slow_factor();
    Side side;
    std::vector<DAT_EP_HANDLE> all(count);
    for (auto &ep : all)
        ASSERT_OK(dat_ep_create(side.adapter, side.pz, side.receives, side.requests,
                                side.connections, nullptr, &ep));
    expect_low_descriptors();
    for (const auto ep : all)
        ASSERT_OK(dat_ep_free(ep));
}

// Both ends of each in this process, so there are twice as many endpoints.
TEST_F(Scale, connections)
{
    const std::size_t count = 300 / slow_factor();
    Side a, b;
    ASSERT_OK(dat_evd_resize(b.receives, 2 * count));
    DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
    DAT_CONN_QUAL qualifier = 0;
    ASSERT_OK(dat_psp_create_any(b.adapter, &qualifier, b.arrivals, DAT_PSP_CONSUMER_FLAG, &psp));
    std::vector<DAT_EP_HANDLE> active(count), passive(count);
    sockaddr_in address = a.adapter.address();
    for (std::size_t i = 0; i < count; i++) {
        for (const auto &[side, ep] : {std::pair{&a, &active[i]}, {&b, &passive[i]}})
            ASSERT_OK(dat_ep_create(side->adapter, side->pz, side->receives, side->requests,
                                    side->connections, nullptr, ep));
        ASSERT_OK(dat_ep_connect(active[i], reinterpret_cast<DAT_IA_ADDRESS_PTR>(&address),
                                 qualifier, DAT_TIMEOUT_INFINITE, 0, nullptr, DAT_QOS_BEST_EFFORT,
                                 DAT_CONNECT_DEFAULT_FLAG));
        const DAT_EVENT event = expect_event(b.arrivals, DAT_CONNECTION_REQUEST_EVENT);
        ASSERT_OK(dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, passive[i], 0,
                                nullptr));
        expect_event(a.connections, DAT_CONNECTION_EVENT_ESTABLISHED);
        expect_event(b.connections, DAT_CONNECTION_EVENT_ESTABLISHED);
        ASSERT_FALSE(HasFailure()) << i;
    }
    expect_low_descriptors();
    for (std::size_t i = 0; i < count; i++) {
        DAT_LMR_TRIPLET from = a.memory.piece(0, 8), to = b.memory.piece(8 * i, 8);
        ASSERT_OK(dat_ep_post_recv(passive[i], 1, &to, cookie(i), DAT_COMPLETION_DEFAULT_FLAG));
        ASSERT_OK(dat_ep_post_send(active[i], 1, &from, cookie(i), DAT_COMPLETION_SUPPRESS_FLAG));
        expect_completion(b.receives, i);
    }
    EXPECT_OK(dat_psp_free(psp));
}

// As many endpoints as the adapter says that there may be can be connected, whatever the limit of
// descriptors.
TEST_F(Scale, max_eps_can_be_had)
{
    const rlimit few{200, 200};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
    Side a, b;
    DAT_IA_ATTR attributes{};
    ASSERT_OK(dat_ia_query(a.adapter, nullptr, DAT_IA_FIELD_IA_MAX_EPS, &attributes, 0, nullptr));
    if (attributes.max_eps > 1000)
        GTEST_SKIP() << "endpoints of this provider take no descriptors";
    const auto count = static_cast<std::size_t>(attributes.max_eps) / 2;
    EXPECT_GE(count, 10U);
    DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
    DAT_CONN_QUAL qualifier = 0;
    ASSERT_OK(dat_psp_create_any(b.adapter, &qualifier, b.arrivals, DAT_PSP_CONSUMER_FLAG, &psp));
    sockaddr_in address = a.adapter.address();
    ASSERT_OK(dat_ep_free(a.ep));
    ASSERT_OK(dat_ep_free(b.ep));
    for (std::size_t i = 0; i < count; i++) {
        for (Side *side : {&a, &b})
            ASSERT_OK(dat_ep_create(side->adapter, side->pz, side->receives, side->requests,
                                    side->connections, nullptr, &side->ep));
        ASSERT_OK(dat_ep_connect(a.ep, reinterpret_cast<DAT_IA_ADDRESS_PTR>(&address), qualifier,
                                 DAT_TIMEOUT_INFINITE, 0, nullptr, DAT_QOS_BEST_EFFORT,
                                 DAT_CONNECT_DEFAULT_FLAG));
        const DAT_EVENT event = expect_event(b.arrivals, DAT_CONNECTION_REQUEST_EVENT);
        ASSERT_OK(dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, b.ep, 0,
                                nullptr));
        expect_event(a.connections, DAT_CONNECTION_EVENT_ESTABLISHED);
        expect_event(b.connections, DAT_CONNECTION_EVENT_ESTABLISHED);
        ASSERT_FALSE(HasFailure()) << i << " of " << count;
    }
}
