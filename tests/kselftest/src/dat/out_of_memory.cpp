// SPDX-License-Identifier: GPL-2.0
// Each allocation of a call fails once: the call says so, and the same call succeeds right afterwards.
// Not over the fake of /dev/rsm, which runs in this process and needs its memory.
#include "dat/support/objects.hpp"

#include <cstdlib>
#include <gtest/gtest.h>
#include <new>

using namespace rsmtest;
using namespace rsmtest::dat;

namespace {

// How many allocations of this thread succeed until one fails; negative: all of them.
thread_local long allocations_left = -1;

bool has_failed()
{
    return allocations_left < 0;
}

void *allocate(std::size_t size) noexcept
{
    if (allocations_left >= 0 && allocations_left-- == 0)
        return nullptr;
    return std::malloc(size > 0 ? size : 1);
}

class OutOfMemory : public testing::Test {
protected:
    // `call` makes something, `undo` ends it.
    template <class Call, class Undo>
    static void expect_each_failure(const char *name, Call call, Undo undo)
    {
        SCOPED_TRACE(name);
        bool failed = true;
        for (long n = 0; failed && !HasFailure(); n++) {
            allocations_left = n;
            const DAT_RETURN result = call();
            failed = has_failed();
            allocations_left = -1;
            if (result != DAT_SUCCESS) {
                EXPECT_TRUE(failed);
                EXPECT_EQ(DAT_GET_TYPE(result), DAT_GET_TYPE(DAT_INSUFFICIENT_RESOURCES)) << n;
                EXPECT_OK(call()) << n;
            }
            undo();
        }
    }
    DAT_RETURN connect_once()
    {
        sockaddr_in address = a.adapter.address();
        return dat_ep_connect(ep, reinterpret_cast<DAT_IA_ADDRESS_PTR>(&address), qualifier,
                              DAT_TIMEOUT_INFINITE, 0, nullptr, DAT_QOS_BEST_EFFORT,
                              DAT_CONNECT_DEFAULT_FLAG);
    }
    DAT_RETURN make_ep()
    {
        return dat_ep_create(a.adapter, a.pz, a.receives, a.requests, a.connections, nullptr, &ep);
    }

    Side a, b;
    DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
    const DAT_CONN_QUAL qualifier = Objects::unused_qualifier();
};

} // namespace

// The sanitizers have their own. Inlined, free() looks like a mistake to the compiler.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
void *operator new(std::size_t size)
{
    void *memory = allocate(size);
    if (memory == nullptr)
        throw std::bad_alloc();
    return memory;
}
void *operator new[](std::size_t size)
{
    return operator new(size);
}
void *operator new(std::size_t size, const std::nothrow_t &) noexcept
{
    return allocate(size);
}
void *operator new[](std::size_t size, const std::nothrow_t &) noexcept
{
    return allocate(size);
}
[[gnu::noinline]] void operator delete(void *memory) noexcept
{
    std::free(memory);
}
[[gnu::noinline]] void operator delete[](void *memory) noexcept
{
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void *memory, std::size_t) noexcept
{
    std::free(memory);
}
[[gnu::noinline]] void operator delete[](void *memory, std::size_t) noexcept
{
    std::free(memory);
}
#endif

TEST_F(OutOfMemory, objects)
{
    DAT_HANDLE made = DAT_HANDLE_NULL;
    expect_each_failure(
        "pz", [&] { return dat_pz_create(a.adapter, &made); }, [&] { EXPECT_OK(dat_pz_free(made)); });
    expect_each_failure(
        "cno", [&] { return dat_cno_create(a.adapter, DAT_OS_WAIT_PROXY_AGENT_NULL, &made); },
        [&] { EXPECT_OK(dat_cno_free(made)); });
    expect_each_failure(
        "evd",
        [&] { return dat_evd_create(a.adapter, 8, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &made); },
        [&] { EXPECT_OK(dat_evd_free(made)); });
    expect_each_failure(
        "rmr", [&] { return dat_rmr_create(a.pz, &made); }, [&] { EXPECT_OK(dat_rmr_free(made)); });
    expect_each_failure(
        "ep", [&] { return make_ep(); }, [&] { EXPECT_OK(dat_ep_free(ep)); });
}

// The qualifier is free when the call has returned.
TEST_F(OutOfMemory, service_points)
{
    DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
    DAT_RSP_HANDLE rsp = DAT_HANDLE_NULL;
    expect_each_failure(
        "psp",
        [&] {
            return dat_psp_create(a.adapter, qualifier, a.arrivals, DAT_PSP_CONSUMER_FLAG, &psp);
        },
        [&] { EXPECT_OK(dat_psp_free(psp)); });
    EXPECT_OK(make_ep());
    expect_each_failure(
        "rsp", [&] { return dat_rsp_create(a.adapter, qualifier, ep, a.arrivals, &rsp); },
        [&] { EXPECT_OK(dat_rsp_free(rsp)); });
    EXPECT_OK(dat_ep_free(ep));
}

// Nothing that may wait for another node ends under the lock: builds with tests abort if anything does.
TEST_F(OutOfMemory, connections)
{
    DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
    EXPECT_OK(dat_psp_create(b.adapter, qualifier, b.arrivals, DAT_PSP_CONSUMER_FLAG, &psp));
    EXPECT_OK(make_ep());
    expect_each_failure(
        "connect", [&] { return connect_once(); },
        [&] {
            EXPECT_OK(dat_ep_free(ep));
            EXPECT_OK(make_ep());
        });
    EXPECT_OK(dat_ep_free(ep));
    EXPECT_OK(dat_psp_free(psp));
}
