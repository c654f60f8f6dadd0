// exp, expm1, log and pow for float64 over a backend (backend.h): what exp_log.h gives for backends of doubles. Series
// and not fits: at this precision they need few terms more. No calls to a math library.
//
// Error (functions_test.cc): exp, log 1 ulp, expm1 2 ulp, pow 1 ulp; a power that is a double comes out exactly.
#pragma once

#include "compiler/math/backend.h"

namespace aot::math::detail {

// ln 2 in two parts; the first has 40 bits, so that its product with an exponent is exact.
constexpr double kLn2HighDouble = 0x1.62e42fefa2p-1;
constexpr double kLn2LowDouble = 0x1.9ef35793c7673p-41;
constexpr double kRoundMagicDouble = 0x1.8p52;  // kRoundMagic for doubles
constexpr int64_t kRoundMagicDoubleBits = 0x4338000000000000;

// 2^n for -1022 <= n <= 1023.
template <class B>
F<B> PowerOfTwoDouble(B& b, I<B> n) {
  return b.FromBits(b.ShlInt(b.AddInt(n, b.ConstantInt(1023)), 52));
}

// value * 2^n for |n| <= 2000, rounded once.
template <class B>
F<B> ScaleByPowerOfTwoDouble(B& b, F<B> value, I<B> n) {
  I<B> half = b.ShrInt(n, 1);
  return b.Mul(b.Mul(value, PowerOfTwoDouble(b, half)), PowerOfTwoDouble(b, b.SubInt(n, half)));
}

// x + low = n ln 2 + r + r_low with |r| <= ln 2 / 2, for |x| below 2^40.
template <class B>
struct ExpReductionDouble {
  F<B> r, r_low;
  I<B> n;
};
template <class B>
ExpReductionDouble<B> ReduceExpDouble(B& b, F<B> x) {
  F<B> shifted = b.Add(b.Mul(x, b.Constant(0x1.71547652b82fep0)), b.Constant(kRoundMagicDouble));
  F<B> n = b.Sub(shifted, b.Constant(kRoundMagicDouble));
  F<B> high = b.Sub(x, b.Mul(n, b.Constant(kLn2HighDouble))), low = b.Mul(n, b.Constant(kLn2LowDouble));
  F<B> r = b.Sub(high, low);
  return {r, b.Sub(b.Sub(high, r), low), b.SubInt(b.Bits(shifted), b.ConstantInt(kRoundMagicDoubleBits))};
}

// e^r - 1 for |r| <= ln 2 / 2.
template <class B>
F<B> ExpMinusOneReducedDouble(B& b, F<B> r) {
  static constexpr double kQ[] = {1.0 / 2,       1.0 / 6,        1.0 / 24,        1.0 / 120,
                                  1.0 / 720,     1.0 / 5040,     1.0 / 40320,     1.0 / 362880,
                                  1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800};
  return b.MulAdd(b.Mul(r, r), Polynomial(b, r, kQ), r);
}

// e^(x + low) * 2^shift; low is a correction far smaller than x.
template <class B>
F<B> ExpScaledDouble(B& b, F<B> x, F<B> low, int shift) {
  x = AtLeast(b, AtMost(b, x, 800.0), -800.0);
  ExpReductionDouble<B> reduced = ReduceExpDouble(b, x);
  // e^(r + d) = e^r + d to first order, so that the last sum rounds once.
  F<B> p = ExpMinusOneReducedDouble(b, reduced.r);
  F<B> d = b.Add(reduced.r_low, low);
  p = b.Add(p, b.MulAdd(d, p, d));
  F<B> e = b.Add(p, b.Constant(1.0));
  return ScaleByPowerOfTwoDouble(b, e, b.AddInt(reduced.n, b.ConstantInt(shift)));
}

template <class B>
F<B> Expm1Double(B& b, F<B> x) {
  F<B> limited = AtLeast(b, AtMost(b, x, 709.8), -50.0);
  ExpReductionDouble<B> reduced = ReduceExpDouble(b, limited);
  F<B> p = b.Add(ExpMinusOneReducedDouble(b, reduced.r), reduced.r_low);
  // As in float32 (Expm1): at half size, because 2^1024 is not a double.
  F<B> half = ScaleByPowerOfTwoDouble(b, b.Constant(0.5), reduced.n);
  F<B> result = b.MulAdd(half, p, b.Sub(half, b.Constant(0.5)));
  result = b.Add(result, result);
  return b.Select(b.Equal(x, b.Constant(0.0)), x, result);
}

// x = m 2^e with m in [sqrt(1/2), sqrt(2)) and f = m - 1 (exact), for finite x > 0 including subnormals.
template <class B>
struct LogReductionDouble {
  F<B> f, e;
};
template <class B>
LogReductionDouble<B> ReduceLogDouble(B& b, F<B> x) {
  constexpr int64_t kSqrtHalfBits = 0x3FE6A09E667F3BCD;
  M<B> subnormal = b.Less(x, b.Constant(0x1p-1022));
  x = b.Select(subnormal, b.Mul(x, b.Constant(0x1p54)), x);
  I<B> offset = b.SubInt(b.Bits(x), b.ConstantInt(kSqrtHalfBits));
  I<B> e = b.AddInt(b.ShrInt(offset, 52), b.SelectInt(subnormal, b.ConstantInt(-54), b.ConstantInt(0)));
  I<B> m = b.AddInt(b.AndInt(offset, b.ConstantInt(0x000FFFFFFFFFFFFF)), b.ConstantInt(kSqrtHalfBits));
  // A small integer as a double: in the low bits of the magic number, which few targets need a call or a loop for.
  F<B> exponent = b.Sub(b.FromBits(b.AddInt(e, b.ConstantInt(kRoundMagicDoubleBits))), b.Constant(kRoundMagicDouble));
  return {b.Sub(b.FromBits(m), b.Constant(1.0)), exponent};
}

// log(1 + f) = f - f^2/2 + s (f^2/2 + R) with s = f / (2 + f) and R = 2/3 s^2 + 2/5 s^4 + ...
template <class B>
F<B> LogDouble(B& b, F<B> x) {
  static constexpr double kR[] = {2.0 / 3,  2.0 / 5,  2.0 / 7,  2.0 / 9,  2.0 / 11,
                                  2.0 / 13, 2.0 / 15, 2.0 / 17, 2.0 / 19, 2.0 / 21};
  LogReductionDouble<B> reduced = ReduceLogDouble(b, x);
  F<B> f = reduced.f, s = b.Div(f, b.Add(b.Constant(2.0), f)), z = b.Mul(s, s);
  F<B> half_square = b.Mul(b.Mul(f, f), b.Constant(0.5));
  F<B> tail = b.Mul(s, b.MulAdd(z, Polynomial(b, z, kR), half_square));
  tail = b.MulAdd(reduced.e, b.Constant(kLn2LowDouble), tail);
  F<B> low = b.Sub(b.Sub(half_square, tail), f);
  return LogSpecial(b, x, b.Sub(b.Mul(reduced.e, b.Constant(kLn2HighDouble)), low));
}

// log x of finite x > 0 as a sum of two doubles, good to about 2^-64: the series of LogDouble with its first terms in
// pairs.
template <class B>
Pair<B> LogPairDouble(B& b, F<B> x) {
  static constexpr double kQ[] = {2.0 / 5,  2.0 / 7,  2.0 / 9,  2.0 / 11, 2.0 / 13, 2.0 / 15,
                                  2.0 / 17, 2.0 / 19, 2.0 / 21, 2.0 / 23, 2.0 / 25, 2.0 / 27};
  constexpr double kTwoThirdsLow = 0x1.5555555555555p-55;  // 2/3 minus its double
  LogReductionDouble<B> reduced = ReduceLogDouble(b, x);
  F<B> f = reduced.f;
  Pair<B> t = TwoSum(b, b.Constant(2.0), f);
  F<B> s = b.Div(f, t.high);
  Pair<B> back = TwoProduct(b, s, t.high);
  F<B> s_low = b.Div(b.Sub(b.Sub(b.Sub(f, back.high), back.low), b.Mul(s, t.low)), t.high);
  Pair<B> z = TwoProduct(b, s, s);
  z.low = b.Add(z.low, b.Mul(b.Add(s, s), s_low));
  Pair<B> g = TwoSum(b, b.Constant(2.0 / 3), b.Mul(z.high, Polynomial(b, z.high, kQ)));
  g.low = b.Add(g.low, b.Constant(kTwoThirdsLow));
  Pair<B> w = TwoProduct(b, s, z.high);
  w.low = b.Add(w.low, b.Add(b.Mul(s, z.low), b.Mul(s_low, z.high)));
  Pair<B> term = TwoProduct(b, w.high, g.high);
  term.low = b.Add(term.low, b.Add(b.Mul(w.high, g.low), b.Mul(w.low, g.high)));
  // e ln 2 + 2 s + term.
  Pair<B> sum = TwoSum(b, b.Mul(reduced.e, b.Constant(kLn2HighDouble)), b.Add(s, s));
  Pair<B> all = TwoSum(b, sum.high, term.high);
  F<B> low = b.Add(b.Add(all.low, sum.low), b.Add(b.Add(s_low, s_low), term.low));
  return TwoSum(b, all.high, b.MulAdd(reduced.e, b.Constant(kLn2LowDouble), low));
}

}  // namespace aot::math::detail
