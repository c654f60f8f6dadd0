// Products that more than one operator family uses.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "compiler/import/onnx/node.h"

namespace aot::import::onnx {

// NumPy's matmul: vectors on either side, leading dimensions broadcast.
absl::StatusOr<Value> MatrixProduct(Node& n, const Value& lhs, const Value& rhs, reference::ElementType result);

// alpha A' B' + beta C with the inputs and attributes of ONNX's Gemm.
absl::StatusOr<Value> Gemm(Node& n);

// The handler of Einsum (einsum.cc).
absl::StatusOr<std::vector<Value>> ImportEinsum(Node& n);

}  // namespace aot::import::onnx
