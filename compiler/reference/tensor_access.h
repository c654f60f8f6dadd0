// Whole tensors as arrays of the four types that the reference computes in.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "absl/types/span.h"
#include "compiler/reference/tensor.h"

namespace aot::reference {

// The values of a tensor as T: float or double from floats of any width (as a narrower float only where the value has
// no more digits), int64_t or uint64_t from integers and booleans. Floats and integers don't mix. Aligned data of the
// very type isn't copied, so the tensor must outlive the values.
template <class T>
class Values {
 public:
  explicit Values(const Tensor& tensor);
  const T& operator[](int64_t i) const { return data_[i]; }
  const T* data() const { return data_; }
  int64_t size() const { return size_; }

 private:
  std::vector<T> copy_;  // moving a vector keeps its elements in place, so data_ survives a move of this
  const T* data_;
  int64_t size_;

 public:
  Values(Values&&) = default;
  Values(const Values&) = delete;
  Values& operator=(const Values&) = delete;
};

// A tensor of the given values: floats rounded to the element type, integers wrapped to its width.
template <class T>
Tensor FromValues(const TensorType& type, absl::Span<const T> values);

// The type that operations on elements of `type` compute in: float for floats up to 32 bits, double, uint64_t for
// uint64, int64_t for other integers and booleans.
enum class Compute : uint8_t { kFloat, kDouble, kSigned, kUnsigned, kNone };
inline Compute ComputeTypeOf(ElementType type) {
  if (type == ElementType::kFloat64) return Compute::kDouble;
  if (IsFloat(type)) return Compute::kFloat;
  if (type == ElementType::kUint64) return Compute::kUnsigned;
  if (IsSignedInteger(type) || IsUnsignedInteger(type) || type == ElementType::kBool) return Compute::kSigned;
  return Compute::kNone;
}

// Calls function(T{}) with the compute type of `type`; the caller has excluded kNone (see Call::RequireNumeric).
template <class Function>
auto WithComputeType(ElementType type, Function&& function) {
  switch (ComputeTypeOf(type)) {
    case Compute::kFloat:
      return function(float{});
    case Compute::kDouble:
      return function(double{});
    case Compute::kUnsigned:
      return function(uint64_t{});
    default:
      return function(int64_t{});
  }
}

// Copies elements of one tensor to another of the same element type. Ranges must be inside.
void CopyElements(const Tensor& from, int64_t from_index, Tensor& to, int64_t to_index, int64_t count);

}  // namespace aot::reference
