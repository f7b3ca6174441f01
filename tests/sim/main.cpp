// SPDX-License-Identifier: GPL-2.0
// Runs seeds; prints, replays and shrinks those that find something.
#include "world.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

using namespace sim;

namespace {

struct Outcome {
    std::optional<std::string> fault;
    std::uint64_t steps = 0;
    std::uint64_t messages = 0;
    std::uint64_t connects = 0;
    std::uint64_t deaths = 0;
    std::vector<Notice> notices;
};

Outcome run(const Scenario &scenario, bool verbose)
{
    Runtime runtime(scenario.seed);
    runtime.verbose = verbose;
    World world(runtime, scenario);
    world.run();
    return {runtime.found(), runtime.steps, world.messages(), world.connects(), world.deaths(), world.notices()};
}

// A scenario without some of its actions still finds the same fault.
bool still_finds(const Scenario &scenario, const std::string &fault)
{
    const auto outcome = run(scenario, false);
    // Numbers in it may be others.
    const auto words = [](std::string text) {
        std::erase_if(text, [](unsigned char letter) { return std::isdigit(letter); });
        return text;
    };
    return outcome.fault && words(*outcome.fault) == words(fault);
}

// Leaves out ever smaller pieces for as long as that makes no difference.
void shrink(Scenario &scenario, std::vector<std::size_t> &kept, const std::string &fault)
{
    for (std::size_t piece = scenario.actions.size(); piece > 0; piece /= 2)
        for (std::size_t i = 0; i < scenario.actions.size();) {
            Scenario fewer = scenario;
            const auto first = static_cast<std::ptrdiff_t>(i);
            const auto last = static_cast<std::ptrdiff_t>(std::min(i + piece, fewer.actions.size()));
            fewer.actions.erase(fewer.actions.begin() + first, fewer.actions.begin() + last);
            if (still_finds(fewer, fault)) {
                scenario = std::move(fewer);
                kept.erase(kept.begin() + first, kept.begin() + last);
            } else {
                i += piece;
            }
        }
}

// The fault with as few inputs as show it.
void report(Scenario scenario, const std::string &fault)
{
    std::vector<std::size_t> kept(scenario.actions.size());
    for (std::size_t i = 0; i < kept.size(); i++)
        kept[i] = i;
    shrink(scenario, kept, fault);
    const auto outcome = run(scenario, false);
    std::cout << "seed " << scenario.seed << ": " << outcome.fault.value_or(fault) << "\n  " << scenario.text() << '\n';
    for (const Action &action : scenario.actions)
        std::cout << "  " << action.text() << '\n';
    std::cout << "  replay: rsm-sim --seed " << scenario.seed << " --keep";
    for (const std::size_t i : kept)
        std::cout << ' ' << i;
    std::cout << (kept.empty() ? " none" : "") << " --verbose\n";
}

Scenario keep(Scenario scenario, const std::vector<std::string> &kept)
{
    std::vector<Action> actions;
    for (const std::string &number : kept)
        if (number != "none")
            actions.push_back(scenario.actions.at(std::stoul(number)));
    scenario.actions = std::move(actions);
    return scenario;
}

struct Options {
    std::uint64_t first = 1;
    std::uint64_t seeds = 1000;
    std::optional<std::uint64_t> seed;
    std::vector<std::string> kept;
    std::string expected;
    std::string costs;
    unsigned int seconds = 0;
    bool verbose = false;
};

int run_one(const Options &options)
{
    Scenario scenario = Scenario::from(*options.seed);
    if (!options.kept.empty())
        scenario = keep(scenario, options.kept);
    const auto outcome = run(scenario, options.verbose);
    if (outcome.fault && !options.verbose)
        report(scenario, *outcome.fault);
    return outcome.fault ? 1 : 0;
}

void add(Outcome &sum, const Outcome &outcome)
{
    sum.steps += outcome.steps;
    sum.messages += outcome.messages;
    sum.connects += outcome.connects;
    sum.deaths += outcome.deaths;
    sum.notices.insert(sum.notices.end(), outcome.notices.begin(), outcome.notices.end());
}

// A run that looks for the words of a fault passes over others: a mutant may have several faults.
bool is_wanted(const Options &options, const std::optional<std::string> &fault)
{
    return fault && fault->find(options.expected) != std::string::npos;
}

bool goes_on(const Options &options, std::uint64_t done, std::chrono::steady_clock::time_point start)
{
    const auto spent = std::chrono::steady_clock::now() - start;
    return options.seconds ? spent < std::chrono::seconds(options.seconds) : done < options.seeds;
}

// The time below which so many of 100 notices are, rounded up to milliseconds.
std::int64_t quantile(const std::vector<Notice> &notices, std::int64_t Notice::*late, std::size_t percent)
{
    std::vector<std::int64_t> sorted;
    for (const Notice &notice : notices)
        sorted.push_back(notice.*late);
    std::sort(sorted.begin(), sorted.end());
    return std::max<std::int64_t>((sorted[(sorted.size() - 1) * percent / 100] + 999) / 1000, 0);
}

// In virtual time, so the same seeds have the same figures on each machine.
void print_notices(const std::vector<Notice> &notices)
{
    if (notices.empty())
        return;
    const auto print = [&](const char *since, std::int64_t Notice::*late) {
        std::cout << "  since " << since << ": 99 of 100 within two heartbeats and " << quantile(notices, late, 99)
                  << " ms, all within two heartbeats and " << quantile(notices, late, 100) << " ms\n";
    };
    std::cout << notices.size() << " times an undisturbed node has noticed a death by silence\n";
    print("the death", &Notice::late);
    print("the arrival of the dead node's last message", &Notice::late_since_heard);
}

int run_many(const Options &options)
{
    const auto start = std::chrono::steady_clock::now();
    Outcome sum;
    std::uint64_t done = 0;
    for (; goes_on(options, done, start); done++) {
        const Scenario scenario = Scenario::from(options.first + done);
        const auto outcome = run(scenario, false);
        if (is_wanted(options, outcome.fault) && options.expected.empty()) {
            report(scenario, *outcome.fault);
            return 1;
        }
        if (is_wanted(options, outcome.fault)) {
            std::cout << "seed " << scenario.seed << ": " << *outcome.fault << '\n';
            return 0;
        }
        add(sum, outcome);
    }
    print_notices(sum.notices);
    std::cout << done << " seeds from " << options.first << " on: " << sum.steps << " steps, "
              << sum.messages << " messages, " << sum.connects << " connects, " << sum.deaths
              << " nodes killed, no " << (options.expected.empty() ? "fault" : "such fault") << '\n';
    return options.expected.empty() ? 0 : 1;
}

Cost cost_of(std::uint32_t nodes)
{
    Scenario scenario;
    scenario.nodes = nodes;
    scenario.star = true;
    scenario.keys = true;
    scenario.heartbeats.assign(nodes, 1000);
    scenario.room = 64;
    scenario.delay = 100;
    scenario.key_time = ms;
    Runtime runtime(1);
    World world(runtime, scenario);
    return world.measure();
}

int write_costs(const std::string &path)
{
    auto rows = nlohmann::ordered_json::array();
    for (const std::uint32_t nodes : {2U, 4U, 8U, 16U, 32U, 64U, 128U, 256U, 512U, 1000U}) {
        const Cost cost = cost_of(nodes);
        rows.push_back({{"nodes", nodes},
                        {"bytes", cost.bytes},
                        {"segment_bytes", cost.segment_bytes},
                        {"messages_per_second", cost.messages},
                        {"timers", cost.timers},
                        {"timers_expired_per_second", cost.expired},
                        {"unpublish_messages", cost.unpublish_messages},
                        {"unpublish_us", cost.unpublish_time}});
    }
    std::ofstream file(path);
    file << rows.dump(2) << '\n';
    return file.good() ? 0 : 1;
}

} // namespace

int main(int argc, char **argv)
{
    CLI::App app("Runs the kernel agents of many nodes in virtual time, and looks for faults.");
    Options options;
    app.add_option("--first", options.first, "the first seed");
    app.add_option("--seeds", options.seeds, "how many");
    app.add_option("--seed", options.seed, "only this one");
    app.add_option("--keep", options.kept, "of its actions only these, by number");
    app.add_flag("--verbose", options.verbose, "say what happens");
    app.add_option("--seconds", options.seconds, "so many seconds of seeds instead");
    app.add_option("--find", options.expected, "succeed if a fault with these words is found, and print its seed; pass over others");
    app.add_option("--costs", options.costs, "write what other nodes cost a node, as JSON, to this file");
    CLI11_PARSE(app, argc, argv);
    if (!options.costs.empty())
        return write_costs(options.costs);
    return options.seed ? run_one(options) : run_many(options);
}
