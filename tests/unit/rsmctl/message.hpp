// SPDX-License-Identifier: GPL-2.0
// Messages as the kernel would send them, and as it never should.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "attributes.hpp"
#include "netlink.hpp"

namespace rsmctl::test {

class Message {
  public:
    // The header of generic netlink.
    explicit Message(std::uint8_t command = 0);

    Message &u8(int attribute, std::uint8_t value) { return add(attribute, &value, sizeof(value)); }
    Message &u32(int attribute, std::uint32_t value) {
        return add(attribute, &value, sizeof(value));
    }
    Message &u64(int attribute, std::uint64_t value) {
        return add(attribute, &value, sizeof(value));
    }
    Message &text(int attribute, const std::string &value) {
        return add(attribute, value.c_str(), value.size() + 1);
    }
    Message &add(int attribute, const void *data, std::size_t size);
    Message &nest(int attribute, const std::function<void(Message &)> &fill);
    // No attribute, just bytes.
    Message &raw(const void *data, std::size_t size);

    nlmsghdr &header() const { return *nlmsg_hdr(message_.get()); }
    Bytes attributes() const { return attributes_of(header()); }

  private:
    std::unique_ptr<nl_msg, FreeMessage> message_;
};

} // namespace rsmctl::test
