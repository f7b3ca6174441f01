// SPDX-License-Identifier: GPL-2.0
#include "dat/support/differences.hpp"

#include "dat/support/side.hpp"

#include <string_view>

namespace rsmtest::dat {
namespace {

constexpr Differences none{false, 64, 50000, std::nullopt, false, true};
constexpr Differences of_verbs{true, 54, 1000, DAT_CONNECTION_EVENT_DISCONNECTED, true, false};

const Differences &of_provider()
{
    const Adapter adapter;
    DAT_PROVIDER_ATTR attributes{};
    EXPECT_OK(dat_ia_query(adapter, nullptr, 0, nullptr, DAT_PROVIDER_FIELD_ALL, &attributes));
    return attributes.provider_name == std::string_view("verbs") ? of_verbs : none;
}

} // namespace

const Differences &differences()
{
    static const Differences &found = of_provider();
    return found;
}

DAT_TIMEOUT time_for_nobody()
{
    return differences().hosts_die_in_silence ? after(10000) : DAT_TIMEOUT_INFINITE;
}

bool is_disorderly_end(DAT_EVENT_NUMBER event)
{
    return event == DAT_CONNECTION_EVENT_BROKEN || event == differences().vague_end;
}

bool is_peers_error(DAT_DTO_COMPLETION_STATUS status)
{
    return status == DAT_DTO_ERR_REMOTE_RESPONDER ||
           (differences().vague_end &&
            (status == DAT_DTO_ERR_FLUSHED || status == DAT_DTO_ERR_TRANSPORT));
}

void expect_disorderly_end(DAT_EVD_HANDLE connections, const Place &place)
{
    const DAT_EVENT event = next_event(connections, place);
    EXPECT_TRUE(is_disorderly_end(event.event_number)) << std::hex << event.event_number;
}

} // namespace rsmtest::dat
