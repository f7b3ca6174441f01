// SPDX-License-Identifier: MIT
#include "connect/link.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <unistd.h>

namespace rsmengine {

std::uint64_t new_port() noexcept {
    static std::atomic<std::uint32_t> count{0};
    return static_cast<std::uint64_t>(::getpid()) << 32 | ++count;
}

LinkState said_by_peer(Channel &channel) noexcept {
    return static_cast<LinkState>(channel.ours().state.load(std::memory_order_acquire));
}

void say_to_peer(Channel &channel, LinkState what) noexcept {
    channel.peers().state.store(static_cast<std::uint32_t>(what), std::memory_order_release);
    channel.ring_bell_always();
}

void acknowledge(RsmLink &link) noexcept {
    Channel &channel = *link.channel;
    channel.peers().answer_from = credentials_of(channel.address());
    say_to_peer(channel, LinkState::ARRIVED);
}

void refuse(Ia &ia, std::unique_ptr<Link> link, Refusal how) noexcept {
    say_to_peer(*own<RsmLink>(*link).channel,
                how == Refusal::BY_CONSUMER ? LinkState::REJECTED : LinkState::REFUSED);
    end_link(*ia.engine, std::move(link));
}

void end_link(Engine &engine, std::unique_ptr<Link> link) noexcept {
    engine.end_aside(std::unique_ptr<Job>(&own<RsmLink>(*link.release())));
}

void write_terms(Terms &terms, const RsmLink &link, std::uint32_t read_in, std::uint32_t read_out,
                 std::span<const std::byte> private_data) noexcept {
    terms.qualifier = link.qualifier;
    terms.port = link.local_port;
    terms.max_rdma_read_in = read_in;
    terms.max_rdma_read_out = read_out;
    terms.private_data_size = static_cast<std::uint32_t>(private_data.size());
    if (!private_data.empty())
        std::memcpy(terms.private_data, private_data.data(), private_data.size());
}

bool read_terms(const Terms &from, Terms &copy) noexcept {
    constexpr std::uint32_t MOST = limits::RDMA_READS_PER_EP;
    std::memcpy(&copy, &from, sizeof copy);
    // The peer may change the original at any time: use only the copy from here on.
    std::atomic_signal_fence(std::memory_order_seq_cst);
    copy.max_rdma_read_in = std::min(copy.max_rdma_read_in, MOST);
    copy.max_rdma_read_out = std::min(copy.max_rdma_read_out, MOST);
    return copy.private_data_size <= sizeof copy.private_data;
}

std::span<const std::byte> private_data_of(const Terms &terms) noexcept {
    return std::as_bytes(std::span(terms.private_data)).first(terms.private_data_size);
}

} // namespace rsmengine
