// Elementwise activations whose attributes are numbers: the formulas of compiler/math/activations.h, in float32 for
// what is narrower and in float64.
#include "compiler/math/activations.h"

#include <cmath>

#include "compiler/math/scalar_backend.h"
#include "compiler/reference/kernels.h"
#include "compiler/reference/tensor_access.h"

namespace aot::reference {
namespace {

// Functions take both attributes, in the order of the table; those with fewer ignore the rest.
struct Activation {
  const char* name;
  const char* attributes[2];
  float (*f32)(float x, float p, float q);
  double (*f64)(double x, double p, double q);
};

// Both precisions of a formula over `b` and x, p, q.
#define AOT_FORMULA(formula)                       \
  [](float x, float p, float q) -> float {         \
    math::ScalarBackend b;                         \
    (void)p, (void)q;                              \
    return formula;                                \
  },                                               \
      [](double x, double p, double q) -> double { \
        math::DoubleScalarBackend b;               \
        (void)p, (void)q;                          \
        return formula;                            \
      }

constexpr Activation kActivations[] = {
    {"leaky_relu", {"alpha", nullptr}, AOT_FORMULA(math::LeakyRelu(b, x, p))},
    {"elu", {"alpha", nullptr}, AOT_FORMULA(math::Elu(b, x, p))},
    {"selu", {"alpha", "gamma"}, AOT_FORMULA(math::Selu(b, x, p, q))},
    {"celu", {"alpha", nullptr}, AOT_FORMULA(math::Celu(b, x, p))},
    {"hard_sigmoid", {"alpha", "beta"}, AOT_FORMULA(math::HardSigmoid(b, x, p, q))},
    {"thresholded_relu", {"alpha", nullptr}, AOT_FORMULA(math::ThresholdedRelu(b, x, p))},
    {"shrink", {"bias", "lambd"}, AOT_FORMULA(math::Shrink(b, x, p, q))},
};
constexpr Activation kGelu = {"gelu", {nullptr, nullptr}, AOT_FORMULA(math::Gelu(b, x))};
constexpr Activation kGeluTanh = {"gelu", {nullptr, nullptr}, AOT_FORMULA(math::GeluTanh(b, x))};

#undef AOT_FORMULA

Results Apply(Call& call, const Activation& activation) {
  const Tensor& input = call.Operand(0, "input");
  const TensorType& type = call.Result();
  double p = activation.attributes[0] != nullptr ? call.Float(activation.attributes[0]) : 0;
  double q = activation.attributes[1] != nullptr ? call.Float(activation.attributes[1]) : 0;
  call.RequireFloat(input);
  call.RequireShape("the result", type.shape, input.shape());
  call.RequireElement("the result", type.element, input.element());
  if (!call.ok()) return call.status();
  size_t count = static_cast<size_t>(input.size());
  if (input.element() == ElementType::kFloat64) {
    Values<double> values(input);
    std::vector<double> results(count);
    for (size_t i = 0; i < count; ++i) results[i] = activation.f64(values.data()[i], p, q);
    return OneResult(FromValues<double>(type, results));
  }
  Values<float> values(input);
  std::vector<float> results(count);
  float p32 = static_cast<float>(p), q32 = static_cast<float>(q);
  for (size_t i = 0; i < count; ++i) results[i] = activation.f32(values.data()[i], p32, q32);
  return OneResult(FromValues<float>(type, results));
}

Results ByName(Call& call) {
  for (const Activation& activation : kActivations) {
    if (call.name() == activation.name) return Apply(call, activation);
  }
  return absl::InternalError(absl::StrCat(call.name(), ": registered but not defined"));
}

Results Gelu(Call& call) { return Apply(call, call.Flag("approximate") ? kGeluTanh : kGelu); }

constexpr Kernel kKernels[] = {
    {"leaky_relu", ByName},       {"elu", ByName},    {"selu", ByName}, {"celu", ByName}, {"hard_sigmoid", ByName},
    {"thresholded_relu", ByName}, {"shrink", ByName}, {"gelu", Gelu},
};

}  // namespace

absl::Span<const Kernel> ActivationKernels() { return kKernels; }

}  // namespace aot::reference
