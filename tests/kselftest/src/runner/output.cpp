// SPDX-License-Identifier: GPL-2.0
#include "runner/output.hpp"

#include <algorithm>
#include <fcntl.h>
#include <sstream>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace rsmrun {
namespace {

constexpr char note_mark[] = "note: ";

bool begins(const std::string &line, const char *text)
{
    return line.rfind(text, 0) == 0;
}

constexpr char skip_mark[] = "ok 1 # SKIP";

bool skip_of_tap(const std::string &line)
{
    return begins(line, skip_mark);
}

// A test that writes without end shall not take the runner's memory.
constexpr std::size_t most_bytes = std::size_t{4} << 20;

} // namespace

Output::Output() : file_(memfd_create("output", MFD_CLOEXEC))
{
    fcntl(file_.get(), F_SETFL, O_APPEND);
}

void Output::clear() const
{
    if (ftruncate(file_.get(), 0) != 0)
        return;
}

Lines Output::read() const
{
    struct stat status {};
    fstat(file_.get(), &status);
    std::string text(std::min(static_cast<std::size_t>(status.st_size), most_bytes), '\0');
    const ssize_t length = pread(file_.get(), text.data(), text.size(), 0);
    std::istringstream stream(text.substr(0, static_cast<std::size_t>(std::max<ssize_t>(length, 0))));
    Lines lines;
    for (std::string line; std::getline(stream, line);)
        lines.push_back(line);
    return lines;
}

Verdict verdict(const Lines &output)
{
    for (const std::string &line : output) {
        if (begins(line, "[       OK ]"))
            return Verdict::passed;
        if (begins(line, "[  FAILED  ]"))
            return Verdict::failed;
        if (begins(line, "[  SKIPPED ]") || skip_of_tap(line))
            return Verdict::skipped;
        // Kernel selftests say it in KTAP.
        if (begins(line, "ok 1 "))
            return Verdict::passed;
        if (begins(line, "not ok 1 "))
            return Verdict::failed;
    }
    return Verdict::none;
}

std::string skip_reason(const Lines &output)
{
    const auto tap = std::ranges::find_if(output, skip_of_tap);
    if (tap != output.end())
        return tap->substr(std::min(tap->size(), sizeof(skip_mark)));
    for (std::size_t i = 0; i + 1 < output.size(); i++) {
        const std::string &line = output[i];
        if (line.size() > 9 && line.compare(line.size() - 9, 9, ": Skipped") == 0)
            return output[i + 1];
    }
    return "";
}

Lines notes(const Lines &output)
{
    Lines found;
    for (const std::string &line : output) {
        if (begins(line, note_mark))
            found.push_back(line.substr(sizeof(note_mark) - 1));
    }
    return found;
}

Lines excerpt(const Lines &output, std::size_t most)
{
    Lines found;
    for (const std::string &line : output) {
        if (!begins(line, "[") && !begins(line, "Note: ") && found.size() < most)
            found.push_back(line);
    }
    return found;
}

} // namespace rsmrun
