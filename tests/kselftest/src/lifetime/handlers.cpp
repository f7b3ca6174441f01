// SPDX-License-Identifier: GPL-2.0
// The functions of librsm that a signal handler may call (rsm(7)), called from a handler that
// interrupts all the others.
#include "support/loopback.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <pthread.h>
#include <thread>

using namespace rsmtest;

namespace {

constexpr int enough = 500; // calls of the handler

struct Scene {
    ImportSegment *connection;
    std::atomic<int> calls;
    std::atomic<int> failures;
};
Scene scene;

bool moves_data()
{
    auto *handle = static_cast<rsm_memseg_import_handle_t>(*scene.connection);
    std::uint64_t number = 1;
    std::uint8_t bytes[40] = {};
    return rsm_memseg_import_put64(handle, 0, &number, 1) == RSM_SUCCESS &&
           rsm_memseg_import_get64(handle, 0, &number, 1) == RSM_SUCCESS &&
           rsm_memseg_import_put(handle, 64, bytes, sizeof(bytes)) == RSM_SUCCESS &&
           rsm_memseg_import_get8(handle, 64, bytes, sizeof(bytes)) == RSM_SUCCESS;
}

bool orders_and_tells()
{
    rsmapi_barrier_t barrier = *scene.connection->barrier();
    return rsm_memseg_import_open_barrier(&barrier) == RSM_SUCCESS &&
           rsm_memseg_import_order_barrier(&barrier) == RSM_SUCCESS &&
           rsm_memseg_import_close_barrier(&barrier) == RSM_SUCCESS &&
           rsm_intr_signal_post(static_cast<rsm_memseg_import_handle_t>(*scene.connection),
                                RSM_SIGPOST_NO_ACCUMULATE) == RSM_SUCCESS;
}

void handle(int)
{
    const int before = errno;
    if (!moves_data() || !orders_and_tells() || rsm_strerror(RSM_SUCCESS) == nullptr)
        scene.failures++;
    scene.calls++;
    errno = before;
}

class Handlers : public PublishedTest {
protected:
    void SetUp() override
    {
        PublishedTest::SetUp();
        ASSERT_EQ(connection.status(), RSM_SUCCESS);
        ASSERT_EQ(connection.init_barrier(), RSM_SUCCESS);
        ASSERT_EQ(connection.put64(0, 1), RSM_SUCCESS); // the first transfer maps the segment
        scene.connection = &connection;
        struct sigaction action{};
        action.sa_handler = handle;
        action.sa_flags = SA_RESTART;
        ASSERT_EQ(sigaction(SIGUSR1, &action, nullptr), 0);
    }
    // A round of calls that take the library's locks, all over it.
    void everything_else()
    {
        Pages pages(1);
        ExportSegment another(ctl, pages);
        ASSERT_EQ(another.publish(), RSM_SUCCESS);
        ImportSegment to(ctl, another.id());
        ASSERT_EQ(to.init_barrier(), RSM_SUCCESS);
        ASSERT_EQ(to.put64(0, 5), RSM_SUCCESS);
        ASSERT_EQ(to.map(page_size()), RSM_SUCCESS);
        ASSERT_EQ(connection.put64(128, 5), RSM_SUCCESS);
        pollfd entry{};
        ASSERT_EQ(rsm_memseg_get_pollfd(another, &entry), RSM_SUCCESS);
        ASSERT_EQ(rsm_memseg_release_pollfd(another), RSM_SUCCESS);
    }

    ImportSegment connection{ctl, seg.id()};
};

} // namespace

TEST_F(Handlers, may_transfer_order_and_post)
{
    const pthread_t interrupted = pthread_self();
    std::atomic<bool> over = false;
    std::thread signaller([&] {
        while (!over) {
            const int calls = scene.calls;
            pthread_kill(interrupted, SIGUSR1);
            while (scene.calls == calls && !over)
                std::this_thread::yield();
        }
    });
    while (scene.calls < enough && !HasFatalFailure())
        everything_else();
    over = true;
    signaller.join();
    EXPECT_EQ(scene.failures, 0);
    EXPECT_EQ(rsm_intr_signal_wait(static_cast<rsm_memseg_export_handle_t>(seg), 0), RSM_SUCCESS);
}
