// One competitor of the comparison in a process of its own, so that its memory and CPU time are its own.
//
// A peer is a program: PEER MODEL INPUTS THREADS CPUS [LIBRARY], with CPUS a list like 1 or 0,1 that it pins itself to.
// It reads INPUTS (binding.h), then takes commands from stdin, a line each, and answers each with a line of JSON:
//
//   load          loads the model and runs it once: {"load_seconds", "first_seconds", "cpu"} (of both)
//   outputs FILE  writes what the first run gave (binding.h): {}
//   warm S        runs for S seconds: {"resident_bytes", "peak_bytes"} afterwards
//   block S       runs for S seconds and at least once, timing each: {"runs", "median", "least", "cpu"} (seconds a run)
//   summary       over all blocks: {"runs", "median", "least", "p99_9", "lower_quartile", "upper_quartile"}
//
// An answer {"error": "..."} ends it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tests/perf/binding.h"

namespace aot::perf {

struct PeerOptions {
  std::string model;
  std::vector<Binding> inputs;
  int threads = 1;
  std::string library;  // of peers that load one
};

class Peer {
 public:
  virtual ~Peer() = default;
  // From a file to a model that can run: what a started program does once. Timed. Library loading isn't part of it.
  virtual absl::Status Load() = 0;
  // One inference on the inputs, into memory that is reused.
  virtual absl::Status Run() = 0;
  // Of the last run: dense tensors of numbers, in the model's order.
  virtual absl::StatusOr<std::vector<Binding>> Outputs() = 0;
};

// Prepares everything that isn't loading: buffers for inputs, the library.
using PeerFactory = std::function<absl::StatusOr<std::unique_ptr<Peer>>(PeerOptions options)>;

// The whole program but the competitor.
int PeerMain(int argc, char** argv, const PeerFactory& factory);

}  // namespace aot::perf
