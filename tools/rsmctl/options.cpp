// SPDX-License-Identifier: GPL-2.0
#include "options.hpp"

#include <algorithm>
#include <charconv>
#include <iostream>
#include <iterator>
#include <string_view>

#include <CLI/CLI.hpp>

#include "command_words.hpp"
#include "schema.hpp"
#include "status.hpp"

namespace rsmctl {

namespace {

constexpr std::size_t longest_address = 63;
constexpr std::size_t longest_name = 31;
constexpr std::size_t longest_path = 4095;
constexpr std::size_t longest_columns = 1023;

constexpr const char *footer = "Commands may be abbreviated as long as only one begins so; "
                               "\"rsmctl COMMAND help\" explains one.\n"
                               "An ID or number is decimal, or hexadecimal with 0x. Exit status: "
                               "0, or 1 if the kernel refused\n"
                               "or the doctor found a fault, 2 for a wrong command line, 3 if "
                               "rsm.ko is not loaded. See rsmctl(8).";

std::uint32_t number_in(std::string_view text) {
    const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    const auto digits = text.substr(hexadecimal ? 2 : 0);
    const auto *end = digits.data() + digits.size();
    std::uint32_t number = 0;
    const auto [stop, error] = std::from_chars(digits.data(), end, number, hexadecimal ? 16 : 10);
    if (error != std::errc() || stop != end) {
        throw CLI::ValidationError("\"" + std::string(text) +
                                   "\" is not a number from 0 to 4294967295");
    }
    return number;
}

CLI::Validator no_longer_than(std::size_t most) {
    return {[most](std::string &text) {
                return text.empty() || text.size() > most
                           ? "must have 1 to " + std::to_string(most) + " characters"
                           : std::string();
            },
            ""};
}

void add_number(CLI::App &command, Options &options, const std::string &name,
                const std::string &description) {
    command
        .add_option_function<std::string>(
            name, [&](const std::string &text) { options.number = number_in(text); }, description)
        ->required();
}

void add_controller(CLI::App &command, Options &options) {
    command
        .add_option("-c,--controller", options.controller,
                    "whose node; needed where several controllers take nodes")
        ->check(no_longer_than(longest_name));
}

CLI::App &add_verb(CLI::App &parent, Options &options, Verb verb, const std::string &name,
                   const std::string &description) {
    auto *command = parent.add_subcommand(name, description);
    command->callback([&options, verb] { options.verb = verb; });
    return *command;
}

void add_segment_key(CLI::App &command, Options &options) {
    add_number(command, options, "ID", "the segment's id");
    command.add_flag("--number", options.handle, "ID is the number of its handle instead");
}

// The key that names one of a kind.
void add_key(CLI::App &command, Options &options, const std::string &object) {
    if (object == "controller") {
        command.add_option("NAME", options.name, "the controller's name")
            ->required()
            ->check(no_longer_than(longest_name));
    } else if (object == "segment") {
        add_segment_key(command, options);
    } else {
        add_number(command, options, object == "process" ? "PID" : "NUMBER", "which one");
    }
    if (object == "node") {
        add_controller(command, options);
    }
}

CLI::App &add_object(CLI::App &app, Options &options, const std::string &object,
                     const std::string &description) {
    auto *command = app.add_subcommand(object, description);
    command->callback([&options, object] { options.object = object; });
    command->require_subcommand(0, 1);
    add_verb(*command, options, Verb::list, "list", "list them (the default)");
    add_key(add_verb(*command, options, Verb::show, "show", "show one in detail"), options, object);
    return *command;
}

void add_node_changes(CLI::App &node, Options &options) {
    auto &add = add_verb(node, options, Verb::add, "add", "let a controller reach one more node");
    auto &set = add_verb(node, options, Verb::set, "set", "change the address of a node");
    auto &del = add_verb(node, options, Verb::del, "del", "remove a node");
    for (auto *command : {&add, &set, &del}) {
        add_number(*command, options, "ID", "the node's id");
        add_controller(*command, options);
    }
    for (auto *command : {&add, &set}) {
        command->add_option("ADDRESS", options.address, "its IPv4 or IPv6 address")
            ->required()
            ->check(no_longer_than(longest_address));
    }
}

void add_secret(CLI::App &node, Options &options) {
    auto &command = add_verb(node, options, Verb::secret, "secret",
                             "set the secret that nodes prove to know, or remove it");
    auto *file =
        command.add_option("FILE", options.file, "where it is; only its owner may read it")
            ->check(no_longer_than(longest_path));
    command.add_flag("--none", options.none, "remove the secret")->excludes(file);
    add_controller(command, options);
    command.callback([&options] {
        if (!options.none && options.file.empty()) {
            throw CLI::RequiredError("FILE or --none");
        }
        options.verb = options.none ? Verb::no_secret : Verb::secret;
    });
}

void add_objects(CLI::App &app, Options &options) {
    add_object(app, options, "controller", "interconnects that reach segments");
    auto &node = add_object(app, options, "node", "nodes that controllers know");
    add_node_changes(node, options);
    add_secret(node, options);
    auto &segment = add_object(app, options, "segment", "exported segments");
    add_segment_key(add_verb(segment, options, Verb::revoke, "revoke",
                             "end a segment as if its memory had been unmapped"),
                    options);
    add_object(app, options, "import", "imported segments");
    add_object(app, options, "process", "processes that have segments, and their limits");
    app.add_subcommand("stats", "counters of this node")
        ->callback([&options] { options.object = "stats"; })
        ->add_subcommand("list", "show them (the default)");
}

CLI::Validator is_event(std::vector<std::string> names) {
    return {[names = std::move(names)](std::string &text) {
                return std::ranges::count(names, text) != 0 ? std::string()
                                                            : near_miss(text, "event", names);
            },
            ""};
}

std::vector<std::string> event_names() {
    std::vector<std::string> names;
    std::ranges::transform(events(), std::back_inserter(names), &Event::name);
    return names;
}

void add_show(CLI::App &app, Options &options) {
    auto *show = app.add_subcommand("show", "show a segment and its imports here");
    add_segment_key(*show, options);
    show->callback([&options] {
        options.verb = Verb::show;
        options.object = "segment";
        options.imports = true;
    });
}

std::chrono::milliseconds interval_in(std::string_view text) {
    constexpr double least = 0.1;
    constexpr double most = 86400;
    constexpr double milliseconds = 1000;
    const auto *end = text.data() + text.size();
    double seconds = 0;
    const auto [stop, error] = std::from_chars(text.data(), end, seconds);
    if (error != std::errc() || stop != end || !(seconds >= least && seconds <= most)) {
        throw CLI::ValidationError("\"" + std::string(text) +
                                   "\" is not a number of seconds from 0.1 to 86400");
    }
    return std::chrono::milliseconds(static_cast<long long>(seconds * milliseconds));
}

ColourWhen colour_in(const std::string &text) {
    const std::vector<std::string> names{"auto", "always", "never"};
    const auto found = std::ranges::find(names, text);
    if (found == names.end()) {
        throw CLI::ValidationError(near_miss(text, "way to use colours", names));
    }
    return static_cast<ColourWhen>(found - names.begin());
}

void add_list_options(CLI::App &app, Options &options) {
    using Text = const std::string &;
    app.add_option_function<std::string>(
           "--sort", [&](Text text) { options.sort = text; },
           "sort a list by this column; -COLUMN: the most first")
        ->type_name("COLUMN")
        ->check(no_longer_than(longest_name));
    app.add_option_function<std::string>(
           "--columns", [&](Text text) { options.columns = {text}; },
           "show these columns of a list, in this order")
        ->type_name("COLUMN,...")
        ->check(no_longer_than(longest_columns));
    app.add_option_function<std::string>(
           "--watch", [&](Text text) { options.watch = interval_in(text); },
           "list again and again, every 2 seconds without =SECONDS")
        ->type_name("[=SECONDS]");
    app.add_option_function<std::string>(
           "--color", [&](Text text) { options.colour = colour_in(text); },
           "auto (on a terminal), always, never")
        ->type_name("[=WHEN]");
}

bool is_list_of_several(const Options &options) {
    return options.verb == Verb::list && options.object != "stats";
}

void complete_columns(Options &options) {
    if (options.columns.empty()) {
        return;
    }
    if (!is_list_of_several(options)) {
        throw CLI::ValidationError("--columns is for lists of several things");
    }
    if (options.json) {
        throw CLI::ValidationError("--columns is not for --json, which has them all");
    }
    options.columns = columns_named(kind_of(options.object).fields, options.columns.front());
}

// Refuses options that make no sense together, which the kind of the list decides.
void complete(Options &options) {
    constexpr std::chrono::milliseconds usual_interval{2000};
    const bool listing = options.verb == Verb::list;
    if (options.verb == Verb::top) {
        options.object = "top";
        options.watch = options.watch.value_or(usual_interval);
    } else if (options.watch && !listing) {
        throw CLI::ValidationError("--watch is for lists");
    }
    if (options.json && (options.verb == Verb::metrics || options.verb == Verb::top)) {
        throw CLI::ValidationError("--json is not for metrics and top");
    }
    complete_columns(options);
    if (options.sort.empty()) {
        return;
    }
    if (!is_list_of_several(options)) {
        throw CLI::ValidationError("--sort is for lists of several things");
    }
    if (options.sort.starts_with('-')) {
        options.direction = Direction::descending;
        options.sort.erase(0, 1);
    }
    options.sort = column_named(kind_of(options.object).fields, options.sort);
}

void add_metrics(CLI::App &app, Options &options) {
    auto &command = add_verb(app, options, Verb::metrics, "metrics",
                             "write the state in the text format of OpenMetrics");
    command.add_option("-o,--output", options.output, "replace FILE in one step")
        ->type_name("FILE")
        ->check(no_longer_than(longest_path));
    command.add_flag("--segments", options.segments, "each segment and each import, too");
}

void define(CLI::App &app, Options &options) {
    app.set_help_flag("--help", "show this help and exit");
    app.set_version_flag("--version", "rsmctl " RSMCTL_VERSION);
    app.fallthrough();
    app.require_subcommand(0, 1);
    app.footer(footer);
    app.add_flag("-j,--json", options.json, "JSON, for programs");
    app.add_flag("-h,--human", options.human, "sizes with suffix K, M, G");
    add_list_options(app, options);
    add_objects(app, options);
    add_show(app, options);
    add_verb(app, options, Verb::monitor, "monitor", "show events as they happen")
        .add_option("EVENT", options.events, "only these")
        ->check(is_event(event_names()));
    add_verb(app, options, Verb::doctor, "doctor",
             "check whether this machine and session can use RSM, and name remedies");
    add_metrics(app, options);
    add_verb(app, options, Verb::top, "top", "segments and imports, those with most traffic first");
}

CommandLine wrong(const std::string &reason) {
    std::cerr << "rsmctl: " << reason << " (see rsmctl help)\n";
    return {std::nullopt, usage_status};
}

} // namespace

CommandLine parse(int argc, char **argv) {
    Options options;
    CLI::App app("Shows and administers Remote Shared Memory.", "rsmctl");
    define(app, options);
    try {
        auto words = written_out(app, {argv + 1, argv + argc});
        // CLI11 takes them from the end.
        std::ranges::reverse(words);
        app.parse(std::move(words));
        if (app.get_subcommands().empty()) {
            return wrong("no command is given, such as rsmctl segment");
        }
        complete(options);
        return {options};
    } catch (const UnknownWord &error) {
        return wrong(error.what());
    } catch (const std::invalid_argument &error) {
        return wrong(error.what());
    } catch (const CLI::ParseError &error) {
        return error.get_exit_code() == 0 ? CommandLine{std::nullopt, app.exit(error)}
                                          : wrong(error.what());
    }
}

} // namespace rsmctl
