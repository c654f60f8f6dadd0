// Recurrent layers, one direction, step by step. The cells are those of compiler/math/recurrent.h; recurrent products
// are summed in double and rounded once.
#include "compiler/math/recurrent.h"

#include "compiler/math/scalar_backend.h"
#include "compiler/reference/kernels.h"
#include "compiler/reference/tensor_access.h"

namespace aot::reference {
namespace {

using math::Gate;
using Floats = std::vector<float>;

// The checked operands that all three layers have.
struct Layer {
  Layer(Call& call, int64_t gates, const Tensor& x, const Tensor& r, const Tensor* lengths_operand)
      : input(x), recurrent(r), lengths(lengths_operand), reverse(call.Flag("reverse")), clip(call.Float("clip")) {
    for (const Tensor* tensor : {&input, &recurrent})
      call.RequireElement("an operand", tensor->element(), ElementType::kFloat32);
    const bool fits = input.shape().size() == 3 && recurrent.shape().size() == 2 && recurrent.shape()[1] >= 0 &&
                      input.shape()[2] == recurrent.shape()[0] &&
                      recurrent.shape()[0] / gates == recurrent.shape()[1] && recurrent.shape()[0] % gates == 0;
    if (!call.Require(fits, "an input of ", ToString(input.shape()), " and recurrent weights of ",
                      ToString(recurrent.shape()), " don't fit ", gates, " gates")) {
      return;
    }
    steps = input.shape()[0];
    batch = input.shape()[1];
    size = recurrent.shape()[1];
    width = input.shape()[2];
    if (lengths) {
      call.RequireShape("lengths", lengths->shape(), {batch});
      call.Require(lengths->element() == ElementType::kInt32 || lengths->element() == ElementType::kInt64,
                   "lengths must be int32 or int64");
    }
    RequireFloats(call, "hidden", call.Result(0), {steps, batch, size});
    for (int i = 1; i < call.result_count(); ++i) RequireFloats(call, "a last state", call.Result(i), {batch, size});
  }

  void RequireFloats(Call& call, absl::string_view what, const TensorType& type, const Shape& shape) const {
    call.RequireShape(what, type.shape, shape);
    call.RequireElement(what, type.element, ElementType::kFloat32);
  }
  // An optional operand's elements, or `count` zeros. Call once the layer's shapes are known.
  Floats Optional(Call& call, int index, const Shape& shape) const {
    const int64_t count = ElementCount(shape).value_or(0);
    const Tensor* operand = call.OptionalOperand(index);
    if (!call.ok() || !operand) return Floats(call.ok() ? static_cast<size_t>(count) : 0);
    RequireFloats(call, "an optional operand", operand->type(), shape);
    if (!call.ok()) return {};
    Values<float> values(*operand);
    return Floats(values.data(), values.data() + count);
  }
  std::vector<Gate> Gates(Call& call, size_t count) const {
    auto gates = math::ParseGates(call.String("activations"), call.Floats("alphas"), call.Floats("betas"), count);
    call.Require(gates.has_value(), "activations must be ", count, " known names with alphas and betas");
    return gates.value_or(std::vector<Gate>(count));
  }

  const Tensor& input;
  const Tensor& recurrent;
  const Tensor* lengths;
  bool reverse;
  double clip;
  int64_t steps = 0, batch = 0, size = 0, width = 0;
};

// Walks the steps of every sequence: step(sums, state), where sums(row) is the recurrent product of one gate element
// with any state, computes the next hidden state from that before.
template <class Step>
void Walk(const Layer& layer, Floats& hidden, Floats& h, Step step) {
  Values<float> input(layer.input), recurrent(layer.recurrent);
  const auto size = static_cast<size_t>(layer.size);
  Floats next(size);
  for (int64_t s = 0; s < layer.steps; ++s) {
    const int64_t t = layer.reverse ? layer.steps - 1 - s : s;
    for (int64_t n = 0; n < layer.batch; ++n) {
      if (layer.lengths && t >= layer.lengths->GetInt(n)) continue;
      float* state = h.data() + n * layer.size;
      auto product = [&](const float* vector, int64_t row) {
        double sum = 0;
        for (int64_t k = 0; k < layer.size; ++k)
          sum += static_cast<double>(vector[k]) * recurrent[row * layer.size + k];
        return static_cast<float>(sum);
      };
      step(n, input.data() + (t * layer.batch + n) * layer.width, state, product, next.data());
      std::copy(next.begin(), next.end(), state);
      std::copy(next.begin(), next.end(), hidden.begin() + (t * layer.batch + n) * layer.size);
    }
  }
}

Results Pack(Call& call, std::initializer_list<const Floats*> results) {
  std::vector<Tensor> tensors;
  for (const Floats* values : results) {
    if (static_cast<int>(tensors.size()) < call.result_count())
      tensors.push_back(FromValues<float>(call.Result(static_cast<int>(tensors.size())), *values));
  }
  return tensors;
}

Results Lstm(Call& call) {
  Layer layer(call, 4, call.Operand(0, "input"), call.Operand(1, "recurrent"), call.OptionalOperand(5));
  const std::vector<Gate> gates = layer.Gates(call, 3);
  const bool input_forget = call.Flag("input_forget"), has_peephole = call.OptionalOperand(4) != nullptr;
  Floats h = layer.Optional(call, 2, {layer.batch, layer.size}), c = layer.Optional(call, 3, {layer.batch, layer.size});
  const Floats peephole = layer.Optional(call, 4, {3 * layer.size});
  if (!call.ok()) return call.status();
  Floats hidden(static_cast<size_t>(layer.steps * layer.batch * layer.size));
  math::ScalarBackend b;
  Walk(layer, hidden, h, [&](int64_t n, const float* x, const float* state, const auto& product, float* next) {
    for (int64_t j = 0; j < layer.size; ++j) {
      std::array<float, 4> sums;
      for (int64_t g = 0; g < 4; ++g) {
        const int64_t row = g * layer.size + j;
        sums[static_cast<size_t>(g)] = x[row] + product(state, row);
      }
      std::array<float, 3> weights;
      for (int64_t g = 0; g < 3; ++g)
        weights[static_cast<size_t>(g)] = peephole[static_cast<size_t>(g * layer.size + j)];
      float& cell = c[static_cast<size_t>(n * layer.size + j)];
      auto after = math::LstmCell(b, gates, static_cast<float>(layer.clip), input_forget, sums, cell,
                                  has_peephole ? &weights : nullptr);
      cell = after.cell;
      next[j] = after.hidden;
    }
  });
  return Pack(call, {&hidden, &h, &c});
}

Results Gru(Call& call) {
  Layer layer(call, 3, call.Operand(0, "input"), call.Operand(1, "recurrent"), call.OptionalOperand(4));
  const std::vector<Gate> gates = layer.Gates(call, 2);
  const bool linear = call.Flag("linear_before_reset");
  Floats h = layer.Optional(call, 2, {layer.batch, layer.size});
  const Floats bias = layer.Optional(call, 3, {layer.size});
  if (!call.ok()) return call.status();
  Floats hidden(static_cast<size_t>(layer.steps * layer.batch * layer.size));
  math::ScalarBackend b;
  const auto clip = static_cast<float>(layer.clip);
  const int64_t size = layer.size;
  Floats update(static_cast<size_t>(size)), reset(update), scaled(update);
  Walk(layer, hidden, h, [&](int64_t, const float* x, const float* state, const auto& product, float* next) {
    for (int64_t j = 0; j < size; ++j) {
      const auto i = static_cast<size_t>(j);
      update[i] = math::ClippedGate(b, gates[0], x[j] + product(state, j), clip);
      reset[i] = math::ClippedGate(b, gates[0], x[size + j] + product(state, size + j), clip);
      scaled[i] = reset[i] * state[j];
    }
    for (int64_t j = 0; j < size; ++j) {
      const auto i = static_cast<size_t>(j);
      const int64_t row = 2 * size + j;
      const float recurrent = linear ? reset[i] * (product(state, row) + bias[i]) : product(scaled.data(), row);
      const float candidate = math::ClippedGate(b, gates[1], x[row] + recurrent, clip);
      next[j] = math::GruMix(b, update[i], candidate, state[j]);
    }
  });
  return Pack(call, {&hidden, &h});
}

Results Rnn(Call& call) {
  Layer layer(call, 1, call.Operand(0, "input"), call.Operand(1, "recurrent"), call.OptionalOperand(3));
  const std::vector<Gate> gates = layer.Gates(call, 1);
  Floats h = layer.Optional(call, 2, {layer.batch, layer.size});
  if (!call.ok()) return call.status();
  Floats hidden(static_cast<size_t>(layer.steps * layer.batch * layer.size));
  math::ScalarBackend b;
  Walk(layer, hidden, h, [&](int64_t, const float* x, const float* state, const auto& product, float* next) {
    for (int64_t j = 0; j < layer.size; ++j)
      next[j] = math::ClippedGate(b, gates[0], x[j] + product(state, j), static_cast<float>(layer.clip));
  });
  return Pack(call, {&hidden, &h});
}

constexpr Kernel kKernels[] = {{"lstm", Lstm}, {"gru", Gru}, {"rnn", Rnn}};

}  // namespace

absl::Span<const Kernel> RecurrentKernels() { return kKernels; }

}  // namespace aot::reference
