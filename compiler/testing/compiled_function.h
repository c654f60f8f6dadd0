// For tests: an nn function as text, compiled by the real stages 2 to 5, loaded by the real runtime and run beside
// reference/.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/reference/tensor.h"

namespace aot::testing {

// The best x86-64 description whose features this machine has.
std::string HostTarget();
// All descriptions whose code this machine runs.
std::vector<std::string> RunnableTargets();

struct Comparison {
  std::vector<reference::Tensor> got, want;
  // max |got - want| / max |want| over all float outputs; infinity if a shape, an integer or a NaN differs.
  double error = 0;
  size_t program_steps = 0;  // kernels that a run calls
};

// `module` holds `func.func @main` in the nn dialect. Inputs are random with this seed: floats in [-2, 2], bytes of all
// values, other integers in [-4, 4], booleans. With `states` (pairs of input and output) it runs `runs` times on one
// buffer for each pair, the reference with each value handed over; `got` and `want` are those of the last run.
absl::StatusOr<Comparison> CompileAndCompare(absl::string_view module, absl::string_view target, int opt_level,
                                             uint64_t seed,
                                             const std::vector<std::pair<unsigned, unsigned>>& states = {},
                                             int runs = 1);

}  // namespace aot::testing
