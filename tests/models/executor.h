// Where the artifacts of the model tests run: in this process, or in the device runner under an emulator.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/reference/tensor.h"

namespace aot::tests {

struct Execution {
  std::vector<reference::Tensor> outputs;
  double median_seconds = 0;  // of one inference; 0 under an emulator, whose time says nothing
  int64_t arena_bytes = 0;
};

// One loaded artifact. Used by one thread.
class Executor {
 public:
  virtual ~Executor() = default;
  // Runs once, and if `timed`, some more times for the median.
  virtual absl::StatusOr<Execution> Run(const std::vector<reference::Tensor>& inputs, bool timed) = 0;
};

// Makes an executor from the `.so` form of an artifact.
using ExecutorFactory = std::function<absl::StatusOr<std::unique_ptr<Executor>>(const std::string& shared_object)>;

// In this process, through clients::Session.
ExecutorFactory InProcess();

// The device runner (runner.cc built for the target) under an emulator: `command` is the emulator with its arguments,
// `runner` the program. Each run writes its files to a directory of its own under TMPDIR or /tmp.
ExecutorFactory Emulated(const std::string& command, const std::string& runner);

}  // namespace aot::tests
