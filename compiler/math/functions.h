// All float32 math functions over a backend (backend.h): include this one.
//
//   exp_log.h        Exp ExpOfNegative Expm1 Log Log1p Pow Sigmoid Softplus
//   hyperbolic.h     Tanh Erf Sinh Cosh Asinh Acosh Atanh
//   trigonometric.h  Sin Cos Tan Asin Acos Atan
//   activations.h    Relu LeakyRelu Elu Selu Celu Gelu GeluTanh HardSigmoid HardSwish Mish Shrink Softsign
//   ThresholdedRelu
//
// Each is `template <class B> F<B> Name(B& b, F<B> x, ...)`; pow takes two values, activations take their attributes as
// floats.
#pragma once

#include "compiler/math/activations.h"
#include "compiler/math/exp_log.h"
#include "compiler/math/hyperbolic.h"
#include "compiler/math/trigonometric.h"
