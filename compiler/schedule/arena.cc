#include "compiler/schedule/arena.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace aot::schedule {
namespace {

int64_t Align(int64_t bytes) { return (bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment; }

}  // namespace

ArenaPlan PlanArena(const std::vector<ArenaRequest>& requests) {
  ArenaPlan plan;
  plan.offsets.assign(requests.size(), 0);
  std::vector<size_t> order(requests.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return requests[a].bytes > requests[b].bytes; });

  // Placed requests by the steps they live in, so that a request meets only its neighbours in time: buckets of steps
  // keep a long chain of short-lived values near-linear.
  int last = 0;
  for (const ArenaRequest& r : requests) last = std::max(last, r.last_step);
  const int bucket_steps = 16;
  std::vector<std::vector<size_t>> buckets(last / bucket_steps + 1);
  std::vector<int> seen(requests.size(), -1);
  for (size_t rank = 0; rank < order.size(); ++rank) {
    size_t i = order[rank];
    const ArenaRequest& request = requests[i];
    std::vector<size_t> together;
    for (int b = request.first_step / bucket_steps; b <= request.last_step / bucket_steps; ++b) {
      for (size_t other : buckets[b]) {
        if (seen[other] == static_cast<int>(rank)) continue;
        seen[other] = static_cast<int>(rank);
        if (requests[other].first_step <= request.last_step && request.first_step <= requests[other].last_step)
          together.push_back(other);
      }
    }
    std::sort(together.begin(), together.end(), [&](size_t a, size_t b) { return plan.offsets[a] < plan.offsets[b]; });
    int64_t offset = 0;
    for (size_t other : together) {
      if (offset + request.bytes <= plan.offsets[other]) break;
      offset = std::max(offset, Align(plan.offsets[other] + requests[other].bytes));
    }
    plan.offsets[i] = offset;
    plan.size = std::max(plan.size, offset + request.bytes);
    for (int b = request.first_step / bucket_steps; b <= request.last_step / bucket_steps; ++b) buckets[b].push_back(i);
  }

  std::map<int, int64_t> changes;
  for (const ArenaRequest& r : requests) {
    changes[r.first_step] += r.bytes;
    changes[r.last_step + 1] -= r.bytes;
    plan.without_reuse += r.bytes;
  }
  int64_t live = 0;
  for (auto [step, change] : changes) plan.lower_bound = std::max(plan.lower_bound, live += change);
  return plan;
}

}  // namespace aot::schedule
