// Tensors of the compiler outside MLIR: element types, shapes and bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace aot::reference {

// The values are those of onnx.TensorProto.DataType.
enum class ElementType : uint8_t {
  kUndefined = 0,
  kFloat32 = 1,
  kUint8 = 2,
  kInt8 = 3,
  kUint16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kFloat64 = 11,
  kUint32 = 12,
  kUint64 = 13,
  kComplex64 = 14,
  kComplex128 = 15,
  kBfloat16 = 16,
  kFloat8E4M3FN = 17,
  kFloat8E4M3FNUZ = 18,
  kFloat8E5M2 = 19,
  kFloat8E5M2FNUZ = 20,
  kUint4 = 21,
  kInt4 = 22,
  kFloat4E2M1 = 23,
  kFloat8E8M0 = 24,
  kUint2 = 25,
  kInt2 = 26,
};

// The type's name as messages and documents show it ("float32").
absl::string_view Name(ElementType type);
// Bits of one element as stored in a Tensor: 8 and more (sub-byte types take one byte each in memory); 0 for strings.
int StorageBits(ElementType type);
bool IsFloat(ElementType type);
bool IsSignedInteger(ElementType type);
bool IsUnsignedInteger(ElementType type);

using Shape = std::vector<int64_t>;
// Number of elements, or nullopt if a dimension is negative or the product overflows int64.
std::optional<int64_t> ElementCount(absl::Span<const int64_t> shape);
// "1x3x48x320", or "scalar" for rank 0.
std::string ToString(absl::Span<const int64_t> shape);

struct TensorType {
  ElementType element = ElementType::kUndefined;
  Shape shape;
  bool operator==(const TensorType& o) const { return element == o.element && shape == o.shape; }
};

// A dense row-major tensor. Copies share the bytes; `owner` keeps them alive (null: the creator vouches that the bytes
// outlive the tensor, as for weights that point into an uploaded model). Bytes may be unaligned: use Get/Set or the
// typed helpers of tensor_access.h. Strings are kept in `strings`.
class Tensor {
 public:
  Tensor() = default;
  // Zero-initialised storage of its own. The element count must be valid (see ElementCount).
  explicit Tensor(TensorType type);
  Tensor(TensorType type, std::shared_ptr<const void> owner, absl::Span<const uint8_t> bytes);

  const TensorType& type() const { return type_; }
  ElementType element() const { return type_.element; }
  const Shape& shape() const { return type_.shape; }
  int64_t size() const { return count_; }
  absl::Span<const uint8_t> bytes() const { return bytes_; }
  // The bytes of a tensor made by the first constructor and not yet shared.
  absl::Span<uint8_t> mutable_bytes();

  // One element converted: floats of any width to and from double, integers and booleans to and from int64 (uint64
  // wraps).
  double GetFloat(int64_t index) const;
  int64_t GetInt(int64_t index) const;
  void SetFloat(int64_t index, double value);
  void SetInt(int64_t index, int64_t value);

  std::shared_ptr<std::vector<std::string>> strings;

 private:
  TensorType type_;
  int64_t count_ = 0;
  std::shared_ptr<const void> owner_;
  absl::Span<const uint8_t> bytes_;
};

}  // namespace aot::reference
