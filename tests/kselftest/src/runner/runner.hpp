// SPDX-License-Identifier: GPL-2.0
// Runs the tests of all areas, one at a time, and looks for what each leaves behind.
#pragma once

#include "runner/area.hpp"
#include "runner/kernel.hpp"
#include "runner/options.hpp"
#include "runner/output.hpp"
#include "runner/reports.hpp"
#include "runner/tap.hpp"

#include <memory>
#include <set>
#include <string>
#include <vector>

namespace rsmrun {

class Runner {
public:
    explicit Runner(const Options &options);

    void list();
    // True when every test has passed, and each pattern of the filter matches one.
    bool run();

private:
    struct Test {
        Area *area;
        std::string name;

        std::string title() const { return area->name() + "." + name; }
    };

    void find_areas();
    void find_tests(Area &area);
    bool selected(const std::string &title);
    bool may_select(const std::string &area) const;
    bool uses_the_filter();
    void run_test(const Test &test);
    // Each of these adds what is wrong to the problems.
    void run_process(const Test &test, Lines &problems);
    void stop_overrun(pid_t session, const Test &test, Lines &problems);
    void restart_area(pid_t session, const Test &test, Lines &problems);
    void check_processes(Area &area, pid_t session, Lines &problems);
    void check_counters(const std::string &before, Lines &problems);
    void check_log(Lines &problems);
    void check_reports(Lines &problems);
    void report(const Test &test, const Lines &problems);
    void scan_leaks();
    void show_coverage(const std::string &by);
    template <class Condition> bool soon(Condition condition) const;

    Options options_;
    Output output_;
    KernelLog log_;
    Counters counters_;
    LeakScan leaks_;
    Coverage coverage_;
    Reports reports_;
    Tap tap_;
    std::vector<std::unique_ptr<Area>> areas_;
    std::vector<Test> tests_;
    // Patterns of the filter that have matched.
    std::set<std::string> used_;
};

} // namespace rsmrun
