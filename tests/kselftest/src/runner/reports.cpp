// SPDX-License-Identifier: GPL-2.0
#include "runner/reports.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace rsmrun {
namespace {

namespace fs = std::filesystem;

void append_text(const fs::path &path, Lines &lines)
{
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);)
        lines.push_back(line);
}

} // namespace

Lines Reports::take() const
{
    Lines lines;
    if (directory_.empty())
        return lines;
    std::vector<fs::path> files(fs::directory_iterator{directory_}, fs::directory_iterator{});
    std::ranges::sort(files);
    for (const auto &path : files) {
        append_text(path, lines);
        fs::remove(path);
    }
    return lines;
}

} // namespace rsmrun
