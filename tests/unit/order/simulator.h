// SPDX-License-Identifier: GPL-2.0
// A library of uDAPL without a network: what is posted happens at once, or as soon as it can.
// Mistakes can be switched on.
#pragma once

#include "order/player.hpp"

#include <array>
#include <deque>

namespace order {

enum class Mistake {
    NONE,
    LOSES_AN_EVENT,
    REPEATS_AN_EVENT,
    REPORTS_SUPPRESSED,
    SWAPS_EVENTS,         // of one EVD
    SWAPS_ENDPOINTS,      // only events of different endpoints, on one EVD
    ENDS_EARLY,           // the end of a connection overtakes its completions
    REPORTS_ANOTHER_LENGTH,
    GOES_ON_BEHIND_ERROR, // what is behind a refused request is carried out
    LEAVES_REFUSALS_OUT,  // refused requests succeed
    FLUSHES_WITHOUT_CAUSE,
    WRITES_TOO_FAR,
    LOSES_WRITES,
    SHIFTS_MESSAGES, // by a byte
    SWAPS_RECEIVES,  // the newest receive takes the message
    READS_LATE,      // a read takes its data at the end of the program
    ENDS_TWICE,
    BREAKS_INSTEAD_OF_DISCONNECTING,
    REJECTS,
};

class Simulator {
  public:
    Simulator(const Program &program, Mistake mistake = Mistake::NONE);
    ~Simulator();

    // Executes the program, and returns both records.
    std::array<Record, sides> run();

  private:
    class Side;
    struct Queue { // of one side of an endpoint
        std::deque<int> requests, receives;
        bool freed = false;
    };
    struct Connection {
        std::array<Queue, sides> queues;
        bool over = false;
    };

    bool post(int index);
    void end(int endpoint);
    void free(int side, int endpoint);
    void progress(int endpoint);
    bool request(int side, int endpoint);
    bool send(int index);
    void write(int index);
    void read(int index);
    void complete(int index, Status status, std::uint32_t length = 0);
    void stop(int endpoint, What how);
    void push(int side, int evd, const Event &event);
    void swap_endpoints(std::deque<Event> &events);
    bool strikes(Mistake mistake); // every third time
    bool refused(const Post &post) const;
    std::vector<std::byte> bytes_of(int side, int buffer) const;
    void put(int side, int buffer, const std::vector<std::byte> &bytes);
    const Post &post_of(int index) const { return program_.posts[static_cast<std::size_t>(index)]; }
    std::uint32_t length(int index) const;
    Connection &connection(int endpoint) {
        return connections_[static_cast<std::size_t>(endpoint)];
    }

    const Program &program_;
    Mistake mistake_;
    int struck_ = 0;
    std::array<std::vector<std::byte>, sides> arenas_;
    std::array<bool, sides> region_freed_{};
    std::vector<Connection> connections_;
    std::array<std::vector<std::deque<Event>>, sides> events_;
    std::vector<int> late_;
};

} // namespace order
