// SPDX-License-Identifier: GPL-2.0
// Shows at a terminal which figure is being measured.
#pragma once

#include <cstddef>
#include <string>

namespace rsmperf {

// Writes to standard error, in one line that it removes; nothing where that is no terminal.
class Progress {
  public:
    explicit Progress(std::size_t figures);
    Progress(const Progress &) = delete;
    Progress(Progress &&) = delete;
    Progress &operator=(const Progress &) = delete;
    Progress &operator=(Progress &&) = delete;
    ~Progress();

    void next(const std::string &name);
    void process(unsigned number, unsigned of) const;

  private:
    std::size_t figures_;
    std::size_t at_ = 0;
    std::string name_;
    bool shown_;
};

} // namespace rsmperf
