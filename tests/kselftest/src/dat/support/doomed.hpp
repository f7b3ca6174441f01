// SPDX-License-Identifier: GPL-2.0
// The other half of a connection in a process that is killed. Made before the test's first dat call.
#pragma once

#include "dat/support/side.hpp"
#include "support/child.hpp"

#include <functional>
#include <unistd.h>

namespace rsmtest::dat {

enum class Role { ACTIVE, PASSIVE };
std::ostream &operator<<(std::ostream &out, Role role);

class Doomed {
public:
    // Its connected side does this, then nothing until it is killed.
    using Body = std::function<void(Side &, Link &)>;

    // The doomed process has that role, and memory of that many bytes.
    Doomed(Role role, const Body &body, std::size_t bytes = 65536);

    // Connects the endpoint of the survivor to that of the doomed process.
    void handshake(Side &survivor);
    void send(std::uint64_t value) { child_.send(value); }
    void kill() { child_.kill(); }
    std::uint64_t receive() { return child_.receive(); }

private:
    static void live(Link &link, Role role, const Body &body, std::size_t bytes);

    Role role_;
    Child child_;
};

// A service point, and what it hears.
class ServicePoint {
public:
    explicit ServicePoint(const Side &side) : side_(side)
    {
        EXPECT_OK(dat_psp_create_any(side.adapter, &qualifier, side.arrivals,
                                     DAT_PSP_CONSUMER_FLAG, &psp_));
    }
    ~ServicePoint() { EXPECT_OK(dat_psp_free(psp_)); }
    ServicePoint(const ServicePoint &) = delete;
    ServicePoint &operator=(const ServicePoint &) = delete;

    DAT_CR_HANDLE request() const
    {
        return expect_event(side_.arrivals, DAT_CONNECTION_REQUEST_EVENT)
            .event_data.cr_arrival_event_data.cr_handle;
    }
    // Takes the next request and is connected.
    void accept() const
    {
        EXPECT_OK(dat_cr_accept(request(), side_.ep, 0, nullptr));
        expect_event(side_.connections, DAT_CONNECTION_EVENT_ESTABLISHED);
    }

    DAT_CONN_QUAL qualifier = 0;

private:
    const Side &side_;
    DAT_PSP_HANDLE psp_ = DAT_HANDLE_NULL;
};

[[noreturn]] void wait_for_the_end();
// The survivor hears of it soon, and its endpoint can be used again.
void expect_broken(const Side &survivor);
// The completions of the posts whose numbers are between these, each with success or flushed, no success behind a
// flush. How many of them succeeded.
int expect_receives_flushed(const Side &side, int end, int begin = 0);
int expect_requests_flushed(const Side &side, int end, int begin = 0);

} // namespace rsmtest::dat
