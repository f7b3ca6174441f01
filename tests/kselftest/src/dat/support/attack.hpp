// SPDX-License-Identifier: GPL-2.0
// A test in which a program without libdat attacks the process of the test.
#pragma once

#include "dat/support/raw_peer.hpp"
#include "dat/support/side.hpp"
#include "support/child.hpp"

#include <functional>
#include <optional>
#include <vector>

namespace rsmtest::dat {

class RsmAttack : public testing::Test {
protected:
    // The attacker's part: it may call the qualifier as often as the test admits it.
    using Body = std::function<void(Link &, std::uint64_t qualifier)>;

    // Starts the attacker, then opens the IA and a service point.
    void start(const Body &body)
    {
        attacker_.emplace([&](Link &link) { body(link, link.receive()); });
        side_.emplace();
        ASSERT_OK(dat_psp_create_any(side().adapter, &qualifier_, side().arrivals,
                                     DAT_PSP_CONSUMER_FLAG, &psp_));
        attacker_->send(qualifier_);
    }
    // Accepts the attacker's next call on the endpoint.
    void admit()
    {
        if (state_of(side().ep) == DAT_EP_STATE_DISCONNECTED) {
            ASSERT_OK(dat_ep_reset(side().ep));
        }
        const DAT_EVENT event = expect_event(side().arrivals, DAT_CONNECTION_REQUEST_EVENT);
        ASSERT_NE(event.event_number, 0U);
        ASSERT_OK(dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, side().ep, 0,
                                nullptr));
        expect_event(side().connections, DAT_CONNECTION_EVENT_ESTABLISHED);
    }
    void expect_end(DAT_EVENT_NUMBER number = DAT_CONNECTION_EVENT_BROKEN)
    {
        expect_event(side().connections, number);
        EXPECT_EQ(state_of(side().ep), DAT_EP_STATE_DISCONNECTED);
    }
    // The library of the victim still works: two strangers connect and exchange a message.
    static void expect_service()
    {
        Side a, b;
        b.accept_from(a);
        a.memory.start[0] = std::byte{0x5a};
        ASSERT_OK(b.receive(100, 10, 1));
        ASSERT_OK(a.send(0, 10, 2));
        expect_completion(b.receives, 1);
        expect_completion(a.requests, 2);
        EXPECT_EQ(b.memory.start[100], std::byte{0x5a});
    }
    Side &side() { return *side_; }
    Child &attacker() { return *attacker_; }

private:
    std::optional<Child> attacker_;
    std::optional<Side> side_;
    DAT_PSP_HANDLE psp_ = DAT_HANDLE_NULL;
    DAT_CONN_QUAL qualifier_ = 0;
};

// The contents of memory before anybody was let in.
inline std::byte pattern(std::size_t at)
{
    return static_cast<std::byte>(at * 7 + at / 251 + 1);
}
inline void fill(const Pages &memory)
{
    for (std::size_t at = 0; at < memory.size(); at++)
        memory.data()[at] = pattern(at);
}
// Whether all but these bytes are as fill() left them.
inline bool untouched_but(const Pages &memory, std::size_t offset, std::size_t length)
{
    for (std::size_t at = 0; at < memory.size(); at++)
        if ((at < offset || at >= offset + length) && memory.data()[at] != pattern(at))
            return false;
    return true;
}

} // namespace rsmtest::dat
