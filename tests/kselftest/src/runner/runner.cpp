// SPDX-License-Identifier: GPL-2.0
#include "runner/runner.hpp"

#include "runner/interrupt.hpp"
#include "runner/processes.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fnmatch.h>
#include <iterator>
#include <ranges>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace rsmrun {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr char suffix[] = ".test";
constexpr char broken[] = "BROKEN";
// How much of a report, of the kernel or of a test, is shown.
constexpr std::size_t most_lines = 60;

bool has_peers()
{
    const char *nodes = std::getenv("RSM_NET_NODES");
    return access("/run/rsm-hub", F_OK) == 0 || (nodes && *nodes);
}

constexpr const char *areas_with_peers[] = {"net", "datnet"};

bool needs_peers(const std::string &area)
{
    return std::ranges::find(areas_with_peers, area) != std::end(areas_with_peers);
}

bool match(const std::string &pattern, const std::string &text)
{
    return fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

// A pattern whose begin, up to its first special character, is not that of an area's name matches none
// of the area's tests.
bool may_match(const std::string &pattern, const std::string &area)
{
    const std::string fixed = pattern.substr(0, pattern.find_first_of("*?[\\"));
    const std::string begin = area + ".";
    const auto common = std::min(fixed.size(), begin.size());
    return fixed.compare(0, common, begin, 0, common) == 0;
}

bool may_need_peers(const std::string &pattern)
{
    return std::ranges::any_of(areas_with_peers, [&](const char *area) { return may_match(pattern, area); });
}

void append(Lines &lines, const std::string &head, const Lines &more, std::size_t most)
{
    lines.push_back(head);
    lines.insert(lines.end(), more.begin(),
                 more.begin() + static_cast<std::ptrdiff_t>(std::min(most, more.size())));
}

std::string describe_status(int status)
{
    if (WIFSIGNALED(status))
        return std::string("killed by signal ") + std::to_string(WTERMSIG(status)) + " (" +
               strsignal(WTERMSIG(status)) + ")";
    return "exit status " + std::to_string(WEXITSTATUS(status));
}

} // namespace

Runner::Runner(const Options &options)
    : options_(options), log_(options.root), counters_(options.root), leaks_(options.root),
      coverage_(options.root), reports_(options.reports)
{
    // Tests and their helpers read it.
    setenv("RSM_TEST_SLOW", std::to_string(options_.factor).c_str(), 1);
    setenv("RSM_TEST_ROOT", options_.root.c_str(), 1);
    find_areas();
}

// The binary of an area of which no test is selected need not be loaded.
bool Runner::may_select(const std::string &area) const
{
    return (!needs_peers(area) || has_peers()) &&
           std::ranges::any_of(options_.filter, [&](const std::string &pattern) {
               return may_match(pattern, area);
           });
}

bool Runner::selected(const std::string &title)
{
    const auto matches = [&](const std::string &pattern) { return match(pattern, title); };
    bool wanted = false;
    for (const std::string &pattern : options_.filter | std::views::filter(matches)) {
        used_.insert(pattern);
        wanted = true;
    }
    return wanted && std::ranges::none_of(options_.except, matches);
}

// A pattern that selects nothing hides that tests have another name by now. Where there are no peers, one
// for tests with peers selects nothing, and is in order.
bool Runner::uses_the_filter()
{
    std::set<std::string> idle;
    std::ranges::copy_if(options_.filter, std::inserter(idle, idle.end()), [&](const std::string &pattern) {
        return !used_.contains(pattern) && (has_peers() || !may_need_peers(pattern));
    });
    for (const std::string &pattern : idle)
        tap_.comment("no test matches " + pattern);
    if (idle.empty() && tests_.empty())
        tap_.comment("no test is left");
    return idle.empty() && !tests_.empty();
}

void Runner::find_areas()
{
    std::vector<std::filesystem::path> binaries;
    for (const auto &entry : std::filesystem::directory_iterator(options_.binaries)) {
        if (entry.path().extension() == suffix && may_select(entry.path().stem()))
            binaries.push_back(entry.path());
    }
    std::sort(binaries.begin(), binaries.end());
    for (const auto &binary : binaries) {
        areas_.push_back(std::make_unique<Area>(binary.stem(), binary, output_.descriptor()));
        find_tests(*areas_.back());
    }
}

void Runner::find_tests(Area &area)
{
    if (!area.load()) {
        tests_.push_back({&area, broken});
        return;
    }
    for (const std::string &name : area.tests()) {
        if (selected(area.name() + "." + name))
            tests_.push_back({&area, name});
    }
}

void Runner::list()
{
    for (const Test &test : tests_)
        std::printf("%s\n", test.title().c_str());
}

// Waits for what is on its way, a part of the limit of a test: what a test has lost costs that time.
template <class Condition> bool Runner::soon(Condition condition) const
{
    const auto deadline = steady_clock::now() + std::chrono::seconds(options_.limit) * options_.factor / 8;
    for (milliseconds pause(1); !condition(); pause = std::min(2 * pause, milliseconds(50))) {
        if (steady_clock::now() > deadline)
            return false;
        std::this_thread::sleep_for(pause);
    }
    return true;
}

void Runner::stop_overrun(pid_t session, const Test &test, Lines &problems)
{
    problems.push_back("took more than " + std::to_string(options_.limit * options_.factor) +
                       " s; counters of rsm.ko:" + counters_.read() + "; its threads wait here:");
    for (const Lines &lines : {describe_waits(session), request_stacks(session)})
        problems.insert(problems.end(), lines.begin(), lines.end());
    kill_session(session);
    if (!test.area->wait(std::chrono::seconds(10) * options_.factor)) {
        problems.push_back("its process does not end");
        test.area->load();
    }
}

void Runner::restart_area(pid_t session, const Test &test, Lines &problems)
{
    problems.push_back("the process that starts the area's tests has ended");
    kill_session(session);
    test.area->load();
}

void Runner::check_processes(Area &area, pid_t session, Lines &problems)
{
    // A process that was killed just now may be on its way. One that has made a session of its own
    // stays on purpose.
    if (soon([&] { return !area.has_orphans() || session_members(session).empty(); }))
        return;
    problems.push_back("processes left behind:" + describe(session_members(session)));
    kill_session(session);
    area.has_orphans();
}

void Runner::check_counters(const std::string &before, Lines &problems)
{
    std::string now;
    if (!soon([&] { return (now = counters_.read()) == before; }))
        problems.push_back("left behind:" + now + "; before:" + before);
}

void Runner::check_log(Lines &problems)
{
    const Lines messages = log_.read();
    if (log_.has_report(messages))
        append(problems, "the kernel log has a report:", messages, most_lines);
}

void Runner::check_reports(Lines &problems)
{
    const Lines lines = reports_.take();
    if (!lines.empty())
        append(problems, "a sanitizer reports:", lines, most_lines);
}

void Runner::run_process(const Test &test, Lines &problems)
{
    const auto session = start_session([&test] { return test.area->start(test.name); });
    if (!session) {
        problems.push_back("the test's process could not be started");
        test.area->load();
        return;
    }
    const auto status = test.area->wait(std::chrono::seconds(options_.limit) * options_.factor);
    if (!status && test.area->alive())
        stop_overrun(*session, test, problems);
    else if (!status)
        restart_area(*session, test, problems);
    else if (*status != 0)
        problems.push_back(describe_status(*status));
    check_processes(*test.area, *session, problems);
    end_session();
}

void Runner::run_test(const Test &test)
{
    Lines problems;
    output_.clear();
    if (test.name == broken) {
        problems.push_back("the binary can't be loaded, or does not list its tests");
    } else {
        log_.write("run-tap: " + test.title());
        log_.skip();
        const std::string before = counters_.read();
        run_process(test, problems);
        check_counters(before, problems);
        check_log(problems);
        check_reports(problems);
    }
    report(test, problems);
}

void Runner::report(const Test &test, const Lines &problems)
{
    const Lines output = output_.read();
    Lines all = problems;
    const Verdict said = verdict(output);
    if (all.empty() && said != Verdict::passed && said != Verdict::skipped)
        all.push_back("no test ran");
    if (!all.empty())
        tap_.fail(test.title(), all, excerpt(output, most_lines));
    else if (said == Verdict::skipped)
        tap_.skip(test.title(), skip_reason(output));
    else
        tap_.pass(test.title(), notes(output));
}

void Runner::scan_leaks()
{
    const Lines found = leaks_.scan();
    if (found.empty())
        tap_.pass("kmemleak", {});
    else
        tap_.fail("kmemleak", found, {});
}

// For tests/fuzz/report.
void Runner::show_coverage(const std::string &by)
{
    const Lines lines = coverage_.read();
    if (lines.empty())
        return;
    tap_.comment("coverage " + by);
    for (const std::string &line : lines)
        tap_.comment(line);
}

bool Runner::run()
{
    // Objects lost before the first test are none of its business.
    const bool has_kmemleak = leaks_.clear();
    tap_.plan(tests_.size() + (has_kmemleak ? 1 : 0));
    if (!counters_.readable())
        tap_.comment(counters_.path() +
                     " can't be read: leaks of handles and pins are not looked for");
    show_coverage("start");
    for (const Test &test : tests_) {
        const auto begin = steady_clock::now();
        run_test(test);
        const auto took = std::chrono::duration_cast<milliseconds>(steady_clock::now() - begin);
        show_coverage(test.title());
        if (options_.times)
            tap_.comment("took " + std::to_string(took.count()) + " ms");
    }
    if (has_kmemleak)
        scan_leaks();
    const bool complete = uses_the_filter();
    return tap_.finish() && complete;
}

} // namespace rsmrun
