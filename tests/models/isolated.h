// Work in processes of its own, so that a crash, a hang or an abort of one piece is told and survived.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace aot::tests {

struct IsolatedResult {
  // What the work returned; meaningful if `failure` is empty.
  std::string value;
  // "killed by signal 11 (Segmentation fault)", "exit status 1", "took longer than 600 s": how the process ended
  // without a value.
  std::string failure;
  int64_t peak_memory_bytes = 0;
};

// Runs work(i) for each i below `count` in a forked process, at most `jobs` at a time, and calls done(i, result) in the
// caller's process, in order of i. The calling process must have no other threads. Works on Linux.
void RunIsolated(size_t count, int jobs, absl::Duration limit, const std::function<std::string(size_t)>& work,
                 const std::function<void(size_t, const IsolatedResult&)>& done);

}  // namespace aot::tests
