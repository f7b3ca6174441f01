// SPDX-License-Identifier: GPL-2.0
// Everything at once, in several processes, some of which are killed.
#include "support/loopback.hpp"
#include "support/raw.hpp"
#include "support/unchanged.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <random>
#include <span>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace rsmtest;
using raw::success;

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint32_t first_id = 0x610000;
constexpr std::uint32_t id_count = 4;
constexpr auto duration = std::chrono::seconds(4);

// How often a role has done all that it has to do, in whichever process.
using Successes = std::atomic<unsigned>;

bool all_successful(std::span<const Successes> all)
{
    return std::all_of(all.begin(), all.end(), [](const Successes &each) { return each > 0; });
}

// Publishes, unpublishes, rebinds and dies, again and again.
void exporter(unsigned seed, Successes &successes)
{
    std::minstd_rand random(seed);
    Pages pages(8);
    Pages other(8);
    for (;;) {
        const Fd handle = raw::open_segment();
        if (raw::bind(handle.get(), pages.data(), pages.size(), RSM_ALLOW_REBIND) != success)
            continue;
        for (unsigned i = 0; i < random() % 8; i++) {
            std::uint32_t id = first_id + random() % id_count;
            const bool published = raw::publish(handle.get(), id) == success;
            // One of the two is where the segment is not.
            bool rebound = true;
            for (const Pages *each : {&other, &pages})
                rebound &= raw::rebind(handle.get(), each->data(), each->size()) == success;
            successes += published && rebound;
            raw::post(handle.get());
            pages.at(random() % pages.size() & ~7ul) = seed;
            raw::republish(handle.get());
            raw::wait(handle.get(), 10000);
            if (random() % 2)
                raw::unpublish(handle.get());
        }
        if (random() % 8 == 0) {
            Pages doomed(2);
            const Fd short_lived = raw::open_segment();
            std::uint32_t id = first_id + random() % id_count;
            raw::bind(short_lived.get(), doomed.data(), doomed.size());
            raw::publish(short_lived.get(), id);
            doomed.release();
        }
    }
}

// Connects, maps, moves data, waits and lets go.
void importer(unsigned seed, Successes &successes)
{
    std::minstd_rand random(seed);
    Pages local(8);
    for (;;) {
        const Fd handle = raw::open_segment();
        rsm_connect connect =
            raw::connect_argument(first_id + random() % id_count, RSM_PERM_RDWR);
        if (raw::call(handle.get(), RSM_IOC_CONNECT, connect) != success)
            continue;
        void *base = raw::map(handle.get(), connect.length);
        const rsm_transfer_entry entry = raw::entry(local.data(), 0, local.size() / 4);
        for (unsigned i = 0; i < random() % 32; i++) {
            const auto command = random() % 2 ? RSM_IOC_PUTV : RSM_IOC_GETV;
            const bool moved = raw::transfer(handle.get(), command, {&entry, 1}, random() % 4) == success;
            successes += moved && base;
            raw::post(handle.get(), random() % 2 ? 0 : RSM_SIGPOST_NO_ACCUMULATE);
            raw::wait(handle.get(), 1000);
            if (base) {
                volatile auto *words = static_cast<volatile std::uint64_t *>(base);
                for (std::uint64_t at = 0; at < connect.length / 8; at += 64)
                    words[at] = words[at] + 1;
            }
        }
        if (base)
            munmap(base, connect.length);
    }
}

// The same through the library, with threads and forks.
void library_user(unsigned seed, Successes &successes)
{
    Controller controller;
    const auto work = [&](unsigned own_seed) {
        std::minstd_rand random(own_seed);
        Pages pages(2);
        for (;;) {
            ExportSegment seg(controller, pages);
            seg.publish(first_id + random() % id_count);
            ImportSegment h(controller, first_id + random() % id_count);
            if (h.status() != RSM_SUCCESS)
                continue;
            h.init_barrier();
            for (int i = 0; i < 20; i++) {
                std::uint64_t value = 0;
                const bool put = h.put64(8 * (random() % 64), i) == RSM_SUCCESS;
                const bool got = h.get64(8 * (random() % 64), &value) == RSM_SUCCESS;
                successes += put && got;
                rsm_intr_signal_post(static_cast<rsm_memseg_import_handle_t>(h), 0);
                rsm_intr_signal_wait(static_cast<rsm_memseg_import_handle_t>(h), 0);
            }
        }
    };
    std::thread second(work, seed + 1000);
    work(seed);
}

class Stress : public testing::Test {
protected:
    using Role = void (*)(unsigned, Successes &);

    // Keeps the roles running for a while, and until each has been successful; every now and then
    // one is killed and starts again.
    static void run(const std::vector<Role> &roles, bool kill_some)
    {
        Unchanged unchanged;
        std::minstd_rand random(static_cast<unsigned>(getpid()));
        std::vector<std::unique_ptr<Child>> children(roles.size());
        const Pages shared(1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS);
        const std::span successes(shared.pointer<Successes>(), roles.size());
        unsigned seed = 0;
        const auto start = [&](std::size_t i) {
            seed++;
            children[i] = std::make_unique<Child>([&](Link &) { roles[i](seed, successes[i]); });
        };
        for (std::size_t i = 0; i < roles.size(); i++)
            start(i);
        const auto end = Clock::now() + duration;
        while (Clock::now() < end || !all_successful(successes)) {
            std::this_thread::sleep_for(std::chrono::milliseconds(20 * slow_factor()));
            for (std::size_t i = 0; i < roles.size(); i++)
                EXPECT_EQ(waitpid(children[i]->pid(), nullptr, WNOHANG), 0) << "role " << i << " died";
            if (kill_some && !HasFailure())
                start(random() % roles.size());
            if (HasFailure())
                break;
        }
        children.clear();
        // The node still works.
        raw::Published published(1);
        EXPECT_TRUE(published.ok);
        const Fd handle = raw::open_segment();
        EXPECT_EQ(raw::connect(handle.get(), published.id), success);
    }
};

} // namespace

TEST_F(Stress, publish_connect_map_put)
{
    run({exporter, exporter, importer, importer, library_user}, false);
}

TEST_F(Stress, with_processes_that_are_killed)
{
    run({exporter, exporter, exporter, importer, importer, importer, library_user}, true);
}

TEST_F(Stress, many_segments)
{
    Pages memory(1);
    const std::size_t count = 2000;
    std::vector<Fd> handles;
    rlimit limit{4096, 4096};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
    for (std::size_t i = 0; i < count; i++) {
        handles.push_back(raw::open_segment());
        ASSERT_TRUE(handles.back().valid());
        ASSERT_EQ(raw::bind(handles.back().get(), memory.data(), memory.size()), success);
        std::uint32_t id = 0;
        ASSERT_EQ(raw::publish(handles.back().get(), id), success);
        const Fd importer = raw::open_segment();
        ASSERT_EQ(raw::connect(importer.get(), id), success);
    }
}

// Each of the calls succeeds at times.
TEST_F(Stress, one_handle_from_many_threads)
{
    raw::Published published(4, RSM_ALLOW_REBIND);
    ASSERT_TRUE(published.ok);
    Pages other(4);
    const auto end = Clock::now() + duration / 2;
    const int fd = published.handle.get();
    const auto connect = [] {
        const Fd handle = raw::open_segment();
        return raw::connect(handle.get(), first_id) == success && raw::post(handle.get()) == success;
    };
    const auto publish = [&] {
        std::uint32_t id = first_id;
        return raw::publish(fd, id) == success;
    };
    const std::vector<std::function<bool()>> calls{
        [&] { return publish(); },
        [&] { return raw::unpublish(fd) == success; },
        [&] { return raw::republish(fd) == success; },
        [&] {
            // One of the two is where the segment is not.
            return raw::rebind(fd, other.data(), other.size()) == success &&
                   raw::rebind(fd, published.memory.data(), other.size()) == success;
        },
        [&] { return raw::post(fd) == success; },
        [&] { return raw::wait(fd, 1000) == success; },
        [&] { return connect(); },
    };
    std::vector<Successes> successes(calls.size());
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < 6; i++)
        threads.emplace_back([&, i] {
            std::minstd_rand random(i + 1);
            while (Clock::now() < end || !all_successful(successes)) {
                const std::size_t call = random() % calls.size();
                successes[call] += calls[call]();
            }
        });
}
