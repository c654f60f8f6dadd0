// Elementwise activations whose attributes are numbers. float32 and narrower use the formulas of
// compiler/math/activations.h.
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

math::ScalarBackend backend;  // stateless

constexpr Activation kActivations[] = {
    {"leaky_relu",
     {"alpha", nullptr},
     [](float x, float p, float) { return math::LeakyRelu(backend, x, p); },
     [](double x, double p, double) { return x < 0 ? p * x : x; }},
    {"elu",
     {"alpha", nullptr},
     [](float x, float p, float) { return math::Elu(backend, x, p); },
     [](double x, double p, double) { return x < 0 ? p * std::expm1(x) : x; }},
    {"selu",
     {"alpha", "gamma"},
     [](float x, float p, float q) { return math::Selu(backend, x, p, q); },
     [](double x, double p, double q) { return q * (x > 0 ? x : p * std::expm1(x)); }},
    {"celu",
     {"alpha", nullptr},
     [](float x, float p, float) { return math::Celu(backend, x, p); },
     [](double x, double p, double) { return x < 0 ? p * std::expm1(x / p) : x; }},
    {"hard_sigmoid",
     {"alpha", "beta"},
     [](float x, float p, float q) { return math::HardSigmoid(backend, x, p, q); },
     [](double x, double p, double q) {
       double line = p * x + q;
       return line > 1 ? 1 : line < 0 ? 0 : line;
     }},
    {"thresholded_relu",
     {"alpha", nullptr},
     [](float x, float p, float) { return math::ThresholdedRelu(backend, x, p); },
     [](double x, double p, double) { return x > p ? x : 0; }},
    {"shrink",
     {"bias", "lambd"},
     [](float x, float p, float q) { return math::Shrink(backend, x, p, q); },
     [](double x, double p, double q) { return x < -q  ? x + p
                                               : x > q ? x - p
                                                       : 0; }},
};

constexpr Activation kGelu = {"gelu",
                              {nullptr, nullptr},
                              [](float x, float, float) { return math::Gelu(backend, x); },
                              [](double x, double, double) { return x / 2 * (1 + std::erf(x * M_SQRT1_2)); }};
constexpr Activation kGeluTanh = {"gelu",
                                  {nullptr, nullptr},
                                  [](float x, float, float) { return math::GeluTanh(backend, x); },
                                  [](double x, double, double) {
                                    double inner = std::sqrt(M_2_PI) * (x + 0.044715 * x * x * x);
                                    return x / 2 * (1 + std::tanh(inner));
                                  }};

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
