// Elementwise operations of one operand without attributes. float32 and narrower use the polynomials of compiler/math,
// float64 the C library.
#include <cmath>
#include <limits>

#include "compiler/math/functions.h"
#include "compiler/math/scalar_backend.h"
#include "compiler/reference/kernels.h"
#include "compiler/reference/tensor_access.h"

namespace aot::reference {
namespace {

struct FloatFunction {
  const char* name;
  float (*f32)(float);
  double (*f64)(double);
};

template <class T>
T Sign(T x) {
  return x > 0 ? T{1} : x < 0 ? T{-1} : x;  // keeps NaN and the sign of zero
}

double Softplus(double x) { return std::fmax(x, 0.0) + std::log1p(std::exp(-std::fabs(x))) + (x - x); }

#define AOT_MATH(Name)             \
  [](float x) {                    \
    math::ScalarBackend backend;   \
    return math::Name(backend, x); \
  }
#define AOT_EXACT(expression) [](float x) -> float { return expression; }, [](double x) -> double { return expression; }

constexpr FloatFunction kFloatFunctions[] = {
    {"abs", AOT_EXACT(std::fabs(x))},
    {"neg", AOT_EXACT(-x)},
    {"sqrt", AOT_EXACT(std::sqrt(x))},
    {"reciprocal", AOT_EXACT(1 / x)},
    {"sign", AOT_EXACT(Sign(x))},
    {"floor", AOT_EXACT(std::floor(x))},
    {"ceil", AOT_EXACT(std::ceil(x))},
    {"round", AOT_EXACT(std::nearbyint(x))},
    {"relu", AOT_EXACT(x < 0 ? 0 : x)},
    {"softsign", AOT_MATH(Softsign), [](double x) { return x / (1 + std::fabs(x)); }},
    {"exp", AOT_MATH(Exp), [](double x) { return std::exp(x); }},
    {"log", AOT_MATH(Log), [](double x) { return std::log(x); }},
    {"sin", AOT_MATH(Sin), [](double x) { return std::sin(x); }},
    {"cos", AOT_MATH(Cos), [](double x) { return std::cos(x); }},
    {"tan", AOT_MATH(Tan), [](double x) { return std::tan(x); }},
    {"asin", AOT_MATH(Asin), [](double x) { return std::asin(x); }},
    {"acos", AOT_MATH(Acos), [](double x) { return std::acos(x); }},
    {"atan", AOT_MATH(Atan), [](double x) { return std::atan(x); }},
    {"sinh", AOT_MATH(Sinh), [](double x) { return std::sinh(x); }},
    {"cosh", AOT_MATH(Cosh), [](double x) { return std::cosh(x); }},
    {"tanh", AOT_MATH(Tanh), [](double x) { return std::tanh(x); }},
    {"asinh", AOT_MATH(Asinh), [](double x) { return std::asinh(x); }},
    {"acosh", AOT_MATH(Acosh), [](double x) { return std::acosh(x); }},
    {"atanh", AOT_MATH(Atanh), [](double x) { return std::atanh(x); }},
    {"erf", AOT_MATH(Erf), [](double x) { return std::erf(x); }},
    {"sigmoid", AOT_MATH(Sigmoid), [](double x) { return 1 / (1 + std::exp(-x)); }},
    {"softplus", AOT_MATH(Softplus), [](double x) { return Softplus(x); }},
    {"mish", AOT_MATH(Mish), [](double x) { return x * std::tanh(Softplus(x)); }},
    {"hard_swish", AOT_MATH(HardSwish),
     [](double x) {
       double gate = x / 6 + 0.5;
       return x * (gate > 1 ? 1 : gate < 0 ? 0 : gate);
     }},
};

#undef AOT_MATH
#undef AOT_EXACT

// Integers wrap: the functions see 64 bits, storing keeps the low ones.
struct IntegerFunction {
  const char* name;
  uint64_t (*function)(int64_t);
};
constexpr IntegerFunction kIntegerFunctions[] = {
    {"abs", [](int64_t x) { return x < 0 ? -static_cast<uint64_t>(x) : static_cast<uint64_t>(x); }},
    {"neg", [](int64_t x) { return -static_cast<uint64_t>(x); }},
    {"sign", [](int64_t x) { return static_cast<uint64_t>(Sign(x)); }},
    {"relu", [](int64_t x) { return x < 0 ? 0 : static_cast<uint64_t>(x); }},
    {"bitwise_not", [](int64_t x) { return ~static_cast<uint64_t>(x); }},
};

template <class T, class Function>
Tensor Map(const Tensor& input, const TensorType& type, Function function) {
  Values<T> values(input);
  std::vector<T> results(static_cast<size_t>(values.size()));
  for (size_t i = 0; i < results.size(); ++i) results[i] = static_cast<T>(function(values.data()[i]));
  return FromValues<T>(type, results);
}

Results MapFloats(Call& call, const Tensor& input, const TensorType& type) {
  for (const FloatFunction& row : kFloatFunctions) {
    if (call.name() != row.name) continue;
    if (input.element() == ElementType::kFloat64) return OneResult(Map<double>(input, type, row.f64));
    return OneResult(Map<float>(input, type, row.f32));
  }
  call.RequireSupported(false, input.element());
  return call.status();
}

Results MapIntegers(Call& call, const Tensor& input, const TensorType& type) {
  // The top bit of a uint64 is no sign.
  if (input.element() == ElementType::kUint64 && call.name() != "neg" && call.name() != "bitwise_not") {
    return OneResult(
        Map<uint64_t>(input, type, [&](uint64_t x) { return call.name() == "sign" ? uint64_t{x > 0} : x; }));
  }
  for (const IntegerFunction& row : kIntegerFunctions) {
    if (call.name() == row.name) return OneResult(Map<int64_t>(input, type, row.function));
  }
  call.RequireSupported(false, input.element());
  return call.status();
}

Results Unary(Call& call) {
  const Tensor& input = call.Operand(0, "input");
  const TensorType& type = call.Result();
  call.RequireShape("the result", type.shape, input.shape());
  call.RequireElement("the result", type.element, input.element());
  call.RequireNumeric(input);
  call.RequireSupported(input.element() != ElementType::kBool, input.element());
  if (!call.ok()) return call.status();
  return IsFloat(input.element()) ? MapFloats(call, input, type) : MapIntegers(call, input, type);
}

Results LogicalNot(Call& call) {
  const Tensor& input = call.Operand(0, "input");
  const TensorType& type = call.Result();
  call.RequireElement("operand 0 (input)", input.element(), ElementType::kBool);
  call.RequireElement("the result", type.element, ElementType::kBool);
  call.RequireShape("the result", type.shape, input.shape());
  if (!call.ok()) return call.status();
  return OneResult(Map<int64_t>(input, type, [](int64_t x) { return x == 0; }));
}

// is_nan and is_inf.
Results Predicate(Call& call) {
  const Tensor& input = call.Operand(0, "input");
  const TensorType& type = call.Result();
  bool nan = call.name() == "is_nan";
  bool negative = call.Flag("detect_negative"), positive = call.Flag("detect_positive");
  call.RequireElement("the result", type.element, ElementType::kBool);
  call.RequireShape("the result", type.shape, input.shape());
  call.RequireFloat(input);
  if (!call.ok()) return call.status();
  Tensor result(type);
  for (int64_t i = 0; i < input.size(); ++i) {
    double x = input.GetFloat(i);
    result.SetInt(i, nan ? std::isnan(x) : std::isinf(x) && (x < 0 ? negative : positive));
  }
  return OneResult(std::move(result));
}

constexpr Kernel kKernels[] = {
    {"abs", Unary},
    {"neg", Unary},
    {"exp", Unary},
    {"log", Unary},
    {"sqrt", Unary},
    {"reciprocal", Unary},
    {"sign", Unary},
    {"floor", Unary},
    {"ceil", Unary},
    {"round", Unary},
    {"sin", Unary},
    {"cos", Unary},
    {"tan", Unary},
    {"asin", Unary},
    {"acos", Unary},
    {"atan", Unary},
    {"sinh", Unary},
    {"cosh", Unary},
    {"tanh", Unary},
    {"asinh", Unary},
    {"acosh", Unary},
    {"atanh", Unary},
    {"erf", Unary},
    {"sigmoid", Unary},
    {"relu", Unary},
    {"softplus", Unary},
    {"softsign", Unary},
    {"mish", Unary},
    {"hard_swish", Unary},
    {"bitwise_not", Unary},
    {"logical_not", LogicalNot},
    {"is_nan", Predicate},
    {"is_inf", Predicate},
};

}  // namespace

absl::Span<const Kernel> UnaryKernels() { return kKernels; }

}  // namespace aot::reference
