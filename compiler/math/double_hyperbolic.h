// erf for float64 over a backend (backend.h).
#pragma once

#include "compiler/math/double_exp_log.h"

namespace aot::math::detail {

// The Taylor series up to 1; above, 1 - e^(-x^2) g(x) with a fit of g(x) = e^(x^2) erfc(x) on [1, 6] in (x - 3) /
// (x + 3), of relative error below 2^-60. From 5.93 on the nearest double is 1.
template <class B>
F<B> ErfDouble(B& b, F<B> x) {
  static constexpr double kSeries[] = {
      1.12837916709551257,     -0.376126389031837525,    0.112837916709551257,    -0.0268661706451312518,
      0.00522397762544218784,  -0.000854832702345085283, 0.000120553329817896643, -0.000014925650358406251,
      1.64621143658892474e-6,  -1.63658446912349243e-7,  1.48071928158792172e-8,  -1.22905553017179274e-9,
      9.42275906465041097e-11, -6.71136685516411038e-12, 4.46322426328647734e-13, -2.78351620721092135e-14,
      1.63426140953671519e-15, -9.06397084280867248e-17, 4.76334804051506812e-18};
  static constexpr double kTail[] = {0.207983291333428862,     -0.154361174294369181,    0.0496984454033947917,
                                     -0.0127131476956918829,   0.00247931469707251015,   -0.000331602960580022435,
                                     0.0000195635833076193964, 2.42555749093703235e-6,   -5.54127740965681965e-7,
                                     -4.52675492214669898e-9,  1.13402549421098416e-8,   -2.63726386196770294e-10,
                                     -2.58089810719306755e-10, 5.96365056947917746e-12,  6.71161801442145713e-12,
                                     4.2396976894892784e-14,   -1.66887424193384105e-13, -8.91543712798002485e-15};
  F<B> one = b.Constant(1.0), a = AtMost(b, b.Abs(x), 6.0), z = b.Mul(a, a);
  F<B> small = b.Mul(a, Polynomial(b, AtMost(b, z, 1.0), kSeries));
  F<B> t = b.Div(b.Sub(a, b.Constant(3.0)), b.Add(a, b.Constant(3.0)));
  F<B> u = b.MulAdd(t, b.Constant(2.4), b.Constant(0.2));
  F<B> large = b.Sub(one, b.Mul(ExpScaledDouble(b, b.Neg(z), b.Constant(0.0), 0), Polynomial(b, u, kTail)));
  return FlipSign(b, b.Select(b.Greater(a, one), large, small), SignOf(b, x));
}

// From e^(2x) - 1, which is exact enough near 0.
template <class B>
F<B> TanhDouble(B& b, F<B> x) {
  F<B> a = AtMost(b, b.Abs(x), 22.0), e = Expm1Double(b, b.Add(a, a));
  F<B> value = b.Div(e, b.Add(e, b.Constant(2.0)));
  return FlipSign(b, value, SignOf(b, x));
}

// (e^x - e^-x) / 2 of small x >= 0, from e^x - 1.
template <class B>
F<B> SinhSmallDouble(B& b, F<B> a) {
  F<B> e = Expm1Double(b, a);
  return b.Mul(b.Constant(0.5), b.Add(e, b.Div(e, b.Add(e, b.Constant(1.0)))));
}

}  // namespace aot::math::detail
