// Elementwise operations of one operand without attributes. Functions are those of compiler/math, in float32 for what
// is narrower and in float64.
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

#define AOT_MATH(Name)                     \
  [](float x) {                            \
    math::ScalarBackend backend;           \
    return math::Name(backend, x);         \
  },                                       \
      [](double x) {                       \
        math::DoubleScalarBackend backend; \
        return math::Name(backend, x);     \
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
    {"softsign", AOT_MATH(Softsign)},
    {"exp", AOT_MATH(Exp)},
    {"log", AOT_MATH(Log)},
    {"sin", AOT_MATH(Sin)},
    {"cos", AOT_MATH(Cos)},
    {"tan", AOT_MATH(Tan)},
    {"asin", AOT_MATH(Asin)},
    {"acos", AOT_MATH(Acos)},
    {"atan", AOT_MATH(Atan)},
    {"sinh", AOT_MATH(Sinh)},
    {"cosh", AOT_MATH(Cosh)},
    {"tanh", AOT_MATH(Tanh)},
    {"asinh", AOT_MATH(Asinh)},
    {"acosh", AOT_MATH(Acosh)},
    {"atanh", AOT_MATH(Atanh)},
    {"erf", AOT_MATH(Erf)},
    {"sigmoid", AOT_MATH(Sigmoid)},
    {"softplus", AOT_MATH(Softplus)},
    {"mish", AOT_MATH(Mish)},
    {"hard_swish", AOT_MATH(HardSwish)},
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
