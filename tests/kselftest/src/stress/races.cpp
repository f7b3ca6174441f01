// SPDX-License-Identifier: GPL-2.0
// Pairs of operations that race for one segment, each pair again and again: whichever comes first, what
// holds afterwards holds, and nothing is left behind.
#include "support/child.hpp"
#include "support/raw.hpp"
#include "support/soak.hpp"
#include "support/unchanged.hpp"

#include <algorithm>
#include <barrier>
#include <cstdio>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <poll.h>
#include <random>
#include <string>
#include <sys/mman.h>
#include <thread>

using namespace rsmtest;
using raw::Outcome;
using raw::status;
using raw::success;

namespace {

// The object that a pair races for, new for each race.
struct Scene {
    raw::Published published{2, RSM_ALLOW_REBIND};
    Pages other{2};
    Pages granted{1};
    Fd local = raw::open_segment();
    Fd imported = raw::open_segment();
    Fd late = raw::open_segment();
    raw::Ticket ticket;
    void *mapped = nullptr;
    void *mapped_late = nullptr;
    Outcome left, right;

    Scene()
    {
        EXPECT_TRUE(published.ok);
        EXPECT_EQ(raw::connect(imported.get(), published.id), success);
        mapped = raw::map(imported.get(), page_size());
        EXPECT_NE(mapped, nullptr);
        EXPECT_EQ(raw::bind(local.get(), granted.data(), granted.size(), RSM_BIND_LOCAL), success);
        EXPECT_EQ(raw::grant(local.get(), ticket, 0, 8), success);
    }
    ~Scene()
    {
        for (void *base : {mapped, mapped_late}) {
            if (base)
                munmap(base, page_size());
        }
    }
    Scene(const Scene &) = delete;
    Scene &operator=(const Scene &) = delete;

    int exporter() const { return published.handle.get(); }
    volatile std::uint64_t &word() const { return *static_cast<volatile std::uint64_t *>(mapped); }
    Outcome put() const
    {
        const std::uint64_t value = 0x707574;
        const rsm_transfer_entry entry = raw::entry(&value, 8, sizeof(value));
        return raw::transfer(imported.get(), RSM_IOC_PUTV, {&entry, 1});
    }
};

bool one_of(const Outcome &outcome, std::initializer_list<Outcome> allowed)
{
    return std::find(allowed.begin(), allowed.end(), outcome) != allowed.end();
}

bool aborted(const Fd &handle)
{
    pollfd entry{handle.get(), POLLRDHUP, 0};
    return poll(&entry, 1, 0) == 1;
}

const Outcome conn_aborted = status(RSMERR_CONN_ABORTED);
const Outcome not_published = status(RSMERR_SEG_NOT_PUBLISHED);
const Outcome none = status(RSMERR_TIMEOUT);

struct Pair {
    const char *name;
    std::function<Outcome(Scene &)> left;
    std::function<Outcome(Scene &)> right;
    // Whether what holds afterwards holds.
    std::function<bool(Scene &)> sound;
};

Outcome unpublish(Scene &scene) { return raw::unpublish(scene.exporter()); }
Outcome destroy(Scene &scene) { return raw::destroy(scene.exporter()); }
Outcome rebind(Scene &scene)
{
    return raw::rebind(scene.exporter(), scene.other.data(), scene.other.size());
}
Outcome connect_late(Scene &scene) { return raw::connect(scene.late.get(), scene.published.id); }
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
    scene.published.memory.release();
    return success;
}
Outcome take_event(Scene &scene) { return raw::wait(scene.exporter(), 0); }

bool late_is_aborted_or_refused(Scene &scene)
{
    return scene.right == not_published ? raw::post(scene.late.get()) == status(RSMERR_BAD_SEG_HNDL)
                                        : scene.right == success && aborted(scene.late);
}

const Pair pairs[] = {
    {"unpublish_connect", unpublish, connect_late, late_is_aborted_or_refused},
    {"unpublish_map", unpublish, map_late,
     [](Scene &scene) {
         return one_of(scene.right, {success, raw::error(ENODEV)}) &&
                (!scene.mapped_late || *static_cast<volatile std::uint64_t *>(scene.mapped_late) == 0);
     }},
    {"unpublish_put", unpublish, put,
     [](Scene &scene) {
         return one_of(scene.right, {success, conn_aborted}) && scene.put() == conn_aborted;
     }},
    {"unpublish_post", unpublish, post_exporter,
     [](Scene &scene) {
         return one_of(scene.right, {success, conn_aborted}) &&
                raw::wait(scene.exporter()) == (scene.right == success ? success : none);
     }},
    {"unpublish_store", unpublish, touch,
     [](Scene &scene) {
         scene.word() = 9;
         return scene.published.memory.at() != 9;
     }},
    {"rebind_put", rebind, put,
     [](Scene &scene) {
         // In the one memory or in the other.
         const bool there = scene.other.at(8) == 0x707574 || scene.published.memory.at(8) == 0x707574;
         return scene.left == success && scene.right == success && there;
     }},
    {"rebind_store", rebind, touch,
     [](Scene &scene) {
         scene.word() = 9;
         return scene.left == success && scene.other.at() == 9;
     }},
    {"destroy_unpublish", destroy, unpublish,
     [](Scene &scene) { return scene.left == success && aborted(scene.imported); }},
    {"revoke_redeem", revoke, redeem, late_is_aborted_or_refused},
    {"lost_range_connect", lose_range, connect_late,
     [](Scene &scene) {
         // The kernel notices in its own time.
         eventually([&] { return aborted(scene.imported); });
         return scene.right != success || eventually([&] { return aborted(scene.late); });
     }},
    {"close_post", close_import, post_importers,
     [](Scene &scene) { return scene.right == success; }},
    {"post_wait", post_exporter, take_event,
     [](Scene &scene) {
         // One event, taken once.
         return scene.left == success && one_of(scene.right, {success, none}) &&
                raw::wait(scene.exporter()) == (scene.right == success ? none : success) &&
                raw::wait(scene.exporter()) == none;
     }},
};

// Lets a moment pass on this thread alone, so that the order changes from race to race.
void dawdle(unsigned steps)
{
    for (volatile unsigned step = 0; step < steps;)
        step = step + 1;
}

class Races : public testing::TestWithParam<Pair> {};

} // namespace

TEST_P(Races, race)
{
    const Pair &pair = GetParam();
    const unsigned rounds = soak_rounds(100);
    Unchanged unchanged;
    std::unique_ptr<Scene> scene;
    std::barrier together(2);
    std::minstd_rand random(soak_seed());
    unsigned delays[2] = {};
    bool over = false;
    std::thread rival([&] {
        for (;;) {
            together.arrive_and_wait();
            if (over)
                return;
            dawdle(delays[1]);
            scene->right = pair.right(*scene);
            together.arrive_and_wait();
        }
    });
    unsigned raced = 0;
    for (; raced < rounds && !HasFailure(); raced++) {
        scene = std::make_unique<Scene>();
        delays[random() % 2] = random() % 2000;
        together.arrive_and_wait();
        dawdle(delays[0]);
        scene->left = pair.left(*scene);
        together.arrive_and_wait();
        EXPECT_TRUE(pair.sound(*scene))
            << "race " << raced << ": " << scene->left << " and " << scene->right;
        delays[0] = delays[1] = 0;
    }
    scene.reset();
    over = true;
    together.arrive_and_wait();
    rival.join();
    std::printf("note: races %u\n", raced);
}

INSTANTIATE_TEST_SUITE_P(Pairs, Races, testing::ValuesIn(pairs),
                         [](const auto &about) { return std::string(about.param.name); });
