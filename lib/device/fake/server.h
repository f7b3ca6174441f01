// SPDX-License-Identifier: MIT
// The agent's sockets: lines with clients, and our ends of their handles.
#pragma once

#include "device/descriptor.h"
#include "device/fake/agent.h"

#include <map>
#include <string>
#include <sys/types.h>

namespace rsmfake {

class Server {
  public:
    // Listens at once. `stats`: a file for the counters that the runner of the kselftests compares,
    // or nullptr. Throws std::system_error.
    Server(const std::string &socket, const char *stats);

    // Serves until a child of this process has ended; returns its wait status.
    int run_until_end_of(pid_t program);

  private:
    void watch(int epoll, int descriptor, std::uint64_t what) const;
    void close_handles();
    void accept_line();
    void serve_line(int line);
    void drop_line(int line);
    void open_handle(int line, const Request &request);
    void watch_process(std::int32_t process);
    void serve(std::uint64_t what);
    [[nodiscard]] int patience() const;
    void write_statistics();
    void answer(int line, const Reply &reply, int descriptor = -1);

    rsmdev::Descriptor listener_;
    rsmdev::Descriptor events_;  // of everything
    rsmdev::Descriptor handles_; // of our ends of handles: everything else waits for these
    rsmdev::Descriptor stats_;
    std::string written_; // to stats_
    std::map<int, rsmdev::Descriptor> lines_;
    std::map<std::int32_t, rsmdev::Descriptor> processes_;
    Agent agent_;
};

} // namespace rsmfake
