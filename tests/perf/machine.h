// What the machine can do at most, measured: the ceiling that results are held against.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "compiler/schedule_report.h"

namespace aot::perf {

// A cache, or memory, as a loop that reads sees it.
struct MemoryLevel {
  std::string name;
  int64_t capacity = 0;  // bytes that fit
  double bytes_per_second = 0;
};

struct Machine {
  std::string processor;
  int threads = 1;
  double flops = 0;     // of fused multiply-adds on 32-bit floats, each two operations
  double byte_ops = 0;  // of 8-bit dot products, each product two operations; 0: no such instruction is known here
  std::vector<MemoryLevel> levels;  // the fastest first
};

// The best of several short attempts, on the calling thread: pin it first. Half a second. With `threads` all figures
// but those of the shared levels are so many times one thread's.
Machine MeasureMachine(int threads);

// The sum over the steps of what each must take at least: its arithmetic at the peak or its bytes at the bandwidth,
// whichever takes longer. Of the `working_set`, each level delivers what it holds and the ones before it don't.
double LeastSeconds(const Machine& machine, const std::vector<compiler::ScheduledStep>& steps, int64_t working_set);

nlohmann::json ToJson(const Machine& machine);

}  // namespace aot::perf
