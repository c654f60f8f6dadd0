// Pooling with the attributes of the node and an operand that may be another value than its input.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "compiler/import/onnx/node.h"

namespace aot::import::onnx {

// x is [N, C, spatial...]; `operation` max_pool, avg_pool or lp_pool.
absl::StatusOr<Value> Pool(Node& n, const Value& x, const std::string& operation);

}  // namespace aot::import::onnx
