// SPDX-License-Identifier: GPL-2.0
#include "options.hpp"

#include <bit>
#include <charconv>
#include <climits>
#include <stdexcept>
#include <string_view>

#include <CLI/CLI.hpp>
#include <grp.h>
#include <sys/un.h>

#include "log.hpp"

namespace ivshmem {

namespace {

constexpr int usage_status = 2;
constexpr std::uint64_t least_size = std::uint64_t{4} << 20U;
constexpr std::uint64_t most_size = std::uint64_t{1} << 40U;
constexpr unsigned most_mode = 0777;

// All of the text as a number, or nothing.
template <typename Number>
std::optional<Number> number_in(std::string_view text, int base = 10) {
    Number number{};
    const auto *end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number, base);
    return error == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

// "64M" is 64, with 20 bits to shift it by.
unsigned take_suffix(std::string_view &text) {
    constexpr std::string_view suffixes = "KMG";
    const auto which = text.empty() ? std::string_view::npos : suffixes.find(text.back());
    if (which == std::string_view::npos) {
        return 0;
    }
    text.remove_suffix(1);
    return static_cast<unsigned>(which + 1) * 10;
}

std::uint64_t size_in(std::string_view text) {
    const auto shift = take_suffix(text);
    const auto number = number_in<std::uint64_t>(text);
    if (!number || *number > most_size >> shift || *number << shift < least_size ||
        !std::has_single_bit(*number)) {
        throw CLI::ValidationError("--size", "must be a power of two between 4M and 1024G");
    }
    return *number << shift;
}

mode_t mode_in(std::string_view text) {
    const auto mode = number_in<unsigned>(text, 8);
    if (!mode || *mode > most_mode) {
        throw CLI::ValidationError("--mode", "must be octal, at most 777");
    }
    return *mode;
}

gid_t group_in(const std::string &text) {
    if (const auto number = number_in<gid_t>(text)) {
        return *number;
    }
    const auto *group = getgrnam(text.c_str());
    if (group == nullptr) {
        throw CLI::ValidationError("--group", "there is no group " + text);
    }
    return group->gr_gid;
}

// The characters of the longest address, with the zero at its end.
void check_socket(const std::string &path) {
    if (path.empty() || path.size() >= sizeof(sockaddr_un::sun_path)) {
        throw CLI::ValidationError("--socket", "must have 1 to 107 characters");
    }
}

// A slash in front, as shm_open() wants it, and no other.
std::string shm_name_in(const std::string &text) {
    auto name = text.starts_with('/') ? text : "/" + text;
    if (name.size() < 2 || name.size() > NAME_MAX || name.find('/', 1) != std::string::npos ||
        name == "/." || name == "/..") {
        throw CLI::ValidationError("--shm-name", "must be the name of a file, without directory");
    }
    return name;
}

void define(CLI::App &app, Options &options) {
    app.add_option("--socket", options.socket, "socket to listen on, unless systemd passes one")
        ->each(check_socket)
        ->capture_default_str();
    app.add_option_function<std::string>(
           "--mode", [&](const std::string &text) { options.mode = mode_in(text); },
           "octal mode of the socket, which decides who may connect")
        ->default_str("0660");
    app.add_option_function<std::string>(
        "--group", [&](const std::string &text) { options.group = group_in(text); },
        "group of the socket");
    app.add_option_function<std::string>(
           "--size", [&](const std::string &text) { options.size = size_in(text); },
           "shared memory in bytes, or with suffix K, M, G; a power of two, at least 4M")
        ->default_str("64M");
    app.add_option_function<std::string>(
        "--shm-name", [&](const std::string &text) { options.shm_name = shm_name_in(text); },
        "POSIX shared memory of this name, which stays when the server ends, instead of a memfd");
    app.add_option("--vectors", options.vectors, "doorbells (interrupt vectors) of each peer")
        ->check(CLI::Range(1, 64))
        ->capture_default_str();
    app.add_option("--max-peers", options.max_peers, "most clients at a time")
        ->check(CLI::Range(1, 64))
        ->capture_default_str();
    app.add_option_function<unsigned>(
           "--patience",
           [&](unsigned seconds) { options.patience = std::chrono::seconds(seconds); },
           "seconds after which a client that doesn't read is dropped")
        ->check(CLI::Range(1, 3600))
        ->default_str("30");
}

} // namespace

CommandLine parse(int argc, char **argv) {
    Options options;
    CLI::App app("Hands shared memory and doorbells to QEMU's ivshmem-doorbell devices.");
    define(app, options);
    try {
        app.parse(argc, argv);
        return {options};
    } catch (const CLI::ParseError &error) {
        if (error.get_exit_code() == 0) {
            return {std::nullopt, app.exit(error)};
        }
        log(error.what());
        return {std::nullopt, usage_status};
    }
}

} // namespace ivshmem
