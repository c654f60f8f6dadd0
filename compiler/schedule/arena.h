// The static memory plan: offsets for values that live during a range of steps, such that no two that live together
// overlap.
#pragma once

#include <cstdint>
#include <vector>

namespace aot::schedule {

// Alignment of every offset, in bytes: a cache line, and the widest vector.
inline constexpr int64_t kArenaAlignment = 64;

struct ArenaRequest {
  int64_t bytes = 0;
  int first_step = 0, last_step = 0;  // inclusive
};

struct ArenaPlan {
  std::vector<int64_t> offsets;  // one for each request
  int64_t size = 0;              // exact number of bytes
  int64_t lower_bound = 0;       // the largest sum of what lives at one step
  int64_t without_reuse = 0;     // the sum of all requests
};

// Greedy by size, as in "Efficient Memory Management for Deep Neural Net Inference" (Pisarchyk and Lee, 2020): the
// largest request first, each at the lowest offset that is free during its life. Deterministic.
ArenaPlan PlanArena(const std::vector<ArenaRequest>& requests);

}  // namespace aot::schedule
