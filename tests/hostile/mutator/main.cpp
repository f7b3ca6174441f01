// SPDX-License-Identifier: GPL-2.0
// Joins a window through the ivshmem server and breaks all of its rules for a while.
#include "mutator/fields.hpp"
#include "mutator/stranger.hpp"
#include "mutator/sweep.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <iostream>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace hostile {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

struct Options {
    std::string socket;
    std::vector<std::string> modes{"-"};
    unsigned seconds = 10;
    std::uint64_t seed = 0;
    bool settles = false;
};

const FieldMode *find_fields(const std::string &name) {
    for (const FieldMode &mode : field_modes())
        if (name == mode.name)
            return &mode;
    return nullptr;
}

std::vector<std::string> mode_names() {
    std::vector<std::string> names{"all", "sweep", "-"};
    for (const FieldMode &mode : field_modes())
        names.emplace_back(mode.name);
    for (const char *name : manner_names())
        names.emplace_back(name);
    return names;
}

// Bursts, and pauses long enough now and then for links to come up.
std::uint64_t mutate(Window &window, Chance &chance, const FieldMode &mode, Clock::time_point end) {
    static constexpr int pauses[] = {0, 1, 1, 20, 200, 1500};
    std::uint64_t count = 0;
    while (Clock::now() < end) {
        for (auto steps = 1 + chance.below(mode.burst); steps > 0 && Clock::now() < end; steps--) {
            mode.step(window, chance);
            count++;
        }
        std::this_thread::sleep_until(
            std::min(end, Clock::now() + milliseconds(chance.pick(pauses))));
    }
    return count;
}

// Each of them, in any order: what only some of them bring about is certain to happen.
std::uint64_t mutate_all(Window &window, Chance &chance, Clock::time_point end) {
    std::vector<const FieldMode *> left;
    for (const FieldMode &mode : field_modes())
        left.push_back(&mode);
    const auto turn = (end - Clock::now()) / static_cast<int>(left.size());
    std::uint64_t count = 0;
    while (!left.empty()) {
        const auto next = left.begin() + static_cast<std::ptrdiff_t>(chance.below(left.size()));
        count += mutate(window, chance, **next, std::min(end, Clock::now() + turn));
        left.erase(next);
    }
    return count;
}

std::string impersonate(Window &window, Chance &chance, Manner manner, Clock::time_point end) {
    Stranger stranger(window, chance, manner);
    while (Clock::now() < end) {
        stranger.step();
        std::this_thread::sleep_for(milliseconds(1));
    }
    return stranger.summary();
}

// Takes as long as it takes.
std::string sweep(Window &window, Chance &chance) {
    Sweep sweeper(window, chance);
    while (!sweeper.is_done()) {
        sweeper.step();
        std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    return sweeper.summary();
}

void be_beacon(Window &window, std::uint64_t seed, const std::stop_token &stop) {
    Chance chance(seed);
    Beacon beacon(window, chance);
    while (!stop.stop_requested()) {
        beacon.step();
        std::this_thread::sleep_for(milliseconds(1));
    }
}

// After a sweep, until the next order or the end of the server.
std::jthread light_beacon(Window &window, std::uint64_t seed) {
    return std::jthread([&window, seed](const std::stop_token &stop) {
        try {
            be_beacon(window, seed, stop);
        } catch (const std::exception &error) {
            std::fprintf(stderr, "window-mutator: beacon: %s\n", error.what());
        }
    });
}

// Guests that run do not look at it again, but those that come later do.
class Superblock {
  public:
    explicit Superblock(Window &window) : window_(window), saved_(window.super()) {}
    Superblock(const Superblock &) = delete;
    Superblock &operator=(const Superblock &) = delete;
    ~Superblock() { window_.super() = saved_; }

  private:
    Window &window_;
    rsm_window_super saved_;
};

// Memory whose owner is gone is free once nodes that are silent are known to be dead, after two of their intervals:
// for a made-up node with an interval of a minute the guests would wait for four minutes.
void settle(Window &window) {
    const std::vector<u32> guests = window.guests();
    for (u32 slot = 0; slot < window.layout().slots; slot++)
        if (std::find(guests.begin(), guests.end(), slot) == guests.end())
            poke(window.node(slot).interval_ms, u32{1000});
}

// The attack, and what there is to say of it.
std::string attack(Window &window, Chance &chance, const std::string &name, unsigned seconds) {
    const auto end = Clock::now() + std::chrono::seconds(seconds);
    if (name == "sweep")
        return sweep(window, chance);
    if (const Manner *manner = find_manner(name))
        return impersonate(window, chance, *manner, end);
    const FieldMode *mode = find_fields(name);
    return std::to_string(mode ? mutate(window, chance, *mode, end) : mutate_all(window, chance, end)) + " mutations";
}

// A peer that joins and leaves for every attack would attack QEMU: QEMU does not expect that.
void run(const Options &options) {
    Window window(options.socket);
    const Superblock keep(window);
    Chance chance(options.seed);
    std::printf("seed %llu\n", static_cast<unsigned long long>(options.seed));
    std::jthread beacon;
    const auto attack_and_settle = [&](const std::string &name) {
        beacon = {};
        const std::string said = attack(window, chance, name, options.seconds);
        std::printf("%s: slot %u, %zu guests, %s\n", name.c_str(), window.own_slot(), window.guests().size(), said.c_str());
        if (name == "sweep")
            beacon = light_beacon(window, chance.bits());
        if (options.settles)
            settle(window);
    };
    for (std::string name : options.modes) {
        if (name != "-") {
            attack_and_settle(name);
            continue;
        }
        while (std::getline(std::cin, name))
            attack_and_settle(name);
    }
}

int parse_and_run(int argc, char **argv) {
    Options options;
    options.seed = std::random_device()();
    CLI::App app("Attacks guests that share a window");
    app.add_option("--socket", options.socket, "where rsm-ivshmem-server listens")->required();
    app.add_option("MODE", options.modes, "what to attack and how; - reads lines that say so")
        ->check(CLI::IsMember(mode_names()))
        ->capture_default_str();
    app.add_option("--seconds", options.seconds, "for how long")->capture_default_str();
    app.add_flag("--settle", options.settles, "after an attack, give made-up nodes an interval of a second");
    app.add_option("--seed", options.seed, "what chance depends on (random)");
    CLI11_PARSE(app, argc, argv);
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    run(options);
    return 0;
}

} // namespace
} // namespace hostile

int main(int argc, char **argv) {
    try {
        return hostile::parse_and_run(argc, argv);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "window-mutator: %s\n", error.what());
        return 1;
    }
}
