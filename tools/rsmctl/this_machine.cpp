// SPDX-License-Identifier: GPL-2.0
// rsmctl doctor on the machine that it runs on.
#include "doctor.hpp"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <pwd.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "commands.hpp"
#include "netlink.hpp"
#include "output.hpp"
#include "schema.hpp"
#include "status.hpp"

namespace rsmctl {

namespace {

std::vector<gid_t> session_groups() {
    std::vector<gid_t> groups(static_cast<std::size_t>(std::max(0, getgroups(0, nullptr))));
    if (!groups.empty()) {
        groups.resize(static_cast<std::size_t>(
            std::max(0, getgroups(static_cast<int>(groups.size()), groups.data()))));
    }
    groups.push_back(getegid());
    return groups;
}

rlimit limit_of(__rlimit_resource resource) {
    rlimit limit{};
    (void)getrlimit(resource, &limit);
    return limit;
}

Caller this_caller() {
    Caller caller{.uid = geteuid(), .name = {}, .groups = session_groups(), .locked_memory = {}};
    const auto *entry = getpwuid(caller.uid);
    caller.name = entry != nullptr ? entry->pw_name : std::to_string(caller.uid);
    const auto memory = limit_of(RLIMIT_MEMLOCK).rlim_cur;
    // Root has CAP_IPC_LOCK, which no limit holds for.
    if (memory != RLIM_INFINITY && caller.uid != 0) {
        caller.locked_memory = memory;
    }
    caller.descriptors = limit_of(RLIMIT_NOFILE).rlim_cur;
    return caller;
}

int error_of_open(const char *device) {
    const int descriptor = open(device, O_RDWR | O_CLOEXEC);
    if (descriptor < 0) {
        return errno;
    }
    (void)close(descriptor);
    return 0;
}

std::optional<Reported> ask_kernel() {
    try {
        Socket socket;
        return Reported{all_of(socket, kind_of("controller")), all_of(socket, kind_of("node")),
                        stats_of(socket)};
    } catch (const std::runtime_error &) {
        return std::nullopt;
    }
}

Machine this_machine() {
    utsname system{};
    (void)uname(&system);
    return {.root = "/",
            .kernel = system.release,
            .caller = this_caller(),
            .device_error = error_of_open("/dev/rsm"),
            .reported = ask_kernel()};
}

} // namespace

int doctor(const Options &options) {
    const auto findings = examine(this_machine());
    print(options.json ? json_text(json_of(findings))
                       : text_of(findings, output_colours(options.colour)));
    return usable(findings) ? 0 : failed_status;
}

} // namespace rsmctl
