// SPDX-License-Identifier: GPL-2.0
// rsmperf: how fast RSM is, always as a ratio to something else measured in the same run.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>

#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attempt.hpp"
#include "compare.hpp"
#include "dat_side.hpp"
#include "native.hpp"
#include "rdma_service.hpp"
#include "report.hpp"
#include "rows.hpp"
#include "service.hpp"
#include "units.hpp"

namespace rsmperf {

namespace {

// Exit status: nothing was measured, or not all.
constexpr int NOT_MEASURED = 2;

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
    Axes axes;
    std::vector<std::string> only;
    std::string compare;
    bool json = false;
    bool csv = false;
    bool list = false;
    bool enforce = false;
    bool serve = false;
    bool serve_rdma = false;
    bool dat = false;
};

void add_measuring_options(CLI::App &app, Settings &settings) {
    app.add_option("--processes", settings.processes, "processes that measure each figure")
        ->check(CLI::Range(1, 1000))
        ->take_last()
        ->capture_default_str();
    app.add_option("--rounds", settings.rounds, "number of rounds in each process")
        ->check(CLI::Range(1, 10000))
        ->capture_default_str();
    app.add_option("--batch-ms", settings.batch_ms, "least time of a batch of short operations")
        ->check(CLI::Range(1, 10000))
        ->capture_default_str();
    app.add_option("--samples", settings.samples, "samples of a round, for percentiles")
        ->check(CLI::Range(1, 1000000))
        ->capture_default_str();
    app.add_option("--large-mib", settings.large_mib, "segment size of the map and export figures")
        ->check(CLI::Range(1, 65536))
        ->capture_default_str();
    app.add_option("--segments", settings.segments, "published segments of connect_crowd")
        ->check(CLI::Range(10, 65000))
        ->capture_default_str();
}

// An option that takes a list as parse_list() reads it.
void add_list(CLI::App &app, const char *name, std::vector<std::size_t> &list, const char *text) {
    const auto parse = [&list](const std::string &word) {
        try {
            list = parse_list(word);
        } catch (const std::invalid_argument &error) {
            throw CLI::ValidationError(error.what());
        }
    };
    app.add_option_function<std::string>(name, parse, text)->type_name("LIST");
}

void add_axes(CLI::App &app, Axes &axes) {
    add_list(app, "--sizes", axes.sizes, "sizes of operations: 8,4K,1M or 8:64M or 8:64M:4");
    add_list(app, "--window", axes.windows, "operations under way");
    add_list(app, "--endpoints", axes.endpoints, "endpoints of an event dispatcher");
    add_list(app, "--contexts", axes.contexts, "remote regions that are used in turn");
    add_list(app, "--threads", axes.threads, "threads that do the same at once");
}

void add_reports(CLI::App &app, Options &options) {
    auto *json = app.add_flag("--json", options.json, "report as JSON, with all samples");
    app.add_flag("--csv", options.csv, "report as comma-separated values")->excludes(json);
    app.add_option("--compare", options.compare, "show ratios beside those of this report in JSON")
        ->check(CLI::ExistingFile);
    app.add_flag("--list", options.list, "show what is measured, measure nothing");
    app.add_flag("--enforce", options.enforce,
                 "exit with 1 when a figure misses its target or, with --compare, got worse");
}

void add_options(CLI::App &app, Options &options) {
    app.add_option("--only", options.only, "measure this figure (may be repeated)")
        ->check(CLI::IsMember(all_names()));
    app.add_option("--controller", options.settings.controller, "for figures between nodes")
        ->capture_default_str();
    auto *peer =
        app.add_option("--peer", options.settings.peer,
                       "measure with this node, where rsmperf --serve runs, not over loopback");
    app.add_flag("--serve", options.serve, "serve a node that measures with --peer, until killed")
        ->excludes(peer);
    app.add_flag("--dat", options.dat, "measure uDAPL over loopback, not RSMAPI")->excludes(peer);
    app.add_option(
           "--rdma", options.settings.host,
           "measure over RDMA with the host at this address, where rsmperf --serve-rdma runs")
        ->excludes(peer);
    app.add_flag("--serve-rdma", options.serve_rdma, "serve a host that measures, until killed");
    app.add_flag("--native", options.settings.native,
                 "measure what needs no kernel, over the fake of /dev/rsm: no rsm.ko is loaded")
        ->excludes(peer);
    add_reports(app, options);
    add_axes(app, options.axes);
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

// A list of sizes, say, chooses the figures that have sizes.
std::vector<Row> named(const Options &options) {
    auto rows = rows_of(options);
    std::erase_if(rows, [&](const Row &row) {
        const bool named = options.only.empty() || std::ranges::count(options.only, row.name) > 0;
        return !named || !knows(row.axes, options.axes);
    });
    if (rows.empty()) {
        throw std::runtime_error("no figure has all that; rsmperf --list shows what each has");
    }
    return rows;
}

std::vector<Row> chosen(const Options &options) {
    auto rows = named(options);
    if (options.settings.native) {
        std::erase_if(rows, [](const Row &row) { return row.needs != Needs::processor; });
    }
    if (rows.empty()) {
        throw std::runtime_error("--native leaves out figures that need the kernel; "
                                 "rsmperf --native --list shows the others");
    }
    for (auto &row : rows) {
        row.axes = chosen_axes(row.axes, options.axes);
    }
    return rows;
}

std::vector<Result> run_all(const Settings &settings, const std::vector<Row> &rows) {
    std::vector<std::pair<const Row *, Point>> all;
    for (const auto &row : rows) {
        for (const auto &point : all_points(row.axes)) {
            all.emplace_back(&row, point);
        }
    }
    std::vector<Result> results;
    Progress progress(all.size());
    for (const auto &[row, point] : all) {
        progress.next(label(row->name, point));
        results.push_back(run(settings, *row, point, progress));
    }
    return results;
}

void report(const Options &options, const std::vector<Result> &results) {
    if (options.json) {
        print_json(std::cout, options.settings, results);
    } else if (options.csv) {
        print_csv(std::cout, results);
    } else {
        print_table(results);
    }
}

// True unless something got worse. Standard output stays as programs expect it: beside JSON or CSV,
// the comparison goes to standard error.
bool compare(const Options &options, const std::map<std::string, double> &earlier,
             const std::vector<Result> &results) {
    auto &to = options.json || options.csv ? std::cerr : std::cout;
    return options.compare.empty() || print_comparison(to, earlier, results);
}

std::map<std::string, double> earlier_of(const Options &options) {
    if (options.compare.empty()) {
        return {};
    }
    std::ifstream file(options.compare);
    return earlier_ratios(file);
}

// Without the device each figure by librsm would fail for the same reason.
void expect_device() {
    const int descriptor = open("/dev/rsm", O_RDWR | O_CLOEXEC);
    if (descriptor < 0) {
        const std::string why = std::strerror(errno);
        throw std::runtime_error("/dev/rsm: " + why +
                                 "; \"rsmctl doctor\" says what to do, --native does without");
    }
    (void)close(descriptor);
}

[[noreturn]] void try_adapter() {
    try {
        const DatAdapter adapter;
        _exit(0);
    } catch (const std::exception &error) {
        (void)std::fprintf(stderr, "rsmperf: %s\n", error.what());
        _exit(NOT_MEASURED);
    }
}

// Each figure would fail for the same reason. The processes that measure begin without libdat.
bool has_adapter() {
    const auto child = check_errno(fork(), "fork");
    if (child == 0) {
        try_adapter();
    }
    int status = 0;
    check_errno(waitpid(child, &status, 0), "waitpid");
    return status == 0;
}

int measure_and_report(const Options &options) {
    const auto earlier = earlier_of(options);
    const auto rows = chosen(options);
    const auto by_librsm = [](const Row &row) { return !row.name.starts_with("verbs_"); };
    if (!options.dat && std::ranges::any_of(rows, by_librsm)) {
        expect_device();
    }
    if (options.dat && !has_adapter()) {
        return NOT_MEASURED;
    }
    const auto results = run_all(options.settings, rows);
    report(options, results);
    const bool as_before = compare(options, earlier, results);
    if (!std::ranges::all_of(results, &Result::measured)) {
        return NOT_MEASURED;
    }
    const bool good = as_before && std::ranges::all_of(results, &Result::passed);
    return options.enforce && !good ? 1 : 0;
}

int run(char **argv, const Options &options) {
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
    if (options.settings.native) {
        use_fake(argv);
    }
    return measure_and_report(options);
}

int run_command(int argc, char **argv) {
    Options options;
    CLI::App app("Measures RSM; each figure is a ratio to a floor of the same run.");
    add_options(app, options);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError &error) {
        return app.exit(error) == 0 ? 0 : NOT_MEASURED;
    }
    return run(argv, options);
}

} // namespace

} // namespace rsmperf

int main(int argc, char **argv) {
    try {
        return rsmperf::run_command(argc, argv);
    } catch (const std::exception &error) {
        (void)std::fprintf(stderr, "rsmperf: %s\n", error.what());
        return rsmperf::NOT_MEASURED;
    }
}
