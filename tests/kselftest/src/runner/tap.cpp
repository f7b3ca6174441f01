// SPDX-License-Identifier: GPL-2.0
#include "runner/tap.hpp"

#include <cstdio>

namespace rsmrun {

void Tap::plan(std::size_t tests)
{
    std::printf("TAP version 13\n1..%zu\n", tests);
    std::fflush(stdout);
}

void Tap::comment(const std::string &line)
{
    std::printf("# %s\n", line.c_str());
    std::fflush(stdout);
}

void Tap::result(const char *word, const std::string &name, const std::string &rest)
{
    std::printf("%s %u - %s%s\n", word, passed_ + failed_ + skipped_, name.c_str(), rest.c_str());
    std::fflush(stdout);
}

void Tap::pass(const std::string &name, const Lines &notes)
{
    passed_++;
    result("ok", name, "");
    for (const std::string &line : notes)
        comment(line);
}

void Tap::skip(const std::string &name, const std::string &reason)
{
    skipped_++;
    result("ok", name, " # SKIP " + reason);
}

void Tap::fail(const std::string &name, const Lines &problems, const Lines &output)
{
    failed_++;
    result("not ok", name, "");
    for (const std::string &line : problems)
        comment(line);
    for (const std::string &line : output)
        comment(line);
}

bool Tap::finish()
{
    std::printf("%u passed, %u failed, %u skipped\n", passed_, failed_, skipped_);
    std::fflush(stdout);
    return failed_ == 0;
}

} // namespace rsmrun
