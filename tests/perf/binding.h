// Named tensors in one file: how the comparison hands inputs to the peers and takes outputs from them. Knows no
// compiler, so that a peer's memory is its own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace aot::perf {

struct Binding {
  std::string name;
  int dtype = 0;  // of onnx.TensorProto.DataType
  std::vector<int64_t> dims;
  std::vector<uint8_t> bytes;  // as they lie in memory
};

// A line of JSON with names, types, dimensions and sizes; then the bytes of all, one after the other.
absl::Status WriteBindings(const std::string& path, const std::vector<Binding>& bindings);
absl::StatusOr<std::vector<Binding>> ReadBindings(const std::string& path);

// The largest difference of two lists of float tensors, relative to the largest element of `reference`. Integer outputs
// count as numbers. Negative: they have nothing to compare (another number of outputs or elements, other types).
double RelativeDifference(const std::vector<Binding>& outputs, const std::vector<Binding>& reference);

}  // namespace aot::perf
