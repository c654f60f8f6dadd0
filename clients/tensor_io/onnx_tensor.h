// ONNX's TensorProto files (.pb), as the ONNX backend suite keeps inputs and outputs.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/reference/tensor.h"

namespace aot::clients {

// A tensor with the name that its file or its place in a model gives it (may be empty).
struct NamedTensor {
  std::string name;
  reference::Tensor tensor;
};

// INVALID_ARGUMENT names `where` (the file) and what is wrong: not a TensorProto, data that doesn't fit the shape.
// UNIMPLEMENTED: external data, which a test vector never needs, and complex numbers.
absl::StatusOr<NamedTensor> ParseOnnxTensor(absl::string_view bytes, absl::string_view where);

// The values go to raw_data (strings to string_data), so any ONNX reader takes the file.
absl::StatusOr<std::string> SerializeOnnxTensor(absl::string_view name, const reference::Tensor& tensor);

}  // namespace aot::clients
