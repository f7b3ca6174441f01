// SPDX-License-Identifier: GPL-2.0
// rsmctl: shows and administers Remote Shared Memory, by the kernel's generic netlink family `rsm`.
#include <exception>
#include <iostream>

#include "commands.hpp"
#include "doctor.hpp"
#include "metrics.hpp"
#include "monitor.hpp"
#include "netlink.hpp"
#include "options.hpp"
#include "status.hpp"
#include "top.hpp"

namespace rsmctl {

namespace {

int run_command(const Options &options) {
    if (options.verb == Verb::doctor) {
        return doctor(options);
    }
    if (options.verb == Verb::metrics) {
        metrics(options);
        return 0;
    }
    Socket socket;
    if (options.verb == Verb::monitor) {
        monitor(socket, options);
    }
    if (options.verb == Verb::top) {
        top(socket, options);
        return 0;
    }
    run(socket, options);
    return 0;
}

int say(const std::exception &error, int status) {
    std::cerr << "rsmctl: " << error.what() << '\n';
    return status;
}

} // namespace

} // namespace rsmctl

int main(int argc, char **argv) {
    try {
        const auto line = rsmctl::parse(argc, argv);
        if (line.options) {
            return rsmctl::run_command(*line.options);
        }
        return line.status;
    } catch (const rsmctl::NoFamily &error) {
        return rsmctl::say(error, rsmctl::no_family_status);
    } catch (const std::exception &error) {
        return rsmctl::say(error, rsmctl::failed_status);
    }
}
