// SPDX-License-Identifier: GPL-2.0
// Shows what many importers cost: how mapping and connecting grow with the processors, and how long other
// importers of a segment wait while its exporter tells tens of thousands of them something.
//
// usage: bench-scale [SECONDS [IMPORTERS]]
#include <rsmapi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;
constexpr std::size_t page = 4096;

void require(int status, const char *what)
{
    if (status == RSM_SUCCESS)
        return;
    std::fprintf(stderr, "bench-scale: %s: status %d\n", what, status);
    std::exit(1);
}

// The calling process' own access to the loopback controller.
struct Node {
    rsmapi_controller_handle_t controller = nullptr;
    rsm_node_id_t id = 0;

    Node()
    {
        require(rsm_get_controller(nullptr, &controller), "rsm_get_controller");
        rsm_topology_t *topology = nullptr;
        require(rsm_get_interconnect_topology(&topology), "rsm_get_interconnect_topology");
        id = topology->topology_hdr.local_nodeid;
        rsm_free_interconnect_topology(topology);
    }
    rsm_memseg_import_handle_t connect(rsm_memseg_id_t segment) const
    {
        rsm_memseg_import_handle_t import = nullptr;
        require(rsm_memseg_import_connect(controller, id, segment, RSM_PERM_RDWR, &import), "connect");
        return import;
    }
};

// A page that is published.
class Segment {
public:
    explicit Segment(const Node &node)
    {
        memory_ = ::mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        require(rsm_memseg_export_create(node.controller, &export_, memory_, page, 0), "create");
        require(rsm_memseg_export_publish(export_, &id_, nullptr, 0), "publish");
    }
    rsm_memseg_id_t id() const { return id_; }
    rsm_memseg_export_handle_t handle() const { return export_; }

private:
    void *memory_ = nullptr;
    rsm_memseg_export_handle_t export_ = nullptr;
    rsm_memseg_id_t id_ = 0;
};

// Rounds per second of that many processes, each with its own segment.
double rate(unsigned processes, std::chrono::seconds time,
            const std::function<void(const Node &, const Segment &, Clock::time_point, long &)> &work)
{
    int ends[2];
    require(::pipe(ends), "pipe");
    for (unsigned i = 0; i < processes; i++) {
        if (::fork() == 0) {
            const Node node;
            const Segment segment(node);
            long rounds = 0;
            work(node, segment, Clock::now() + time, rounds);
            ::_exit(::write(ends[1], &rounds, sizeof(rounds)) == sizeof(rounds) ? 0 : 1);
        }
    }
    ::close(ends[1]);
    long all = 0;
    for (long rounds; ::read(ends[0], &rounds, sizeof(rounds)) == sizeof(rounds);)
        all += rounds;
    ::close(ends[0]);
    while (::wait(nullptr) > 0)
        ;
    return static_cast<double>(all) / static_cast<double>(time.count());
}

void map_and_unmap(const Node &node, const Segment &segment, Clock::time_point end, long &rounds)
{
    rsm_memseg_import_handle_t import = node.connect(segment.id());
    for (; Clock::now() < end; rounds++) {
        void *address = nullptr;
        require(rsm_memseg_import_map(import, &address, RSM_MAP_NONE, RSM_PERM_RDWR, 0, page), "map");
        *static_cast<volatile char *>(address) = 1;
        require(rsm_memseg_import_unmap(import), "unmap");
    }
}

void connect_and_disconnect(const Node &node, const Segment &segment, Clock::time_point end, long &rounds)
{
    for (; Clock::now() < end; rounds++)
        require(rsm_memseg_import_disconnect(node.connect(segment.id())), "disconnect");
}

template <class Work> void show_growth(const char *name, std::chrono::seconds time, const Work &work)
{
    const unsigned processors = std::max(std::thread::hardware_concurrency(), 2U);
    const double one = rate(1, time, work);
    const double all = rate(processors, time, work);
    std::printf("%-22s 1 process %8.0f/s   %u processes %8.0f/s   ratio %.2f\n", name, one, processors, all,
                all / one);
}

double percentile(std::vector<double> &values, double part)
{
    const auto nth = values.begin() + static_cast<std::ptrdiff_t>(part * double(values.size() - 1));
    std::nth_element(values.begin(), nth, values.end());
    return *nth;
}

Milliseconds taken_by(const std::function<void()> &body)
{
    const auto start = Clock::now();
    body();
    return Clock::now() - start;
}

// Connects of another process to a segment, which say how long each took; ends when the segment does.
class Visitor {
public:
    Visitor(const char *name, rsm_memseg_id_t segment, std::chrono::milliseconds time)
    {
        std::fflush(stdout);
        child_ = ::fork();
        if (child_ != 0)
            return;
        const Node node;
        std::vector<double> waits;
        for (const auto end = Clock::now() + time; Clock::now() < end;) {
            waits.push_back(taken_by([&] {
                                rsm_memseg_import_disconnect(node.connect(segment));
                            }).count());
        }
        std::printf("%-34s p50 %8.3f ms   p99 %8.3f ms   max %8.3f ms\n", name, percentile(waits, 0.5),
                    percentile(waits, 0.99), percentile(waits, 1));
        std::fflush(stdout);
        ::_exit(0);
    }
    bool here() const { return ::waitpid(child_, nullptr, WNOHANG) == 0; }

private:
    pid_t child_ = -1;
};

void show_waits(std::chrono::seconds time, std::size_t importers)
{
    const Node node;
    const Segment segment(node);
    std::vector<rsm_memseg_import_handle_t> imports(importers);
    for (auto &import : imports)
        import = node.connect(segment.id());
    std::printf("%zu importers of a segment\n", importers);
    const Visitor quiet("connect + disconnect, quiet", segment.id(), time);
    while (quiet.here())
        ::usleep(10000);
    std::vector<double> posts;
    const Visitor busy("connect + disconnect, under posts", segment.id(), time);
    while (busy.here())
        posts.push_back(taken_by([&] { rsm_intr_signal_post(segment.handle(), 0); }).count());
    std::printf("%-34s p50 %8.3f ms   p99 %8.3f ms   max %8.3f ms\n", "a post", percentile(posts, 0.5),
                percentile(posts, 0.99), percentile(posts, 1));
    std::printf("%-34s     %8.3f ms\n", "an unpublish",
                taken_by([&] { rsm_memseg_export_unpublish(segment.handle()); }).count());
}

} // namespace

int main(int argc, char **argv)
{
    const std::chrono::seconds time(argc > 1 ? std::max(std::atoi(argv[1]), 1) : 5);
    const std::size_t importers = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 50000;
    const rlimit many{importers + 1000, importers + 1000};
    require(::setrlimit(RLIMIT_NOFILE, &many), "limit of descriptors");
    show_growth("map + touch + unmap", time, map_and_unmap);
    show_growth("connect + disconnect", time, connect_and_disconnect);
    show_waits(time, importers);
    return 0;
}
