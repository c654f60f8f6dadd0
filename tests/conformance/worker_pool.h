// Many small pieces of work in a few forked processes: cheaper than a process for each, and a crash or a hang still
// costs one piece only.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "absl/time/time.h"

namespace aot::tests {

struct WorkResult {
  std::string value;    // what the work returned; meaningful if `failure` is empty
  std::string failure;  // "killed by signal 11 (Segmentation fault)", "took longer than 60 s"
};

struct WorkerOptions {
  int jobs = 1;                                 // processes at the same time
  absl::Duration limit = absl::Seconds(120);    // for one piece; the process is killed
  size_t pieces_per_process = 200;              // then a fresh one takes over, so that leaks don't add up
  size_t memory_limit_bytes = size_t{8} << 30;  // address space of a process
};

// Calls work(i) for each i below `count` in worker processes and done(i, result) in the caller's, in no fixed order. A
// worker that dies is replaced; the piece that it was at is a failure, the others aren't touched. The calling process
// must have no other threads. Works on Linux.
void RunInWorkers(size_t count, const WorkerOptions& options, const std::function<std::string(size_t)>& work,
                  const std::function<void(size_t, const WorkResult&)>& done);

}  // namespace aot::tests
