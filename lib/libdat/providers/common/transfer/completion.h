// SPDX-License-Identifier: MIT
// Events of transfers.
#pragma once

#include "event/evd.h"

namespace rsmdat {

inline bool has_flag(DAT_COMPLETION_FLAGS flags, DAT_COMPLETION_FLAGS flag) noexcept {
    return (static_cast<unsigned>(flags) & static_cast<unsigned>(flag)) != 0;
}

// The end of a transfer of an EP.
struct Completion {
    DAT_HANDLE ep;
    DAT_DTO_COOKIE cookie;
    DAT_DTO_COMPLETION_STATUS status;
    DAT_VLEN length; // if it succeeded
    bool quiet;      // does not notify if it succeeded
    int *credit;
};

inline Arrival arrival_of(const Completion &completion) noexcept {
    const bool good = completion.status == DAT_DTO_SUCCESS;
    Arrival arrival;
    arrival.event.event_number = DAT_DTO_COMPLETION_EVENT;
    arrival.event.event_data.dto_completion_event_data = {
        completion.ep, completion.cookie, completion.status, good ? completion.length : 0};
    arrival.notifies = !(good && completion.quiet);
    arrival.credit = completion.credit;
    arrival.owner = completion.ep;
    return arrival;
}

} // namespace rsmdat
