// Convolution with the attributes of the node and operands that may be other values than its inputs (the quantised
// operators use it).
#pragma once

#include "absl/status/statusor.h"
#include "compiler/import/onnx/node.h"

namespace aot::import::onnx {

// input [N, C, spatial...], filter [M, C/group, kernel...], bias [M] or absent. `result` is the element type of the
// sum.
absl::StatusOr<Value> Convolve(Node& n, const Value& input, const Value& filter, const Value& bias,
                               reference::ElementType result);

}  // namespace aot::import::onnx
