// softmax, log_softmax and hardmax along one axis.
//
// float32 and narrower: the exponentials are those of compiler/math, their sum is kept in double.
#include <cmath>
#include <type_traits>

#include "compiler/math/exp_log.h"
#include "compiler/math/scalar_backend.h"
#include "compiler/reference/broadcast.h"
#include "compiler/reference/kernels.h"
#include "compiler/reference/tensor_access.h"

namespace aot::reference {
namespace {

template <class T>
T Exp(T x) {
  math::BasicScalarBackend<T> backend;
  return math::Exp(backend, x);
}
template <class T>
T Log(T x) {
  math::BasicScalarBackend<T> backend;
  return math::Log(backend, x);
}

// The largest element, NaN if there is one.
template <class T>
T Largest(const T* x, int64_t length, int64_t stride) {
  T best = x[0];
  for (int64_t k = 1; k < length; ++k) {
    T value = x[k * stride];
    if (best == best && (value > best || value != value)) best = value;
  }
  return best;
}

template <class T>
void SoftmaxLine(const T* x, T* out, int64_t length, int64_t stride) {
  T largest = Largest(x, length, stride);
  double sum = 0;
  for (int64_t k = 0; k < length; ++k) {
    out[k * stride] = Exp<T>(x[k * stride] - largest);
    sum += out[k * stride];
  }
  for (int64_t k = 0; k < length; ++k) out[k * stride] = static_cast<T>(out[k * stride] / sum);
}

template <class T>
void LogSoftmaxLine(const T* x, T* out, int64_t length, int64_t stride) {
  T largest = Largest(x, length, stride);
  double sum = 0;
  for (int64_t k = 0; k < length; ++k) sum += Exp<T>(x[k * stride] - largest);
  T log = Log<T>(static_cast<T>(sum));
  for (int64_t k = 0; k < length; ++k) out[k * stride] = x[k * stride] - largest - log;
}

template <class T>
void HardmaxLine(const T* x, T* out, int64_t length, int64_t stride) {
  T largest = Largest(x, length, stride);
  bool found = false;
  for (int64_t k = 0; k < length; ++k) {
    T value = x[k * stride];
    bool hit = !found && (value == largest || (value != value && largest != largest));
    out[k * stride] = hit ? T{1} : T{0};
    found = found || hit;
  }
}

// Applies line(x, out, length, stride) to every line along the axis.
template <class Line>
Results AlongAxis(Call& call, Line line) {
  const Tensor& input = call.Operand(0, "input");
  const TensorType& type = call.Result();
  size_t axis = static_cast<size_t>(call.Axis("axis", input));
  call.RequireFloat(input);
  call.RequireElement("the result", type.element, input.element());
  call.RequireShape("the result", type.shape, input.shape());
  if (!call.ok()) return call.status();
  const Shape& shape = input.shape();
  if (input.size() == 0) return OneResult(Tensor(type));
  int64_t outer = SizeOfDimensions(shape, 0, axis), length = shape[axis],
          inner = SizeOfDimensions(shape, axis + 1, shape.size());
  auto run = [&](auto tag) -> Results {
    using T = decltype(tag);
    Values<T> values(input);
    std::vector<T> results(static_cast<size_t>(values.size()));
    for (int64_t i = 0; i < outer * inner; ++i) {
      int64_t base = i / inner * length * inner + i % inner;
      line(values.data() + base, results.data() + base, length, inner);
    }
    return OneResult(FromValues<T>(type, results));
  };
  return input.element() == ElementType::kFloat64 ? run(double{}) : run(float{});
}

Results Softmax(Call& call) {
  return AlongAxis(call,
                   [](auto* x, auto* out, int64_t length, int64_t stride) { SoftmaxLine(x, out, length, stride); });
}
Results LogSoftmax(Call& call) {
  return AlongAxis(call,
                   [](auto* x, auto* out, int64_t length, int64_t stride) { LogSoftmaxLine(x, out, length, stride); });
}
Results Hardmax(Call& call) {
  return AlongAxis(call,
                   [](auto* x, auto* out, int64_t length, int64_t stride) { HardmaxLine(x, out, length, stride); });
}

constexpr Kernel kKernels[] = {{"softmax", Softmax}, {"log_softmax", LogSoftmax}, {"hardmax", Hardmax}};

}  // namespace

absl::Span<const Kernel> SoftmaxKernels() { return kKernels; }

}  // namespace aot::reference
