// SPDX-License-Identifier: GPL-2.0
// Lines of text over a descriptor: the hub, or a socket that stands for it.
#pragma once

#include "support/system.hpp"

#include <deque>
#include <optional>
#include <string>
#include <string_view>

namespace rsmtest::net {

inline constexpr std::size_t line_max = 4096;

// The port of the guest that the hub listens to.
inline constexpr const char *hub_path = "/run/rsm-hub";

class Lines {
  public:
    explicit Lines(Fd end) : end_(std::move(end)) {}

    int descriptor() const { return end_.get(); }
    bool valid() const { return end_.valid(); }
    void close() { end_.reset(); }
    // Adds a newline. False: the other end is gone.
    bool write(std::string line);
    // Reads what is there, once poll() has said so. False: end of file.
    bool fill();
    // Next complete line that has been read.
    std::optional<std::string> next();

  private:
    Fd end_;
    std::string partial_;
    std::deque<std::string> complete_;
};

// Cuts the first word off.
std::string_view first_word(std::string_view &text);

} // namespace rsmtest::net
