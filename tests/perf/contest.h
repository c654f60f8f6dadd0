// One model, all peers: starts, interleaved blocks, ratios.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tests/perf/prepare.h"

namespace aot::perf {

struct ContestOptions {
  PrepareOptions prepare;
  std::vector<std::string> peers;  // "ort", "opencv", beside our own
  std::string ort_library;         // libonnxruntime.so
  std::string programs;            // directory of the peers' programs
  int threads = 1;
  std::string cpus;    // that every peer is pinned to
  double seconds = 2;  // of timing, for each model and peer
};

// The model of a directory, with PrepareModel's members and "peers": for "aot" and each peer that can run it
//
//   {"load_to_first", "load_to_first_cpu", "first", "median", "least", "cpu", "cpu_least", "spread", "p99_9" (from 10
//   000 runs up), "runs",
//    "resident_bytes", "peak_bytes", "disk_bytes", "difference" (of our outputs from its, relative)},
//
// times in seconds a run; or {"error"}. And "ratios": for each peer its times over ours, and our memory over its:
// {"median", "least", "cpu", "load_to_first", "load_to_first_cpu", "resident"}. "share_of_limit": least_seconds over
// the CPU time of our runs.
absl::StatusOr<nlohmann::json> RunContest(const std::string& directory, const ContestOptions& options,
                                          const Machine& machine);

}  // namespace aot::perf
