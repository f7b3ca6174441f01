// SPDX-License-Identifier: GPL-2.0
// The private data of rdma_cm's messages, of provider verbs: an input is what has come.
#include "require.hpp"

#include "connect/greeting.h"

#include <algorithm>
#include <vector>

namespace {

using rsmengine::Greeting;
using rsmengine::GREETING_HEAD;
using rsmengine::GREETING_ROOM;
using rsmengine::Refusal;
using rsmtest::fuzz::require;
using Bytes = std::span<const std::byte>;

void check_what_came(Bytes from)
{
    const auto data = Greeting::data_of(from);
    if (!data)
        return;
    require(data->size() <= GREETING_ROOM, "a greeting has a limit");
    require(data->data() == from.data() + GREETING_HEAD &&
                data->size() <= from.size() - GREETING_HEAD,
            "the consumer's part is inside");
    require(std::ranges::equal(Greeting(*data).bytes(), from.first(GREETING_HEAD + data->size())),
            "what was read can be written again");
}

// InfiniBand pads; a piece of a greeting is none.
void check_what_goes(Bytes data)
{
    const Greeting greeting(data);
    std::vector<std::byte> sent(greeting.bytes().begin(), greeting.bytes().end());
    for (std::size_t size = 0; size < sent.size(); ++size)
        require(!Greeting::data_of(Bytes(sent).first(size)), "a piece is no greeting");
    sent.resize(sent.size() + data.size() % 7);
    const auto read = Greeting::data_of(sent);
    require(read && std::ranges::equal(*read, data), "what was written is read");
    require(rsmengine::refusal_of(sent) == Refusal::BY_PROVIDER, "a greeting is no consumer's refusal");
}

void check_refusal(Bytes from)
{
    const auto ours = rsmengine::rejection(Refusal::BY_CONSUMER);
    const bool is_ours = from.size() >= ours.size() &&
                         std::ranges::equal(from.first(ours.size()), ours);
    require((rsmengine::refusal_of(from) == Refusal::BY_CONSUMER) == is_ours,
            "nothing but our own rejection is the consumer's");
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    const Bytes from = std::as_bytes(std::span(data, size));
    check_what_came(from);
    check_what_goes(from.first(std::min(size, GREETING_ROOM)));
    check_refusal(from);
    return 0;
}
