// SPDX-License-Identifier: GPL-2.0
// How long mmap() and munmap() take in one thread while another changes memory, with and without
// an export of that memory.
//
// usage: bench-stall MEBIBYTES free|store [SECONDS]
//   free    MADV_FREE of a page each millisecond
//   store   stores to all pages, which NUMA balancing moves or tries to move
#include <rsmapi.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sched.h>
#include <sys/mman.h>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t page = 4096;
constexpr int rounds = 20;

struct Memory {
    std::byte *start;
    std::size_t length;
};

void free_pages(const Memory &memory, const std::atomic<bool> &stop)
{
    for (std::size_t at = 0; !stop; at = (at + 61 * page) % memory.length) {
        ::madvise(memory.start + at, page, MADV_FREE);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

void run_on(unsigned processor)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    ::sched_setaffinity(0, sizeof(set), &set);
}

// Each round on the first processor or on the last one, and so now and then on another node than the
// memory. The thread that measures has a processor between them: else the p99 would be the scheduler's.
void store_to_pages(const Memory &memory, const std::atomic<bool> &stop)
{
    const unsigned processors = std::max(std::thread::hardware_concurrency(), 1U);
    for (unsigned round = 0; !stop; ++round) {
        run_on(round % 2 == 0 ? 0 : processors - 1);
        for (std::size_t at = 0; at < memory.length && !stop; at += page)
            memory.start[at] = static_cast<std::byte>(round);
    }
}

// Microseconds of each mmap() with munmap().
std::vector<double> measure(std::chrono::milliseconds time)
{
    std::vector<double> taken;
    for (const auto end = Clock::now() + time; Clock::now() < end;) {
        const auto start = Clock::now();
        void *mapping = ::mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        ::munmap(mapping, page);
        taken.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
    }
    return taken;
}

double percentile(std::vector<double> &values, double part)
{
    const auto nth = values.begin() + static_cast<std::ptrdiff_t>(part * double(values.size() - 1));
    std::nth_element(values.begin(), nth, values.end());
    return *nth;
}

void append(std::vector<double> &to, const std::vector<double> &from)
{
    to.insert(to.end(), from.begin(), from.end());
}

// Results of one run with an export, or without one.
struct Figures {
    std::vector<double> all;
    std::vector<double> p99s;
};

void add_round(Figures &figures, std::chrono::milliseconds time)
{
    std::vector<double> taken = measure(time);
    append(figures.all, taken);
    figures.p99s.push_back(percentile(taken, 0.99));
}

// The p99 is the middle one of the rounds: one round in which the kernel moved much memory, or the host
// had something else to do, would make the p99 of all.
double report(const char *name, Figures &figures)
{
    const double p99 = percentile(figures.p99s, 0.5);
    std::printf("%-9s p50 %8.2f us   p99 %8.2f us   max %10.2f us\n", name, percentile(figures.all, 0.5),
                p99, percentile(figures.all, 1));
    return p99;
}

} // namespace

int main(int argc, char **argv)
{
    const std::size_t length = argc > 2 ? std::strtoull(argv[1], nullptr, 10) << 20 : 0;
    const bool stores = argc > 2 && !std::strcmp(argv[2], "store");
    const std::chrono::milliseconds time(argc > 3 ? std::atoi(argv[3]) * 1000 / rounds / 2 : 1000);
    if (!length || (!stores && std::strcmp(argv[2], "free") != 0)) {
        std::fprintf(stderr, "usage: bench-stall MEBIBYTES free|store [SECONDS]\n");
        return 2;
    }
    void *start = ::mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    rsmapi_controller_handle_t controller = nullptr;
    if (start == MAP_FAILED || rsm_get_controller(nullptr, &controller) != RSM_SUCCESS)
        return 1;
    std::memset(start, 1, length);
    const Memory memory{static_cast<std::byte *>(start), length};

    std::atomic<bool> stop{false};
    std::thread other([&] { stores ? store_to_pages(memory, stop) : free_pages(memory, stop); });
    if (std::thread::hardware_concurrency() > 2)
        run_on(1);
    Figures without, with;
    int result = 0;
    // By turns, so that what else the machine does hits both.
    for (int round = 0; round < rounds && result == RSM_SUCCESS; ++round) {
        add_round(without, time);
        rsm_memseg_export_handle_t segment = nullptr;
        result = rsm_memseg_export_create(controller, &segment, start, length, 0);
        if (result != RSM_SUCCESS)
            break;
        add_round(with, time);
        result = rsm_memseg_export_destroy(segment);
    }
    stop = true;
    other.join();
    if (result != RSM_SUCCESS) {
        std::fprintf(stderr, "bench-stall: status %d\n", result);
        return 1;
    }
    const double before = report("without", without);
    std::printf("ratio of p99: %.2f\n", report("exported", with) / before);
    return 0;
}
