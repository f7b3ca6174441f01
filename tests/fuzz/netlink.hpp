// SPDX-License-Identifier: GPL-2.0
// Messages to generic netlink's family `rsm`, sound or not.
#pragma once

#include "support/system.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rsmtest::fuzz {

class NetlinkSocket {
public:
    class Request {
    public:
        Request(std::uint8_t command, bool dump);
        void put(std::uint16_t type, const void *value, std::size_t size);
        const std::vector<std::uint8_t> &bytes() const { return bytes_; }

    private:
        std::vector<std::uint8_t> bytes_;
    };

    NetlinkSocket();
    // The answers are read and forgotten.
    void send(const Request &request);

private:
    void send_bytes(const std::vector<std::uint8_t> &bytes, std::uint16_t family);

    Fd fd_;
    std::uint16_t family_ = 0;
};

} // namespace rsmtest::fuzz
