// sin, cos and atan for float64 over a backend (backend.h), and the reduction of large arguments for float32, which
// runs on doubles as well. Series; no calls to a math library.
#pragma once

#include "compiler/math/backend.h"

namespace aot::math::detail {

// x mod pi/2 where x is large, as n mod 4 and r in [-pi/4, pi/4], from the digits of 2/pi: x times each of its parts is
// exact, and so is what multiples of 4 leave of the product (Payne and Hanek, 1983, with parts in place of a window).
template <class B>
struct LargeReduction {
  F<B> r, n;
};

// Of doubles that hold a float32: 24 bits times parts of 29.
template <class B>
LargeReduction<B> ReduceLargeSingle(B& b, F<B> x) {
  static constexpr double kParts[] = {0x1.45f306dp-1,   0x1.9391054p-30, 0x1.4fe13abp-59, 0x1.d1f534dp-88,
                                      0x1.b81b6c5p-117, 0x1.5993c4p-148, 0x1.c820ff2p-175};
  F<B> sum = b.Constant(0.0);
  for (int i = 6; i >= 0; --i) {
    F<B> product = b.Mul(x, b.Constant(kParts[i]));
    F<B> turns = b.Round(b.Mul(product, b.Constant(0.25)));
    sum = b.Add(sum, b.Sub(product, b.Mul(turns, b.Constant(4.0))));
  }
  F<B> n = b.Round(sum);
  return {b.Mul(b.Sub(sum, n), b.Constant(1.57079632679489661923)), n};
}

// Of any double: its two halves times parts of 26 bits, summed as pairs because the remainder may be as small as 2^-61.
template <class B>
LargeReduction<B> ReduceLargeDouble(B& b, F<B> x) {
  static constexpr int32_t kParts[] = {
      42722829, 48555073, 21659401, 56087029, 13858563, 28715353, 38736100, 4324945,  26128250, 62674459, 29957006,
      37899730, 58726692, 49193117, 6588223,  35515164, 46442140, 65964067, 24988590, 54822121, 41009306, 54917092,
      5137525,  37323603, 15192690, 4585659,  58608142, 52426903, 67074070, 25231090, 63202006, 34237727, 28629499,
      15891632, 40752081, 37709470, 25143477, 55737260, 33225084, 24853767, 15195689, 19476134, 50255852, 18845021};
  constexpr int kCount = sizeof kParts / sizeof kParts[0];
  F<B> high = b.FromBits(b.AndInt(b.Bits(x), b.ConstantInt(~((int64_t{1} << 27) - 1)))), low = b.Sub(x, high);
  Pair<B> sum = {b.Constant(0.0), b.Constant(0.0)};
  // From the smallest products up. The weight 2^-26(i + 1) of the last parts is no normal double, so it goes into x
  // first and what is left into the part.
  for (int i = kCount - 1; i >= 0; --i) {
    double scale = 1, rest = 1;
    for (int k = 0; k <= i; ++k) (k < 35 ? scale : rest) *= 0x1p-26;
    for (F<B> half : {low, high}) {
      F<B> product = b.Mul(b.Mul(half, b.Constant(scale)), b.Constant(kParts[i] * rest));
      F<B> turns = b.Round(b.Mul(product, b.Constant(0.25)));
      Pair<B> next = TwoSum(b, sum.high, b.Sub(product, b.Mul(turns, b.Constant(4.0))));
      sum = {next.high, b.Add(sum.low, next.low)};
    }
  }
  sum = TwoSum(b, sum.high, sum.low);
  F<B> n = b.Round(sum.high);
  F<B> fraction = b.Sub(sum.high, n);
  // The pair of the fraction times the pair of pi/2.
  Pair<B> whole = TwoProduct(b, fraction, b.Constant(0x1.921fb54442d18p0));
  F<B> rest = b.MulAdd(sum.low, b.Constant(0x1.921fb54442d18p0), b.Mul(fraction, b.Constant(0x1.1a62633145c07p-54)));
  return {b.Add(whole.high, b.Add(whole.low, rest)), n};
}

// Cody and Waite in three parts of 33 bits and what is left, exact for n < 2^20.
template <class B>
LargeReduction<B> ReduceSmallDouble(B& b, F<B> x) {
  constexpr double kMagic = 0x1.8p52;
  F<B> n = b.Sub(b.Add(b.Mul(x, b.Constant(0x1.45f306dc9c883p-1)), b.Constant(kMagic)), b.Constant(kMagic));
  F<B> first = b.Sub(x, b.Mul(n, b.Constant(0x1.921fb544p0)));
  // The second difference may lose bits; the third takes them back.
  F<B> second = b.Mul(n, b.Constant(0x1.0b4611a6p-34));
  Pair<B> r = TwoSum(b, first, b.Neg(second));
  return {b.Add(r.high, b.Sub(r.low, b.Mul(n, b.Constant(0x1.3198a2e037073p-69)))), n};
}

template <class B>
F<B> SinReducedDouble(B& b, F<B> r, F<B> r2) {
  static constexpr double kS[] = {-1.0 / 6,        1.0 / 120,        -1.0 / 5040,          1.0 / 362880,
                                  -1.0 / 39916800, 1.0 / 6227020800, -1.0 / 1307674368000, 1.0 / 355687428096000};
  return b.MulAdd(b.Mul(r2, r), Polynomial(b, r2, kS), r);
}
template <class B>
F<B> CosReducedDouble(B& b, F<B> r2) {
  static constexpr double kC[] = {1.0 / 24,        -1.0 / 720,         1.0 / 40320,          -1.0 / 3628800,
                                  1.0 / 479001600, -1.0 / 87178291200, 1.0 / 20922789888000, -1.0 / 6402373705728000};
  F<B> half = b.Mul(r2, b.Constant(0.5)), whole = b.Sub(b.Constant(1.0), half);
  // What 1 - r^2/2 lost comes back with the small terms.
  F<B> lost = b.Sub(b.Sub(b.Constant(1.0), whole), half);
  return b.Add(whole, b.MulAdd(b.Mul(r2, r2), Polynomial(b, r2, kC), lost));
}

// atan a = atan c + atan((a - c) / (1 + a c)) for c of 0, about tan(pi/8) and 1, and above 1 the same of 1/a.
template <class B>
F<B> AtanDouble(B& b, F<B> x) {
  static constexpr double kP[] = {-1.0 / 3,  1.0 / 5,  -1.0 / 7,  1.0 / 9,  -1.0 / 11, 1.0 / 13,
                                  -1.0 / 15, 1.0 / 17, -1.0 / 19, 1.0 / 21, -1.0 / 23, 1.0 / 25};
  constexpr double kC = 0x1.a827999fcef32p-2;
  F<B> one = b.Constant(1.0), zero = b.Constant(0.0), a = b.Abs(x);
  M<B> inverse = b.Greater(a, one);
  // The boundaries are tan(pi/16) and tan(3 pi/16) and their inverses.
  M<B> near_one = b.And(b.Greater(a, b.Constant(0.66817863791929892)), b.Less(a, b.Constant(1.4966057626654890)));
  M<B> near_zero = b.Or(b.Less(a, b.Constant(0.19891236737965800)), b.Greater(a, b.Constant(5.0273394921258481)));
  F<B> c = b.Select(near_zero, zero, b.Select(near_one, one, b.Constant(kC)));
  F<B> product = b.Select(near_zero, zero, b.Mul(c, a));  // not 0 times infinity
  F<B> numerator = b.Select(inverse, b.Sub(one, product), b.Sub(a, c));
  F<B> denominator = b.Select(inverse, b.Add(a, c), b.Add(one, product));
  F<B> t = b.Div(numerator, denominator), z = b.Mul(t, t);
  F<B> high =
      b.Select(near_one, b.Constant(0x1.921fb54442d18p-1),
               b.Select(inverse, b.Select(near_zero, b.Constant(0x1.921fb54442d18p0), b.Constant(0x1.2d97c7f3321d2p0)),
                        b.Select(near_zero, zero, b.Constant(0x1.921fb54442d18p-2))));
  F<B> low = b.Select(
      near_one, b.Constant(0x1.1a62633145c07p-55),
      b.Select(inverse, b.Select(near_zero, b.Constant(0x1.1a62633145c07p-54), b.Constant(0x1.0c459f0069facp-54)),
               b.Select(near_zero, zero, b.Constant(0x1.c398861b78b55p-59))));
  F<B> small = b.MulAdd(b.Mul(z, t), Polynomial(b, z, kP), t);
  small = b.Select(inverse, b.Neg(small), small);
  return FlipSign(b, b.Add(high, b.Add(small, low)), SignOf(b, x));
}

}  // namespace aot::math::detail
