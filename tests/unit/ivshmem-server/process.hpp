// SPDX-License-Identifier: GPL-2.0
// A real rsm-ivshmem-server for the tests to talk to.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "descriptor.hpp"

namespace ivshmem::test {

// A directory of the test's own, and the socket in it.
class Directory {
  public:
    Directory();
    Directory(const Directory &) = delete;
    Directory &operator=(const Directory &) = delete;
    ~Directory();

    std::string file(const std::string &name) const { return path_ + "/" + name; }
    std::string socket() const { return file("s"); }

  private:
    std::string path_;
};

// A child process whose stderr can be read.
class Process {
  public:
    using Setup = std::function<void()>;

    // The setup runs in the child just before the program.
    explicit Process(
        std::vector<std::string> command, const Setup &setup = [] {});
    Process(const Process &) = delete;
    Process &operator=(const Process &) = delete;
    ~Process();

    pid_t pid() const { return pid_; }
    void signal(int number) const;

    // Whether it has said so on stderr, or waits until it does or ends.
    bool says(const std::string &text);

    // Waits for its end: exit status, or -signal. Its output is complete then.
    int wait();
    int end(int signal_number);

    const std::string &said() const { return said_; }
    std::size_t lines() const;

  private:
    bool read_more();

    pid_t pid_ = -1;
    Descriptor stderr_;
    std::string said_;
};

// The server, ready to serve.
class Server : public Process {
  public:
    explicit Server(
        const Directory &directory, std::vector<std::string> options = {},
        const Setup &setup = [] {});
};

// The server, whatever it makes of its options.
std::vector<std::string> server_command(std::vector<std::string> options);

std::size_t open_descriptors(pid_t pid);
// Processor time so far, user and kernel.
double seconds_used(pid_t pid);
// Looks again and again, up to a time limit.
bool eventually(const std::function<bool()> &condition);
// Whether the server notices that a client goes, which is what the action makes it do.
bool notices_end(const Server &server, const std::function<void()> &action);

} // namespace ivshmem::test
