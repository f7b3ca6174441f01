// SPDX-License-Identifier: GPL-2.0
// Figures, and the one way in which all of them are timed.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "point.hpp"
#include "statistics.hpp"

namespace rsmperf {

struct Settings {
    unsigned processes = 5;     // processes that measure each figure, one after another
    unsigned rounds = 5;        // in each of them floor, figure, floor, figure ... this often
    unsigned batch_ms = 20;     // least time of one timed batch of short operations
    unsigned samples = 100;     // of each round, for percentiles
    std::size_t large_mib = 64; // size of the segment in the map and export figures
    unsigned segments = 50000;  // published segments in the crowded connect figure
    std::string controller = "ivshmem0"; // leads to the node of the figures between nodes
    unsigned peer = 0;                   // that node; 0: measure loopback
    std::string host;                    // the other one of figures over RDMA
    bool native = false;                 // over the fake of /dev/rsm, where no kernel is needed
    Point point;                         // of the figure that is measured now
};

// Times of one operation, of two kinds measured in the same run.
struct Times {
    Samples figure;
    Samples floor;

    void divide(double by) {
        figure.divide(by);
        floor.divide(by);
    }
};

// Most figures are those of the processor: memory that both sides map. Others are those of rsm.ko.
enum class Needs { processor, kernel };

struct Row {
    std::string name;
    std::string figure;
    std::string floor;
    std::optional<double> at_most; // nothing: reported without a verdict
    Times (*run)(const Settings &);
    Axes axes = {}; // and what it is measured with if nothing else is asked for
    Needs needs = Needs::processor;
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

// Adds the times of one round.
using Round = std::function<void(Samples &)>;

// A round of a short operation: one batch that lasts batch_ms, which counts for the minimum, and
// then samples of few operations each, which count for percentiles. Calibrates first.
Round batches(const Settings &settings, const Batch &batch);
// A round is one time that the function takes itself.
Round single(std::function<double()> time);

// Times per operation of both, measured in turns. Short operations are repeated until a batch lasts
// batch_ms.
Times compare(const Settings &settings, const Batch &figure, const Batch &floor);

// The same, one operation per batch: for operations that take milliseconds.
Times compare_single(const Settings &settings, const Batch &figure, const Batch &floor);

// The same for rounds of any kind.
Times in_turns(const Settings &settings, const Round &figure, const Round &floor);

// Time per operation of one batch of count operations.
double time_batch(const Batch &batch, std::size_t count);

// How many operations last batch_ms. Also warms the operation up.
std::size_t calibrate(const Settings &settings, const Batch &batch);

// Tells the compiler that memory behind the pointer is read and written here.
inline void touched(const void *pointer) {
    asm volatile("" : : "r"(pointer) : "memory");
}

} // namespace rsmperf
