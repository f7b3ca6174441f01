// SPDX-License-Identifier: GPL-2.0
#include "command_words.hpp"

#include <algorithm>
#include <iterator>

namespace rsmctl {

namespace {

// Letters to change, add or leave out until two words are the same, or to swap with the next.
std::size_t distance(const std::string &from, const std::string &to) {
    std::vector<std::vector<std::size_t>> least(from.size() + 1,
                                                std::vector<std::size_t>(to.size() + 1));
    for (std::size_t row = 0; row <= from.size(); row++) {
        for (std::size_t column = 0; column <= to.size(); column++) {
            auto &cell = least[row][column];
            if (row == 0 || column == 0) {
                cell = row + column;
                continue;
            }
            const bool same = from[row - 1] == to[column - 1];
            cell = std::min({least[row - 1][column] + 1, least[row][column - 1] + 1,
                             least[row - 1][column - 1] + (same ? 0 : 1)});
            const bool swapped = row > 1 && column > 1 && from[row - 1] == to[column - 2] &&
                                 from[row - 2] == to[column - 1];
            if (swapped) {
                cell = std::min(cell, least[row - 2][column - 2] + 1);
            }
        }
    }
    return least[from.size()][to.size()];
}

std::string joined(const std::vector<std::string> &names, const char *last) {
    std::string text;
    for (std::size_t at = 0; at < names.size(); at++) {
        text += at == 0 ? "" : at + 1 == names.size() ? std::string(" ") + last + " " : ", ";
        text += names[at];
    }
    return text;
}

// Long options of the program, and of the command that has been named.
std::vector<std::string> options_of(const CLI::App &app, const CLI::App &command) {
    std::vector<std::string> names;
    for (const auto *from : {&app, &command}) {
        for (const auto *option : from->get_options()) {
            for (const auto &name : option->get_lnames()) {
                names.push_back("--" + name);
            }
        }
    }
    std::ranges::sort(names);
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

std::vector<std::string> commands_of(const CLI::App &app) {
    std::vector<std::string> names;
    for (const auto *command : app.get_subcommands([](const CLI::App *) { return true; })) {
        names.push_back(command->get_name());
    }
    return names;
}

// The command that a word means, written out.
std::string command_of(const std::string &word, const std::vector<std::string> &names) {
    if (std::ranges::count(names, word) != 0) {
        return word;
    }
    std::vector<std::string> meant;
    std::ranges::copy_if(names, std::back_inserter(meant),
                         [&](const auto &name) { return !word.empty() && name.starts_with(word); });
    if (meant.size() == 1) {
        return meant.front();
    }
    throw UnknownWord(meant.empty() ? near_miss(word, "command", names)
                                    : "\"" + word + "\" may mean " + joined(meant, "or"));
}

// A command without further ones whose first word can be any: "help" is a name or a file then.
bool takes_any_word(const CLI::App &command) {
    const auto options =
        command.get_options([](const CLI::Option *option) { return option->get_positional(); });
    const auto name = options.empty() ? std::string() : options.front()->get_name(true);
    return name == "NAME" || name == "FILE";
}

bool takes_value(const std::string &option) {
    return option == "-c" || option == "--controller" || option == "--sort" ||
           option == "--columns" || option == "-o" || option == "--output";
}

bool is_flag(const CLI::App &app, const CLI::App &command, const std::string &name) {
    const auto *option = command.get_option_no_throw(name);
    option = option != nullptr ? option : app.get_option_no_throw(name);
    return option != nullptr && option->get_items_expected_max() == 0;
}

// CLI11 would only say that a word is one too many, and takes a flag with a value.
void expect_options(const std::vector<std::string> &words, const CLI::App &app,
                    const CLI::App &command) {
    const auto names = options_of(app, command);
    for (std::size_t at = 0; at < words.size() && words[at] != "--"; at++) {
        const auto name = words[at].substr(0, words[at].find('='));
        if (name != words[at] && is_flag(app, command, name)) {
            throw UnknownWord(name + " takes no value");
        }
        if (name.starts_with("--") && std::ranges::count(names, name) == 0) {
            throw UnknownWord(near_miss(name, "option", names));
        }
        at += takes_value(words[at]) ? 1 : 0;
    }
}

// Options whose value can be left out have it behind =, so that no command is taken for it.
std::string with_value(const std::string &word) {
    if (word == "--color") {
        return word + "=always";
    }
    return word == "--watch" ? word + "=2" : word;
}

} // namespace

std::string near_miss(const std::string &word, const std::string &kind,
                      const std::vector<std::string> &names) {
    constexpr std::size_t near = 2;
    const auto nearest = std::ranges::min_element(
        names, {}, [&](const std::string &name) { return distance(word, name); });
    const auto text = "\"" + word + "\" is no " + kind + ": ";
    const bool is_near =
        nearest != names.end() && distance(word, *nearest) <= std::min(near, nearest->size() / 2);
    return text +
           (is_near ? "did you mean " + *nearest + "?" : "there are " + joined(names, "and"));
}

std::vector<std::string> written_out(const CLI::App &app, std::vector<std::string> words) {
    const auto *command = &app;
    bool help = false;
    std::ranges::transform(words, words.begin(), with_value);
    for (std::size_t at = 0; at < words.size(); at++) {
        auto &word = words[at];
        const auto names = commands_of(*command);
        const bool is_option = word.starts_with('-');
        const bool is_help = word == "help" && !takes_any_word(*command);
        if (word == "--" || (names.empty() && !is_option && !is_help)) {
            break;
        }
        if (is_option) {
            at += takes_value(word) ? 1 : 0;
        } else if (word == "help") {
            help = true;
            words.erase(words.begin() + static_cast<std::ptrdiff_t>(at--));
        } else {
            word = command_of(word, names);
            command = command->get_subcommand(word);
        }
    }
    if (help || words == std::vector<std::string>{"-h"}) {
        std::erase(words, "-h");
        words.emplace_back("--help");
    }
    expect_options(words, app, *command);
    return words;
}

} // namespace rsmctl
