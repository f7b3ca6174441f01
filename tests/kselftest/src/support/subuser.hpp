// SPDX-License-Identifier: GPL-2.0
// Another user id of a user namespace that a user owns.
#pragma once

#include "support/child.hpp"

#include <cstdint>
#include <functional>
#include <gtest/gtest.h>
#include <sched.h>
#include <string>
#include <unistd.h>

namespace rsmtest {

// A process that calls a function as such a user and sends its result.
class Subuser {
public:
    Subuser(const User &user, std::function<std::uint64_t()> call)
        : process_(user, [call = std::move(call)](Link &link) {
              ASSERT_EQ(::unshare(CLONE_NEWUSER), 0);
              link.send();
              link.receive();
              ASSERT_EQ(::setresgid(0, 0, 0), 0);
              ASSERT_EQ(::setresuid(0, 0, 0), 0);
              link.send(call());
          })
    {
    }
    // Lets it call; the result.
    std::uint64_t result()
    {
        process_.receive();
        EXPECT_TRUE(write_map("uid_map", "0 200000 1"));
        EXPECT_TRUE(write_map("gid_map", "0 " + std::to_string(rsm_group) + " 1"));
        process_.send();
        const std::uint64_t result = process_.receive();
        process_.expect_success();
        return result;
    }

private:
    bool write_map(const char *map, const std::string &text) const
    {
        return write_text("/proc/" + std::to_string(process_.pid()) + "/" + map, text);
    }

    Child process_;
};

} // namespace rsmtest
