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
constexpr int rounds = 5;

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

// Each round on another processor, and so now and then on another node than the memory.
void store_to_pages(const Memory &memory, const std::atomic<bool> &stop)
{
    const unsigned processors = std::max(std::thread::hardware_concurrency(), 1U);
    for (unsigned round = 0; !stop; ++round) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(round % processors, &set);
        ::sched_setaffinity(0, sizeof(set), &set);
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

void report(const char *name, std::vector<double> &values)
{
    std::printf("%-9s p50 %8.2f us   p99 %8.2f us   max %10.2f us\n", name, percentile(values, 0.5),
                percentile(values, 0.99), percentile(values, 1));
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
    std::vector<double> without, with;
    int result = 0;
    // By turns, so that what else the machine does hits both.
    for (int round = 0; round < rounds && result == RSM_SUCCESS; ++round) {
        append(without, measure(time));
        rsm_memseg_export_handle_t segment = nullptr;
        result = rsm_memseg_export_create(controller, &segment, start, length, 0);
        if (result != RSM_SUCCESS)
            break;
        append(with, measure(time));
        result = rsm_memseg_export_destroy(segment);
    }
    stop = true;
    other.join();
    if (result != RSM_SUCCESS) {
        std::fprintf(stderr, "bench-stall: status %d\n", result);
        return 1;
    }
    report("without", without);
    report("exported", with);
    std::printf("ratio of p99: %.2f\n", percentile(with, 0.99) / percentile(without, 0.99));
    return 0;
}
