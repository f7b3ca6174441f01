// SPDX-License-Identifier: MIT
// The seventh field of a line of dat.conf: "device=NAME port=NUMBER inline=BYTES", any of them,
// separated by blanks. Unknown words are an error that makes the open of an adapter fail.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rsmengine {

struct VerbsOptions {
    std::string device;    // as ibv_devices shows it; empty: the first that has a port in use
    std::uint8_t port = 0; // 0: the first that is active
    // The longest message that the device's library copies from the program's address at the post.
    // 0: none, the device reads the pinned pages.
    std::uint32_t inline_limit = 0;
};

// Nothing if the text is malformed.
std::optional<VerbsOptions> parse_verbs_options(std::string_view text);

} // namespace rsmengine
