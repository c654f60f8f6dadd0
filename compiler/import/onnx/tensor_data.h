// The elements of TensorProto and SparseTensorProto messages as tensors.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "compiler/import/onnx/proto_reader.h"
#include "compiler/reference/tensor.h"

namespace aot::import::onnx {

constexpr int kHighestRank = 16;
// The largest tensor that an import accepts, as a constant or as an intermediate result; far above what any target
// holds, far below where byte sizes overflow.
constexpr int64_t kMostTensorBytes = int64_t{1} << 40;

// Checks rank, dimensions, and that the size in bytes is at most kMostTensorBytes.
absl::Status CheckShape(reference::ElementType element, absl::Span<const int64_t> shape);

// UNIMPLEMENTED for types that ONNX has and no operation takes (strings), INVALID_ARGUMENT for numbers that no type
// has.
absl::StatusOr<reference::ElementType> ToElementType(int64_t onnx_data_type);

// Where the bytes of tensors live. `external` holds the blobs of external data by location; locations are looked up,
// never opened.
struct TensorStorage {
  std::shared_ptr<const void> owner;  // of the messages
  const std::map<std::string, std::string>* external = nullptr;
};

// Points into the message (or the external blob) where the bytes are stored as in a tensor, else converts.
absl::StatusOr<reference::Tensor> ReadTensor(const TensorProto& proto, const TensorStorage& storage);
// Dense, with zeros in between.
absl::StatusOr<reference::Tensor> ReadSparseTensor(const SparseTensorProto& proto, const TensorStorage& storage);

}  // namespace aot::import::onnx
