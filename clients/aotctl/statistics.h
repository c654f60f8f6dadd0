// What a series of latencies says.
#pragma once

#include <vector>

namespace aot::clients {

// In the unit of the samples.
struct LatencyStatistics {
  double median = 0, p99_9 = 0, least = 0, most = 0, mean = 0;
  // How far the slow runs are from the usual one: (p99_9 - median) / median.
  double jitter = 0;
};

// Quantiles are samples (nearest rank), never interpolated. All zero for an empty series.
LatencyStatistics Describe(std::vector<double> samples);

}  // namespace aot::clients
