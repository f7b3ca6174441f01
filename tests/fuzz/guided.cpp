// SPDX-License-Identifier: GPL-2.0
// The fuzzer, guided by which places of the kernel modules an input reaches. Needs KCOV, so the debug
// kernel. tests/fuzz/run calls it in a guest; what it prints is for tests/fuzz/report.
//
// usage: ksft-fuzz CALLS MINUTES [SEED]     ends with the first of the two; in 0 minutes it runs only the
//                                           inputs of the corpus, each of them once
#include "coverage.hpp"
#include "explorer.hpp"
#include "operations.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace rsmtest::fuzz {
namespace {

// TESTCTL_KCOV_HANDLE: what the work of links of nodes0 reaches counts for it.
constexpr std::uint32_t links_handle = 1;
constexpr unsigned workers = 2;

// Coverage by others needs a thread of its own: a thread has one kind only.
class LinksCoverage {
public:
    LinksCoverage() : thread_([this] { keep(); })
    {
        ready_.wait(false);
    }
    ~LinksCoverage()
    {
        done_ = true;
        done_.notify_all();
        thread_.join();
    }
    LinksCoverage(const LinksCoverage &) = delete;
    LinksCoverage &operator=(const LinksCoverage &) = delete;
    Coverage &operator*() { return *coverage_; }

private:
    void keep()
    {
        Coverage coverage(links_handle);
        coverage_ = &coverage;
        ready_ = true;
        ready_.notify_all();
        done_.wait(false);
    }

    Coverage *coverage_ = nullptr;
    std::atomic<bool> ready_{false};
    std::atomic<bool> done_{false};
    std::thread thread_;
};

// The player of the other nodes: one process only.
enum class Role { alone, with_nodes };

// One process' means: what it calls, and who sees where that leads.
class Worker {
public:
    Worker(Explorer &explorer, Role role) : explorer_(explorer)
    {
        if (role == Role::with_nodes) {
            nodes_.emplace();
            links_.emplace();
        }
        fuzzer_.emplace(nodes_ && nodes_->valid() ? &*nodes_ : nullptr);
    }
    Worker(const Worker &) = delete;
    Worker &operator=(const Worker &) = delete;

    bool valid() const { return own_.valid(); }
    // Whether it has reached a new place.
    bool run(std::span<const std::uint8_t> bytes)
    {
        Input input(bytes);
        clear();
        explorer_.calls += fuzzer_->run(input, calls_per_input);
        fuzzer_->reset();
        explorer_.runs++;
        const bool by_links = links_ && (**links_).valid() && explorer_.note((**links_).places());
        return explorer_.note(own_.places()) || by_links;
    }

private:
    void clear()
    {
        own_.clear();
        if (links_ && (**links_).valid())
            (**links_).clear();
    }

    Explorer &explorer_;
    std::optional<Nodes> nodes_;
    std::optional<Fuzzer> fuzzer_;
    Coverage own_;
    std::optional<LinksCoverage> links_;
};

// One line at once: what a process says last is what the kernel reports about.
void say(const char *what, std::span<const std::uint8_t> input)
{
    const std::string line = std::string(what) + ' ' + to_text({input.begin(), input.end()}) + '\n';
    if (write(STDOUT_FILENO, line.data(), line.size()) < 0)
        _exit(1);
}

// Each input of the explorer once, from one on that the processes before have not survived.
void replay(Explorer &explorer, std::atomic<std::size_t> &next)
{
    Worker worker(explorer, Role::with_nodes);
    while (worker.valid() && next < explorer.inputs()) {
        const std::size_t index = next++;
        say("try", explorer.input(index));
        if (worker.run(explorer.input(index)))
            say("input", explorer.input(index));
    }
}

void explore(Explorer &explorer, Role role, std::uint64_t seed, std::uint64_t calls)
{
    Worker worker(explorer, role);
    Chance chance(seed);
    while (worker.valid() && explorer.calls < calls && !explorer.stopped) {
        const Bytes input = explorer.next_input(chance);
        say("try", input);
        if (worker.run(input)) {
            say("found", input);
            explorer.add(input);
        }
    }
}

template <class Body> pid_t start(Body body)
{
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        body();
        std::fflush(stdout);
        _exit(0);
    }
    return child;
}

void progress(const Explorer &explorer, std::chrono::steady_clock::time_point began)
{
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - began;
    std::printf("progress: %llu calls, %llu inputs run, %llu ended their process, %zu kept, %zu places, "
                "%.0f calls/s\n",
                static_cast<unsigned long long>(explorer.calls),
                static_cast<unsigned long long>(explorer.runs),
                static_cast<unsigned long long>(explorer.deaths), explorer.inputs(),
                explorer.places(), static_cast<double>(explorer.calls) / time.count());
    std::fflush(stdout);
}

// Some calls are the end of their process, which is no finding: another one goes on.
void explore_all(Explorer &explorer, std::uint64_t seed, std::uint64_t calls,
                 std::chrono::minutes minutes)
{
    const auto began = std::chrono::steady_clock::now();
    auto next_report = began + std::chrono::seconds(20);
    pid_t with_nodes = -1;
    const auto start_one = [&](Role role) {
        const pid_t pid = start([&, own = seed++] { explore(explorer, role, own, calls); });
        if (role == Role::with_nodes)
            with_nodes = pid;
    };
    start_one(Role::with_nodes);
    for (unsigned i = 1; i < workers; i++)
        start_one(Role::alone);
    while (explorer.calls < calls && !explorer.stopped) {
        const pid_t ended = waitpid(-1, nullptr, WNOHANG);
        if (ended > 0 && explorer.calls < calls) {
            explorer.deaths++;
            start_one(ended == with_nodes ? Role::with_nodes : Role::alone);
        }
        if (std::chrono::steady_clock::now() >= next_report) {
            progress(explorer, began);
            next_report += std::chrono::seconds(20);
        }
        if (std::chrono::steady_clock::now() >= began + minutes)
            explorer.stopped = true;
        usleep(50000);
    }
    while (wait(nullptr) > 0)
        ;
    progress(explorer, began);
}

// Those inputs again that together reach all places; and the places.
void print_results(Explorer &explorer)
{
    auto &next = *new (mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))
                     std::atomic<std::size_t>{0};
    const auto places = explorer.all_places();
    explorer.forget_places();
    while (next < explorer.inputs()) {
        start([&] { replay(explorer, next); });
        wait(nullptr);
    }
    explorer.note(places);
    for (const std::uint64_t place : explorer.all_places())
        std::printf("place %llx\n", static_cast<unsigned long long>(place));
    for (const char *module : {"rsm", "rsm_ivshmem", "rsm_testctl"}) {
        std::string base;
        std::ifstream(std::string("/sys/module/") + module + "/sections/.text") >> base;
        if (!base.empty())
            std::printf("module %s %s\n", module, base.c_str());
    }
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        std::fprintf(stderr, "usage: ksft-fuzz CALLS MINUTES [SEED]\n");
        return 2;
    }
    Explorer &explorer = Explorer::create();
    for (const Bytes &input : load_corpus(corpus_beside_program()))
        explorer.add(input);
    const std::uint64_t seed = argc > 3 ? std::strtoull(argv[3], nullptr, 0)
                                        : static_cast<std::uint64_t>(time(nullptr));
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
    const std::chrono::minutes minutes(std::atoi(argv[2]));
    if (minutes.count() > 0)
        explore_all(explorer, seed, std::strtoull(argv[1], nullptr, 0), minutes);
    print_results(explorer);
    return explorer.places() > 0 ? 0 : 1;
}

} // namespace
} // namespace rsmtest::fuzz

int main(int argc, char **argv)
{
    return rsmtest::fuzz::main(argc, argv);
}
