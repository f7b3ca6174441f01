// SPDX-License-Identifier: GPL-2.0
// Nothing blocks on the engine's thread: builds with tests end the process there, with each kind of
// call that may block (Documentation/libdat-rsm.md, "Threads, sleeping").
#include "support/child.hpp"
#include "support/system.hpp"

#include "engine/event/futex.h"
#include "engine/loop/engine.h"
#include "memory/contexts.h"
#include "wire/device.h"

#include <csignal>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <sys/wait.h>
#include <unistd.h>

using namespace rsmtest;
using rsmengine::Device;
using rsmengine::Engine;
using rsmengine::Export;
using rsmengine::Futex;
using rsmengine::Grant;
using rsmengine::Guard;
using rsmengine::Import;
using rsmengine::Lock;
using rsmengine::RemoteRegion;

namespace {

// A call that may block, made ready by what makes it.
using Call = std::function<void()>;
using MakeCall = std::function<Call(const Device &)>;

enum class Thread { ENGINE, HELPER };

// How a process ends in which that thread calls; it exits with 0 behind the call.
int end_of_process(Thread thread, const MakeCall &make)
{
    Child child([&](Link &) {
        const Device device;
        Lock lock;
        Engine engine(lock);
        const Call call = make(device);
        {
            const Guard guard(lock);
            const auto call_and_leave = [&call] {
                call();
                _exit(0);
            };
            if (thread == Thread::ENGINE)
                engine.at(Engine::Clock::now(), call_and_leave);
            else
                engine.aside(call_and_leave);
        }
        for (;;)
            pause();
    });
    return child.wait();
}

void expect_forbidden(const MakeCall &make)
{
    const int status = end_of_process(Thread::ENGINE, make);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT) << std::hex << status;
    EXPECT_EQ(end_of_process(Thread::HELPER, make), 0);
}

std::shared_ptr<Export> make_export(const Device &device, const Pages &pages)
{
    auto made = std::make_shared<Export>();
    EXPECT_EQ(Export::bind(device, "loopback", pages.data(), pages.size(), RSM_BIND_LOCAL, *made),
              RSM_SUCCESS);
    return made;
}

} // namespace

TEST(EngineMayNot, connect)
{
    expect_forbidden([](const Device &device) {
        return [&device] {
            Import import;
            (void)Import::connect(device, "loopback", device.node(), 1, RSM_PERM_READ, import);
        };
    });
}

TEST(EngineMayNot, sleep_on_a_futex)
{
    expect_forbidden([](const Device &) {
        return [] {
            Futex futex;
            (void)futex.sleep(futex.ticket(), Futex::Clock::now());
        };
    });
}

TEST(EngineMayNot, end_an_export)
{
    const Pages pages(1);
    expect_forbidden([&pages](const Device &device) {
        return [segment = make_export(device, pages)] { *segment = Export(); };
    });
}

TEST(EngineMayNot, unmap_memory_of_the_peer)
{
    const Pages pages(4);
    expect_forbidden([&pages](const Device &device) {
        const auto segment = make_export(device, pages);
        rsmengine::Ticket ticket{};
        EXPECT_EQ(segment->grant(0, pages.size(), RSM_PERM_RDWR, rsmengine::TicketUse::MANY, ticket),
                  RSM_SUCCESS);
        const Grant grant{{ticket[0], ticket[1]}, 0x1000, pages.size(), 0, RSM_PERM_RDWR, 0};
        auto region = std::make_shared<std::unique_ptr<RemoteRegion>>();
        *region = RemoteRegion::open(device, grant);
        EXPECT_TRUE(*region);
        return [segment, region] { region->reset(); };
    });
}
