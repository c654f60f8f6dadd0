// Run-time indices: their types, and what happens to those out of range.
#pragma once

#include <algorithm>
#include <cstdint>

#include "compiler/reference/call.h"

namespace aot::reference {

inline void RequireIndices(Call& call, absl::string_view what, const Tensor& indices) {
  bool valid = indices.element() == ElementType::kInt64 || indices.element() == ElementType::kInt32;
  call.Require(valid, what, " has element type ", Name(indices.element()), ", needs int64 or int32");
}

// An index with negative ones counted from the end; may still be out of range.
inline int64_t Counted(int64_t index, int64_t size) { return index < 0 ? index + size : index; }

// The nearest valid index; size must be positive.
inline int64_t ClampedIndex(int64_t index, int64_t size) {
  return std::clamp<int64_t>(Counted(index, size), 0, size - 1);
}

// The rule of gather_elements and scatter_elements: indices have the rank of the tensor and are no longer than it but
// along the axis.
inline void RequireElementIndices(Call& call, const Shape& shape, const Shape& index_shape, size_t axis) {
  bool fits = shape.size() == index_shape.size();
  for (size_t d = 0; fits && d < shape.size(); ++d) fits = d == axis || index_shape[d] <= shape[d];
  call.Require(fits, "operand 1 (indices) of shape ", ToString(index_shape), " does not fit operand 0 of shape ",
               ToString(shape), " along axis ", axis);
}

}  // namespace aot::reference
