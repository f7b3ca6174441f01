// SPDX-License-Identifier: GPL-2.0
// rsmperf: how fast RSM is, always as a ratio to something else measured in the same run.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <limits>

#include <CLI/CLI.hpp>
#include <sys/mman.h>

#include "memory.hpp"
#include "peer.hpp"
#include "rdma_service.hpp"
#include "report.hpp"
#include "rows.hpp"
#include "service.hpp"

namespace rsmperf {

namespace {

constexpr std::size_t most_error_text = 160;
// By so much memory is displaced from one process to the next.
constexpr std::size_t displacement_pages = 53;

struct Outcome {
    Times times;
    char error[most_error_text] = {};
};

// One process's best times. Its leftovers, and the cause of its death, do not reach the next.
Outcome run_once(const Settings &settings, const Row &row, unsigned attempt) {
    Peer worker([&](Channel &channel) {
        run_on(Place::measuring);
        const Mapping displacement((attempt + 1) * displacement_pages * page_size(),
                                   MAP_PRIVATE | MAP_ANONYMOUS, -1);
        Outcome outcome;
        try {
            outcome.times = row.run(settings);
        } catch (const std::exception &error) {
            std::strncpy(outcome.error, error.what(), most_error_text - 1);
        }
        channel.send(outcome);
    });
    if (const auto outcome = worker.channel().receive<Outcome>()) {
        return *outcome;
    }
    return {{}, "the measuring process has died"};
}

// The best of several processes, as each has its memory at other addresses: some addresses are
// slower together than others, and that is not what is to be compared.
Result run(const Settings &settings, const Row &row) {
    constexpr auto never = std::numeric_limits<double>::infinity();
    Result result{row, {never, never}, {}};

    for (unsigned attempt = 0; attempt < settings.processes && result.measured(); attempt++) {
        const auto outcome = run_once(settings, row, attempt);
        result.error = outcome.error;
        result.times.figure_ns = std::min(result.times.figure_ns, outcome.times.figure_ns);
        result.times.floor_ns = std::min(result.times.floor_ns, outcome.times.floor_ns);
    }
    return result;
}

std::vector<Row> all_rows() {
    auto rows = loopback_rows();
    std::ranges::move(dat_rows(), std::back_inserter(rows));
    std::ranges::move(peer_rows(), std::back_inserter(rows));
    std::ranges::move(rdma_rows(), std::back_inserter(rows));
    return rows;
}

std::vector<std::string> all_names() {
    const auto rows = all_rows();
    std::vector<std::string> names;
    std::ranges::transform(rows, std::back_inserter(names), &Row::name);
    return names;
}

// Options of the command line besides the settings.
struct Options {
    Settings settings;
    std::vector<std::string> only;
    bool json = false;
    bool list = false;
    bool enforce = false;
    bool serve = false;
    bool serve_rdma = false;
    bool dat = false;
};

void add_measuring_options(CLI::App &app, Settings &settings) {
    app.add_option("--processes", settings.processes, "measure each figure in so many processes")
        ->check(CLI::Range(1, 1000))
        ->take_last()
        ->capture_default_str();
    app.add_option("--rounds", settings.rounds, "take the best of so many rounds in each process")
        ->check(CLI::Range(1, 10000))
        ->capture_default_str();
    app.add_option("--batch-ms", settings.batch_ms, "least time of a batch of short operations")
        ->check(CLI::Range(1, 10000))
        ->capture_default_str();
    app.add_option("--large-mib", settings.large_mib, "segment size of the map and export figures")
        ->check(CLI::Range(1, 65536))
        ->capture_default_str();
    app.add_option("--segments", settings.segments, "published segments of connect_crowd")
        ->check(CLI::Range(10, 65000))
        ->capture_default_str();
}

void add_options(CLI::App &app, Options &options) {
    app.add_flag("--json", options.json, "report as JSON");
    app.add_flag("--list", options.list, "show what is measured, measure nothing");
    app.add_flag("--enforce", options.enforce, "exit with 1 when a figure misses its target");
    app.add_option("--only", options.only, "measure this figure (may be repeated)")
        ->check(CLI::IsMember(all_names()));
    app.add_option("--controller", options.settings.controller, "for figures between nodes")
        ->capture_default_str();
    auto *peer =
        app.add_option("--peer", options.settings.peer,
                       "measure with this node, where rsmperf --serve runs, not over loopback");
    app.add_flag("--serve", options.serve, "serve a node that measures with --peer, for ever")
        ->excludes(peer);
    app.add_flag("--dat", options.dat, "measure uDAPL over loopback, not RSMAPI")->excludes(peer);
    app.add_option(
           "--rdma", options.settings.host,
           "measure over RDMA with the host at this address, where rsmperf --serve-rdma runs")
        ->excludes(peer);
    app.add_flag("--serve-rdma", options.serve_rdma, "serve a host that measures, for ever");
    add_measuring_options(app, options.settings);
}

std::vector<Row> rows_of(const Options &options) {
    if (options.dat) {
        return dat_rows();
    }
    if (!options.settings.host.empty()) {
        return rdma_rows();
    }
    return options.settings.peer > 0 ? peer_rows() : loopback_rows();
}

std::vector<Row> chosen(const Options &options) {
    auto rows = rows_of(options);
    const auto &only = options.only;
    if (!only.empty()) {
        std::erase_if(rows,
                      [&](const Row &row) { return std::ranges::count(only, row.name) == 0; });
    }
    return rows;
}

std::vector<Result> run_all(const Settings &settings, const std::vector<Row> &rows) {
    std::vector<Result> results;
    results.reserve(rows.size());
    for (const auto &row : rows) {
        results.push_back(run(settings, row));
    }
    return results;
}

int measure_and_report(const Options &options) {
    const auto results = run_all(options.settings, chosen(options));
    if (options.json) {
        print_json(options.settings, results);
    } else {
        print_table(results);
    }
    if (!std::ranges::all_of(results, &Result::measured)) {
        return 2;
    }
    return options.enforce && !std::ranges::all_of(results, &Result::passed) ? 1 : 0;
}

int run_command(int argc, char **argv) {
    Options options;
    CLI::App app("Measures RSM; each figure is a ratio to a floor of the same run.");
    add_options(app, options);
    CLI11_PARSE(app, argc, argv);

    if (options.serve) {
        serve(options.settings);
    }
    if (options.serve_rdma) {
        serve_rdma();
    }
    if (options.list) {
        print_list(chosen(options));
        return 0;
    }
    return measure_and_report(options);
}

} // namespace

} // namespace rsmperf

int main(int argc, char **argv) {
    try {
        return rsmperf::run_command(argc, argv);
    } catch (const std::exception &error) {
        (void)std::fprintf(stderr, "rsmperf: %s\n", error.what());
        return 2;
    }
}
