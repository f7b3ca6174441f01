// SPDX-License-Identifier: GPL-2.0
#include "schema.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

#include <linux/rsm_netlink.h>

namespace rsmctl {

namespace {

constexpr std::array node_states{"down", "greeting", "active", "ending"};
constexpr std::array segment_states{"bound", "published", "dead"};
constexpr std::array limits{"memlock",           "exported-memory", "segments",
                            "slots",             "grants",          "controller-memory",
                            "memory",            "user-segments",   "user-memory"};
constexpr std::array reasons{"asked",    "range-gone", "controller-gone", "revoked",
                             "exporter", "node-down",  "peer-error"};

constexpr std::array denials{"user", "node"};

// By bit: the flags of RSM_IOC_BIND.
constexpr auto bind_flags = [] {
    std::array<const char *, 18> names{};
    names[0] = "allow-rebind";
    names[1] = "dont-wait";
    names[16] = "local";
    names[17] = "read";
    return names;
}();

constexpr Field controller_fields[] = {
    {RSM_A_CONTROLLER_NAME, "name", "NAME", Form::text},
    {RSM_A_CONTROLLER_NODE_ID, "node_id", "NODE", Form::number},
    {RSM_A_CONTROLLER_HWADDR, "hwaddr", nullptr, Form::hexadecimal},
    {RSM_A_CONTROLLER_MAPPABLE, "mappable", "MAPPABLE", Form::truth},
    {RSM_A_CONTROLLER_CONFIGURABLE, "configurable", nullptr, Form::truth},
    {RSM_A_CONTROLLER_WINDOW_BYTES, "window_bytes", "WINDOW", Form::size},
    {RSM_A_CONTROLLER_SEGMENTS, "segments", "SEGMENTS", Form::number},
    {RSM_A_CONTROLLER_IMPORTS, "imports", "IMPORTS", Form::number},
    {RSM_A_CONTROLLER_LINKS, "links", "LINKS", Form::number},
};

constexpr Field node_fields[] = {
    {RSM_A_NODE_NODE_ID, "node_id", "NODE", Form::number},
    {RSM_A_NODE_CONTROLLER, "controller", "CONTROLLER", Form::text},
    {RSM_A_NODE_STATE, "state", "STATE", Form::choice, node_states},
    {RSM_A_NODE_HWADDR, "hwaddr", nullptr, Form::hexadecimal},
    {RSM_A_NODE_ADDRESS, "address", "ADDRESS", Form::text},
    {RSM_A_NODE_INCARNATION, "incarnation", nullptr, Form::hexadecimal},
    {RSM_A_NODE_SEGMENTS, "segments", "SEGMENTS", Form::number},
    {RSM_A_NODE_IMPORTERS, "importers", "IMPORTERS", Form::number},
    {RSM_A_NODE_SECRET, "secret", "SECRET", Form::truth},
    {RSM_A_NODE_REASON, "reason", "REASON", Form::text},
};

constexpr Field acl_fields[] = {
    {RSM_A_ACL_ENTRY_NODE_ID, "node_id", nullptr, Form::number},
    {RSM_A_ACL_ENTRY_MODE, "mode", nullptr, Form::mode},
};

constexpr Field segment_fields[] = {
    {RSM_A_SEGMENT_ID, "id", "ID", Form::identifier},
    {RSM_A_SEGMENT_NUMBER, "number", "NUMBER", Form::number},
    {RSM_A_SEGMENT_CONTROLLER, "controller", "CONTROLLER", Form::text},
    {RSM_A_SEGMENT_STATE, "state", "STATE", Form::choice, segment_states},
    {RSM_A_SEGMENT_LENGTH, "length", "LENGTH", Form::size},
    {RSM_A_SEGMENT_UID, "uid", "UID", Form::number},
    {RSM_A_SEGMENT_GID, "gid", "GID", Form::number},
    {RSM_A_SEGMENT_MODE, "mode", "MODE", Form::mode},
    {RSM_A_SEGMENT_ACL, "acl", nullptr, Form::records, {}, acl_fields},
    {RSM_A_SEGMENT_PID, "pid", "PID", Form::number},
    {RSM_A_SEGMENT_FLAGS, "flags", nullptr, Form::flags, bind_flags},
    {RSM_A_SEGMENT_IMPORTERS, "importers", "IMPORTERS", Form::number},
    {RSM_A_SEGMENT_REMOTE_IMPORTERS, "remote_importers", "REMOTE", Form::number},
    {RSM_A_SEGMENT_GRANTS, "grants", nullptr, Form::number},
    {RSM_A_SEGMENT_PINNED_BYTES, "pinned_bytes", "PINNED", Form::size},
    {RSM_A_SEGMENT_EVENTS, "events", nullptr, Form::number},
    {RSM_A_SEGMENT_PUT_BYTES, "put_bytes", nullptr, Form::size},
    {RSM_A_SEGMENT_GET_BYTES, "get_bytes", nullptr, Form::size},
    {RSM_A_SEGMENT_REASON, "reason", nullptr, Form::choice, reasons},
};

constexpr Field import_fields[] = {
    {RSM_A_IMPORT_NUMBER, "number", "NUMBER", Form::number},
    {RSM_A_IMPORT_ID, "id", "ID", Form::identifier},
    {RSM_A_IMPORT_CONTROLLER, "controller", "CONTROLLER", Form::text},
    {RSM_A_IMPORT_NODE_ID, "node_id", "NODE", Form::number},
    {RSM_A_IMPORT_EXPORTER, "exporter", nullptr, Form::number},
    {RSM_A_IMPORT_LENGTH, "length", "LENGTH", Form::size},
    {RSM_A_IMPORT_UID, "uid", "UID", Form::number},
    {RSM_A_IMPORT_PID, "pid", "PID", Form::number},
    {RSM_A_IMPORT_RIGHTS, "rights", "RIGHTS", Form::rights},
    {RSM_A_IMPORT_EVENTS, "events", nullptr, Form::number},
    {RSM_A_IMPORT_PUT_BYTES, "put_bytes", "PUT", Form::size},
    {RSM_A_IMPORT_GET_BYTES, "get_bytes", "GET", Form::size},
    {RSM_A_IMPORT_ABORTED, "aborted", "ABORTED", Form::truth},
    {RSM_A_IMPORT_REASON, "reason", "REASON", Form::choice, reasons},
};

constexpr Field process_fields[] = {
    {RSM_A_PROCESS_PID, "pid", "PID", Form::number},
    {RSM_A_PROCESS_UID, "uid", "UID", Form::number},
    {RSM_A_PROCESS_PINNED_BYTES, "pinned_bytes", "PINNED", Form::size},
    {RSM_A_PROCESS_CHARGED_BYTES, "charged_bytes", "CHARGED", Form::size},
    {RSM_A_PROCESS_LIMIT_BYTES, "limit_bytes", "LIMIT", Form::limit},
    {RSM_A_PROCESS_SEGMENTS, "segments", "SEGMENTS", Form::number},
    {RSM_A_PROCESS_IMPORTS, "imports", "IMPORTS", Form::number},
    {RSM_A_PROCESS_COMM, "comm", "COMMAND", Form::text},
};

constexpr Field limit_fields[] = {
    {RSM_A_LIMIT_KIND, "kind", nullptr, Form::choice, limits},
    {RSM_A_LIMIT_HITS, "hits", nullptr, Form::number},
    {RSM_A_LIMIT_WANTED, "wanted", nullptr, Form::number},
    {RSM_A_LIMIT_VALUE, "value", nullptr, Form::number},
    {RSM_A_LIMIT_PID, "pid", nullptr, Form::number},
    {RSM_A_LIMIT_UID, "uid", nullptr, Form::number},
    {RSM_A_LIMIT_CONTROLLER, "controller", nullptr, Form::text},
};

constexpr Field denial_fields[] = {
    {RSM_A_DENIAL_KIND, "kind", nullptr, Form::choice, denials},
    {RSM_A_DENIAL_CONTROLLER, "controller", nullptr, Form::text},
    {RSM_A_DENIAL_NODE_ID, "node_id", nullptr, Form::number},
    {RSM_A_DENIAL_ID, "id", nullptr, Form::identifier},
    {RSM_A_DENIAL_IMPORTER_NODE_ID, "importer_node_id", nullptr, Form::number},
    {RSM_A_DENIAL_RIGHTS, "rights", nullptr, Form::rights},
    {RSM_A_DENIAL_UID, "uid", nullptr, Form::number},
    {RSM_A_DENIAL_PID, "pid", nullptr, Form::number},
};

constexpr Field stats_fields[] = {
    {RSM_A_STATS_HANDLES, "handles", "HANDLES", Form::number},
    {RSM_A_STATS_MAX_SEGMENTS, "max_segments", "MAX", Form::number},
    {RSM_A_STATS_SEGMENTS, "segments", "SEGMENTS", Form::number},
    {RSM_A_STATS_PUBLISHED, "published", "PUBLISHED", Form::number},
    {RSM_A_STATS_IMPORTS, "imports", "IMPORTS", Form::number},
    {RSM_A_STATS_GRANTS, "grants", "GRANTS", Form::number},
    {RSM_A_STATS_PINNED_BYTES, "pinned_bytes", "PINNED", Form::size},
    {RSM_A_STATS_MAX_PINNED_BYTES, "max_pinned_bytes", "MOST", Form::size},
    {RSM_A_STATS_DENIALS, "denials", "DENIED", Form::number},
    {RSM_A_STATS_LIMIT, "limit", nullptr, Form::records, {}, limit_fields},
};

constexpr Kind all_kinds[] = {
    {"controller", RSM_CMD_CONTROLLER_GET, controller_fields},
    {"node", RSM_CMD_NODE_GET, node_fields},
    {"segment", RSM_CMD_SEGMENT_GET, segment_fields},
    {"import", RSM_CMD_IMPORT_GET, import_fields},
    {"process", RSM_CMD_PROCESS_GET, process_fields},
    {"stats", RSM_CMD_STATS_GET, stats_fields},
};

constexpr Event all_events[] = {
    {RSM_EVENT_PUBLISH, "publish", "segment", segment_fields},
    {RSM_EVENT_UNPUBLISH, "unpublish", "segment", segment_fields},
    {RSM_EVENT_CONNECT, "connect", "import", import_fields},
    {RSM_EVENT_DISCONNECT, "disconnect", "import", import_fields},
    {RSM_EVENT_NODE_UP, "node-up", "node", node_fields},
    {RSM_EVENT_NODE_DOWN, "node-down", "node", node_fields},
    {RSM_EVENT_LIMIT_HIT, "limit-hit", "limit", limit_fields},
    {RSM_EVENT_DENIED, "denied", "denial", denial_fields},
};

} // namespace

std::span<const Kind> kinds() {
    return all_kinds;
}

const Kind &kind_of(std::string_view name) {
    const auto *found = std::ranges::find(all_kinds, name, &Kind::name);
    if (found == std::end(all_kinds)) {
        throw std::invalid_argument("there is no kind " + std::string(name));
    }
    return *found;
}

const Field &field_of(std::span<const Field> fields, std::string_view key) {
    const auto found = std::ranges::find(fields, key, &Field::key);
    if (found == fields.end()) {
        throw std::invalid_argument("there is no field " + std::string(key));
    }
    return *found;
}

std::span<const Event> events() {
    return all_events;
}

} // namespace rsmctl
