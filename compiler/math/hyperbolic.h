// tanh, erf, sinh, cosh, asinh, acosh and atanh over a backend (backend.h), of float32 or float64. No calls to a math
// library.
//
// Error of either (functions_test.cc): tanh, erf 5 ulp (absolute 3e-7); the others 4 ulp. NaN gives NaN, -0 of an odd
// function -0.
#pragma once

#include "compiler/math/double_hyperbolic.h"
#include "compiler/math/exp_log.h"

namespace aot::math {

// x P(x^2) / Q(x^2), a minimax fit of relative error 1.3e-9 on [0, 9.02]; from 9.011 on the nearest float is 1.
template <class B>
F<B> Tanh(B& b, F<B> x) {
  if constexpr (B::kDouble) return detail::TanhDouble(b, x);
  static constexpr float kP[] = {
      1.0f, 1.367991491e-01f, 3.868327538e-03f, 2.800745396e-05f, 3.058500735e-08f, -1.220345169e-11f};
  static constexpr float kQ[] = {1.0f, 4.701324697e-01f, 2.724583807e-02f, 3.938630725e-04f, 1.287366213e-06f};
  F<B> a = b.Abs(x), limited = detail::AtMost(b, a, 9.02f);
  F<B> z = b.Mul(limited, limited);
  F<B> value = b.Div(b.Mul(limited, detail::Polynomial(b, z, kP)), detail::Polynomial(b, z, kQ));
  value = b.Select(b.Greater(a, b.Constant(9.011f)), b.Constant(1.0f), detail::AtMost(b, value, 1.0f));
  return detail::FlipSign(b, value, detail::SignOf(b, x));
}

// x P(x^2) / Q(x^2), a minimax fit of relative error 1.9e-9 on [0, 3.94]; from 3.9192 on the nearest float is 1.
template <class B>
F<B> Erf(B& b, F<B> x) {
  if constexpr (B::kDouble) return detail::ErfDouble(b, x);
  static constexpr float kP[] = {1.128379169e+00f, 1.851588519e-01f, 5.426500273e-02f, 3.841874677e-03f,
                                 3.775606872e-04f, 4.630472550e-06f, -1.291378456e-08f};
  static constexpr float kQ[] = {
      1.0f, 4.974261684e-01f, 1.138993374e-01f, 1.543939557e-02f, 1.303255915e-03f, 6.259877947e-05f};
  F<B> a = b.Abs(x), limited = detail::AtMost(b, a, 3.94f);
  F<B> z = b.Mul(limited, limited);
  F<B> value = b.Div(b.Mul(limited, detail::Polynomial(b, z, kP)), detail::Polynomial(b, z, kQ));
  value = b.Select(b.Greater(a, b.Constant(3.9192f)), b.Constant(1.0f), detail::AtMost(b, value, 1.0f));
  return detail::FlipSign(b, value, detail::SignOf(b, x));
}

template <class B>
F<B> Sinh(B& b, F<B> x) {
  static constexpr float kP[] = {1.666666649e-01f, 8.333350650e-03f, 1.983605579e-04f, 2.817501871e-06f};
  F<B> a = b.Abs(x), z = b.Mul(a, a);
  F<B> small;
  if constexpr (B::kDouble) {
    small = detail::SinhSmallDouble(b, a);
  } else {
    small = b.MulAdd(b.Mul(z, a), detail::Polynomial(b, z, kP), a);
  }
  // e^a / 2 - 1 / (4 (e^a / 2)); the half is taken in the exponent, so that only real overflow is infinite.
  F<B> half = detail::ExpScaled(b, a, b.Constant(0.0f), -1);
  F<B> large = b.Sub(half, b.Div(b.Constant(0.25f), half));
  F<B> value = b.Select(b.Less(a, b.Constant(1.0f)), small, large);
  return detail::FlipSign(b, value, detail::SignOf(b, x));
}

template <class B>
F<B> Cosh(B& b, F<B> x) {
  F<B> half = detail::ExpScaled(b, b.Abs(x), b.Constant(0.0f), -1);
  return b.Add(half, b.Div(b.Constant(0.25f), half));
}

// From where on the area functions are log1p(x) + ln 2 to the last place; x^2 has not overflowed yet.
namespace detail {
template <class B>
constexpr double kAreaFar = B::kDouble ? 1e100 : 1e9;
}

// log1p(a + a^2 / (1 + sqrt(1 + a^2))); log1p(a) + ln 2 where a^2 would overflow.
template <class B>
F<B> Asinh(B& b, F<B> x) {
  F<B> one = b.Constant(1.0f), a = b.Abs(x), z = b.Mul(a, a);
  M<B> large = b.Greater(a, b.Constant(detail::kAreaFar<B>));
  F<B> argument = b.Add(a, b.Div(z, b.Add(one, b.Sqrt(b.Add(one, z)))));
  F<B> value = Log1p(b, b.Select(large, a, argument));
  value = b.Add(value, b.Select(large, b.Constant(0.69314718055994530942), b.Constant(0.0f)));
  return detail::FlipSign(b, value, detail::SignOf(b, x));
}

// log1p(t + sqrt(2 t + t^2)) with t = x - 1; NaN below 1.
template <class B>
F<B> Acosh(B& b, F<B> x) {
  F<B> t = b.Sub(x, b.Constant(1.0f));
  M<B> large = b.Greater(x, b.Constant(detail::kAreaFar<B>));
  F<B> argument = b.Add(t, b.Sqrt(b.MulAdd(t, t, b.Add(t, t))));
  F<B> value = Log1p(b, b.Select(large, x, argument));
  value = b.Add(value, b.Select(large, b.Constant(0.69314718055994530942), b.Constant(0.0f)));
  return b.Select(b.Less(x, b.Constant(1.0f)), b.Constant(detail::kNan), value);
}

// log1p(2 a / (1 - a)) / 2; infinite at +-1, NaN outside.
template <class B>
F<B> Atanh(B& b, F<B> x) {
  F<B> a = b.Abs(x);
  F<B> value = b.Mul(Log1p(b, b.Div(b.Add(a, a), b.Sub(b.Constant(1.0f), a))), b.Constant(0.5f));
  return detail::FlipSign(b, value, detail::SignOf(b, x));
}

}  // namespace aot::math
