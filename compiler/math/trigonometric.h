// sin, cos, tan, asin, acos and atan over a backend (backend.h), for float32 here, for float64 through
// double_trigonometric.h. No calls to a math library.
//
// Error (functions_test.cc): sin, cos, tan within 2 ulp or an absolute 1e-7 (tan: 4 ulp) for any finite x; asin, acos,
// atan 3 ulp. Infinite arguments give NaN. The polynomials of float32 are minimax fits made for this file.
#pragma once

#include <array>

#include "compiler/math/backend.h"
#include "compiler/math/double_exp_log.h"
#include "compiler/math/double_trigonometric.h"

namespace aot::math {
namespace detail {

// x = n pi/2 + r with |r| <= 0.7915 (pi/4 and what rounding x * 2/pi can add); quadrant is n mod 4 in the low two bits.
// x must not be negative. NaN and infinities give NaN.
template <class B>
struct QuadrantReduction {
  F<B> r;
  I<B> quadrant;
};

// The nearest integers to x * 2/pi up to 2^16, and what they leave: Cody and Waite in four parts of pi/2; the first
// three have 8 bits each, so n times a part is exact without fusing.
template <class B>
LargeReduction<B> ReduceSmallSingle(B& b, F<B> x) {
  constexpr float kPart1 = 1.5703125f;              // 201 / 2^7
  constexpr float kPart2 = 4.825592041015625e-4f;   // 253 / 2^19
  constexpr float kPart3 = 1.2665987014770508e-6f;  // 85 / 2^26
  constexpr float kPart4 = 9.920935797e-10f;        // the rest
  F<B> n = b.Sub(b.Add(b.Mul(x, b.Constant(0.636619772f)), b.Constant(kRoundMagic)), b.Constant(kRoundMagic));
  F<B> r = b.MulAdd(n, b.Constant(-kPart1), x);
  r = b.MulAdd(n, b.Constant(-kPart2), r);
  r = b.MulAdd(n, b.Constant(-kPart3), r);
  return {b.MulAdd(n, b.Constant(-kPart4), r), n};
}

template <class B>
QuadrantReduction<B> ReduceQuadrant(B& b, F<B> x) {
  M<B> large = b.Greater(x, b.Constant(B::kDouble ? 1.6e6 : 1e5));
  LargeReduction<B> reduced;
  if constexpr (B::kDouble) {
    reduced = ReduceSmallDouble(b, x);
  } else {
    reduced = ReduceSmallSingle(b, x);
  }
  // Almost never, so behind a branch.
  auto far = b.IfAny(large, [&]() -> std::array<F<B>, 2> {
    if constexpr (B::kDouble) {
      LargeReduction<B> of_large = ReduceLargeDouble(b, x);
      return {of_large.r, of_large.n};
    } else {
      auto wide = b.Wide();
      auto of_large = ReduceLargeSingle(wide, b.Extend(x));
      return {b.Truncate(of_large.r), b.Truncate(of_large.n)};
    }
  });
  F<B> r = b.Select(large, far[0], reduced.r), n = b.Select(large, far[1], reduced.n);
  // n is an integer: adding the magic number leaves it in the low bits.
  F<B> shifted = b.Add(n, b.Constant(B::kDouble ? kRoundMagicDouble : double{kRoundMagic}));
  return {r, b.Bits(shifted)};
}

// sin r and cos r for |r| <= 0.7915.
template <class B>
F<B> SinReduced(B& b, F<B> r, F<B> r2) {
  if constexpr (B::kDouble) return SinReducedDouble(b, r, r2);
  static constexpr float kS[] = {-1.666665439e-01f, 8.332142025e-03f, -1.951228577e-04f};
  return b.MulAdd(b.Mul(r2, r), Polynomial(b, r2, kS), r);
}
template <class B>
F<B> CosReduced(B& b, F<B> r2) {
  if constexpr (B::kDouble) return CosReducedDouble(b, r2);
  static constexpr float kC[] = {4.166664467e-02f, -1.388726611e-03f, 2.442735602e-05f};
  F<B> tail = b.Mul(b.Mul(r2, r2), Polynomial(b, r2, kC));
  return b.Add(b.Constant(1.0f), b.MulAdd(r2, b.Constant(-0.5f), tail));
}

// sin(|x| + quadrants pi/2).
template <class B>
F<B> SinOfMagnitude(B& b, F<B> magnitude, int quadrants) {
  QuadrantReduction<B> reduced = ReduceQuadrant(b, magnitude);
  I<B> quadrant = b.AddInt(reduced.quadrant, b.ConstantInt(quadrants));
  F<B> r2 = b.Mul(reduced.r, reduced.r);
  M<B> even = b.EqualInt(b.AndInt(quadrant, b.ConstantInt(1)), b.ConstantInt(0));
  F<B> value = b.Select(even, SinReduced(b, reduced.r, r2), CosReduced(b, r2));
  I<B> sign = b.ShlInt(b.AndInt(quadrant, b.ConstantInt(2)), B::kDouble ? 62 : 30);
  return FlipSign(b, value, sign);
}

// asin of a in [0, 0.5].
template <class B>
F<B> AsinSmall(B& b, F<B> a) {
  static constexpr float kP[] = {1.666675495e-01f, 7.495196085e-02f, 4.548333892e-02f, 2.411446730e-02f,
                                 4.227855477e-02f};
  F<B> z = b.Mul(a, a);
  return b.MulAdd(b.Mul(z, a), Polynomial(b, z, kP), a);
}

constexpr float kPi = 3.14159265f;
constexpr float kHalfPi = 1.57079633f;
constexpr float kHalfPiLow = -4.37113883e-8f;  // pi/2 - kHalfPi

}  // namespace detail

template <class B>
F<B> Sin(B& b, F<B> x) {
  return detail::FlipSign(b, detail::SinOfMagnitude(b, b.Abs(x), 0), detail::SignOf(b, x));
}

template <class B>
F<B> Cos(B& b, F<B> x) {
  return detail::SinOfMagnitude(b, b.Abs(x), 1);
}

template <class B>
F<B> Tan(B& b, F<B> x) {
  detail::QuadrantReduction<B> reduced = detail::ReduceQuadrant(b, b.Abs(x));
  F<B> r2 = b.Mul(reduced.r, reduced.r);
  F<B> sine = detail::SinReduced(b, reduced.r, r2), cosine = detail::CosReduced(b, r2);
  M<B> even = b.EqualInt(b.AndInt(reduced.quadrant, b.ConstantInt(1)), b.ConstantInt(0));
  F<B> value = b.Div(b.Select(even, sine, b.Neg(cosine)), b.Select(even, cosine, sine));
  return detail::FlipSign(b, value, detail::SignOf(b, x));
}

// NaN outside [-1, 1].
template <class B>
F<B> Asin(B& b, F<B> x) {
  if constexpr (B::kDouble) {
    // 2 atan(x / (1 + sqrt(1 - x^2))).
    F<B> one = b.Constant(1.0);
    F<B> cosine = b.Sqrt(b.Mul(b.Sub(one, x), b.Add(one, x)));
    return b.Mul(b.Constant(2.0), detail::AtanDouble(b, b.Div(x, b.Add(one, cosine))));
  }
  F<B> a = b.Abs(x);
  M<B> small = b.LessEqual(a, b.Constant(0.5f));
  // Above 0.5: asin a = pi/2 - 2 asin sqrt((1 - a) / 2).
  F<B> root = b.Sqrt(b.Mul(b.Sub(b.Constant(1.0f), a), b.Constant(0.5f)));
  F<B> inner = detail::AsinSmall(b, b.Select(small, a, root));
  F<B> outer = b.Add(b.Constant(detail::kHalfPi), b.MulAdd(inner, b.Constant(-2.0f), b.Constant(detail::kHalfPiLow)));
  return detail::FlipSign(b, b.Select(small, inner, outer), detail::SignOf(b, x));
}

// NaN outside [-1, 1].
template <class B>
F<B> Acos(B& b, F<B> x) {
  if constexpr (B::kDouble) {
    // 2 atan(sqrt((1 - x) / (1 + x))).
    F<B> one = b.Constant(1.0);
    F<B> tangent = b.Sqrt(b.Div(b.Sub(one, x), b.Add(one, x)));
    return b.Mul(b.Constant(2.0), detail::AtanDouble(b, tangent));
  }
  F<B> a = b.Abs(x);
  M<B> small = b.LessEqual(a, b.Constant(0.5f));
  M<B> negative = b.Less(x, b.Constant(0.0f));
  F<B> root = b.Sqrt(b.Mul(b.Sub(b.Constant(1.0f), a), b.Constant(0.5f)));
  F<B> inner = detail::AsinSmall(b, b.Select(small, a, root));
  F<B> twice = b.Add(inner, inner);
  F<B> far =
      b.Select(negative, b.Add(b.Constant(detail::kPi), b.Sub(b.Constant(2 * detail::kHalfPiLow), twice)), twice);
  F<B> signed_inner = b.Select(negative, inner, b.Neg(inner));
  F<B> near = b.Add(b.Constant(detail::kHalfPi), b.Add(signed_inner, b.Constant(detail::kHalfPiLow)));
  return b.Select(small, near, far);
}

template <class B>
F<B> Atan(B& b, F<B> x) {
  if constexpr (B::kDouble) return detail::AtanDouble(b, x);
  static constexpr float kP[] = {-3.333331542e-01f, 1.999848400e-01f, -1.424373880e-01f, 1.059513987e-01f,
                                 -6.081156159e-02f};
  F<B> one = b.Constant(1.0f), a = b.Abs(x);
  // atan a = pi/2 + atan(-1/a) above tan(3 pi/8), pi/4 + atan((a-1)/(a+1)) above tan(pi/8): one division serves all
  // three.
  M<B> large = b.Greater(a, b.Constant(2.41421356f)), medium = b.Greater(a, b.Constant(0.414213562f));
  F<B> numerator = b.Select(large, b.Constant(-1.0f), b.Select(medium, b.Sub(a, one), a));
  F<B> denominator = b.Select(large, a, b.Select(medium, b.Add(a, one), one));
  F<B> base = b.Select(large, b.Constant(detail::kHalfPi),
                       b.Select(medium, b.Constant(0.5f * detail::kHalfPi), b.Constant(0.0f)));
  F<B> t = b.Div(numerator, denominator), z = b.Mul(t, t);
  F<B> value = b.Add(base, b.MulAdd(b.Mul(z, t), detail::Polynomial(b, z, kP), t));
  return detail::FlipSign(b, value, detail::SignOf(b, x));
}

}  // namespace aot::math
