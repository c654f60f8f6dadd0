// The seam under the math functions: one source, written once over a backend `B`, runs on plain floats
// (scalar_backend.h, for reference/) and emits IR for code generation. Folding and running then agree to the bit,
// except where a target fuses multiply-add and the host doesn't.
//
// A backend has
//   types   F  a float value, I  an integer of the same width, M  a truth value (all of them may be vectors)
//   width   static constexpr bool kDouble: F is float64 and I int64, else they are float32 and int32
//   values  F Constant(double)  I ConstantInt(int64_t)
//   floats  F Add Sub Mul Div(F, F)  F MulAdd(F a, F b, F c): a * b + c, fused or rounded twice  F Neg Abs Sqrt(F)  F
//   Round(F): to even ints    I AddInt SubInt MulInt AndInt OrInt XorInt(I, I), all wrapping
//           I ShlInt(I, int)  I ShrInt(I, int): arithmetic  I ShrLogical(I, int)
//   moves   I Bits(F)  F FromBits(I): the IEEE 754 pattern  I ToInt(F): truncates; called in int32 range only  F
//   ToFloat(I) tests   M Less LessEqual Equal Greater(F, F): false with NaN  M IsNan(F)  M LessInt EqualInt(I, I)
//           M And Or(M, M)  M Not(M)
//   choice  F Select(M, F, F)  I SelectInt(M, I, I)
//   rarely  std::array<F, 2> IfAny(M m, f): f() if m holds anywhere, else any values at all
//   wide    Wide(): of float32, the backend of as many doubles; F of that Extend(F)  F Truncate(F of that)
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
// Adding this to a float of magnitude below 2^22 leaves its nearest integer (ties to even) in the low mantissa bits.
constexpr float kRoundMagic = 12582912.0f;  // 1.5 * 2^23
constexpr int32_t kRoundMagicBits = 0x4B400000;

// c[0] + c[1] x + ... by Horner's rule.
template <class B, class Coefficient, int N>
F<B> Polynomial(B& b, F<B> x, const Coefficient (&c)[N]) {
  F<B> sum = b.Constant(c[N - 1]);
  for (int i = N - 2; i >= 0; --i) sum = b.MulAdd(sum, x, b.Constant(c[i]));
  return sum;
}

template <class B>
I<B> SignOf(B& b, F<B> x) {
  return b.AndInt(b.Bits(x), b.ConstantInt(B::kDouble ? INT64_MIN : INT32_MIN));
}

// magnitude with `sign` (of SignOf) flipped in: what makes odd functions exact at -0.
template <class B>
F<B> FlipSign(B& b, F<B> magnitude, I<B> sign) {
  return b.FromBits(b.XorInt(b.Bits(magnitude), sign));
}

// NaN passes through both.
template <class B>
F<B> AtMost(B& b, F<B> x, double limit) {
  return b.Select(b.Greater(x, b.Constant(limit)), b.Constant(limit), x);
}
template <class B>
F<B> AtLeast(B& b, F<B> x, double limit) {
  return b.Select(b.Less(x, b.Constant(limit)), b.Constant(limit), x);
}

// Exact sum: high + low = a + b.
template <class B>
struct Pair {
  F<B> high, low;
};
template <class B>
Pair<B> TwoSum(B& b, F<B> x, F<B> y) {
  F<B> sum = b.Add(x, y);
  F<B> y_part = b.Sub(sum, x);
  F<B> x_part = b.Sub(sum, y_part);
  return {sum, b.Add(b.Sub(x, x_part), b.Sub(y, y_part))};
}

// Exact product (while nothing underflows), by splitting in halves: right with and without fused multiply-add.
template <class B>
Pair<B> TwoProduct(B& b, F<B> x, F<B> y) {
  I<B> mask = b.ConstantInt(B::kDouble ? ~((int64_t{1} << 27) - 1) : ~int64_t{0xFFF});
  F<B> xh = b.FromBits(b.AndInt(b.Bits(x), mask)), xl = b.Sub(x, xh);
  F<B> yh = b.FromBits(b.AndInt(b.Bits(y), mask)), yl = b.Sub(y, yh);
  F<B> product = b.Mul(x, y);
  F<B> error = b.Sub(b.Mul(xh, yh), product);
  error = b.Add(error, b.Mul(xh, yl));
  error = b.Add(error, b.Mul(xl, yh));
  return {product, b.Add(error, b.Mul(xl, yl))};
}

// The values that log has outside the finite positive numbers.
template <class B>
F<B> LogSpecial(B& b, F<B> x, F<B> regular) {
  regular = b.Select(b.Less(x, b.Constant(kInfinity)), regular, x);  // +inf and NaN are their own logarithms
  regular = b.Select(b.Equal(x, b.Constant(0.0f)), b.Constant(-kInfinity), regular);
  return b.Select(b.Less(x, b.Constant(0.0f)), b.Constant(kNan), regular);
}

}  // namespace detail
}  // namespace aot::math
