// One tensor in one file, the format by the file's extension: .npy, .pb (ONNX TensorProto), anything else raw
// little-endian values.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "clients/tensor_io/onnx_tensor.h"
#include "compiler/reference/tensor.h"

namespace aot::clients {

// "float32 1x3x48x320", as messages show a type.
std::string ToString(const reference::TensorType& type);

// Reads `path` as a tensor of the type that a model expects. Raw files have no type of their own and must have exactly
// its bytes; the type of other files must equal it. INVALID_ARGUMENT says which type the file has and which is wanted.
// Errors of ReadFile pass through.
absl::StatusOr<NamedTensor> ReadTensorFile(const std::string& path, const reference::TensorType& expected);

// Reads a .npy or .pb file, whatever its type. INVALID_ARGUMENT for a raw file, which doesn't state one.
absl::StatusOr<NamedTensor> ReadTypedTensorFile(const std::string& path);

absl::Status WriteTensorFile(const std::string& path, const NamedTensor& tensor);

// OK if the tensor has the type, else INVALID_ARGUMENT with both types and `where`.
absl::Status CheckType(const reference::Tensor& tensor, const reference::TensorType& expected, absl::string_view where);

}  // namespace aot::clients
