// SPDX-License-Identifier: GPL-2.0
// The output of the runner: TAP 13.
#pragma once

#include "runner/kernel.hpp"

#include <string>

namespace rsmrun {

// Results, numbered as they come.
class Tap {
public:
    void plan(std::size_t tests);
    void comment(const std::string &line);
    void pass(const std::string &name, const Lines &notes);
    void skip(const std::string &name, const std::string &reason);
    // Problems are all shown, of the test's output the first lines.
    void fail(const std::string &name, const Lines &problems, const Lines &output);
    // The last line; true when nothing has failed.
    bool finish();

private:
    void result(const char *word, const std::string &name, const std::string &rest);

    unsigned passed_ = 0;
    unsigned failed_ = 0;
    unsigned skipped_ = 0;
};

} // namespace rsmrun
