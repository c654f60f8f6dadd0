// What a model's meta.json says that matters for comparing: how far apart two correct runs may be.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "clients/tensor_io/compare.h"
#include "compiler/reference/tensor.h"

namespace aot::tests {

// Noise is the difference that ONNX Runtime itself shows between no and all optimisations.
struct Meta {
  double noise_relative_to_max = 0;  // ort_all_vs_ref_rel_to_max
  double noise_max_abs = 0;          // ort_all_vs_ref_max_abs
};

// Noise of 0 if DIR/meta.json is missing or doesn't state it. INVALID_ARGUMENT if the file isn't JSON.
absl::StatusOr<Meta> ReadMeta(const std::string& model_directory);

// Floats: 1e-4 relative to the largest output, or 10 times the noise. 8-bit integers: exact, or where the noise is at
// least one quantisation step, that many steps. Wider integers: exact.
clients::Tolerance ToleranceFor(const Meta& meta, reference::ElementType element);

}  // namespace aot::tests
