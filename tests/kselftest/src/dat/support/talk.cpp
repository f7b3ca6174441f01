// SPDX-License-Identifier: GPL-2.0
#include "dat/support/talk.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace rsmtest::dat {
namespace {

// The status of a completion; anything but success ends the talk.
const DAT_DTO_COMPLETION_EVENT_DATA &completion(const DAT_EVENT &event) {
    const auto &data = event.event_data.dto_completion_event_data;
    if (event.event_number != DAT_DTO_COMPLETION_EVENT || data.status != DAT_DTO_SUCCESS)
        throw std::runtime_error("the other process does not talk any more");
    return data;
}

} // namespace

void require(DAT_RETURN result, const char *call) {
    if (result == DAT_SUCCESS)
        return;
    std::ostringstream text;
    text << call << ": " << Result{result};
    throw std::runtime_error(text.str());
}

DAT_EVENT await_event(DAT_EVD_HANDLE evd, const std::string &what) {
    const Waiting waiting(what.c_str());
    DAT_EVENT event{};
    DAT_COUNT more = 0;
    require(dat_evd_wait(evd, DAT_TIMEOUT_INFINITE, 1, &event, &more), "dat_evd_wait");
    return event;
}

Talk::Talk(Side &side) : side_(side) {
    for (std::size_t slot = 0; slot < receives; slot++)
        offer(slot);
}

void Talk::copy_exactly(std::span<const std::byte> from, std::span<std::byte> to) {
    if (from.size() != to.size())
        throw std::runtime_error("the other process says something else than it should");
    std::memcpy(to.data(), from.data(), from.size());
}

void Talk::offer(std::size_t slot) {
    require(side_.receive(slot * most, most, slot), "dat_ep_post_recv");
}

void Talk::send_one(std::span<const std::byte> message) {
    constexpr std::size_t own = receives * most;
    std::memcpy(side_.memory.start + own, message.data(), message.size());
    require(side_.send(own, message.size(), 0), "dat_ep_post_send");
    (void)completion(await_event(side_.requests, topic));
}

std::span<const std::byte> Talk::receive_one(std::size_t &slot) {
    const DAT_EVENT event = await_event(side_.receives, topic);
    const auto &data = completion(event);
    slot = data.user_cookie.as_64;
    return {side_.memory.start + slot * most, data.transfered_length};
}

// The number of bytes comes first.
void Talk::send(std::span<const std::byte> bytes) {
    const std::uint64_t size = bytes.size();
    send_one(std::as_bytes(std::span(&size, 1)));
    for (; !bytes.empty(); bytes = bytes.subspan(std::min(most, bytes.size())))
        send_one(bytes.first(std::min(most, bytes.size())));
}

std::vector<std::byte> Talk::receive() {
    std::size_t slot = 0;
    std::uint64_t size = 0;
    copy_exactly(receive_one(slot), std::as_writable_bytes(std::span(&size, 1)));
    offer(slot);
    std::vector<std::byte> bytes;
    while (bytes.size() < size) {
        const auto message = receive_one(slot);
        bytes.insert(bytes.end(), message.begin(), message.end());
        offer(slot);
    }
    return bytes;
}

} // namespace rsmtest::dat
