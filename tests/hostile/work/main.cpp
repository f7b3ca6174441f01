// SPDX-License-Identifier: GPL-2.0
// The work of a guest while somebody attacks the window:
//
//   hostile-work lead SECONDS MODE[:breaks|:swept]...   node 1: a phase for each mode
//   hostile-work follow                          node 2: the same work, until node 1 says "end"
//
// A phase begins with the line "phase MODE", upon which hostile.sh lets window-mutator loose. After
// SECONDS, and once the link has broken where the mode is said to break it, which the line "broken
// MODE" tells, or once the beacon is there that shows the end of a sweep (MODE:swept), the nodes have to
// find back to each other.
#include "segments.hpp"
#include "work/worker.hpp"

#include <array>
#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <fcntl.h>
#include <fstream>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace hostile {
namespace {

// A crew of two would not meet in the kernel often.
struct Crew {
    explicit Crew(std::uint32_t own, std::uint32_t other) {
        for (std::uint32_t index = 0; index < ids_per_node; index++)
            workers.push_back(std::make_unique<Worker>(export_step(own, index)));
        for (int i = 0; i < 3; i++)
            workers.push_back(std::make_unique<Worker>(import_step(other)));
    }
    std::uint64_t good() const {
        std::uint64_t sum = 0;
        for (const auto &worker : workers)
            sum += worker->good();
        return sum;
    }
    std::uint64_t bad() const {
        std::uint64_t sum = 0;
        for (const auto &worker : workers)
            sum += worker->bad();
        return sum;
    }

    Worker local{local_step()};
    std::vector<std::unique_ptr<Worker>> workers;
};

// Lines to and from the other node. The port can be open only once.
class Hub {
  public:
    Hub() : port_(open("/run/rsm-hub", O_RDWR | O_CLOEXEC)) {
        if (port_ < 0)
            give_up("there is no hub");
    }
    Hub(const Hub &) = delete;
    Hub &operator=(const Hub &) = delete;
    ~Hub() { close(port_); }

    void send(const std::string &text) {
        const std::string line = text + "\n";
        if (write(port_, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
            give_up("the hub is gone");
    }
    std::string receive() {
        std::string line;
        char next = 0;
        while (read(port_, &next, 1) == 1) {
            line += next;
            if (next == '\n')
                return heard(line);
        }
        give_up("the hub is silent");
    }

  private:
    // The script says so for a node whose work has ended before its time.
    static std::string heard(std::string line) {
        line.pop_back();
        if (line.ends_with(" gone"))
            give_up("the other node has ended");
        return line;
    }

    int port_;
};

void mark(const std::string &mode) {
    std::ofstream("/dev/kmsg") << "hostile: phase " << mode << std::endl;
}

// Tells now and then, as long as it exists, which calls hang. The machine's time limit ends them.
class Watchman {
  public:
    Watchman() : thread_([this] { watch(); }) {}
    ~Watchman() {
        {
            const std::scoped_lock hold(lock_);
            stop_ = true;
        }
        stopped_.notify_one();
        thread_.join();
    }
    Watchman(const Watchman &) = delete;
    Watchman &operator=(const Watchman &) = delete;

  private:
    void watch() {
        constexpr auto pause = std::chrono::seconds(60);
        std::unique_lock hold(lock_);
        while (!stopped_.wait_for(hold, pause, [this] { return stop_; }))
            tell_all_longer(pause);
    }

    std::mutex lock_;
    std::condition_variable stopped_;
    bool stop_ = false;
    std::thread thread_;
};

// The kernel's log from its present end on.
class KernelLog {
  public:
    KernelLog() : log_(open("/dev/kmsg", O_RDONLY | O_CLOEXEC)) {
        if (log_ < 0 || lseek(log_, 0, SEEK_END) < 0)
            give_up("the kernel's log can't be read");
    }
    KernelLog(const KernelLog &) = delete;
    KernelLog &operator=(const KernelLog &) = delete;
    ~KernelLog() { close(log_); }

    void await(std::string_view text) {
        std::array<char, 8192> record{};
        for (;;) {
            const ssize_t size = read(log_, record.data(), record.size());
            // EPIPE: records were overwritten before they were read.
            if (size < 0 && errno != EPIPE)
                give_up("the kernel's log has ended");
            const std::string_view said(record.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
            if (said.find(text) != std::string_view::npos)
                return;
        }
    }

  private:
    int log_;
};

struct Mode {
    explicit Mode(const std::string &argument)
        : name(argument.substr(0, argument.find(':'))), breaks(argument.ends_with(":breaks")),
          sweeps(argument.ends_with(":swept")) {}

    std::string name;
    bool breaks;
    bool sweeps;
};

void print(const std::string &line) {
    std::puts(line.c_str());
    std::fflush(stdout);
}

// Returns when the attack has had its time and has broken the link, if it breaks links, or is over, if it sweeps.
void await_effect(const Mode &mode, unsigned seconds, KernelLog &log) {
    std::this_thread::sleep_for(std::chrono::seconds(seconds));
    if (mode.sweeps)
        await_beacon();
    if (!mode.breaks)
        return;
    log.await(" is down: ");
    print("broken " + mode.name);
}

void await_round(const Worker &worker, std::uint64_t rounds) {
    while (worker.rounds() == rounds)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void phase(const Mode &mode, unsigned seconds, const Crew &crew, Hub &hub) {
    const std::uint64_t local = crew.local.rounds();
    const std::uint64_t good = crew.good();
    const std::uint64_t bad = crew.bad();
    mark(mode.name);
    // A link that ended before the mark is none of this phase.
    KernelLog log;
    hub.send("@2 phase " + mode.name);
    print("phase " + mode.name);
    await_effect(mode, seconds, log);
    await_round(crew.local, local);
    hub.send("@2 recover");
    const std::int64_t here = recovery_time(2);
    const std::string there = hub.receive();
    std::printf("done %s local %llu good %llu bad %llu here %lld there %s longest %s\n", mode.name.c_str(),
                static_cast<unsigned long long>(crew.local.rounds() - local),
                static_cast<unsigned long long>(crew.good() - good),
                static_cast<unsigned long long>(crew.bad() - bad),
                static_cast<long long>(here),
                there.substr(there.find(' ') + 1).c_str(), longest_call().c_str());
    std::fflush(stdout);
}

void lead(unsigned seconds, std::span<char *> modes) {
    Hub hub;
    while (hub.receive() != "@2 here") {
    }
    const Watchman watchman;
    const Crew crew(1, 2);
    for (const char *mode : modes)
        phase(Mode(mode), seconds, crew, hub);
    hub.send("@2 end");
}

void follow() {
    Hub hub;
    const Watchman watchman;
    const Crew crew(2, 1);
    hub.send("@1 here");
    for (std::string line = hub.receive(); line != "@1 end"; line = hub.receive()) {
        if (line.starts_with("@1 phase "))
            mark(line.substr(9));
        else if (line == "@1 recover")
            hub.send("@1 " + std::to_string(recovery_time(1)) + " (" + longest_call() + ")");
    }
}

} // namespace
} // namespace hostile

int main(int argc, char **argv) {
    const std::span<char *> args(argv, static_cast<std::size_t>(argc));
    if (argc > 2 && std::string(args[1]) == "lead")
        hostile::lead(static_cast<unsigned>(std::stoul(args[2])), args.subspan(3));
    else
        hostile::follow();
    return 0;
}
