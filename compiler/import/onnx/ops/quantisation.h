// Quantisation that operators of more than one family use.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "compiler/import/onnx/node.h"

namespace aot::import::onnx {

struct Quantised {
  Value value, scale, zero_point;  // scalars for the whole tensor
};
// To uint8, with a scale from the extremes of the tensor and 0.
Quantised QuantiseDynamically(Builder& b, const Value& x);

// The handlers of ONNX's operators of these names, which com.microsoft has too.
absl::StatusOr<std::vector<Value>> ImportQuantizeLinear(Node& n);
absl::StatusOr<std::vector<Value>> ImportDequantizeLinear(Node& n);

}  // namespace aot::import::onnx
