// Scalar conversions between numbers, with one defined result for every input; shared by cast and quantisation.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "compiler/reference/tensor.h"

namespace aot::reference {

// The range of an integer type narrower than 64 bits, or of int64.
struct IntegerRange {
  int64_t low, high;
};
inline IntegerRange RangeOf(ElementType type) {
  switch (type) {
    case ElementType::kInt8:
      return {-128, 127};
    case ElementType::kUint8:
      return {0, 255};
    case ElementType::kInt16:
      return {-32768, 32767};
    case ElementType::kUint16:
      return {0, 65535};
    case ElementType::kInt32:
      return {INT32_MIN, INT32_MAX};
    case ElementType::kUint32:
      return {0, UINT32_MAX};
    case ElementType::kInt4:
      return {-8, 7};
    case ElementType::kUint4:
      return {0, 15};
    case ElementType::kInt2:
      return {-2, 1};
    case ElementType::kUint2:
      return {0, 3};
    case ElementType::kBool:
      return {0, 1};
    default:
      return {INT64_MIN, INT64_MAX};
  }
}

// Truncates toward zero; NaN is 0, what lies outside the type becomes its nearest value. uint64 comes back as its bit
// pattern.
inline int64_t FloatToInteger(double x, ElementType type) {
  constexpr double kTwo63 = 9223372036854775808.0;
  if (x != x) return 0;
  if (type == ElementType::kUint64) {
    if (x <= 0) return 0;
    return static_cast<int64_t>(x >= 2 * kTwo63 ? UINT64_MAX : static_cast<uint64_t>(x));
  }
  IntegerRange range = RangeOf(type);
  if (x >= kTwo63) return range.high;
  if (x < -kTwo63) return range.low;
  return std::clamp(static_cast<int64_t>(x), range.low, range.high);
}

// A double that rounds to the same float, of whatever width up to 32 bits, as the integer does: beyond 2^53 the low
// bits are merged into one sticky bit, so that rounding twice is rounding once.
inline double IntegerToRoundableDouble(uint64_t magnitude, bool negative) {
  if (magnitude >> 53 != 0) magnitude = (magnitude & ~uint64_t{0xFFF}) | ((magnitude & 0xFFF) != 0 ? 0x800 : 0);
  double value = static_cast<double>(magnitude);
  return negative ? -value : value;
}

}  // namespace aot::reference
