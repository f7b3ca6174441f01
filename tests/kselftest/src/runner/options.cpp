// SPDX-License-Identifier: GPL-2.0
#include "runner/options.hpp"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <string_view>

namespace rsmrun {
namespace {

bool read_number(std::string_view text, int &value)
{
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    return result.ec == std::errc{} && result.ptr == text.data() + text.size() && value > 0;
}

std::vector<std::string> words(const char *text)
{
    std::istringstream stream(text);
    return {std::istream_iterator<std::string>(stream), {}};
}

bool take_value(Options &options, std::string_view name, const char *value)
{
    if (name == "--filter")
        options.filter = words(value);
    else if (name == "--except")
        options.except = words(value);
    else if (name == "--root")
        options.root = value;
    else if (name == "--binaries")
        options.binaries = value;
    else if (name == "--reports")
        options.reports = value;
    else
        return read_number(value, name == "--time-limit" ? options.limit : options.factor);
    return true;
}

bool has_value(std::string_view name)
{
    return name == "--filter" || name == "--except" || name == "--time-limit" ||
           name == "--time-factor" || name == "--root" || name == "--binaries" || name == "--reports";
}

bool take_flag(Options &options, std::string_view name)
{
    if (name == "--list")
        options.request = Request::list;
    else if (name == "-h" || name == "--help")
        options.request = Request::help;
    else if (name == "--times")
        options.times = true;
    else
        return false;
    return true;
}

// Settings without any option.
Options defaults()
{
    Options options;
    options.binaries = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    if (const char *slow = std::getenv("RSM_TEST_SLOW"))
        read_number(slow, options.factor);
    return options;
}

} // namespace

void print_usage(std::FILE *stream)
{
    std::fputs(
        "usage: run-tap [--filter PATTERN] [--except PATTERN] [--time-limit SECONDS]\n"
        "               [--time-factor N] [--times] [--list]\n"
        "  --filter PATTERN   shell pattern of area.Suite.Name, or several with blanks (default *)\n"
        "  --except PATTERN   leaves out tests that match one of these patterns (default none)\n"
        "  --time-limit N     seconds a test may take (default 240)\n"
        "  --time-factor N    this machine is N times slower than usual (default 1)\n"
        "  --times            prints after each test how long the test took\n"
        "  --list             prints the names of the tests and exits\n",
        stream);
}

std::optional<Options> parse_options(int argc, char **argv)
{
    Options options = defaults();
    for (int i = 1; i < argc; i++) {
        if (take_flag(options, argv[i]))
            continue;
        if (!has_value(argv[i]) || i + 1 == argc) {
            print_usage(stderr);
            return std::nullopt;
        }
        if (!take_value(options, argv[i], argv[i + 1])) {
            std::fputs("run-tap: --time-limit and --time-factor take positive whole numbers\n",
                       stderr);
            return std::nullopt;
        }
        i++;
    }
    return options;
}

} // namespace rsmrun
