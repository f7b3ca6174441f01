// SPDX-License-Identifier: MIT
// A program that waits for events of two segments in one poll(), while other threads put and ring.
#include <array>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <thread>

#include <rsm/rsm.hpp>

namespace {

constexpr std::chrono::seconds patience(30);

// The work of another process: connects, puts a word, rings.
void ring(const rsm::Controller &controller, rsm::SegmentId id, std::uint64_t word) {
    rsm::Import connection(controller, rsm::local_node(), id);
    connection.store(0, word);
    connection.post();
}

} // namespace

int main() try {
    const rsm::Controller loopback;
    const rsm::Pages first_memory(4096);
    const rsm::Pages second_memory(4096);
    rsm::Export first(loopback, first_memory.bytes());
    rsm::Export second(loopback, second_memory.bytes());
    const rsm::EventDescriptor first_bell = first.event_descriptor();
    const rsm::EventDescriptor second_bell = second.event_descriptor();

    const std::jthread importer(ring, std::cref(loopback), first.publish(), 7);
    const std::jthread other(ring, std::cref(loopback), second.publish(), 8);

    std::array entries{first_bell.entry(), second_bell.entry()};
    for (std::size_t rung = 0; rung < 2;) {
        const std::size_t ready = rsm::wait_any(entries, patience); // takes the events, too
        if (ready == 0)
            return 1;
        rung += ready;
    }
    std::cout << "both rang\n";
    return first_memory.as<std::uint64_t>()[0] == 7 && second_memory.as<std::uint64_t>()[0] == 8
               ? 0
               : 1;
} catch (const rsm::Error &error) {
    std::cerr << error.what() << '\n';
    return 1;
}
