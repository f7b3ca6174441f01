// SPDX-License-Identifier: GPL-2.0
#include "commands.hpp"

#include <algorithm>
#include <cerrno>
#include <iostream>

#include <linux/rsm_netlink.h>

#include "output.hpp"
#include "schema.hpp"
#include "secret.hpp"
#include "table.hpp"
#include "watch_output.hpp"

namespace rsmctl {

namespace {

using Records = std::vector<Json>;

// How often a list is read again if it has changed meanwhile.
constexpr int most_attempts = 8;

Handler into(Records &records, const Kind &kind) {
    return [&](const nlmsghdr &message) {
        records.push_back(read_record(kind.fields, attributes_of(message)));
    };
}

// Adds the object of a refused request to the error.
void ask(Socket &socket, const Request &request, const std::string &subject,
         const Handler &handler) {
    try {
        socket.ask(request, handler);
    } catch (const Refused &error) {
        throw Refused(error.error(), subject + ": " + error.what());
    }
}

void change(Socket &socket, const Request &request, const std::string &subject) {
    ask(socket, request, subject, [](const nlmsghdr &) {});
}

// The kernel does not tell a user what exists that this user may not see.
Refused absence_of(const std::string &subject) {
    const auto object = subject.substr(0, subject.find(' '));
    return {ENOENT, subject + ": " +
                        refusal_text(ENOENT, "there is none that you may see, \"rsmctl " + object +
                                                 "\" lists all")};
}

Json one_of(Socket &socket, const Kind &kind, const Request &request, const std::string &subject) {
    Records records;
    try {
        ask(socket, request, subject, into(records, kind));
    } catch (const Refused &error) {
        if (error.error() != ENOENT) {
            throw;
        }
    }
    if (records.empty()) {
        throw absence_of(subject);
    }
    return records.front();
}

std::string subject_of(const Options &options) {
    if (!options.name.empty()) {
        return options.object + " " + options.name;
    }
    if (options.object == "segment" && !options.handle) {
        return "segment " + hexadecimal(options.number);
    }
    return options.object + " " + std::to_string(options.number);
}

void add_key(Request &request, const Options &options) {
    if (options.object == "controller") {
        request.text(RSM_A_CONTROLLER_NAME, options.name);
    } else if (options.object == "import") {
        request.number(RSM_A_IMPORT_NUMBER, options.number);
    } else if (options.object == "process") {
        request.number(RSM_A_PROCESS_PID, options.number);
    } else if (options.object == "segment") {
        request.number(options.handle ? RSM_A_SEGMENT_NUMBER : RSM_A_SEGMENT_ID, options.number);
    }
}

bool is_node(const Json &record, const Options &options) {
    return record.value("node_id", std::uint64_t{0}) == options.number &&
           (options.controller.empty() || record.value("controller", "") == options.controller);
}

// Several controllers may reach the same node.
Records nodes_of(Socket &socket, const Options &options) {
    auto records = all_of(socket, kind_of("node"));
    std::erase_if(records, [&](const Json &record) { return !is_node(record, options); });
    if (records.empty()) {
        throw absence_of(subject_of(options));
    }
    return records;
}

Records imports_of(Socket &socket, const Json &segment) {
    auto records = all_of(socket, kind_of("import"));
    std::erase_if(records, [&](const Json &record) {
        return !record.contains("exporter") || record["exporter"] != segment.value("number", 0U);
    });
    return records;
}

// For a list that is followed by others, JSON is in one line.
std::string json_of(const Json &json, const Options &options) {
    return options.watch ? json_line(json) : json_text(json);
}

std::string record_text(const Kind &kind, const Json &record, const Options &options) {
    return options.json
               ? json_of(record, options)
               : lines_of(kind.fields, record, options.human, output_colours(options.colour));
}

std::string records_text(const Kind &kind, const Records &records, const Options &options) {
    if (options.json) {
        return json_of(records, options);
    }
    const auto chosen = fields_named(kind.fields, options.columns);
    return table_of(chosen.empty() ? kind.fields : std::span(chosen), records, options.human,
                    output_colours(options.colour));
}

void print_record(const Kind &kind, const Json &record, const Options &options) {
    print(record_text(kind, record, options));
}

void print_records(const Kind &kind, const Records &records, const Options &options) {
    print(records_text(kind, records, options));
}

void show_segment(Socket &socket, Json segment, const Options &options) {
    const auto imports = imports_of(socket, segment);
    if (options.json) {
        segment["imports"] = imports;
    }
    print_record(kind_of("segment"), segment, options);
    if (!options.json && !imports.empty()) {
        print("\n");
        print_records(kind_of("import"), imports, options);
    }
}

void show(Socket &socket, const Options &options) {
    const auto &kind = kind_of(options.object);
    if (options.object == "node") {
        print_records(kind, nodes_of(socket, options), options);
        return;
    }
    Request request(kind.get);
    add_key(request, options);
    const auto record = one_of(socket, kind, request, subject_of(options));
    if (options.imports) {
        show_segment(socket, record, options);
    } else {
        print_record(kind, record, options);
    }
}

// Nodes without a secret: any process that connects from their address is taken for them.
void warn_of_believed_nodes(const Records &nodes) {
    for (const auto &node : nodes) {
        if (node.contains("secret") && !node["secret"].get<bool>()) {
            std::cerr << "rsmctl: warning: " << node.value("controller", "")
                      << ": there is no secret, nodes are not authenticated "
                         "(rsmctl node secret)\n";
            return;
        }
    }
}

Records records_of(Socket &socket, const Options &options) {
    const auto &kind = kind_of(options.object);
    auto records = all_of(socket, kind);
    if (!options.sort.empty()) {
        sort_records(records, field_of(kind.fields, options.sort), options.direction);
    }
    return records;
}

std::string list_text(Socket &socket, const Options &options) {
    const auto &kind = kind_of(options.object);
    return options.object == "stats" ? record_text(kind, stats_of(socket), options)
                                     : records_text(kind, records_of(socket, options), options);
}

void list(Socket &socket, const Options &options) {
    const auto &kind = kind_of(options.object);
    if (options.watch) {
        watch_output(options, [&](Wake) { return list_text(socket, options); });
    } else if (options.object == "stats") {
        print_record(kind, stats_of(socket), options);
    } else {
        const auto records = records_of(socket, options);
        print_records(kind, records, options);
        if (!options.json) {
            warn_of_believed_nodes(records);
        }
    }
}

// The only controller whose nodes can be changed.
std::string configurable_controller(Socket &socket) {
    auto records = all_of(socket, kind_of("controller"));
    std::erase_if(records, [](const Json &record) { return !record.value("configurable", false); });
    if (records.size() != 1) {
        throw std::runtime_error(records.empty()
                                     ? "no controller takes nodes: for rdma0, modprobe rsm_rdma"
                                     : "several controllers take nodes: name one with "
                                       "--controller");
    }
    return records.front().value("name", "");
}

void change_node(Socket &socket, std::uint8_t command, const Options &options) {
    const auto controller =
        options.controller.empty() ? configurable_controller(socket) : options.controller;
    Request request(command);
    request.text(RSM_A_NODE_CONTROLLER, controller).number(RSM_A_NODE_NODE_ID, options.number);
    if (!options.address.empty()) {
        request.text(RSM_A_NODE_ADDRESS, options.address);
    }
    change(socket, request, controller + ": " + subject_of(options));
}

// The controller that a secret is for.
std::string secret_controller(Socket &socket, const Options &options) {
    return options.controller.empty() ? configurable_controller(socket) : options.controller;
}

void set_secret(Socket &socket, const Options &options) {
    const auto secrets = read_secrets(options.file);
    const auto controller = secret_controller(socket, options);
    Request request(RSM_CMD_SECRET_SET);
    request.text(RSM_A_SECRET_CONTROLLER, controller);
    request.bytes(RSM_A_SECRET_USE, secrets.front().data(), secrets.front().size());
    if (secrets.size() > 1) {
        request.bytes(RSM_A_SECRET_ACCEPT, secrets.back().data(), secrets.back().size());
    }
    change(socket, request, controller);
}

void delete_secret(Socket &socket, const Options &options) {
    const auto controller = secret_controller(socket, options);
    Request request(RSM_CMD_SECRET_DEL);
    request.text(RSM_A_SECRET_CONTROLLER, controller);
    change(socket, request, controller);
}

void revoke(Socket &socket, const Options &options) {
    Request request(RSM_CMD_SEGMENT_REVOKE);
    add_key(request, options);
    change(socket, request, subject_of(options));
}

} // namespace

// Under constant change the last attempt is used: it has all objects that existed throughout.
Records all_of(Socket &socket, const Kind &kind) {
    Records records;
    const Request request(kind.get, NLM_F_DUMP);
    for (int attempt = 0; attempt < most_attempts; attempt++) {
        records.clear();
        if (socket.dump(request, into(records, kind)) == Dump::whole) {
            return records;
        }
    }
    std::cerr << "rsmctl: warning: the list has changed while it was read\n";
    return records;
}

Json stats_of(Socket &socket) {
    const auto &kind = kind_of("stats");
    return one_of(socket, kind, Request(kind.get), "stats");
}

void run(Socket &socket, const Options &options) {
    switch (options.verb) {
    case Verb::list:
        return list(socket, options);
    case Verb::show:
        return show(socket, options);
    case Verb::add:
        return change_node(socket, RSM_CMD_NODE_ADD, options);
    case Verb::set:
        return change_node(socket, RSM_CMD_NODE_SET, options);
    case Verb::del:
        return change_node(socket, RSM_CMD_NODE_DEL, options);
    case Verb::secret:
        return set_secret(socket, options);
    case Verb::no_secret:
        return delete_secret(socket, options);
    case Verb::revoke:
        return revoke(socket, options);
    case Verb::monitor:
    case Verb::doctor:
    case Verb::metrics:
    case Verb::top:
        throw std::logic_error("monitor, doctor, metrics and top are elsewhere");
    }
}

} // namespace rsmctl
