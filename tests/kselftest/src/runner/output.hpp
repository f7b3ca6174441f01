// SPDX-License-Identifier: GPL-2.0
// The output of a test, in gtest's words.
#pragma once

#include "runner/kernel.hpp"

#include <string>

namespace rsmrun {

enum class Verdict { none, passed, failed, skipped };

// The file that tests write to, one after the other.
class Output {
public:
    Output();

    int descriptor() const { return file_.get(); }
    void clear() const;
    Lines read() const;

private:
    rsmtest::Fd file_;
};

// The result that gtest states.
Verdict verdict(const Lines &output);
// The reason that a skipped test gives.
std::string skip_reason(const Lines &output);
// The lines that begin with "note: ": figures and seeds that a test wants to be seen.
Lines notes(const Lines &output);
// The first lines, at most `most`, without gtest's own.
Lines excerpt(const Lines &output, std::size_t most);

} // namespace rsmrun
