// The floating-point formats narrower than 32 bits, by rule instead of by case: float16, bfloat16, the float8 variants,
// float4.
#pragma once

#include <cstdint>

#include "compiler/reference/tensor.h"

namespace aot::reference {

// What happens to values beyond the largest finite one.
enum class Overflow : uint8_t {
  kSaturate,   // the largest finite value of that sign, infinities too; what ONNX calls saturate = 1
  kPropagate,  // infinity, or NaN where the format has none
};

// Value of a bit pattern. type is a float narrower than 32 bits.
double DecodeFloat(ElementType type, uint32_t bits);

// Bit pattern of the nearest value, ties to even. NaN stays NaN (float4, which has none: minus zero). float8e8m0
// holds powers of two only and rounds up; its negative arguments give NaN.
uint32_t EncodeFloat(ElementType type, double value, Overflow overflow);

}  // namespace aot::reference
