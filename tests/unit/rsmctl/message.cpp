// SPDX-License-Identifier: GPL-2.0
#include "message.hpp"

#include <gtest/gtest.h>
#include <netlink/attr.h>
#include <netlink/genl/genl.h>

namespace rsmctl::test {

Message::Message(std::uint8_t command) : message_(nlmsg_alloc()) {
    EXPECT_NE(genlmsg_put(message_.get(), 0, 1, 100, 0, 0, command, 1), nullptr);
}

Message &Message::add(int attribute, const void *data, std::size_t size) {
    EXPECT_EQ(nla_put(message_.get(), attribute, static_cast<int>(size), data), 0);
    return *this;
}

Message &Message::nest(int attribute, const std::function<void(Message &)> &fill) {
    auto *start = nla_nest_start(message_.get(), attribute);
    EXPECT_NE(start, nullptr);
    fill(*this);
    EXPECT_EQ(nla_nest_end(message_.get(), start), 0);
    return *this;
}

Message &Message::raw(const void *data, std::size_t size) {
    EXPECT_EQ(nlmsg_append(message_.get(), const_cast<void *>(data), size, 0), 0);
    return *this;
}

} // namespace rsmctl::test
