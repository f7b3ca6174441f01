// SPDX-License-Identifier: GPL-2.0
#include "doctor.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include <arpa/inet.h>
#include <sys/stat.h>

namespace rsmctl {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t little_memory = std::uint64_t{64} << 20;
constexpr std::uint64_t few_descriptors = 1024;
// The firmware's variable for Secure Boot: four bytes of attributes, then 1 if it is on.
constexpr const char *secure_boot_variable =
    "sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c";
constexpr std::size_t secure_boot_byte = 4;

std::string contents(const fs::path &file) {
    const std::ifstream stream(file, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

std::string first_line(const fs::path &file) {
    const auto text = contents(file);
    return text.substr(0, text.find('\n'));
}

bool is_there(const fs::path &path) {
    std::error_code ignored;
    return fs::exists(path, ignored);
}

bool loaded(const Machine &machine, const std::string &module) {
    return is_there(machine.root / "sys/module" / module);
}

bool installed(const Machine &machine, const std::string &module) {
    const auto list = contents(machine.root / "lib/modules" / machine.kernel / "modules.dep");
    return list.find("/" + module + ".ko") != std::string::npos;
}

Finding check_module(const Machine &machine) {
    if (loaded(machine, "rsm")) {
        const auto version = first_line(machine.root / "sys/module/rsm/version");
        return {"module", Verdict::ok,
                "rsm is loaded" + (version.empty() ? "" : ", version " + version), ""};
    }
    if (installed(machine, "rsm")) {
        return {"module", Verdict::fail, "rsm.ko is installed for this kernel, and not loaded",
                "modprobe rsm"};
    }
    return {"module", Verdict::fail, "rsm.ko is not installed for kernel " + machine.kernel,
            "apt-get install linux-headers-" + machine.kernel +
                " rsm-dkms (\"make deb\" in the source tree builds build/deb/rsm-dkms_*.deb), or "
                "\"make install\" there; then modprobe rsm"};
}

bool secure_boot(const Machine &machine) {
    const auto variable = contents(machine.root / secure_boot_variable);
    return variable.size() > secure_boot_byte && variable[secure_boot_byte] == 1;
}

// The chosen one of "[none] integrity confidentiality".
bool locked_down(const Machine &machine) {
    const auto states = contents(machine.root / "sys/kernel/security/lockdown");
    return !states.empty() && states.find("[none]") == std::string::npos;
}

bool signatures_enforced(const Machine &machine) {
    return locked_down(machine) ||
           first_line(machine.root / "sys/module/module/parameters/sig_enforce") == "Y";
}

Finding check_secure_boot(const Machine &machine) {
    const std::string state = secure_boot(machine) ? "Secure Boot is on" : "Secure Boot is off";
    if (!signatures_enforced(machine)) {
        return {"secure-boot", Verdict::ok, state + "; the kernel loads unsigned modules", ""};
    }
    if (loaded(machine, "rsm")) {
        return {"secure-boot", Verdict::ok,
                state + "; the kernel loads signed modules only, and has loaded rsm", ""};
    }
    return {"secure-boot", Verdict::note, state + "; the kernel loads signed modules only",
            "if modprobe says \"Key was rejected by service\": mokutil --import "
            "/var/lib/dkms/mok.pub, reboot, and enrol the key at the prompt"};
}

struct Group {
    gid_t id = 0;
    std::vector<std::string> members;
};

std::vector<std::string> split(const std::string &text, char separator) {
    std::vector<std::string> parts;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, separator);) {
        parts.push_back(part);
    }
    return parts;
}

std::optional<Group> group_rsm(const Machine &machine) {
    for (const auto &line : split(contents(machine.root / "etc/group"), '\n')) {
        const auto parts = split(line, ':');
        if (parts.size() >= 3 && parts[0] == "rsm") {
            return Group{static_cast<gid_t>(std::strtoul(parts[2].c_str(), nullptr, 10)),
                         parts.size() > 3 ? split(parts[3], ',') : std::vector<std::string>()};
        }
    }
    return std::nullopt;
}

bool in_session(const Machine &machine, gid_t group) {
    return std::ranges::count(machine.caller.groups, group) != 0;
}

Finding check_group(const Machine &machine) {
    const auto &caller = machine.caller;
    if (caller.uid == 0) {
        return {"group", Verdict::ok, "root needs no group", ""};
    }
    const auto group = group_rsm(machine);
    if (!group) {
        return {"group", Verdict::fail, "there is no group rsm",
                "groupadd --system rsm, usermod -aG rsm " + caller.name +
                    ", and udevadm trigger --name-match=rsm"};
    }
    if (in_session(machine, group->id) || std::ranges::count(group->members, caller.name) != 0) {
        return {"group", Verdict::ok, caller.name + " is in group rsm", ""};
    }
    return {"group", Verdict::fail, caller.name + " is not in group rsm",
            "usermod -aG rsm " + caller.name + ", then log in again"};
}

// A session gets its groups when it begins.
Finding check_login(const Machine &machine) {
    const auto group = group_rsm(machine);
    if (machine.caller.uid == 0 || !group || in_session(machine, group->id) ||
        std::ranges::count(group->members, machine.caller.name) == 0) {
        return {"login", Verdict::ok, "this session has the groups of its user", ""};
    }
    return {"login", Verdict::fail, "this session is older than the membership in group rsm",
            "log in again, or run: newgrp rsm"};
}

Finding check_device(const Machine &machine) {
    const auto device = machine.root / "dev/rsm";
    struct stat status {};
    if (::stat(device.c_str(), &status) != 0) {
        return loaded(machine, "rsm")
                   ? Finding{"device", Verdict::fail, "/dev/rsm is missing although rsm is loaded",
                             "in a container: give it the device (--device /dev/rsm); else: "
                             "udevadm trigger --name-match=rsm"}
                   : Finding{"device", Verdict::fail, "/dev/rsm is missing", "load the module"};
    }
    if (machine.device_error == 0) {
        return {"device", Verdict::ok, "/dev/rsm can be opened", ""};
    }
    const std::string reason = std::strerror(machine.device_error);
    if (machine.device_error == EACCES) {
        return {"device", Verdict::fail, "/dev/rsm: " + reason,
                "see group and login; its group must be rsm: udevadm trigger --name-match=rsm"};
    }
    return {"device", Verdict::fail, "/dev/rsm: " + reason,
            machine.device_error == EPERM
                ? "a container or service forbids it: --device /dev/rsm, or DeviceAllow=/dev/rsm rw"
                : "see the kernel log: dmesg | grep rsm"};
}

Finding check_locked_memory(const Machine &machine) {
    const auto limit = machine.caller.locked_memory;
    if (!limit) {
        return {"memory", Verdict::ok, "no limit on locked memory", ""};
    }
    const auto found = "a process may export " + human_size(*limit) + " (ulimit -l)";
    if (*limit >= little_memory) {
        return {"memory", Verdict::ok, found, ""};
    }
    return {"memory", *limit == 0 ? Verdict::fail : Verdict::note, found,
            "for more, such as 1 GiB: \"@rsm - memlock 1048576\" in "
            "/etc/security/limits.d/rsm.conf and a new "
            "login; for a service: LimitMEMLOCK="};
}

Finding check_descriptors(const Machine &machine) {
    const auto limit = machine.caller.descriptors;
    const auto found = "a process may have " + std::to_string(limit) + " descriptors (ulimit -n)";
    if (limit >= few_descriptors) {
        return {"descriptors", Verdict::ok, found, ""};
    }
    return {"descriptors", Verdict::note, found,
            "each segment handle is a descriptor; for more: ulimit -n, or LimitNOFILE="};
}

// The PCI vendor and device of QEMU's ivshmem.
bool has_ivshmem(const Machine &machine) {
    std::error_code error;
    const fs::directory_iterator devices(machine.root / "sys/bus/pci/devices", error);
    return std::ranges::any_of(devices, [](const fs::directory_entry &device) {
        return first_line(device.path() / "vendor") == "0x1af4" &&
               first_line(device.path() / "device") == "0x1110";
    });
}

std::string names_of(const std::vector<Json> &controllers) {
    std::string names;
    for (const auto &controller : controllers) {
        names += (names.empty() ? "" : ", ") + controller.value("name", "?");
    }
    return names;
}

bool has_node_id(const Machine &machine) {
    return first_line(machine.root / "sys/module/rsm/parameters/node_id") != "0";
}

Finding without_node_id(const std::string &found) {
    return {"controllers", Verdict::fail, found + "; this node has no id",
            "\"options rsm node_id=N\" in /etc/modprobe.d/rsm.conf, another N on each node; "
            "then load the modules anew"};
}

Finding check_controllers(const Machine &machine) {
    const auto found = names_of(machine.reported->controllers);
    if (has_ivshmem(machine) && !loaded(machine, "rsm_ivshmem")) {
        return {"controllers", Verdict::note, found + "; an ivshmem device has no driver",
                "modprobe rsm_ivshmem, with node_id set in /etc/modprobe.d/rsm.conf"};
    }
    const bool wants_rdma = is_there(machine.root / "etc/rsm/rdma-nodes");
    const bool has_rdma = loaded(machine, "rsm_rdma");
    if ((wants_rdma || has_rdma || loaded(machine, "rsm_ivshmem")) && !has_node_id(machine)) {
        return without_node_id(found);
    }
    if (wants_rdma && !has_rdma) {
        return {"controllers", Verdict::note,
                found + "; /etc/rsm/rdma-nodes is there, and rsm_rdma is not loaded",
                "systemctl restart rsm-nodes; journalctl -u rsm-nodes and dmesg | grep rsm say why "
                "it can't"};
    }
    return {"controllers", Verdict::ok, found, ""};
}

// A list of nodes that the administrator writes. Its readers pass over a line that is wrong.
struct NodesFile {
    const char *path;
    std::size_t most_addresses; // in a line
    const char *remedy;
};

constexpr std::array nodes_files{
    NodesFile{"etc/rsm/nodes", SIZE_MAX,
              "correct it; programs read the file when they open an adapter of uDAPL"},
    NodesFile{"etc/rsm/rdma-nodes", 1, "correct it, then: systemctl restart rsm-nodes"},
};

bool is_node_id(const std::string &text) {
    const auto *end = text.data() + text.size();
    std::uint32_t id = 0;
    const auto [stop, error] = std::from_chars(text.data(), end, id);
    return error == std::errc() && stop == end;
}

// With or without the link of an address of IPv6.
bool is_address(const std::string &text) {
    in6_addr space{};
    return inet_pton(AF_INET, text.c_str(), &space) == 1 ||
           inet_pton(AF_INET6, text.substr(0, text.find('%')).c_str(), &space) == 1;
}

// Empty: the line is a node, or nothing but a comment.
std::string fault_of(const std::string &line, std::size_t most_addresses) {
    std::istringstream stream(line.substr(0, line.find('#')));
    std::vector<std::string> words;
    for (std::string word; stream >> word;) {
        words.push_back(word);
    }
    if (words.empty()) {
        return {};
    }
    if (!is_node_id(words.front())) {
        return "\"" + words.front() + "\" is no node id";
    }
    if (words.size() < 2 || words.size() - 1 > most_addresses) {
        return words.size() < 2 ? "there is no address" : "there is more than one address";
    }
    const auto wrong = std::find_if_not(words.begin() + 1, words.end(), is_address);
    return wrong == words.end() ? "" : "\"" + *wrong + "\" is no IP address";
}

void check_nodes_files(std::vector<Finding> &findings, const Machine &machine) {
    for (const auto &file : nodes_files) {
        std::size_t number = 0;
        for (const auto &line : split(contents(machine.root / file.path), '\n')) {
            number++;
            if (const auto fault = fault_of(line, file.most_addresses); !fault.empty()) {
                findings.push_back({"nodes-file", Verdict::note,
                                    std::string("/") + file.path + ", line " +
                                        std::to_string(number) + ": " + fault,
                                    file.remedy});
            }
        }
    }
}

Finding check_node(const Json &node) {
    const auto name = "node " + std::to_string(node.value("node_id", 0U)) + " (" +
                      node.value("controller", "?") + ")";
    const auto state = node.value("state", "?");
    if (state == "active") {
        return {"node", Verdict::ok, name + " is active", ""};
    }
    const auto reason = node.value("reason", "");
    return {"node", Verdict::note, name + " is " + state + (reason.empty() ? "" : ": " + reason),
            "run rsmctl doctor on that node; dmesg | grep rsm on both"};
}

// One finding for each controller that can have a secret; its nodes tell whether it has.
void check_secrets(std::vector<Finding> &findings, const std::vector<Json> &nodes) {
    std::set<std::string> controllers;
    for (const auto &node : nodes) {
        const auto name = node.value("controller", "?");
        if (!node.contains("secret") || !controllers.insert(name).second) {
            continue;
        }
        if (node.value("secret", true)) {
            findings.push_back(
                {"secret", Verdict::ok, name + ": nodes have to know the secret", ""});
        } else {
            findings.push_back({"secret", Verdict::note,
                                name + ": there is no secret, nodes are not authenticated",
                                "rsmctl node secret FILE -c " + name +
                                    " on all nodes; at boot rsm-nodes.service takes it from "
                                    "/etc/rsm/rdma-secret"});
        }
    }
}

// Whose setting a limit is, by its kind; rsmctl(8) lists the kinds.
std::string setting_of(const std::string &kind) {
    static const std::map<std::string, std::string> settings{
        {"memlock", "RLIMIT_MEMLOCK (ulimit -l)"},
        {"exported-memory", "parameter max_exported_memory of rsm"},
        {"segments", "parameter max_segments of rsm"},
        {"slots", "fixed, segments of a process"},
        {"grants", "fixed, tickets of an export"},
        {"controller-memory", "the interconnect's memory; parameters user_share and node_share "
                              "of rsm_ivshmem"},
        {"memory", "the memory cgroup, or the machine's memory"},
        {"user-segments", "parameter max_segments_per_user of rsm"},
        {"user-memory", "parameter max_exported_memory_per_user of rsm"},
    };
    const auto found = settings.find(kind);
    return found == settings.end() ? "" : " (" + found->second + ")";
}

void check_limits(std::vector<Finding> &findings, const Json &stats) {
    for (const auto &limit : stats.value("limit", Json::array())) {
        if (const auto hits = limit.value("hits", 0U); hits != 0) {
            findings.push_back({"limits", Verdict::note,
                                "the limit " + limit.value("kind", "?") +
                                    setting_of(limit.value("kind", "?")) + " has refused " +
                                    std::to_string(hits) + " requests since rsm was loaded",
                                "rsmctl monitor limit-hit, as root, shows whom it refuses"});
        }
    }
}

void check_reported(std::vector<Finding> &findings, const Machine &machine) {
    if (!machine.reported) {
        return;
    }
    findings.push_back(check_controllers(machine));
    std::ranges::transform(machine.reported->nodes, std::back_inserter(findings), check_node);
    check_secrets(findings, machine.reported->nodes);
    check_limits(findings, machine.reported->stats);
}

const char *name_of(Verdict verdict) {
    constexpr std::array names{"ok", "note", "fail"};
    return names.at(static_cast<std::size_t>(verdict));
}

Tint tint_of(Verdict verdict) {
    constexpr std::array tints{Tint::good, Tint::doubtful, Tint::bad};
    return tints.at(static_cast<std::size_t>(verdict));
}

std::string padded(std::string text, std::size_t width) {
    text.resize(std::max(width, text.size()), ' ');
    return text;
}

} // namespace

std::vector<Finding> examine(const Machine &machine) {
    std::vector<Finding> findings{check_module(machine),     check_secure_boot(machine),
                                  check_device(machine),     check_group(machine),
                                  check_login(machine),      check_locked_memory(machine),
                                  check_descriptors(machine)};
    check_nodes_files(findings, machine);
    check_reported(findings, machine);
    return findings;
}

bool usable(const std::vector<Finding> &findings) {
    return std::ranges::count(findings, Verdict::fail, &Finding::verdict) == 0;
}

Json json_of(const std::vector<Finding> &findings) {
    auto list = Json::array();
    for (const auto &finding : findings) {
        Json item = {{"check", finding.check},
                     {"verdict", name_of(finding.verdict)},
                     {"found", finding.found}};
        if (!finding.remedy.empty()) {
            item["remedy"] = finding.remedy;
        }
        list.push_back(item);
    }
    return list;
}

std::string text_of(const std::vector<Finding> &findings, Colours colours) {
    constexpr std::size_t verdict_width = 6;
    constexpr std::size_t check_width = 13;
    std::string text;
    for (const auto &finding : findings) {
        const auto verdict = padded(name_of(finding.verdict), verdict_width);
        text += tinted(verdict, tint_of(finding.verdict), colours) +
                padded(finding.check, check_width) + printable(finding.found) + "\n";
        if (!finding.remedy.empty()) {
            text += padded("", verdict_width + check_width) + "-> " + finding.remedy + "\n";
        }
    }
    return text;
}

} // namespace rsmctl
