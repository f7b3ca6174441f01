// SPDX-License-Identifier: GPL-2.0
// Pairs of operations that race for one segment, each pair again and again: whichever comes first, what
// holds afterwards holds, and nothing is left behind.
#include "support/child.hpp"
#include "support/raw.hpp"
#include "support/soak.hpp"
#include "support/unchanged.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <ctime>
#include <functional>
#include <gtest/gtest.h>
#include <initializer_list>
#include <memory>
#include <optional>
#include <poll.h>
#include <pthread.h>
#include <random>
#include <semaphore.h>
#include <string>
#include <sys/mman.h>
#include <thread>

using namespace rsmtest;
using raw::Outcome;
using raw::status;
using raw::success;

namespace {

// The parts of a scene: an export of two pages, a connection to it, a mapping of that; the other memory of a rebind; a
// grant; one more handle.
enum Needs : unsigned { published = 1, connected = 2, mapping = 4, other_memory = 8, granted = 16, late_handle = 32 };

// Memory of one race after the other: a race that loses it gets new memory.
class Memory {
public:
    explicit Memory(std::size_t pages) : count_(pages) {}
    Pages &get()
    {
        if (!pages_ || !pages_->valid())
            pages_.emplace(count_);
        clear(*pages_);
        return *pages_;
    }
    static void clear(Pages &pages) { std::fill_n(pages.pointer(), 2, 0); }

private:
    std::size_t count_;
    std::optional<Pages> pages_;
};

struct Memories {
    Memory exported{2}, other{2}, granted{1};
};

// The object that a pair races for.
struct Scene {
    Pages *memory = nullptr;
    Pages *other = nullptr;
    Fd exported, imported, local, late;
    std::uint32_t id = 0;
    raw::Ticket ticket;
    void *mapped = nullptr;
    void *mapped_late = nullptr;
    Outcome left, right;

    Scene(Memories &memories, unsigned needs)
    {
        if (needs & published)
            bind(memories.exported.get());
        if (needs & other_memory)
            other = &memories.other.get();
        if (needs & granted)
            bind_granted(memories.granted.get());
        fill(needs);
    }
    ~Scene() { unmap(); }
    Scene(const Scene &) = delete;
    Scene &operator=(const Scene &) = delete;

    // The parts that most pairs use up.
    void fill(unsigned needs)
    {
        unmap();
        if (needs & published) {
            id = 0;
            EXPECT_EQ(raw::publish(exporter(), id), success);
        }
        if (needs & connected)
            connect(needs);
        if (needs & granted) {
            EXPECT_EQ(raw::grant(local.get(), ticket, 0, 8), success);
        }
        if (needs & late_handle)
            late = raw::open_segment();
    }

    int exporter() const { return exported.get(); }
    volatile std::uint64_t &word() const { return *static_cast<volatile std::uint64_t *>(mapped); }
    Outcome put() const
    {
        const std::uint64_t value = 0x707574;
        const rsm_transfer_entry entry = raw::entry(&value, 8, sizeof(value));
        return raw::transfer(imported.get(), RSM_IOC_PUTV, {&entry, 1});
    }

private:
    void bind(Pages &pages)
    {
        memory = &pages;
        exported = raw::open_segment();
        EXPECT_EQ(raw::bind(exporter(), pages.data(), pages.size(), RSM_ALLOW_REBIND), success);
    }
    void bind_granted(Pages &pages)
    {
        local = raw::open_segment();
        EXPECT_EQ(raw::bind(local.get(), pages.data(), pages.size(), RSM_BIND_LOCAL), success);
    }
    void connect(unsigned needs)
    {
        imported = raw::open_segment();
        EXPECT_EQ(raw::connect(imported.get(), id), success);
        if (needs & mapping) {
            mapped = raw::map(imported.get(), page_size());
            EXPECT_NE(mapped, nullptr);
        }
    }
    void unmap()
    {
        for (void **base : {&mapped, &mapped_late}) {
            if (*base)
                munmap(*base, page_size());
            *base = nullptr;
        }
    }
};

bool one_of(const Outcome &outcome, std::initializer_list<Outcome> allowed)
{
    return std::find(allowed.begin(), allowed.end(), outcome) != allowed.end();
}

bool aborted(const Fd &handle, int timeout_ms = 0)
{
    pollfd entry{handle.get(), POLLRDHUP, 0};
    return poll(&entry, 1, timeout_ms) == 1;
}

const Outcome conn_aborted = status(RSMERR_CONN_ABORTED);
const Outcome not_published = status(RSMERR_SEG_NOT_PUBLISHED);
const Outcome none = status(RSMERR_TIMEOUT);

struct Pair {
    const char *name;
    unsigned needs;
    // Makes the scene as it was; without it the next race has a new one.
    std::function<void(Scene &)> again;
    std::function<Outcome(Scene &)> left;
    std::function<Outcome(Scene &)> right;
    // Whether what holds afterwards holds; the first operation succeeds in any case.
    std::function<bool(Scene &)> sound;
};

Outcome unpublish(Scene &scene) { return raw::unpublish(scene.exporter()); }
Outcome destroy(Scene &scene) { return raw::destroy(scene.exporter()); }
Outcome rebind(Scene &scene)
{
    return raw::rebind(scene.exporter(), scene.other->data(), scene.other->size());
}
Outcome connect_late(Scene &scene) { return raw::connect(scene.late.get(), scene.id); }
Outcome close_import(Scene &scene)
{
    scene.imported.reset();
    return success;
}
Outcome touch(Scene &scene)
{
    scene.word() = 7;
    return success;
}
Outcome map_late(Scene &scene)
{
    scene.mapped_late = raw::map(scene.imported.get(), page_size());
    return scene.mapped_late ? success : raw::error(errno);
}
Outcome post_importers(Scene &scene) { return raw::post(scene.exporter()); }
Outcome post_exporter(Scene &scene) { return raw::post(scene.imported.get()); }
Outcome put(Scene &scene) { return scene.put(); }
Outcome revoke(Scene &scene) { return raw::revoke(scene.local.get(), scene.ticket); }
Outcome redeem(Scene &scene) { return raw::redeem(scene.late.get(), scene.ticket); }
Outcome lose_range(Scene &scene)
{
    scene.memory->release();
    return success;
}
Outcome take_event(Scene &scene) { return raw::wait(scene.exporter(), 0); }

bool late_is_aborted_or_refused(Scene &scene)
{
    return scene.right == not_published ? raw::post(scene.late.get()) == status(RSMERR_BAD_SEG_HNDL)
                                        : scene.right == success && aborted(scene.late);
}

// The mapping that raced does not show the exporter's memory any more.
bool is_apart(Scene &scene)
{
    auto &shown = *static_cast<volatile std::uint64_t *>(scene.mapped_late);
    scene.memory->at() = 5;
    if (shown == 5)
        return false;
    shown = 6;
    return scene.memory->at() == 5;
}

// A segment is published again, which is less work than a new one.
template <unsigned needs> void publish_again(Scene &scene)
{
    Memory::clear(*scene.memory);
    scene.fill(needs);
}
void connect_again(Scene &scene) { scene.fill(connected); }
void grant_again(Scene &scene) { scene.fill(granted | late_handle); }
void swap_memory(Scene &scene)
{
    std::swap(scene.memory, scene.other);
    Memory::clear(*scene.memory);
    Memory::clear(*scene.other);
}
void keep(Scene &) {}

constexpr unsigned import = published | connected;

const Pair pairs[] = {
    {"unpublish_connect", published | late_handle, publish_again<published | late_handle>, unpublish,
     connect_late, late_is_aborted_or_refused},
    {"unpublish_map", import, publish_again<import>, unpublish, map_late,
     [](Scene &scene) {
         return one_of(scene.right, {success, raw::error(ENODEV)}) &&
                (!scene.mapped_late || is_apart(scene));
     }},
    {"unpublish_put", import, publish_again<import>, unpublish, put,
     [](Scene &scene) {
         return one_of(scene.right, {success, conn_aborted}) && scene.put() == conn_aborted;
     }},
    {"unpublish_post", import, publish_again<import>, unpublish, post_exporter,
     [](Scene &scene) {
         return one_of(scene.right, {success, conn_aborted}) &&
                raw::wait(scene.exporter()) == (scene.right == success ? success : none);
     }},
    {"unpublish_store", import | mapping, publish_again<import | mapping>, unpublish, touch,
     [](Scene &scene) {
         scene.word() = 9;
         return scene.memory->at() != 9;
     }},
    {"rebind_put", import | other_memory, swap_memory, rebind, put,
     [](Scene &scene) {
         // In the one memory or in the other.
         const bool there = scene.other->at(8) == 0x707574 || scene.memory->at(8) == 0x707574;
         if (scene.right != success || !there)
             return false;
         // The rebind has returned: all goes to the other memory.
         Memory::clear(*scene.other);
         return scene.put() == success && scene.other->at(8) == 0x707574;
     }},
    {"rebind_store", import | mapping | other_memory, swap_memory, rebind, touch,
     [](Scene &scene) {
         scene.word() = 9;
         return scene.other->at() == 9;
     }},
    {"destroy_unpublish", import, nullptr, destroy, unpublish,
     [](Scene &scene) { return aborted(scene.imported); }},
    {"revoke_redeem", granted | late_handle, grant_again, revoke, redeem, late_is_aborted_or_refused},
    {"lost_range_connect", import | late_handle, nullptr, lose_range, connect_late,
     [](Scene &scene) {
         // The kernel notices in its own time.
         const auto ends = [](const Fd &handle) { return eventually([&] { return aborted(handle, 100); }); };
         return one_of(scene.right, {success, not_published}) && ends(scene.imported) &&
                (scene.right != success || ends(scene.late));
     }},
    {"close_post", import, connect_again, close_import, post_importers,
     [](Scene &scene) { return scene.right == success; }},
    {"post_wait", import, keep, post_exporter, take_event,
     [](Scene &scene) {
         // One event, taken once.
         return one_of(scene.right, {success, none}) &&
                raw::wait(scene.exporter()) == (scene.right == success ? none : success) &&
                raw::wait(scene.exporter()) == none;
     }},
};

// That of the standard library gives the processor away several times before it waits.
class Semaphore {
public:
    Semaphore() { EXPECT_EQ(sem_init(&semaphore_, 0, 0), 0); }
    ~Semaphore() { sem_destroy(&semaphore_); }
    Semaphore(const Semaphore &) = delete;
    Semaphore &operator=(const Semaphore &) = delete;
    void post() { sem_post(&semaphore_); }
    void wait()
    {
        while (sem_wait(&semaphore_) != 0) {
        }
    }

private:
    sem_t semaphore_;
};

// A rival that has the processor as soon as it wakes, in the middle of the first operation if it wakes then: so
// operations meet where there is one processor, too.
class Rival {
public:
    explicit Rival(unsigned seed) : random_(seed), thread_([this] { live(); })
    {
        const sched_param first = {.sched_priority = 1};
        EXPECT_EQ(pthread_setschedparam(thread_.native_handle(), SCHED_FIFO, &first), 0);
    }
    ~Rival()
    {
        second_ = nullptr;
        begin_.post();
        thread_.join();
    }
    Rival(const Rival &) = delete;
    Rival &operator=(const Rival &) = delete;

    // Runs both, the second on the other thread, some time after the first.
    void race(const std::function<void()> &first, const std::function<void()> &second)
    {
        second_ = &second;
        delay_ns_ = static_cast<long>(random_() % reach_ns_);
        first_ = before;
        begin_.post();
        first_ = within;
        first();
        first_ = after;
        end_.wait();
        aim();
    }
    // Races in which the second began in the middle of the first.
    unsigned met() const { return met_; }

private:
    enum Stage { before, within, after };

    void live()
    {
        for (;;) {
            begin_.wait();
            if (!second_)
                return;
            const timespec delay = {0, delay_ns_};
            clock_nanosleep(CLOCK_MONOTONIC, 0, &delay, nullptr);
            seen_ = first_;
            (*second_)();
            end_.post();
        }
    }
    // The reach of the delay follows how long the first takes here.
    void aim()
    {
        met_ += seen_ == within;
        reach_ns_ = seen_ == after    ? std::max(reach_ns_ - reach_ns_ / 16, 1000L)
                    : seen_ == before ? std::min(reach_ns_ + reach_ns_ / 8, 900'000'000L)
                                      : reach_ns_ + reach_ns_ / 32;
    }

    std::minstd_rand random_;
    Semaphore begin_, end_;
    const std::function<void()> *second_ = nullptr;
    std::atomic<Stage> first_ = before;
    Stage seen_ = before;
    long delay_ns_ = 0;
    long reach_ns_ = 20'000;
    unsigned met_ = 0;
    std::thread thread_;
};

// The segment of the former scene is gone before the new one is made.
void renew(std::unique_ptr<Scene> &scene, Memories &memories, unsigned needs)
{
    scene.reset();
    scene = std::make_unique<Scene>(memories, needs);
}

class Races : public testing::TestWithParam<Pair> {};

} // namespace

TEST_P(Races, race)
{
    const Pair &pair = GetParam();
    const unsigned rounds = soak_rounds(100);
    Unchanged unchanged;
    Memories memories;
    std::unique_ptr<Scene> scene;
    const std::function<void()> sides[] = {[&] { scene->left = pair.left(*scene); },
                                           [&] { scene->right = pair.right(*scene); }};
    Rival rival(soak_seed());
    unsigned raced = 0;
    for (; raced < rounds && !HasFailure(); raced++) {
        if (pair.again && raced % 16)
            pair.again(*scene);
        else
            renew(scene, memories, pair.needs);
        if (HasFailure())
            break;
        rival.race(sides[raced % 2], sides[(raced + 1) % 2]);
        EXPECT_TRUE(scene->left == success && pair.sound(*scene))
            << "race " << raced << ": " << scene->left << " and " << scene->right;
    }
    scene.reset();
    std::printf("note: races %u\nnote: met %u\n", raced, rival.met());
}

INSTANTIATE_TEST_SUITE_P(Pairs, Races, testing::ValuesIn(pairs),
                         [](const auto &about) { return std::string(about.param.name); });
