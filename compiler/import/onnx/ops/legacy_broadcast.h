// Broadcasting as it was before opset 7: only with the attribute `broadcast`, the second operand aligned at `axis`.
#pragma once

#include "absl/status/statusor.h"
#include "compiler/import/onnx/node.h"

namespace aot::import::onnx {

// The second input of a binary operator in a shape that broadcasts as NumPy would; from opset 7 on the input itself.
absl::StatusOr<Value> LegacyBroadcast(Node& n);

}  // namespace aot::import::onnx
