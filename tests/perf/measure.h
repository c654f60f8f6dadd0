// Time and peak memory of one piece of work, in a process of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace aot::perf {

struct Cost {
  std::string error;  // empty: the work was done
  double seconds = 0;
  double cpu_seconds = 0;   // of all threads
  int64_t peak_bytes = 0;   // resident set, what the process had before the work included
  int64_t start_bytes = 0;  // resident set before the work
};

// Runs `work` in a forked child; it gives an error or "". The child is killed after `limit_seconds`. Call it while this
// process has no other threads and little memory: a child has what its parent had, memory that was freed included.
Cost Measure(const std::function<std::string()>& work, int limit_seconds);

// Resident set of this process now, and its largest so far.
int64_t ResidentBytes();
int64_t PeakBytes();

}  // namespace aot::perf
