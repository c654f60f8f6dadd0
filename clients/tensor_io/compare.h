// Whether a computed tensor is what a reference says, within a stated tolerance.
#pragma once

#include <cstdint>
#include <string>

#include "compiler/reference/tensor.h"

namespace aot::clients {

struct Tolerance {
  // Floats: |computed - reference| <= relative_to_max * max|reference| over the tensor's finite values.
  double relative_to_max = 1e-4;
  // Integers: largest difference; 0 is exact.
  int64_t integer_steps = 0;
};

struct Comparison {
  bool equal = false;  // within the tolerance
  double max_difference =
      0;  // largest |computed - reference|; infinite if one of a pair is NaN or infinite and the other isn't
  double max_reference = 0;  // max|reference| over finite values
  int64_t worst_index = -1;  // flat index of the largest difference; -1 if all are equal
  // Says in what the tensors differ: types, or the worst element with both values and what was allowed. Empty if equal.
  std::string difference;

  // max_difference relative to max_reference; for integers max_difference itself.
  double relative = 0;
};

// Types (element and shape) are compared before values. NaN equals NaN, an infinity equals itself. Elements of 16-bit
// floats can't be nearer than their spacing: for them relative_to_max is at least 2^-10 (float16) or 2^-7 (bfloat16).
Comparison Compare(const reference::Tensor& computed, const reference::Tensor& reference, const Tolerance& tolerance);

}  // namespace aot::clients
