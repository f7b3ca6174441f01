// SPDX-License-Identifier: GPL-2.0
// Figures, and the one way in which all of them are timed.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace rsmperf {

struct Settings {
    unsigned processes = 5;     // processes that measure each figure, one after another
    unsigned rounds = 5;        // in each of them floor, figure, floor, figure ... this often
    unsigned batch_ms = 20;     // least time of one timed batch of short operations
    std::size_t large_mib = 64; // size of the segment in the map and export figures
    unsigned segments = 50000;  // published segments in the crowded connect figure
    std::string controller = "ivshmem0"; // leads to the node of the figures between nodes
    unsigned peer = 0;                   // that node; 0: measure loopback
    std::string host;                    // the other one of figures over RDMA
};

// Best times of one operation, of two kinds measured in the same run.
struct Times {
    double figure_ns = 0;
    double floor_ns = 0;
};

struct Row {
    std::string name;
    std::string figure;
    std::string floor;
    std::optional<double> at_most; // nothing: reported without a verdict
    Times (*run)(const Settings &);
};

// Runs an operation the given number of times.
using Batch = std::function<void(std::size_t)>;

// A batch of an operation that takes no argument.
template <typename Operation>
Batch repeat(Operation operation) {
    return [operation](std::size_t count) {
        for (; count > 0; count--) {
            operation();
        }
    };
}

// Best time per operation of both, measured in turns. Short operations are repeated until a
// batch lasts batch_ms.
Times compare(const Settings &settings, const Batch &figure, const Batch &floor);

// The same, one operation per batch: for operations that take milliseconds.
Times compare_single(const Settings &settings, const Batch &figure, const Batch &floor);

// The same for functions that take a time per operation themselves.
Times best_of(unsigned rounds, const std::function<double()> &figure,
              const std::function<double()> &floor);

// Time per operation of one batch of count operations.
double time_batch(const Batch &batch, std::size_t count);

// How many operations last batch_ms. Also warms the operation up.
std::size_t calibrate(const Settings &settings, const Batch &batch);

// Tells the compiler that memory behind the pointer is read and written here.
inline void touched(const void *pointer) {
    asm volatile("" : : "r"(pointer) : "memory");
}

} // namespace rsmperf
