// The cells of recurrent layers for float32, over a backend (backend.h): the one formula that reference/ and code
// generation share. Each takes the pre-activations of its gates, which are sums of products, and the state before the
// step, and gives the state after it. Equations: ONNX's operators LSTM, GRU and RNN.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "compiler/math/activations.h"

namespace aot::math {

enum class GateFunction : uint8_t {
  kAffine,
  kElu,
  kHardSigmoid,
  kLeakyRelu,
  kRelu,
  kScaledTanh,
  kSigmoid,
  kSoftplus,
  kSoftsign,
  kTanh,
  kThresholdedRelu,
};

// A function with its parameters; those that a function doesn't have are ignored.
struct Gate {
  GateFunction function = GateFunction::kTanh;
  float alpha = 0, beta = 0;
};

// Reads names that commas separate ("sigmoid,tanh,tanh"), with alphas and betas one entry each. Nullopt unless there
// are exactly `count` known names, alphas and betas. Any list of floats may hold the parameters.
template <class Floats>
std::optional<std::vector<Gate>> ParseGates(std::string_view names, const Floats& alphas, const Floats& betas,
                                            size_t count) {
  constexpr std::array<std::string_view, 11> kNames = {"affine",   "elu",         "hard_sigmoid",    "leaky_relu",
                                                       "relu",     "scaled_tanh", "sigmoid",         "softplus",
                                                       "softsign", "tanh",        "thresholded_relu"};
  std::vector<Gate> gates;
  if (alphas.size() != count || betas.size() != count) return std::nullopt;
  while (gates.size() < count) {
    const size_t comma = names.find(',');
    size_t known = 0;
    while (known < kNames.size() && kNames[known] != names.substr(0, comma)) ++known;
    if (known == kNames.size()) return std::nullopt;
    gates.push_back({static_cast<GateFunction>(known), static_cast<float>(alphas[gates.size()]),
                     static_cast<float>(betas[gates.size()])});
    if (comma == std::string_view::npos) {
      names = {};
      break;
    }
    names.remove_prefix(comma + 1);
  }
  if (gates.size() != count || !names.empty()) return std::nullopt;
  return gates;
}

template <class B>
F<B> Apply(B& b, const Gate& gate, F<B> x) {
  switch (gate.function) {
    case GateFunction::kAffine:
      return b.MulAdd(x, b.Constant(gate.alpha), b.Constant(gate.beta));
    case GateFunction::kElu:
      return Elu(b, x, gate.alpha);
    case GateFunction::kHardSigmoid:
      return HardSigmoid(b, x, gate.alpha, gate.beta);
    case GateFunction::kLeakyRelu:
      return LeakyRelu(b, x, gate.alpha);
    case GateFunction::kRelu:
      return Relu(b, x);
    case GateFunction::kScaledTanh:
      return b.Mul(b.Constant(gate.alpha), Tanh(b, b.Mul(x, b.Constant(gate.beta))));
    case GateFunction::kSigmoid:
      return Sigmoid(b, x);
    case GateFunction::kSoftplus:
      return Softplus(b, x);
    case GateFunction::kSoftsign:
      return Softsign(b, x);
    case GateFunction::kTanh:
      return Tanh(b, x);
    case GateFunction::kThresholdedRelu:
      return ThresholdedRelu(b, x, gate.alpha);
  }
  return x;
}

// The function of a pre-activation, which a positive limit keeps within [-limit, limit].
template <class B>
F<B> ClippedGate(B& b, const Gate& gate, F<B> x, float limit) {
  if (limit > 0) x = detail::AtMost(b, detail::AtLeast(b, x, -limit), limit);
  return Apply(b, gate, x);
}

template <class B>
struct LstmState {
  F<B> hidden, cell;
};

// Pre-activations in ONNX's order: input, output, forget, cell. `peephole`, if not null, has the weights of the cell
// state for the first three. gates: of the three gates, of the cell's candidate, of the cell's output.
template <class B>
LstmState<B> LstmCell(B& b, const std::vector<Gate>& gates, float clip, bool input_forget,
                      const std::array<F<B>, 4>& sums, F<B> cell, const std::array<F<B>, 3>* peephole) {
  auto with = [&](size_t gate, F<B> state) {
    return peephole ? b.MulAdd((*peephole)[gate], state, sums[gate]) : sums[gate];
  };
  const F<B> input = ClippedGate(b, gates[0], with(0, cell), clip);
  const F<B> forget = input_forget ? b.Sub(b.Constant(1.0f), input) : ClippedGate(b, gates[0], with(2, cell), clip);
  const F<B> candidate = ClippedGate(b, gates[1], sums[3], clip);
  const F<B> next = b.MulAdd(forget, cell, b.Mul(input, candidate));
  const F<B> output = ClippedGate(b, gates[0], with(1, next), clip);
  return {b.Mul(output, Apply(b, gates[2], next)), next};
}

// The hidden state from the update gate and the candidate: (1 - update) candidate + update hidden.
template <class B>
F<B> GruMix(B& b, F<B> update, F<B> candidate, F<B> hidden) {
  return b.MulAdd(update, b.Sub(hidden, candidate), candidate);
}

}  // namespace aot::math
