// Strides and walks over shapes, as elementwise operations, reductions and data movement need them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/reference/tensor.h"

namespace aot::reference {

using Strides = std::vector<int64_t>;

// Row-major strides in elements.
Strides ContiguousStrides(const Shape& shape);
// Product of the sizes of dimensions [begin, end).
int64_t SizeOfDimensions(const Shape& shape, size_t begin, size_t end);

// NumPy's broadcast of two shapes, or nullopt.
std::optional<Shape> BroadcastShape(const Shape& a, const Shape& b);
// Strides that read a row-major tensor of `shape` as if it had the shape `result`: 0 where it repeats. nullopt if it
// doesn't broadcast.
std::optional<Strides> BroadcastStrides(const Shape& shape, const Shape& result);

// Walks `shape` in row-major order, one call for each innermost row: row(position, offsets, length), where offsets[k]
// is the sum of index * strides[k] at the row's start. A scalar is one row of length 1.
template <size_t N, class Row>
void ForEachRow(const Shape& shape, const std::array<Strides, N>& strides, Row row) {
  size_t rank = shape.size();
  int64_t length = rank == 0 ? 1 : shape[rank - 1], rows = 1;
  for (size_t d = 0; d + 1 < rank; ++d) rows *= shape[d];
  if (length == 0) return;
  std::vector<int64_t> index(rank, 0);
  std::array<int64_t, N> offsets{};
  for (int64_t r = 0; r < rows; ++r) {
    row(r * length, offsets, length);
    for (size_t d = rank < 2 ? 0 : rank - 1; d-- > 0;) {
      for (size_t k = 0; k < N; ++k) offsets[k] += strides[k][d];
      if (++index[d] < shape[d]) break;
      for (size_t k = 0; k < N; ++k) offsets[k] -= strides[k][d] * shape[d];
      index[d] = 0;
    }
  }
}

// The stride of the innermost dimension; 0 for scalars.
inline int64_t InnerStride(const Strides& strides) { return strides.empty() ? 0 : strides.back(); }

}  // namespace aot::reference
