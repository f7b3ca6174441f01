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
#include "report.hpp"
#include "rows.hpp"

namespace rsmperf {

std::vector<Row> all_rows() {
    return {
        {"load_store", "load and store of each word of 1 MiB through an import mapping",
         "the same on POSIX shm", 1.02, load_store},
        {"memcpy_1m", "memcpy of 1 MiB through an import mapping", "the same on POSIX shm", 1.02,
         memcpy_1m},
        {"put64", "put64 of one item, implicit barrier mode", "store + full fence on POSIX shm", 8,
         put64},
        {"get64", "get64 of one item, implicit barrier mode", "load + full fence on POSIX shm", 8,
         get64},
        {"put64_writev", "put64 of one item", "process_vm_writev of 8 bytes", 0.05, put64_writev},
        {"put_1m", "put of 1 MiB", "memcpy to POSIX shm", 1.05, put_1m},
        {"map_64m", "map + touch every page + unmap of 64 MiB",
         "the same on a memfd with MAP_POPULATE", 1.2, map_touch_unmap},
        {"export_64m", "export create + destroy, per page, 64 MiB",
         "io_uring buffer registration of the same range", 1.3, export_destroy},
        {"wake", "post -> wake another process", "eventfd write -> read", 1.2, wake},
        {"post", "post with nobody waiting", "eventfd write", 1.0, post},
        {"connect", "connect + map 2 MiB + unmap + disconnect",
         "AF_UNIX connect + SCM_RIGHTS memfd + mmap + munmap", 1.0, connect_cycle},
        {"connect_crowd", "the same with 50,000 segments published", "itself with 10", 1.2,
         connect_crowd},
    };
}

namespace {

constexpr std::size_t most_error_text = 160;
// By so much memory is displaced from one process to the next.
constexpr std::size_t displacement_pages = 53;

struct Outcome {
    Times times;
    char error[most_error_text] = {};
};

// One process's best times. What it leaves behind or dies of does not reach the next.
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

std::vector<Row> chosen(const std::vector<std::string> &names) {
    auto rows = all_rows();
    if (!names.empty()) {
        std::erase_if(rows,
                      [&](const Row &row) { return std::ranges::count(names, row.name) == 0; });
    }
    return rows;
}

std::vector<std::string> all_names() {
    const auto rows = all_rows();
    std::vector<std::string> names;
    std::ranges::transform(rows, std::back_inserter(names), &Row::name);
    return names;
}

int measure_and_report(int argc, char **argv) {
    Settings settings;
    std::vector<std::string> only;
    bool json = false;
    bool list = false;
    bool enforce = false;

    CLI::App app("Measures RSM over loopback; each figure is a ratio to a floor of the same run.");
    app.add_flag("--json", json, "report as JSON");
    app.add_flag("--list", list, "show what is measured, measure nothing");
    app.add_flag("--enforce", enforce, "exit with 1 when a figure misses its target");
    app.add_option("--only", only, "measure this figure (may be repeated)")
        ->check(CLI::IsMember(all_names()));
    app.add_option("--processes", settings.processes, "measure each figure in so many processes")
        ->check(CLI::Range(1, 1000))
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
    CLI11_PARSE(app, argc, argv);

    const auto rows = chosen(only);
    if (list) {
        print_list(rows);
        return 0;
    }

    std::vector<Result> results;
    results.reserve(rows.size());
    for (const auto &row : rows) {
        results.push_back(run(settings, row));
    }
    if (json) {
        print_json(settings, results);
    } else {
        print_table(results);
    }

    if (!std::ranges::all_of(results, &Result::measured)) {
        return 2;
    }
    return enforce && !std::ranges::all_of(results, &Result::passed) ? 1 : 0;
}

} // namespace

} // namespace rsmperf

int main(int argc, char **argv) {
    try {
        return rsmperf::measure_and_report(argc, argv);
    } catch (const std::exception &error) {
        (void)std::fprintf(stderr, "rsmperf: %s\n", error.what());
        return 2;
    }
}
