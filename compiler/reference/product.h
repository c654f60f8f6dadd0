// The matrix product under matmul and conv: c[m][n] = sum over k of a[m][k] * b[k][n], row-major.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "compiler/reference/call.h"
#include "compiler/reference/tensor_access.h"

namespace aot::reference {

// Sums of floats are kept in double, sums of integers wrap.
template <class T>
using Sum = std::conditional_t<std::is_floating_point_v<T>, double, uint64_t>;

// Writes all of c. The four-row, 512-column blocks keep the sums in the first-level cache; each sum adds k in ascending
// order.
template <class T>
void Multiply(int64_t m, int64_t n, int64_t k, const T* a, const T* b, Sum<T>* c) {
  constexpr int64_t kRows = 4, kColumns = 512;
  for (int64_t column = 0; column < n; column += kColumns) {
    int64_t width = std::min(kColumns, n - column);
    for (int64_t row = 0; row < m; row += kRows) {
      int64_t height = std::min(kRows, m - row);
      for (int64_t r = 0; r < height; ++r) std::fill_n(c + (row + r) * n + column, width, Sum<T>{0});
      for (int64_t i = 0; i < k; ++i) {
        const T* b_row = b + i * n + column;
        if (height == kRows) {
          Sum<T>*c0 = c + row * n + column, *c1 = c0 + n, *c2 = c1 + n, *c3 = c2 + n;
          const T* a_column = a + row * k + i;
          Sum<T> a0 = static_cast<Sum<T>>(a_column[0]), a1 = static_cast<Sum<T>>(a_column[k]);
          Sum<T> a2 = static_cast<Sum<T>>(a_column[2 * k]), a3 = static_cast<Sum<T>>(a_column[3 * k]);
          for (int64_t j = 0; j < width; ++j) {
            Sum<T> x = static_cast<Sum<T>>(b_row[j]);
            c0[j] += a0 * x;
            c1[j] += a1 * x;
            c2[j] += a2 * x;
            c3[j] += a3 * x;
          }
          continue;
        }
        for (int64_t r = 0; r < height; ++r) {
          Sum<T>* c_row = c + (row + r) * n + column;
          Sum<T> factor = static_cast<Sum<T>>(a[(row + r) * k + i]);
          for (int64_t j = 0; j < width; ++j) c_row[j] += factor * static_cast<Sum<T>>(b_row[j]);
        }
      }
    }
  }
}

// The transpose of a row-major rows x columns matrix.
template <class T>
std::vector<T> Transposed(const T* matrix, int64_t rows, int64_t columns) {
  std::vector<T> result(static_cast<size_t>(rows * columns));
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) result[static_cast<size_t>(c * rows + r)] = matrix[r * columns + c];
  }
  return result;
}

// The integers that quantised elements stand for, as int64: what a zero point is subtracted from fits in all of them.
inline Tensor Centred(Call& call, const Tensor& quantised, int64_t zero_point) {
  if (zero_point == 0) return quantised;
  if (!call.Require(!IsFloat(quantised.element()), "a zero point needs integer operands")) return quantised;
  Values<uint64_t> values(quantised);
  std::vector<uint64_t> centred(static_cast<size_t>(values.size()));
  for (size_t i = 0; i < centred.size(); ++i)
    centred[i] = values[static_cast<int64_t>(i)] - static_cast<uint64_t>(zero_point);
  return FromValues<uint64_t>({ElementType::kInt64, quantised.shape()}, centred);
}

}  // namespace aot::reference
