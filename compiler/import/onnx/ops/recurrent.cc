// LSTM, GRU and RNN: one product projects all time steps, then one nn operation for each direction walks them.
#include <functional>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/import/onnx/registry.h"
#include "compiler/import/onnx/text.h"

namespace aot::import::onnx {
namespace {

using reference::Attributes;
using reference::ElementType;
using reference::Shape;

struct Activation {
  const char* onnx;
  const char* name;  // in the dialect
  double alpha, beta;
  bool takes_alpha, takes_beta;
};
constexpr Activation kActivations[] = {
    {"affine", "affine", 1, 0, true, true},
    {"elu", "elu", 1, 0, true, false},
    {"hardsigmoid", "hard_sigmoid", 0.2, 0.5, true, true},
    {"leakyrelu", "leaky_relu", 0.01, 0, true, false},
    {"relu", "relu", 0, 0, false, false},
    {"scaledtanh", "scaled_tanh", 1, 1, true, true},
    {"sigmoid", "sigmoid", 0, 0, false, false},
    {"softplus", "softplus", 0, 0, false, false},
    {"softsign", "softsign", 0, 0, false, false},
    {"tanh", "tanh", 0, 0, false, false},
    {"thresholdedrelu", "thresholded_relu", 1, 0, true, false},
};

// A layer as the node describes it. Tensors are float32 and time comes first.
struct Layer {
  int64_t steps = 0, batch = 0, inputs = 0, size = 0, gates = 0;
  std::vector<bool> reverse;  // one entry a direction
  Value x, w, r, bias, lengths, initial_h;
  bool batch_first = false;
  ElementType element = ElementType::kFloat32;
  Attributes attributes;                 // what the directions have in common
  std::vector<std::string> activations;  // by direction, joined
  std::vector<std::vector<double>> alphas, betas;

  int64_t directions() const { return static_cast<int64_t>(reverse.size()); }
};

absl::Status RequireShape(const Value& value, const char* what, const Shape& shape) {
  if (value.shape() == shape) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(what, " is ", reference::ToString(value.shape()), ", ", reference::ToString(shape), " is expected"));
}

// Parameters are taken in the order of the functions, each by those that have it.
absl::Status ReadActivations(Node& n, size_t each, const std::vector<std::string>& defaults, Layer& layer) {
  std::vector<std::string> names = n.Strings("activations");
  const size_t directions = layer.reverse.size();
  if (names.empty()) {
    for (size_t d = 0; d < directions; ++d) names.insert(names.end(), defaults.begin(), defaults.end());
  }
  if (names.size() != each * directions) {
    return absl::InvalidArgumentError(
        absl::StrCat("it has ", names.size(), " activations, ", each * directions, " are expected"));
  }
  const std::vector<double> alphas = n.Floats("activation_alpha"), betas = n.Floats("activation_beta");
  size_t next_alpha = 0, next_beta = 0;
  for (size_t d = 0; d < directions; ++d) {
    std::vector<std::string> joined;
    layer.alphas.emplace_back();
    layer.betas.emplace_back();
    for (size_t i = 0; i < each; ++i) {
      const std::string& name = names[d * each + i];
      const Activation* found = nullptr;
      for (const Activation& activation : kActivations) {
        if (absl::AsciiStrToLower(name) == activation.onnx) found = &activation;
      }
      if (!found) {
        return absl::InvalidArgumentError(absl::StrCat("activation ", Quoted(name), " is not one of ONNX's eleven"));
      }
      joined.push_back(found->name);
      layer.alphas.back().push_back(found->takes_alpha && next_alpha < alphas.size() ? alphas[next_alpha++]
                                                                                     : found->alpha);
      layer.betas.back().push_back(found->takes_beta && next_beta < betas.size() ? betas[next_beta++] : found->beta);
    }
    layer.activations.push_back(absl::StrJoin(joined, ","));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<bool>> ReadDirections(Node& n) {
  const std::string direction = n.String("direction", "forward");
  if (direction == "forward") return std::vector<bool>{false};
  if (direction == "reverse") return std::vector<bool>{true};
  if (direction == "bidirectional") return std::vector<bool>{false, true};
  return absl::InvalidArgumentError(
      absl::StrCat("direction is ", Quoted(direction), "; it must be forward, reverse or bidirectional"));
}

// [directions, batch, size], also where the batch comes first.
Value DirectionsFirst(Builder& b, const Value& x, const Layer& layer) {
  return layer.batch_first ? b.Transpose(x, {1, 0, 2}) : x;
}

absl::StatusOr<Layer> ReadLayer(Node& n, int64_t gates, size_t activations, const std::vector<std::string>& defaults) {
  Builder& b = n.b;
  Layer layer;
  layer.gates = gates;
  layer.element = n.In(0).element();
  for (size_t i = 0; i < 3; ++i) {
    RETURN_IF_ERROR(n.RequireFloat(i));
    RETURN_IF_ERROR(n.RequireRank(i, 3, 3));
    RETURN_IF_ERROR(n.RequireSameElement(0, i));
  }
  ASSIGN_OR_RETURN(layer.reverse, ReadDirections(n));
  layer.batch_first = n.Flag("layout", false);
  layer.x = b.Cast(layer.batch_first ? b.Transpose(n.In(0), {1, 0, 2}) : n.In(0), ElementType::kFloat32);
  layer.w = b.Cast(n.In(1), ElementType::kFloat32);
  layer.r = b.Cast(n.In(2), ElementType::kFloat32);
  layer.steps = layer.x.dim(0);
  layer.batch = layer.x.dim(1);
  layer.inputs = layer.x.dim(2);
  layer.size = layer.r.dim(2);
  const int64_t directions = layer.directions();
  if (layer.size == 0) return absl::InvalidArgumentError("a hidden size of 0");
  if (const int64_t given = n.Int("hidden_size", layer.size); given != layer.size) {
    return absl::InvalidArgumentError(
        absl::StrCat("hidden_size is ", given, ", the recurrent weights say ", layer.size));
  }
  if (layer.size > INT64_MAX / gates) return absl::InvalidArgumentError("a hidden size out of range");
  const int64_t width = gates * layer.size;
  RETURN_IF_ERROR(RequireShape(layer.w, "W", {directions, width, layer.inputs}));
  RETURN_IF_ERROR(RequireShape(layer.r, "R", {directions, width, layer.size}));
  if (n.Has(3)) {
    RETURN_IF_ERROR(RequireShape(n.In(3), "B", {directions, 2 * width}));
    layer.bias = b.Cast(n.In(3), ElementType::kFloat32);
  }
  if (n.Has(4)) {
    RETURN_IF_ERROR(RequireShape(n.In(4), "sequence_lens", {layer.batch}));
    const ElementType element = n.In(4).element();
    if (element != ElementType::kInt32 && element != ElementType::kInt64) {
      return absl::InvalidArgumentError("sequence_lens must be int32");
    }
    bool full = n.In(4).constant() != nullptr;
    for (int64_t i = 0; full && i < layer.batch; ++i) full = n.In(4).constant()->GetInt(i) >= layer.steps;
    if (!full) layer.lengths = n.In(4);
  }
  const Shape state =
      layer.batch_first ? Shape{layer.batch, directions, layer.size} : Shape{directions, layer.batch, layer.size};
  if (n.Has(5)) {
    RETURN_IF_ERROR(RequireShape(n.In(5), "initial_h", state));
    layer.initial_h = DirectionsFirst(b, b.Cast(n.In(5), ElementType::kFloat32), layer);
  }
  const double clip = n.Float("clip", 0.0);
  if (clip < 0) return absl::InvalidArgumentError(absl::StrCat("clip is ", clip, "; it must be positive"));
  layer.attributes["clip"] = clip;
  RETURN_IF_ERROR(ReadActivations(n, activations, defaults, layer));
  return layer;
}

// Entry d of the first dimension, which goes away.
Value Entry(Builder& b, const Value& x, int64_t d) {
  Shape part = x.shape();
  part[0] = 1;
  std::vector<int64_t> starts(part.size(), 0);
  starts[0] = d;
  const Value slice = b.Slice(x, starts, std::vector<int64_t>(part.size(), 1), part);
  part.erase(part.begin());
  return b.Reshape(slice, std::move(part));
}
Value OptionalEntry(Builder& b, const Value& x, int64_t d) { return x ? Entry(b, x, d) : Value(); }

// Elements [first, first + count) of a vector.
Value Range(Builder& b, const Value& x, int64_t first, int64_t count) { return b.Slice(x, {first}, {1}, {count}); }

// x W' + Wb + Rb of one direction, [steps, batch, gates * size]. The recurrent bias of the last `kept` gates is left to
// the recurrence.
Value Project(Builder& b, const Layer& layer, int64_t d, int64_t kept = 0) {
  const int64_t width = layer.gates * layer.size;
  const Value flat = b.Reshape(layer.x, {layer.steps * layer.batch, layer.inputs});
  Value projected = b.MatMul(flat, Entry(b, layer.w, d), false, /*trans_b=*/true);
  if (layer.bias) {
    const Value both = Entry(b, layer.bias, d);
    Value recurrent = Range(b, both, width, width);
    if (kept > 0) {
      const int64_t rest = width - kept * layer.size;
      const Value zeros = b.Broadcast(b.Scalar(ElementType::kFloat32, 0), {width - rest});
      recurrent = b.Concat({Range(b, recurrent, 0, rest), zeros}, 0);
    }
    projected = b.Add(projected, b.Add(Range(b, both, 0, width), recurrent));
  }
  return b.Reshape(projected, {layer.steps, layer.batch, width});
}

// Runs one operation for each direction; results[i] gathers result i of all.
std::vector<std::vector<Value>> RunDirections(Builder& b, const Layer& layer, const char* name, int states,
                                              const std::function<std::vector<Value>(int64_t d)>& operands) {
  std::vector<std::vector<Value>> results(static_cast<size_t>(states) + 1);
  for (int64_t d = 0; d < layer.directions(); ++d) {
    const auto i = static_cast<size_t>(d);
    reference::Operation operation{name, layer.attributes, {}};
    operation.attributes["activations"] = layer.activations[i];
    operation.attributes["alphas"] = layer.alphas[i];
    operation.attributes["betas"] = layer.betas[i];
    operation.attributes["reverse"] = static_cast<bool>(layer.reverse[i]);
    operation.results.push_back({ElementType::kFloat32, {layer.steps, layer.batch, layer.size}});
    for (int s = 0; s < states; ++s) operation.results.push_back({ElementType::kFloat32, {layer.batch, layer.size}});
    const std::vector<Value> values = b.Emit(operation, operands(d));
    for (size_t r = 0; r < values.size(); ++r) results[r].push_back(values[r]);
  }
  return results;
}

// ONNX's outputs: all hidden states, then the last states.
Results Assemble(Builder& b, const Layer& layer, const std::vector<std::vector<Value>>& results) {
  Results outputs;
  for (size_t r = 0; r < results.size(); ++r) {
    const int64_t axis = r == 0 ? 1 : 0;  // of the directions
    std::vector<Value> parts;
    for (const Value& part : results[r]) {
      Shape shape = part.shape();
      shape.insert(shape.begin() + axis, 1);
      parts.push_back(b.Reshape(part, std::move(shape)));
    }
    Value joined = b.Concat(parts, axis);
    if (layer.batch_first)
      joined = b.Transpose(joined, r == 0 ? std::vector<int64_t>{2, 0, 1, 3} : std::vector<int64_t>{1, 0, 2});
    outputs.push_back(b.Cast(joined, layer.element));
  }
  return outputs;
}

absl::StatusOr<Results> ImportLstm(Node& n) {
  Builder& b = n.b;
  ASSIGN_OR_RETURN(Layer layer, ReadLayer(n, 4, 3, {"Sigmoid", "Tanh", "Tanh"}));
  layer.attributes["input_forget"] = n.Flag("input_forget", false);
  Value initial_c, peephole;
  if (n.Has(6)) {
    const Shape state = layer.batch_first ? Shape{layer.batch, layer.directions(), layer.size}
                                          : Shape{layer.directions(), layer.batch, layer.size};
    RETURN_IF_ERROR(RequireShape(n.In(6), "initial_c", state));
    initial_c = DirectionsFirst(b, b.Cast(n.In(6), ElementType::kFloat32), layer);
  }
  if (n.Has(7)) {
    RETURN_IF_ERROR(RequireShape(n.In(7), "P", {layer.directions(), 3 * layer.size}));
    peephole = b.Cast(n.In(7), ElementType::kFloat32);
  }
  auto operands = [&](int64_t d) {
    return std::vector<Value>{
        Project(b, layer, d),           Entry(b, layer.r, d),          OptionalEntry(b, layer.initial_h, d),
        OptionalEntry(b, initial_c, d), OptionalEntry(b, peephole, d), layer.lengths};
  };
  return Assemble(b, layer, RunDirections(b, layer, "lstm", 2, operands));
}

absl::StatusOr<Results> ImportGru(Node& n) {
  Builder& b = n.b;
  ASSIGN_OR_RETURN(Layer layer, ReadLayer(n, 3, 2, {"Sigmoid", "Tanh"}));
  const bool linear = n.Flag("linear_before_reset", false);
  layer.attributes["linear_before_reset"] = linear;
  auto operands = [&](int64_t d) {
    Value hidden_bias;
    if (linear && layer.bias) hidden_bias = Range(b, Entry(b, layer.bias, d), 5 * layer.size, layer.size);
    return std::vector<Value>{Project(b, layer, d, linear ? 1 : 0), Entry(b, layer.r, d),
                              OptionalEntry(b, layer.initial_h, d), hidden_bias, layer.lengths};
  };
  return Assemble(b, layer, RunDirections(b, layer, "gru", 1, operands));
}

absl::StatusOr<Results> ImportRnn(Node& n) {
  Builder& b = n.b;
  ASSIGN_OR_RETURN(Layer layer, ReadLayer(n, 1, 1, {"Tanh"}));
  auto operands = [&](int64_t d) {
    return std::vector<Value>{Project(b, layer, d), Entry(b, layer.r, d), OptionalEntry(b, layer.initial_h, d),
                              layer.lengths};
  };
  return Assemble(b, layer, RunDirections(b, layer, "rnn", 1, operands));
}

}  // namespace

Family RecurrentFamily() {
  static const std::vector<Operator> operators = {
      {"GRU", {1, 3, 7, 14, 22}, 3, 6, ImportGru},
      {"LSTM", {1, 7, 14, 22}, 3, 8, ImportLstm},
      {"RNN", {1, 7, 14, 22}, 3, 6, ImportRnn},
  };
  return {"recurrent", operators};
}

}  // namespace aot::import::onnx
