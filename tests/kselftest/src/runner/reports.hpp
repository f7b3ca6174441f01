// SPDX-License-Identifier: GPL-2.0
// Reports of sanitizers, which write a file for each process (their option log_path).
#pragma once

#include "runner/kernel.hpp"

#include <string>

namespace rsmrun {

class Reports {
public:
    // Without a directory nothing is found.
    explicit Reports(std::string directory) : directory_(std::move(directory)) {}

    // The text of all reports since the last call; removes the files.
    Lines take() const;

private:
    std::string directory_;
};

} // namespace rsmrun
