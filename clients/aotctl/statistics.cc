#include "clients/aotctl/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace aot::clients {

LatencyStatistics Describe(std::vector<double> samples) {
  LatencyStatistics result;
  if (samples.empty()) return result;
  std::sort(samples.begin(), samples.end());
  // The nearest rank of quantile q among n samples is ceil(q n), from 1.
  auto quantile = [&](double q) {
    double rank = std::ceil(q * static_cast<double>(samples.size()));
    return samples[static_cast<size_t>(std::max(rank, 1.0)) - 1];
  };
  result.median = quantile(0.5);
  result.p99_9 = quantile(0.999);
  result.least = samples.front();
  result.most = samples.back();
  result.mean = std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
  if (result.median > 0) result.jitter = (result.p99_9 - result.median) / result.median;
  return result;
}

}  // namespace aot::clients
