// SPDX-License-Identifier: GPL-2.0
// Error sweeps: in every call, one after the other, everything that can fail
// does. The call reports an error or succeeds, and nothing is left behind.
#include "support/child.hpp"
#include "support/fault.hpp"
#include "support/raw.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <gtest/gtest.h>
#include <memory>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

using namespace rsmtest;
using raw::Outcome;
using raw::success;

namespace {

constexpr Outcome failed_to_open{ENODEV, 0};

class FailNth : public testing::Test {
protected:
    void SetUp() override
    {
        if (!faults.available())
            GTEST_SKIP() << "this kernel has no fault injection";
    }

    // The objects of one round, made afresh each time without faults.
    struct Scene {
        raw::Published published{4, RSM_ALLOW_REBIND};
        Fd control = raw::open_control();
        Fd blank = raw::open_segment();
        Fd imported = raw::open_segment();
        Pages memory{16};

        Scene()
        {
            EXPECT_TRUE(published.ok);
            EXPECT_EQ(raw::connect(imported.get(), published.id), success);
        }
        // munmap can fail for want of memory, too: it waits until no fault is
        // injected any more.
        ~Scene()
        {
            for (const auto &[base, length] : mappings)
                munmap(base, length);
        }
        Scene(const Scene &) = delete;
        Scene &operator=(const Scene &) = delete;

        void *map(int fd, std::size_t length, int protection = PROT_READ | PROT_WRITE,
                  off_t offset = 0)
        {
            void *base = raw::map(fd, length, protection, offset);
            if (base)
                mappings[count++] = {base, length};
            return base;
        }
        void *map_import() { return map(imported.get(), published.memory.size()); }

    private:
        std::array<std::pair<void *, std::size_t>, 2> mappings{};
        std::size_t count = 0;
    };
    using Action = std::function<Outcome(Scene &)>;

    // Repeats scene and action until no fault is injected any more; that last
    // time the action must succeed.
    void sweep(const Action &action)
    {
        const Counters before = kernel_counters();
        for (int n = 1; n < 5000; n++) {
            auto scene = std::make_unique<Scene>();
            if (HasFailure()) {
                ADD_FAILURE() << "after fault " << n - 1;
                return;
            }
            Outcome outcome{EIO, 0};
            const bool hit = faults.nth(n, [&] { outcome = action(*scene); });
            // The node goes on: what failed can be tried again or undone.
            raw::post(scene->published.handle.get());
            scene.reset();
            ASSERT_TRUE(eventually([&] { return kernel_counters() == before; }))
                << "fault " << n << " leaves something behind";
            if (!hit) {
                EXPECT_EQ(outcome, success) << "without a fault";
                FaultInjection::tell(n - 1);
                return;
            }
        }
        ADD_FAILURE() << "faults have no end";
    }

    FaultInjection faults;
};

} // namespace

TEST_F(FailNth, open_segment)
{
    sweep([](Scene &) { return raw::open_segment().valid() ? success : failed_to_open; });
}

TEST_F(FailNth, open_control)
{
    sweep([](Scene &) { return raw::open_control().valid() ? success : failed_to_open; });
}

TEST_F(FailNth, info_attr_topology)
{
    sweep([](Scene &scene) {
        rsm_info info{};
        return raw::call(scene.control.get(), RSM_IOC_INFO, info);
    });
    sweep([](Scene &scene) {
        rsm_attr attr{};
        std::strcpy(attr.controller, "loopback");
        return raw::call(scene.control.get(), RSM_IOC_ATTR, attr);
    });
    sweep([](Scene &scene) {
        rsm_topology_controller controllers[4];
        rsm_topology_peer peers[4];
        rsm_topology_query query{};
        query.controllers = reinterpret_cast<std::uintptr_t>(controllers);
        query.peers = reinterpret_cast<std::uintptr_t>(peers);
        query.controller_count = 4;
        query.peer_count = 4;
        return raw::call(scene.control.get(), RSM_IOC_TOPOLOGY, query);
    });
}

TEST_F(FailNth, bind)
{
    sweep([](Scene &scene) {
        return raw::bind(scene.blank.get(), scene.memory.data(), scene.memory.size());
    });
}

TEST_F(FailNth, bind_with_slot)
{
    sweep([](Scene &scene) {
        rsm_bind argument = raw::bind_argument(scene.memory.data(), scene.memory.size(), 0,
                                               scene.control.get());
        return raw::call(scene.blank.get(), RSM_IOC_BIND, argument);
    });
}

TEST_F(FailNth, rebind)
{
    sweep([](Scene &scene) {
        return raw::rebind(scene.published.handle.get(), scene.memory.data(),
                           scene.published.memory.size());
    });
}

TEST_F(FailNth, rebind_under_a_mapping)
{
    sweep([](Scene &scene) {
        if (!scene.map_import())
            return Outcome{errno, 0};
        return raw::rebind(scene.published.handle.get(), scene.memory.data(),
                           scene.published.memory.size());
    });
}

TEST_F(FailNth, publish)
{
    sweep([](Scene &scene) {
        if (raw::unpublish(scene.published.handle.get()) != success)
            return Outcome{EAGAIN, 0};
        const rsm_acl_entry entry{raw::local_node(), 0666};
        std::uint32_t id = 0;
        return raw::publish(scene.published.handle.get(), id, {&entry, 1});
    });
    sweep([](Scene &scene) {
        if (raw::unpublish(scene.published.handle.get()) != success)
            return Outcome{EAGAIN, 0};
        std::uint32_t id = 0x600060;
        return raw::publish(scene.published.handle.get(), id);
    });
}

TEST_F(FailNth, republish_unpublish_destroy)
{
    const rsm_acl_entry entry{raw::local_node(), 0666};
    sweep([&](Scene &scene) { return raw::republish(scene.published.handle.get(), {&entry, 1}); });
    sweep([](Scene &scene) { return raw::unpublish(scene.published.handle.get()); });
    sweep([](Scene &scene) { return raw::destroy(scene.published.handle.get()); });
}

TEST_F(FailNth, connect)
{
    sweep([](Scene &scene) { return raw::connect(scene.blank.get(), scene.published.id); });
    sweep([](Scene &scene) {
        rsm_connect argument =
            raw::connect_argument(scene.published.id, RSM_PERM_RDWR, scene.control.get());
        return raw::call(scene.blank.get(), RSM_IOC_CONNECT, argument);
    });
}

TEST_F(FailNth, post_wait_poll_barrier)
{
    sweep([](Scene &scene) { return raw::post(scene.imported.get()); });
    sweep([](Scene &scene) { return raw::post(scene.published.handle.get()); });
    sweep([](Scene &scene) {
        const Outcome posted = raw::post(scene.imported.get());
        return posted == success ? raw::wait(scene.published.handle.get(), 1000000000) : posted;
    });
    sweep([](Scene &scene) {
        pollfd entry{scene.imported.get(), POLLRDNORM, 0};
        return poll(&entry, 1, 0) == 0 ? success : Outcome{ENOMEM, 0};
    });
    sweep([](Scene &scene) { return raw::barrier(scene.imported.get(), RSM_BARRIER_ORDER); });
}

TEST_F(FailNth, putv_and_getv)
{
    for (const unsigned long command : {RSM_IOC_PUTV, RSM_IOC_GETV}) {
        sweep([&](Scene &scene) {
            const Fd local = raw::open_segment();
            if (raw::bind(local.get(), scene.memory.data(), page_size()) != success)
                return Outcome{ENOMEM, 0};
            rsm_transfer_entry entries[3] = {
                raw::entry(scene.memory.data() + 100, 3, 2 * page_size()),
                raw::entry(nullptr, 64, 128), raw::entry(scene.memory.data(), 0, 8)};
            entries[1].type = RSM_HANDLE_TYPE;
            entries[1].fd = local.get();
            return raw::transfer(scene.imported.get(), command, entries, RSM_IMPLICIT_SIGPOST);
        });
    }
}

TEST_F(FailNth, map_and_touch)
{
    sweep([](Scene &scene) {
        const std::size_t size = scene.published.memory.size();
        void *base = scene.map_import();
        if (!base)
            return Outcome{errno, 0};
        // A fault that can't get memory may not kill: the kernel is asked to
        // touch the pages for us.
        int ends[2];
        if (pipe(ends) != 0)
            return Outcome{EMFILE, 0};
        const Fd reader(ends[0]);
        const Fd writer(ends[1]);
        Outcome outcome = success;
        for (std::size_t at = 0; at < size; at += page_size()) {
            if (write(writer.get(), static_cast<std::byte *>(base) + at, 8) != 8)
                outcome = Outcome{errno, 0};
        }
        return outcome;
    });
}

TEST_F(FailNth, unmap_a_part)
{
    sweep([](Scene &scene) {
        void *base = scene.map_import();
        if (!base)
            return Outcome{errno, 0};
        // The mapping has to be split.
        return raw::unmap(scene.imported.get(), static_cast<std::byte *>(base) + page_size(),
                          page_size());
    });
}

TEST_F(FailNth, range)
{
    sweep([](Scene &scene) {
        rsm_range range{};
        return raw::call(scene.published.handle.get(), RSM_IOC_RANGE, range);
    });
}

TEST_F(FailNth, abort_of_a_mapping)
{
    sweep([](Scene &scene) {
        void *base = scene.map_import();
        if (!base)
            return Outcome{errno, 0};
        int ends[2] = {-1, -1};
        Outcome outcome = raw::unpublish(scene.published.handle.get());
        if (pipe(ends) == 0) {
            const Fd reader(ends[0]);
            const Fd writer(ends[1]);
            if (write(writer.get(), base, 8) != 8)
                outcome = Outcome{errno, 0};
        }
        return outcome;
    });
}

TEST_F(FailNth, control_tables)
{
    sweep([](Scene &scene) {
        const int fd = scene.control.get();
        void *status_words = scene.map(fd, page_size(), PROT_READ, RSM_MMAP_STATUS);
        if (!status_words)
            return Outcome{errno, 0};
        void *consumed =
            scene.map(fd, page_size(), PROT_READ | PROT_WRITE, RSM_MMAP_CONSUMED);
        return consumed ? success : Outcome{errno, 0};
    });
}

TEST_F(FailNth, fork_with_a_mapping)
{
    sweep([](Scene &scene) {
        if (!scene.map_import())
            return Outcome{errno, 0};
        std::fflush(nullptr);
        const pid_t child = fork();
        if (child == 0)
            _exit(0);
        const Outcome outcome = child > 0 ? success : Outcome{errno, 0};
        if (child > 0)
            waitpid(child, nullptr, 0);
        return outcome;
    });
}

TEST_F(FailNth, whole_life)
{
    sweep([](Scene &) {
        const raw::Published other(2);
        if (!other.ok)
            return Outcome{ENOMEM, 0};
        const Fd handle = raw::open_segment();
        return raw::connect(handle.get(), other.id);
    });
}
