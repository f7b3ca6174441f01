// SPDX-License-Identifier: GPL-2.0
// An endpoint in any of the nine states, brought there by what consumers do.
#pragma once

#include "dat/support/objects.hpp"
#include "support/child.hpp"

namespace rsmtest::dat {

// Columns of the table in udapl-functions.md 4.3.
enum class At { UN, RE, PA, TE, AC, CP, CO, DP, DI };
constexpr std::string_view state_names[] = {"UN", "RE", "PA", "TE", "AC", "CP", "CO", "DP", "DI"};
DAT_EP_STATE number_of(At state);
DAT_RETURN_SUBTYPE subtype_of(At state); // of INVALID_STATE

// A process that asks for a connection and is stopped then, so that it can't take note of the
// answer. Has to be made before the first use of libdat in a test.
class StoppedPeer {
public:
    StoppedPeer();
    DAT_CR_HANDLE request(Side &side);

private:
    Child child_;
};

class Stage {
public:
    // The peer is needed for CP only.
    explicit Stage(At state, StoppedPeer *stopped = nullptr);

    DAT_CR_HANDLE request();    // another one, to the near side
    DAT_EP_HANDLE another_ep(); // of the near side, unconnected

    DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
    DAT_CR_HANDLE cr = DAT_HANDLE_NULL;   // PA, TE
    DAT_RSP_HANDLE rsp = DAT_HANDLE_NULL; // RE, PA
    Side near;                            // the endpoint's
    Side far;

private:
    void arrive(At state, StoppedPeer *stopped);
    DAT_CONN_QUAL reserve();
    void take_request(DAT_CONN_QUAL qualifier);
    void become_tentative();
    void become_active();
    void become_disconnect_pending();
};

} // namespace rsmtest::dat
