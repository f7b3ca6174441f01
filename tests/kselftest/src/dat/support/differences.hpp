// SPDX-License-Identifier: GPL-2.0
// Wants of the specification that the provider of the tests' IA can't have, and why. Attributes
// that dat_ia_query tells are not here. Documentation/libdat-verbs.md lists the same.
#pragma once

#include "support/waiting.hpp"

#include <dat/udat.h>

#include <optional>

namespace rsmtest::dat {

struct Differences {
    // Qualifiers stand for ports, by their low 16 bits: rdma_cm knows no more. Else all 64 bits count.
    bool qualifiers_are_ports;
    // Bytes; a request of InfiniBand's connection manager has no more.
    DAT_COUNT least_private_data;
    // Posts of an endpoint: as many as the device has.
    DAT_COUNT least_dtos;
    // How an endpoint hears that its peer was killed, or has ended the connection after an error:
    // rdma_cm says no more than that it is over, and whether the queue pair notices anything before
    // is a matter of luck.
    std::optional<DAT_EVENT_NUMBER> vague_end;
    // Nobody tells that a host has died: what is under way to it fails by its own time-outs
    // (TRANSPORT), a request for a connection by the consumer's.
    bool hosts_die_in_silence;
    // A window lets its part of the region be reached and no more: rxe of Linux 6.1 looks at the
    // bounds of the region only.
    bool windows_have_bounds;
};

const Differences &differences();

// The time for a request to a host that may not be there. It is over on a slow machine before the provider has looked,
// so a provider that is told of such hosts gets all that it needs.
DAT_TIMEOUT time_for_nobody();

// The event of a connection that the peer did not end in order.
bool is_disorderly_end(DAT_EVENT_NUMBER event);
void expect_disorderly_end(DAT_EVD_HANDLE connections, const Place &place = Place::here());
// The peer could not take it. Where ends are vague its connection may be over before it says so.
bool is_peers_error(DAT_DTO_COMPLETION_STATUS status);

} // namespace rsmtest::dat
