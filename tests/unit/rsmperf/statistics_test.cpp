// SPDX-License-Identifier: GPL-2.0
// Percentiles, and which samples are enough for them.
#include "statistics.hpp"

#include <gmock/gmock.h>
#include <numeric>

namespace {

using namespace rsmperf;
using testing::ElementsAre;

// 1, 2 ... count, the largest first.
Samples counted(std::size_t count) {
    Samples samples;
    for (std::size_t at = count; at > 0; at--) {
        samples.add(static_cast<double>(at));
    }
    return samples;
}

TEST(RsmperfPercentile, IsTheNearestRank) {
    std::vector<double> sorted(1000);
    std::iota(sorted.begin(), sorted.end(), 1);
    EXPECT_EQ(percentile(sorted, 0), 1);
    EXPECT_EQ(percentile(sorted, 0.5), 500);
    EXPECT_EQ(percentile(sorted, 0.99), 990);
    EXPECT_EQ(percentile(sorted, 0.999), 999);
    EXPECT_EQ(percentile(sorted, 1), 1000);
}

TEST(RsmperfPercentile, OfOneSampleIsThatSample) {
    EXPECT_EQ(percentile({7}, 0.5), 7);
    EXPECT_EQ(percentile({7}, 0.999), 7);
}

TEST(RsmperfSummary, SortsSamples) {
    const auto summary = summarise(counted(1000));
    EXPECT_EQ(summary.minimum, 1);
    EXPECT_EQ(summary.median, 500);
    EXPECT_EQ(summary.p99, 990);
    EXPECT_EQ(summary.p999, 999);
}

TEST(RsmperfSummary, HasNoPercentileOfFewerSamplesThanItTakes) {
    EXPECT_FALSE(summarise(counted(99)).p99);
    EXPECT_TRUE(summarise(counted(100)).p99);
    EXPECT_FALSE(summarise(counted(999)).p999);
    EXPECT_FALSE(summarise(Samples{}).median);
}

// Long batches have less of the clock in them than samples: the minimum is theirs.
TEST(RsmperfSummary, TakesTheMinimumFromBatches) {
    Samples samples;
    samples.best_ns = 5;
    samples.ns = {4, 9};
    EXPECT_EQ(summarise(samples).minimum, 5);
    EXPECT_EQ(summarise(samples).median, 4);
}

TEST(RsmperfSamples, OfSeveralProcessesAreOneSet) {
    Samples all;
    all.merge({.best_ns = 3, .operations_per_sample = 10, .ns = {3, 4}});
    all.merge({.best_ns = 2, .operations_per_sample = 20, .ns = {2}});
    EXPECT_EQ(all.best_ns, 2);
    EXPECT_EQ(all.operations_per_sample, 20U);
    EXPECT_THAT(all.ns, ElementsAre(3, 4, 2));
}

TEST(RsmperfSamples, AreDividedWithTheirMinimum) {
    auto samples = counted(2);
    samples.divide(2);
    EXPECT_EQ(samples.best_ns, 0.5);
    EXPECT_THAT(samples.ns, ElementsAre(1, 0.5));
}

} // namespace
