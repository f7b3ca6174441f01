// SPDX-License-Identifier: MIT
// Exports a page, imports it again, and writes through the import: by put and by plain stores.
#include <cstdint>
#include <iostream>

#include <rsm/rsm.hpp>

int main() try {
    const rsm::Controller loopback;
    const rsm::Pages memory(4096);
    rsm::Export segment(loopback, memory.bytes());
    rsm::Import connection(loopback, rsm::local_node(), segment.publish());

    connection.store<std::uint64_t>(0, 42);
    const rsm::Mapping mapping = connection.map(4096);
    mapping.as<std::uint64_t>()[1] = 43;

    const auto words = memory.as<std::uint64_t>();
    std::cout << "segment 0x" << std::hex << segment.id() << std::dec << " holds " << words[0]
              << " and " << words[1] << '\n';
    return words[0] == 42 && words[1] == 43 ? 0 : 1;
} catch (const rsm::Error &error) {
    std::cerr << error.what() << '\n';
    return 1;
}
