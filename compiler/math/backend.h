// The seam under the math functions: one source, written once over a backend `B`, runs on plain floats
// (scalar_backend.h, for reference/) and emits IR for code generation. Folding and running then agree to the bit,
// except where a target fuses multiply-add and the host doesn't.
//
// A backend has
//   types   F  a float32 value, I  an int32 value, M  a truth value (all of them may be vectors)
//   values  F Constant(float)  I ConstantInt(int32_t)
//   floats  F Add Sub Mul Div(F, F)  F MulAdd(F a, F b, F c): a * b + c, fused or rounded twice  F Neg Abs Sqrt(F)
//   ints    I AddInt SubInt MulInt AndInt OrInt XorInt(I, I), all wrapping
//           I ShlInt(I, int)  I ShrInt(I, int): arithmetic  I ShrLogical(I, int)
//   moves   I Bits(F)  F FromBits(I): the IEEE 754 pattern  I ToInt(F): truncates; called in int32 range only  F
//   ToFloat(I) tests   M Less LessEqual Equal Greater(F, F): false with NaN  M IsNan(F)  M LessInt EqualInt(I, I)
//           M And Or(M, M)  M Not(M)
//   choice  F Select(M, F, F)  I SelectInt(M, I, I)
//
// Rules for a backend: every operation rounds to nearest even; none may be reassociated or contracted beyond MulAdd
// (the functions use the 1.5 * 2^23 trick and exact error terms); subnormals are kept, not flushed.
#pragma once

#include <cstdint>

namespace aot::math {

// Short names for the types of a backend inside the functions.
template <class B>
using F = typename B::F;
template <class B>
using I = typename B::I;
template <class B>
using M = typename B::M;

namespace detail {

constexpr float kInfinity = __builtin_huge_valf();
constexpr float kNan = __builtin_nanf("");
constexpr int32_t kSignBit = INT32_MIN;
constexpr int32_t kMagnitudeBits = INT32_MAX;
// Adding this to a float of magnitude below 2^22 leaves its nearest integer (ties to even) in the low mantissa bits.
constexpr float kRoundMagic = 12582912.0f;  // 1.5 * 2^23
constexpr int32_t kRoundMagicBits = 0x4B400000;

// c[0] + c[1] x + ... by Horner's rule.
template <class B, int N>
F<B> Polynomial(B& b, F<B> x, const float (&c)[N]) {
  F<B> sum = b.Constant(c[N - 1]);
  for (int i = N - 2; i >= 0; --i) sum = b.MulAdd(sum, x, b.Constant(c[i]));
  return sum;
}

template <class B>
I<B> SignOf(B& b, F<B> x) {
  return b.AndInt(b.Bits(x), b.ConstantInt(kSignBit));
}

// magnitude with `sign` (kSignBit or 0) flipped in: what makes odd functions exact at -0.
template <class B>
F<B> FlipSign(B& b, F<B> magnitude, I<B> sign) {
  return b.FromBits(b.XorInt(b.Bits(magnitude), sign));
}

// NaN passes through both.
template <class B>
F<B> AtMost(B& b, F<B> x, float limit) {
  return b.Select(b.Greater(x, b.Constant(limit)), b.Constant(limit), x);
}
template <class B>
F<B> AtLeast(B& b, F<B> x, float limit) {
  return b.Select(b.Less(x, b.Constant(limit)), b.Constant(limit), x);
}

}  // namespace detail
}  // namespace aot::math
