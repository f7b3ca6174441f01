// SPDX-License-Identifier: GPL-2.0
#include "datnet/support/remote.hpp"

#include "dat/support/differences.hpp"

#include <utility>

namespace rsmtest::datnet {

Remote::Remote(Session &session, std::size_t bytes, std::string name, int privileges)
    : session_(session), name_(std::move(name)) {
    const Answer made = call("side", bytes, privileges);
    address_ = static_cast<in_addr_t>(made.value(0));
    context_ = static_cast<DAT_RMR_CONTEXT>(made.value(1));
    start_ = made.value(2);
}

DAT_RMR_TRIPLET Remote::part(std::size_t offset, std::size_t size) const {
    return {context_, 0, start_ + offset, size};
}

Answer Remote::expect_connection(DAT_EVENT_NUMBER number) const {
    Answer event = call("connection");
    const auto got = static_cast<DAT_EVENT_NUMBER>(event.value());
    EXPECT_TRUE(got == number ||
                (number == DAT_CONNECTION_EVENT_BROKEN && dat::is_disorderly_end(got)))
        << std::hex << got << ", wanted " << number;
    return event;
}

std::uint64_t Remote::expect_completion(const char *what, DAT_UINT64 id,
                                        DAT_DTO_COMPLETION_STATUS status) const {
    const Answer completion = call(what);
    EXPECT_EQ(completion.value(0), id);
    EXPECT_EQ(completion.value(1), static_cast<std::uint64_t>(status));
    return completion.value(2);
}

} // namespace rsmtest::datnet
