// SPDX-License-Identifier: GPL-2.0
#include "metrics.hpp"

#include <map>
#include <span>

#include "commands.hpp"
#include "netlink.hpp"
#include "openmetrics.hpp"
#include "output.hpp"
#include "schema.hpp"

namespace rsmctl {

namespace {

// A metric whose value is a key of a record. Names and labels are an interface: dashboards and
// alerts are made of them.
struct Metric {
    const char *key;
    const char *name;
    MetricType type;
    const char *unit;
    const char *help;
};

constexpr auto gauge = MetricType::gauge;
constexpr auto counter = MetricType::counter;

constexpr Metric stats_metrics[] = {
    {"handles", "rsm_handles", gauge, "", "Open segment handles."},
    {"max_segments", "rsm_max_handles", gauge, "", "Most segment handles that may be open."},
    {"segments", "rsm_segments", gauge, "", "Exported segments."},
    {"published", "rsm_published_segments", gauge, "", "Exported segments that have an id."},
    {"imports", "rsm_imports", gauge, "", "Imported segments."},
    {"grants", "rsm_grants", gauge, "", "Tickets that are live."},
    {"pinned_bytes", "rsm_pinned_bytes", gauge, "bytes", "Memory pinned for exported segments."},
    {"max_pinned_bytes", "rsm_max_pinned_bytes", gauge, "bytes", "Most memory that may be pinned."},
    {"denials", "rsm_denials", counter, "", "Connects that this node has denied."},
};

constexpr Metric limit_metrics[] = {
    {"hits", "rsm_limit_refusals", counter, "", "Requests that a limit has refused."},
};

constexpr Metric controller_metrics[] = {
    {"segments", "rsm_controller_segments", gauge, "", "Exported segments of the controller."},
    {"imports", "rsm_controller_imports", gauge, "", "Imported segments of the controller."},
    {"links", "rsm_controller_links", gauge, "", "Nodes that the controller knows."},
    {"mappable", "rsm_controller_mappable", gauge, "", "1 if segments can be mapped, else 0."},
    {"window_bytes", "rsm_controller_window_bytes", gauge, "bytes",
     "Memory of the controller that segments share."},
};

constexpr Metric node_metrics[] = {
    {"segments", "rsm_node_segments", gauge, "", "Segments of the node that are imported here."},
    {"importers", "rsm_node_importers", gauge, "", "Segments of this node that the node imports."},
    {"secret", "rsm_node_secret", gauge, "", "1 if the node has to know the secret, else 0."},
};

constexpr Metric segment_metrics[] = {
    {"length", "rsm_segment_length_bytes", gauge, "bytes", "Length of the segment."},
    {"pinned_bytes", "rsm_segment_pinned_bytes", gauge, "bytes", "Memory pinned for the segment."},
    {"importers", "rsm_segment_importers", gauge, "", "Imports of this node."},
    {"remote_importers", "rsm_segment_remote_importers", gauge, "", "Other nodes that import it."},
    {"events", "rsm_segment_events", counter, "", "Events posted to the segment, modulo 2^32."},
    {"put_bytes", "rsm_segment_put_bytes", counter, "bytes", "Bytes put through the kernel."},
    {"get_bytes", "rsm_segment_get_bytes", counter, "bytes", "Bytes got through the kernel."},
};

constexpr Metric import_metrics[] = {
    {"length", "rsm_import_length_bytes", gauge, "bytes", "Length of the imported segment."},
    {"aborted", "rsm_import_aborted", gauge, "", "1 if the connection is gone, else 0."},
    {"events", "rsm_import_events", counter, "", "Events posted to the import, modulo 2^32."},
    {"put_bytes", "rsm_import_put_bytes", counter, "bytes", "Bytes put through the kernel."},
    {"get_bytes", "rsm_import_get_bytes", counter, "bytes", "Bytes got through the kernel."},
};

using LabelsOf = Labels (*)(const Json &record);

Labels no_labels(const Json & /*record*/) {
    return {};
}

std::string number_text(const Json &record, const char *key) {
    return record.contains(key) ? std::to_string(record.value(key, std::uint64_t{0})) : "";
}

std::string id_text(const Json &record) {
    return record.contains("id") ? hexadecimal(record.value("id", std::uint64_t{0})) : "";
}

Labels limit_labels(const Json &limit) {
    return {{"limit", limit.value("kind", "")}};
}

Labels controller_labels(const Json &controller) {
    return {{"controller", controller.value("name", "")}};
}

Labels node_labels(const Json &node) {
    return {{"controller", node.value("controller", "")}, {"node", number_text(node, "node_id")}};
}

// The number tells segments apart that have no id.
Labels segment_labels(const Json &segment) {
    return {{"controller", segment.value("controller", "")},
            {"id", id_text(segment)},
            {"number", number_text(segment, "number")}};
}

Labels import_labels(const Json &import) {
    auto labels = segment_labels(import);
    labels.insert(labels.begin() + 1, {"node", number_text(import, "node_id")});
    return labels;
}

void add_sample(MetricFamily &family, const Labels &labels, const Json &value) {
    if (value.is_boolean()) {
        family.add(labels, value.get<bool>() ? 1 : 0);
    } else if (value.is_number_unsigned()) {
        family.add(labels, value.get<std::uint64_t>());
    }
}

void add_families(std::vector<MetricFamily> &families, std::span<const Metric> metrics,
                  const std::vector<Json> &records, LabelsOf labels_of) {
    for (const auto &metric : metrics) {
        MetricFamily family({metric.name, metric.type, metric.unit, metric.help});
        for (const auto &record : records) {
            if (const auto value = record.find(metric.key); value != record.end()) {
                add_sample(family, labels_of(record), *value);
            }
        }
        families.push_back(std::move(family));
    }
}

MetricFamily up(bool loaded) {
    MetricFamily family({"rsm_up", gauge, "", "1 if rsm.ko is loaded, else 0."});
    family.add({}, loaded ? 1 : 0);
    return family;
}

bool is_active(const Json &node) {
    return node.value("state", "") == "active";
}

// One record for each node of a controller, since no two samples may have the same labels: while a
// node restarts, there may be a second link to it, which counts only if it is the active one. A
// link whose node is not known yet has no label.
std::vector<Json> distinct(const std::vector<Json> &nodes) {
    std::map<Labels, Json> found;
    for (const auto &node : nodes) {
        const auto [place, is_new] = found.emplace(node_labels(node), node);
        if (!is_new && is_active(node)) {
            place->second = node;
        }
    }
    std::vector<Json> records;
    for (const auto &[labels, node] : found) {
        if (node.value("node_id", std::uint64_t{0}) != 0) {
            records.push_back(node);
        }
    }
    return records;
}

// A sample for each state that there is; the one of the node's own state is 1.
MetricFamily node_states(const std::vector<Json> &nodes) {
    MetricFamily family({"rsm_node_state", gauge, "", "1 for the state of the node, else 0."});
    for (const auto &node : nodes) {
        for (const auto *state : field_of(kind_of("node").fields, "state").names) {
            auto labels = node_labels(node);
            labels.emplace_back("state", state);
            family.add(labels, node.value("state", "") == state ? 1 : 0);
        }
    }
    return family;
}

Snapshot snapshot_of(Socket &socket, const Options &options) {
    Snapshot snapshot{.controllers = all_of(socket, kind_of("controller")),
                      .nodes = all_of(socket, kind_of("node")),
                      .stats = stats_of(socket),
                      .segments = {},
                      .imports = {}};
    if (options.segments) {
        snapshot.segments = all_of(socket, kind_of("segment"));
        snapshot.imports = all_of(socket, kind_of("import"));
    }
    return snapshot;
}

std::optional<Snapshot> asked(const Options &options) {
    try {
        Socket socket;
        return snapshot_of(socket, options);
    } catch (const NoFamily &) {
        return std::nullopt;
    }
}

} // namespace

std::string metrics_text(const std::optional<Snapshot> &snapshot) {
    std::vector<MetricFamily> families{up(snapshot.has_value())};
    if (snapshot) {
        const auto nodes = distinct(snapshot->nodes);
        add_families(families, stats_metrics, {snapshot->stats}, no_labels);
        add_families(families, limit_metrics, snapshot->stats.value("limit", std::vector<Json>()),
                     limit_labels);
        add_families(families, controller_metrics, snapshot->controllers, controller_labels);
        families.push_back(node_states(nodes));
        add_families(families, node_metrics, nodes, node_labels);
        add_families(families, segment_metrics, snapshot->segments, segment_labels);
        add_families(families, import_metrics, snapshot->imports, import_labels);
    }
    return openmetrics_text(families);
}

void metrics(const Options &options) {
    const auto text = metrics_text(asked(options));
    if (options.output.empty()) {
        print(text);
    } else {
        replace_file(options.output, text);
    }
}

} // namespace rsmctl
