// SPDX-License-Identifier: GPL-2.0
#include "dat/support/doomed.hpp"

namespace rsmtest::dat {

std::ostream &operator<<(std::ostream &out, Role role)
{
    return out << (role == Role::ACTIVE ? "active" : "passive");
}

void wait_for_the_end()
{
    for (;;)
        pause();
}

Doomed::Doomed(Role role, const Body &body, std::size_t bytes)
    : role_(role), child_([=](Link &link) { live(link, role, body, bytes); })
{
}

void Doomed::live(Link &link, Role role, const Body &body, std::size_t bytes)
{
    const std::uint64_t qualifier = link.receive();
    Side side(nullptr, bytes);
    if (role == Role::ACTIVE) {
        ASSERT_OK(connect(side, qualifier));
        expect_event(side.connections, DAT_CONNECTION_EVENT_ESTABLISHED);
    } else {
        const ServicePoint service(side);
        link.send(service.qualifier);
        service.accept();
    }
    if (testing::Test::HasFailure())
        return;
    body(side, link);
    wait_for_the_end();
}

void Doomed::handshake(Side &survivor)
{
    if (role_ == Role::ACTIVE) {
        const ServicePoint service(survivor);
        child_.send(service.qualifier);
        service.accept();
    } else {
        child_.send(0);
        EXPECT_OK(connect(survivor, child_.receive()));
        expect_event(survivor.connections, DAT_CONNECTION_EVENT_ESTABLISHED);
    }
}

void expect_broken(const Side &survivor)
{
    expect_disorderly_end(survivor.connections);
    EXPECT_EQ(state_of(survivor.ep), DAT_EP_STATE_DISCONNECTED);
    // After the reset the connection has no more events, and the reset drops none of them.
    EXPECT_OK(dat_ep_reset(survivor.ep));
    expect_no_event(survivor.connections);
}

namespace {

constexpr DAT_UINT64 marker = 999;

int expect_flush(DAT_EVD_HANDLE evd, int end, int begin)
{
    int succeeded = 0;
    bool flushing = false;
    for (int i = begin; i < end; i++) {
        const DAT_EVENT event = expect_event(evd, DAT_DTO_COMPLETION_EVENT);
        const auto &data = event.event_data.dto_completion_event_data;
        EXPECT_EQ(data.user_cookie.as_64, static_cast<DAT_UINT64>(i));
        if (data.status == DAT_DTO_SUCCESS) {
            EXPECT_FALSE(flushing);
            succeeded++;
        } else {
            EXPECT_EQ(data.status, DAT_DTO_ERR_FLUSHED);
            flushing = true;
        }
    }
    return succeeded;
}

} // namespace

// The next completion is that of a post behind them, which is flushed at once.
int expect_receives_flushed(const Side &side, int end, int begin)
{
    const int succeeded = expect_flush(side.receives, end, begin);
    EXPECT_OK(side.receive(0, 8, marker));
    expect_completion(side.receives, marker, DAT_DTO_ERR_FLUSHED);
    return succeeded;
}

int expect_requests_flushed(const Side &side, int end, int begin)
{
    const int succeeded = expect_flush(side.requests, end, begin);
    EXPECT_OK(side.send(0, 8, marker));
    expect_completion(side.requests, marker, DAT_DTO_ERR_FLUSHED);
    return succeeded;
}

} // namespace rsmtest::dat
