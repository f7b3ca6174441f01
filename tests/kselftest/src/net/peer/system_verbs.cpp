// SPDX-License-Identifier: GPL-2.0
// Orders about the process and its machine.
#include "net/peer/shell.hpp"
#include "net/peer/worker.hpp"
#include "support/raw.hpp"

#include <cstdlib>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace rsmtest::net {
namespace {

// open CONTROLLER: the one that all other orders mean
Answer open_controller(Worker &worker, Args &args) {
    worker.controller_name = args.word();
    return {rsm_get_controller(worker.controller_name.data(), &worker.controller)};
}

// attr: mappable, largest export, all exports together
Answer attributes(Worker &worker, Args & /*args*/) {
    const Fd control = raw::open_control();
    rsm_attr attr{};
    worker.controller_name.copy(attr.controller, RSM_NAME_SIZE - 1);
    const raw::Outcome outcome = raw::call(control.get(), RSM_IOC_ATTR, attr);
    return {static_cast<int>(outcome.status),
            {attr.mappable, attr.max_export_size, attr.total_export_size}};
}

void add_connections(const rsm_connections_t &connections, Answer &answer) {
    for (int i = 0; i < connections.hdr.remote_cntlr_count; i++) {
        const rsm_remote_cntlr_t &peer = connections.remote_cntlr[i];
        answer.data.push_back(peer.remote_nodeid);
        answer.data.push_back(peer.connection_state);
    }
}

// topology: own node, then node and state of each peer of the controller
Answer topology(Worker &worker, Args & /*args*/) {
    rsm_topology_t *topology = nullptr;
    Answer answer{rsm_get_interconnect_topology(&topology)};
    if (answer.status != RSM_SUCCESS)
        return answer;
    answer.data.push_back(topology->topology_hdr.local_nodeid);
    for (uint_t i = 0; i < topology->topology_hdr.local_cntlr_count; i++)
        if (worker.controller_name == topology->connections[i]->hdr.cntlr_name)
            add_connections(*topology->connections[i], answer);
    rsm_free_interconnect_topology(topology);
    return answer;
}

// user UID GID [GROUP]...: for good
Answer user(Worker & /*worker*/, Args &args) {
    User who{};
    who.uid = args.as<uid_t>();
    who.gid = args.as<gid_t>();
    while (!args.empty())
        who.groups.push_back(args.as<gid_t>());
    return {become(who) ? 0 : errno};
}

// umask MASK
Answer mask(Worker & /*worker*/, Args &args) {
    return {RSM_SUCCESS, {umask(args.as<mode_t>())}};
}

// A child that has everything open and does nothing. It outlives this process; the daemon ends
// it with the process group.
Answer fork_sleeper(Worker & /*worker*/, Args & /*args*/) {
    const pid_t child = fork();
    while (child == 0)
        pause();
    return {child < 0 ? errno : 0, {static_cast<std::uint64_t>(child)}};
}

Answer execute(Worker &worker, Args & /*args*/) {
    worker.afterwards = [] {
        execl("/bin/sleep", "sleep", "100000", nullptr);
        _exit(127);
    };
    return {};
}

Answer leave(Worker &worker, Args & /*args*/) {
    worker.afterwards = [] { _exit(0); };
    return {};
}

// sh COMMAND
Answer shell(Worker & /*worker*/, Args &args) {
    return run_shell(args);
}

constexpr Verb verbs[] = {
    {"open", open_controller},
    {"attr", attributes},
    {"topology", topology},
    {"user", user},
    {"umask", mask},
    {"fork", fork_sleeper},
    {"exec", execute},
    {"exit", leave},
    {"sh", shell},
};

} // namespace

std::span<const Verb> system_verbs() {
    return verbs;
}

} // namespace rsmtest::net
