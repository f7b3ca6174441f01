// SPDX-License-Identifier: GPL-2.0
// The file with the secret that the nodes of a cluster share.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <linux/rsm_netlink.h>

namespace rsmctl {

using Secret = std::array<std::uint8_t, RSM_SECRET_SIZE>;

// A secret of 64 hexadecimal digits a line: the one to use, and beneath it one to accept, too. Empty
// lines and comments after # do not count. Throws std::runtime_error that says what is wrong, and
// never what stands there.
std::vector<Secret> secrets_in(std::string_view text);

// The same from a file that nobody but its owner, who is root or the caller, may read.
std::vector<Secret> read_secrets(const std::string &path);

} // namespace rsmctl
