// A model made ready for the peers: compiled, its inputs in a file, what it needs at least worked out.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/statusor.h"
#include "compiler/pipeline.h"
#include "tests/perf/machine.h"

namespace aot::perf {

struct PrepareOptions {
  std::string target;
  compiler::OptimizeFor optimize_for = compiler::OptimizeFor::kLatency;
  int opt_level = 3;
};

// Compiles DIR/model.onnx for the shapes of its first data set and writes OUT/model.so and OUT/inputs. Gives what is
// known without running: {"compile_seconds", "model_bytes", "artifact_bytes", "packed_weights_bytes", "arena_bytes",
// "least_seconds", "multiply_adds", "byte_products"}.
absl::StatusOr<nlohmann::json> PrepareModel(const std::string& directory, const std::string& out,
                                            const PrepareOptions& options, const Machine& machine);

}  // namespace aot::perf
