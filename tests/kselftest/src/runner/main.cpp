// SPDX-License-Identifier: GPL-2.0
// Runs every test of every *.test binary beside this program, each in a process of its own, and
// reports in TAP 13. A test also fails when it leaves a process, a kernel handle, a published id, a
// grant or a pinned page behind, or when the kernel log shows a report. Runs inside the guest. Areas
// net and datnet need other nodes: rsm-vm's hub, or RSM_NET_NODES (see net/support/hub.hpp).
#include "runner/interrupt.hpp"
#include "runner/options.hpp"
#include "runner/runner.hpp"

#include <csignal>
#include <cstdio>

int main(int argc, char **argv)
{
    const auto options = rsmrun::parse_options(argc, argv);
    if (!options)
        return 2;
    if (options->request == rsmrun::Request::help) {
        rsmrun::print_usage(stdout);
        return 0;
    }
    rsmrun::end_tests_at_interrupt();
    rsmrun::Runner runner(*options);
    if (options->request == rsmrun::Request::list) {
        runner.list();
        return 0;
    }
    return runner.run() ? 0 : 1;
}
