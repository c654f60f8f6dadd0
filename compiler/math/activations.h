// The activation functions of the nn dialect, over a backend (backend.h): the one formula that reference/
// and code generation share. Each has the attributes of its operation in compiler/ir/NnOps.td. NaN gives NaN.
#pragma once

#include "compiler/math/exp_log.h"
#include "compiler/math/hyperbolic.h"

namespace aot::math {

template <class B>
F<B> Relu(B& b, F<B> x) {
  return b.Select(b.Less(x, b.Constant(0.0f)), b.Constant(0.0f), x);
}

template <class B>
F<B> Softsign(B& b, F<B> x) {
  return b.Div(x, b.Add(b.Constant(1.0f), b.Abs(x)));
}

template <class B>
F<B> Mish(B& b, F<B> x) {
  return b.Mul(x, Tanh(b, Softplus(b, x)));
}

template <class B>
F<B> HardSigmoid(B& b, F<B> x, double alpha, double beta) {
  F<B> line = b.MulAdd(x, b.Constant(alpha), b.Constant(beta));
  return detail::AtMost(b, detail::AtLeast(b, line, 0.0f), 1.0f);
}

template <class B>
F<B> HardSwish(B& b, F<B> x) {
  return b.Mul(x, HardSigmoid(b, x, 1.0 / 6, 0.5));
}

template <class B>
F<B> LeakyRelu(B& b, F<B> x, double alpha) {
  return b.Select(b.Less(x, b.Constant(0.0f)), b.Mul(x, b.Constant(alpha)), x);
}

template <class B>
F<B> Elu(B& b, F<B> x, double alpha) {
  return b.Select(b.Less(x, b.Constant(0.0f)), b.Mul(b.Constant(alpha), Expm1(b, x)), x);
}

template <class B>
F<B> Selu(B& b, F<B> x, double alpha, double gamma) {
  F<B> negative = b.Mul(b.Constant(alpha), Expm1(b, x));
  return b.Mul(b.Constant(gamma), b.Select(b.Greater(x, b.Constant(0.0f)), x, negative));
}

template <class B>
F<B> Celu(B& b, F<B> x, double alpha) {
  F<B> negative = b.Mul(b.Constant(alpha), Expm1(b, b.Div(x, b.Constant(alpha))));
  return b.Select(b.Less(x, b.Constant(0.0f)), negative, x);
}

// NaN is not above alpha: it gives 0, as in ONNX's definition.
template <class B>
F<B> ThresholdedRelu(B& b, F<B> x, double alpha) {
  return b.Select(b.Greater(x, b.Constant(alpha)), x, b.Constant(0.0f));
}

// NaN lies on neither side: it gives 0, as in ONNX's definition.
template <class B>
F<B> Shrink(B& b, F<B> x, double bias, double lambd) {
  F<B> right = b.Select(b.Greater(x, b.Constant(lambd)), b.Sub(x, b.Constant(bias)), b.Constant(0.0f));
  return b.Select(b.Less(x, b.Constant(-lambd)), b.Add(x, b.Constant(bias)), right);
}

// x Phi(x) by erf.
template <class B>
F<B> Gelu(B& b, F<B> x) {
  F<B> half = b.Mul(x, b.Constant(0.5f));
  return b.MulAdd(half, Erf(b, b.Mul(x, b.Constant(0.70710678118654752440))), half);
}

// x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))).
template <class B>
F<B> GeluTanh(B& b, F<B> x) {
  F<B> half = b.Mul(x, b.Constant(0.5f));
  F<B> inner = b.MulAdd(b.Mul(x, x), b.Mul(x, b.Constant(0.044715)), x);
  return b.MulAdd(half, Tanh(b, b.Mul(inner, b.Constant(0.79788456080286535588))), half);
}

}  // namespace aot::math
