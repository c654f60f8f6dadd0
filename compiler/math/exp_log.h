// exp, expm1, log, log1p, pow, sigmoid and softplus over a backend (backend.h), for float32 here, for float64 through
// double_exp_log.h. No calls to a math library.
//
// Error of float32 against the exact value, anywhere in the range (functions_test.cc): exp, log 1 ulp; expm1, log1p,
// ExpOfNegative 1.5 ulp; sigmoid (both 0 for what is about 2^-126), softplus 3 ulp; pow a relative 2e-6. Overflow gives
// infinity, underflow the right subnormal or zero, NaN gives NaN. Polynomials are minimax fits (relative error below
// 2^-27 before rounding) made for this file.
#pragma once

#include "compiler/math/double_exp_log.h"

namespace aot::math {
namespace detail {

constexpr float kLog2E = 1.44269504f;
// ln 2 in two parts; the first has 9 significant bits, so that its product with an exponent is exact without fusing.
constexpr float kLn2High = 0.693359375f;
constexpr float kLn2Low = -2.12194440e-4f;

// x = n ln 2 + r with |r| <= ln 2 / 2; valid for |x| below 2^20. NaN gives r = NaN and any n.
template <class B>
struct ExpReduction {
  F<B> n_float, r;
  I<B> n;
};
template <class B>
ExpReduction<B> ReduceExp(B& b, F<B> x) {
  F<B> shifted = b.Add(b.Mul(x, b.Constant(kLog2E)), b.Constant(kRoundMagic));
  F<B> n = b.Sub(shifted, b.Constant(kRoundMagic));
  F<B> r = b.MulAdd(n, b.Constant(-kLn2High), x);
  r = b.MulAdd(n, b.Constant(-kLn2Low), r);
  return {n, r, b.SubInt(b.Bits(shifted), b.ConstantInt(kRoundMagicBits))};
}

// e^r - 1 for |r| <= ln 2 / 2.
template <class B>
F<B> ExpMinusOneReduced(B& b, F<B> r) {
  static constexpr float kQ[] = {5.000000095e-01f, 1.666651872e-01f, 4.166620543e-02f, 8.368903613e-03f,
                                 1.395051583e-03f};
  return b.MulAdd(b.Mul(r, r), Polynomial(b, r, kQ), r);
}

// 2^n for -126 <= n <= 127.
template <class B>
F<B> PowerOfTwo(B& b, I<B> n) {
  return b.FromBits(b.ShlInt(b.AddInt(n, b.ConstantInt(127)), 23));
}

// value * 2^n for |n| <= 250, in two steps so that subnormal results are rounded once and only real overflow is
// infinite.
template <class B>
F<B> ScaleByPowerOfTwo(B& b, F<B> value, I<B> n) {
  I<B> half = b.ShrInt(n, 1);
  return b.Mul(b.Mul(value, PowerOfTwo(b, half)), PowerOfTwo(b, b.SubInt(n, half)));
}

// e^(x + low) * 2^shift; low is a correction far smaller than x.
template <class B>
F<B> ExpScaled(B& b, F<B> x, F<B> low, int shift) {
  if constexpr (B::kDouble) return ExpScaledDouble(b, x, low, shift);
  x = AtLeast(b, AtMost(b, x, 110.0f), -110.0f);
  ExpReduction<B> reduced = ReduceExp(b, x);
  F<B> r = b.Add(reduced.r, low);
  F<B> e = b.Add(ExpMinusOneReduced(b, r), b.Constant(1.0f));
  return ScaleByPowerOfTwo(b, e, b.AddInt(reduced.n, b.ConstantInt(shift)));
}

// x = m 2^e with m in [sqrt(1/2), sqrt(2)) and f = m - 1 (exact), for finite x > 0 including subnormals.
template <class B>
struct LogReduction {
  F<B> f, e;
};
template <class B>
LogReduction<B> ReduceLog(B& b, F<B> x) {
  constexpr int32_t kSqrtHalfBits = 0x3F3504F3;
  M<B> subnormal = b.Less(x, b.Constant(1.17549435e-38f));
  x = b.Select(subnormal, b.Mul(x, b.Constant(8388608.0f)), x);
  I<B> offset = b.SubInt(b.Bits(x), b.ConstantInt(kSqrtHalfBits));
  I<B> e = b.AddInt(b.ShrInt(offset, 23), b.SelectInt(subnormal, b.ConstantInt(-23), b.ConstantInt(0)));
  I<B> m = b.AddInt(b.AndInt(offset, b.ConstantInt(0x007FFFFF)), b.ConstantInt(kSqrtHalfBits));
  return {b.Sub(b.FromBits(m), b.Constant(1.0f)), b.ToFloat(e)};
}

// (log(1 + f) - f + f^2 / 2) / f^3 for f of ReduceLog.
template <class B>
F<B> LogTail(B& b, F<B> f) {
  static constexpr float kP[] = {3.333331044e-01f,  -2.499998663e-01f, 2.000222670e-01f,
                                 -1.666924946e-01f, 1.421865543e-01f,  -1.238437030e-01f,
                                 1.187301627e-01f,  -1.178969558e-01f, 6.915146950e-02f};
  return Polynomial(b, f, kP);
}

// log x of finite x > 0 as a sum of two floats, good to about 2^-27.
template <class B>
Pair<B> LogPair(B& b, F<B> x) {
  if constexpr (B::kDouble) return LogPairDouble(b, x);
  LogReduction<B> reduced = ReduceLog(b, x);
  F<B> f = reduced.f;
  Pair<B> square = TwoProduct(b, f, f);
  F<B> tail = b.Mul(b.Mul(square.high, f), LogTail(b, f));
  Pair<B> s1 = TwoSum(b, b.Mul(reduced.e, b.Constant(kLn2High)), f);
  Pair<B> s2 = TwoSum(b, s1.high, b.Mul(square.high, b.Constant(-0.5f)));
  F<B> low = b.MulAdd(square.low, b.Constant(-0.5f), b.Add(s1.low, s2.low));
  low = b.Add(low, b.MulAdd(reduced.e, b.Constant(kLn2Low), tail));
  return TwoSum(b, s2.high, low);
}

}  // namespace detail

template <class B>
F<B> Exp(B& b, F<B> x) {
  if constexpr (B::kDouble) return detail::ExpScaledDouble(b, x, b.Constant(0.0), 0);
  x = detail::AtLeast(b, detail::AtMost(b, x, 110.0f), -110.0f);
  detail::ExpReduction<B> reduced = detail::ReduceExp(b, x);
  F<B> e = b.Add(detail::ExpMinusOneReduced(b, reduced.r), b.Constant(1.0f));
  return detail::ScaleByPowerOfTwo(b, e, reduced.n);
}

// e^x - 1 without cancellation near 0; -0 gives -0.
template <class B>
F<B> Expm1(B& b, F<B> x) {
  if constexpr (B::kDouble) return detail::Expm1Double(b, x);
  F<B> limited = detail::AtLeast(b, detail::AtMost(b, x, 89.0f), -30.0f);
  detail::ExpReduction<B> reduced = detail::ReduceExp(b, limited);
  F<B> p = detail::ExpMinusOneReduced(b, reduced.r);
  // 2^n p + (2^n - 1), at half size because 2^128 is not a float; twice the result is exact or a real overflow.
  F<B> half = detail::ScaleByPowerOfTwo(b, b.Constant(0.5f), reduced.n);
  F<B> result = b.MulAdd(half, p, b.Sub(half, b.Constant(0.5f)));
  result = b.Add(result, result);
  return b.Select(b.Equal(x, b.Constant(0.0f)), x, result);
}

template <class B>
F<B> Log(B& b, F<B> x) {
  if constexpr (B::kDouble) return detail::LogDouble(b, x);
  detail::LogReduction<B> reduced = detail::ReduceLog(b, x);
  F<B> f = reduced.f, f2 = b.Mul(f, f);
  F<B> low = b.MulAdd(b.Mul(f2, f), detail::LogTail(b, f), b.Mul(reduced.e, b.Constant(detail::kLn2Low)));
  low = b.MulAdd(f2, b.Constant(-0.5f), low);
  F<B> result = b.MulAdd(reduced.e, b.Constant(detail::kLn2High), b.Add(low, f));
  return detail::LogSpecial(b, x, result);
}

// log(1 + x) without cancellation near 0; -0 gives -0.
template <class B>
F<B> Log1p(B& b, F<B> x) {
  F<B> one = b.Constant(1.0f);
  F<B> u = b.Add(one, x);
  // What the sum lost, taken from the smaller addend.
  F<B> lost = b.Select(b.Less(x, one), b.Sub(x, b.Sub(u, one)), b.Sub(one, b.Sub(u, x)));
  F<B> result = b.Add(Log(b, u), b.Div(lost, u));
  // u = 0 and u = inf make the correction NaN where the logarithm is infinite.
  M<B> inside = b.And(b.Greater(u, b.Constant(0.0f)), b.Less(u, b.Constant(detail::kInfinity)));
  result = b.Select(inside, result, Log(b, u));
  return b.Select(b.Equal(x, b.Constant(0.0f)), x, result);
}

// e^x for x <= 0 (and NaN), with 0 for what is below 2^-126: in one step of scaling.
template <class B>
F<B> ExpOfNegative(B& b, F<B> x) {
  if constexpr (B::kDouble) return Exp(b, x);
  constexpr double kLeast = -87.3;
  F<B> limited = detail::AtLeast(b, x, kLeast);
  F<B> shifted = b.MulAdd(limited, b.Constant(detail::kLog2E), b.Constant(detail::kRoundMagic));
  F<B> n = b.Sub(shifted, b.Constant(detail::kRoundMagic));
  F<B> r = b.MulAdd(n, b.Constant(-detail::kLn2Low), b.MulAdd(n, b.Constant(-detail::kLn2High), limited));
  F<B> power = b.FromBits(b.AddInt(b.ShlInt(b.Bits(shifted), 23), b.ConstantInt(0x3F800000)));
  F<B> result = b.MulAdd(detail::ExpMinusOneReduced(b, r), power, power);
  return b.Select(b.Less(x, b.Constant(kLeast)), b.Constant(0.0f), result);
}

// 1 / (1 + e^-x). For doubles from e^-|x|, so that neither end overflows; for floats e^-x goes from 2^-126 to infinity,
// in one step of scaling: it stands in the inner loops of many networks.
template <class B>
F<B> Sigmoid(B& b, F<B> x) {
  if constexpr (!B::kDouble) {
    x = detail::AtLeast(b, detail::AtMost(b, x, 87.0f), -89.0f);
    F<B> shifted = b.MulAdd(x, b.Constant(-detail::kLog2E), b.Constant(detail::kRoundMagic));
    F<B> n = b.Sub(shifted, b.Constant(detail::kRoundMagic));
    F<B> r = b.MulAdd(n, b.Constant(-detail::kLn2Low), b.MulAdd(n, b.Constant(-detail::kLn2High), b.Neg(x)));
    F<B> e = b.Add(detail::ExpMinusOneReduced(b, r), b.Constant(1.0f));
    // The shift leaves nothing of the magic number.
    F<B> power = b.FromBits(b.AddInt(b.ShlInt(b.Bits(shifted), 23), b.ConstantInt(0x3F800000)));
    return b.Div(b.Constant(1.0f), b.MulAdd(e, power, b.Constant(1.0f)));
  }
  F<B> e = Exp(b, b.Neg(b.Abs(x)));
  F<B> numerator = b.Select(b.Less(x, b.Constant(0.0f)), e, b.Constant(1.0f));
  return b.Div(numerator, b.Add(b.Constant(1.0f), e));
}

// log(1 + e^x) = max(x, 0) + log1p(e^-|x|).
template <class B>
F<B> Softplus(B& b, F<B> x) {
  F<B> positive = b.Select(b.Less(x, b.Constant(0.0f)), b.Constant(0.0f), x);
  return b.Add(positive, Log1p(b, Exp(b, b.Neg(b.Abs(x)))));
}

// x^y with the special values of C's pow (Annex F): negative bases need integral exponents, pow(x, 0) = pow(1, y) = 1.
template <class B>
F<B> Pow(B& b, F<B> x, F<B> y) {
  F<B> zero = b.Constant(0.0f), one = b.Constant(1.0f), infinity = b.Constant(detail::kInfinity);
  F<B> magnitude = b.Abs(x), y_magnitude = b.Abs(y);

  detail::Pair<B> log = detail::LogPair(b, magnitude);
  // e^(y log |x|); far out only the sign counts, and the error terms may be NaN.
  detail::Pair<B> product = detail::TwoProduct(b, log.high, y);
  F<B> product_low = b.MulAdd(log.low, y, product.low);
  M<B> far = b.Not(b.Less(b.Abs(product.high), b.Constant(B::kDouble ? 800.0 : 110.0)));
  F<B> result = detail::ExpScaled(b, product.high, b.Select(far, zero, product_low), 0);

  // |x| of 0, 1 and infinity.
  M<B> y_negative = b.Less(y, zero);
  result = b.Select(b.Equal(magnitude, zero), b.Select(y_negative, infinity, zero), result);
  result = b.Select(b.Equal(magnitude, infinity), b.Select(y_negative, zero, infinity), result);
  result = b.Select(b.Equal(magnitude, one), one, result);

  // Negative bases: from 2^24 on every float is an even integer, from 2^53 on every double.
  M<B> large = b.Not(b.Less(y_magnitude, b.Constant(B::kDouble ? 0x1p53 : 0x1p24)));
  F<B> y_limited = b.Select(large, zero, y);
  I<B> y_int = b.ToInt(y_limited);
  M<B> integral = b.Equal(b.ToFloat(y_int), y_limited);
  I<B> odd = b.ShlInt(y_int, B::kDouble ? 63 : 31);
  M<B> base_negative = b.LessInt(b.Bits(x), b.ConstantInt(0));
  I<B> sign = b.SelectInt(b.And(base_negative, integral), odd, b.ConstantInt(0));
  result = detail::FlipSign(b, result, sign);
  M<B> finite_negative = b.And(b.Less(x, zero), b.Greater(x, b.Constant(-detail::kInfinity)));
  result = b.Select(b.And(finite_negative, b.Not(integral)), b.Constant(detail::kNan), result);

  result = b.Select(b.Or(b.IsNan(x), b.IsNan(y)), b.Constant(detail::kNan), result);
  return b.Select(b.Or(b.Equal(x, one), b.Equal(y, zero)), one, result);
}

}  // namespace aot::math
