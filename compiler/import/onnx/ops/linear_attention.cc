// Attention with a state of fixed size instead of all past keys, and the short convolution that goes before it.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/registry.h"
#include "compiler/import/onnx/text.h"

namespace aot::import::onnx {
namespace {

using reference::ElementType;
using reference::Shape;

// Steps are written out one by one; prompts in an artifact are short or come in pieces, with past_state between them.
constexpr int64_t kMostSteps = 1024;

struct Heads {
  int64_t batch = 0, steps = 0, queries = 0, keys = 0, key_size = 0, value_size = 0;
};

absl::StatusOr<Heads> ReadHeads(Node& n) {
  for (size_t i = 0; i < 3; ++i) {
    RETURN_IF_ERROR(n.RequireRank(i, 3, 3));
    RETURN_IF_ERROR(n.RequireFloat(i));
  }
  const Value &query = n.In(0), &key = n.In(1), &value = n.In(2);
  Heads h;
  h.batch = query.dim(0);
  h.steps = query.dim(1);
  h.queries = n.Int("q_num_heads", 0);
  h.keys = n.Int("kv_num_heads", 0);
  if (h.keys < 1 || h.queries < 1 || h.queries % h.keys != 0 || query.dim(2) % h.queries != 0 ||
      key.dim(2) % h.keys != 0 || value.dim(2) % h.keys != 0) {
    return absl::InvalidArgumentError(absl::StrCat("q_num_heads = ", h.queries, " and kv_num_heads = ", h.keys,
                                                   " don't divide the inputs' last dimensions"));
  }
  h.key_size = query.dim(2) / h.queries;
  h.value_size = value.dim(2) / h.keys;
  if (key.shape() != Shape{h.batch, h.steps, h.keys * h.key_size} ||
      value.shape() != Shape{h.batch, h.steps, h.keys * h.value_size}) {
    return absl::InvalidArgumentError(absl::StrCat("query ", reference::ToString(query.shape()), ", key ",
                                                   reference::ToString(key.shape()), " and value ",
                                                   reference::ToString(value.shape()), " don't fit"));
  }
  if (h.steps > kMostSteps) {
    return Unsupported(absl::StrCat(h.steps, " steps at once"), absl::StrCat("at most ", kMostSteps, " steps"));
  }
  return h;
}

// x [batch, steps, heads * size] as [batch, heads, steps, size] in float32.
absl::StatusOr<Value> Unpack(Node& n, size_t input, const Heads& h, int64_t heads) {
  const Value& x = n.In(input);
  RETURN_IF_ERROR(n.RequireRank(input, 3, 3));
  if (x.dim(0) != h.batch || x.dim(1) != h.steps || x.dim(2) == 0 || x.dim(2) % heads != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("input ", input, " of ", reference::ToString(x.shape()), " doesn't fit the query"));
  }
  const Value wide = n.b.Cast(x, ElementType::kFloat32);
  return n.b.Transpose(n.b.Reshape(wide, {h.batch, h.steps, heads, x.dim(2) / heads}), {0, 2, 1, 3});
}

// One step of [batch, heads, steps, size], with the dimension kept.
Value Step(Builder& b, const Value& x, int64_t step) {
  return b.Slice(x, {0, 0, step, 0}, {1, 1, 1, 1}, {x.dim(0), x.dim(1), 1, x.dim(3)});
}

// state += key x value, after the decay and the correction that the rule asks for; result = scale * query * state.
absl::StatusOr<Results> ImportLinearAttention(Node& n) {
  Builder& b = n.b;
  ASSIGN_OR_RETURN(const Heads h, ReadHeads(n));
  const std::string rule = n.String("update_rule", "gated_delta");
  const bool gated = rule == "gated" || rule == "gated_delta", delta = rule == "delta" || rule == "gated_delta";
  if (!gated && !delta && rule != "linear") {
    return absl::InvalidArgumentError(
        absl::StrCat("update_rule is ", Quoted(rule), "; it must be linear, gated, delta or gated_delta"));
  }
  if (gated != n.Has(4) || delta != n.Has(5)) {
    return absl::InvalidArgumentError(absl::StrCat("update_rule ", rule, gated ? " needs decay" : " takes no decay",
                                                   " and ", delta ? "needs beta" : "takes no beta"));
  }
  ASSIGN_OR_RETURN(const Value query, Unpack(n, 0, h, h.queries));
  ASSIGN_OR_RETURN(const Value key, Unpack(n, 1, h, h.keys));
  ASSIGN_OR_RETURN(const Value value, Unpack(n, 2, h, h.keys));
  Value decay, beta;
  if (gated) {
    ASSIGN_OR_RETURN(decay, Unpack(n, 4, h, h.keys));
    if (decay.dim(3) != 1 && decay.dim(3) != h.key_size) {
      return absl::InvalidArgumentError("decay must have one value a head, or one for each element of its keys");
    }
    decay = b.Unary("exp", decay);
  }
  if (delta) {
    ASSIGN_OR_RETURN(beta, Unpack(n, 5, h, n.In(5).dim(n.In(5).rank() - 1) == 1 ? 1 : h.keys));
    if (beta.dim(3) != 1) return absl::InvalidArgumentError("beta must have one value, or one a head");
  }
  const Shape state_shape = {h.batch, h.keys, h.key_size, h.value_size};
  const ElementType state_element = n.Has(3) ? n.In(3).element() : n.In(0).element();
  Value state = b.Broadcast(b.Scalar(ElementType::kFloat32, 0), state_shape);
  if (n.Has(3)) {
    if (n.In(3).shape() != state_shape) {
      return absl::InvalidArgumentError(absl::StrCat("past_state is ", reference::ToString(n.In(3).shape()), ", ",
                                                     reference::ToString(state_shape), " is expected"));
    }
    state = b.Cast(n.In(3), ElementType::kFloat32);
  }
  const double given_scale = n.Float("scale", 0);
  const double scale = given_scale != 0 ? given_scale : 1 / std::sqrt(static_cast<double>(h.key_size));
  std::vector<Value> outputs;
  for (int64_t i = 0; i < h.steps; ++i) {
    const Value k = Step(b, key, i);
    Value v = Step(b, value, i);
    if (gated) state = b.Mul(state, b.Transpose(Step(b, decay, i), {0, 1, 3, 2}));
    if (delta) v = b.Mul(Step(b, beta, i), b.Sub(v, b.MatMul(k, state)));
    state = b.Add(state, b.Mul(b.Transpose(k, {0, 1, 3, 2}), v));
    // Query heads that share a state are the rows of one product.
    const Value q = b.Reshape(Step(b, query, i), {h.batch, h.keys, h.queries / h.keys, h.key_size});
    outputs.push_back(b.Reshape(b.MatMul(q, state), {h.batch, 1, h.queries * h.value_size}));
  }
  if (outputs.empty()) {
    outputs.push_back(b.Broadcast(b.Scalar(ElementType::kFloat32, 0), {h.batch, 0, h.queries * h.value_size}));
  }
  const Value all = b.Mul(b.Concat(outputs, 1), b.Scalar(ElementType::kFloat32, scale));
  return Results{b.Cast(all, n.In(0).element()), b.Cast(state, state_element)};
}

// A depthwise convolution over the past and present of each channel.
absl::StatusOr<Results> ImportCausalConvWithState(Node& n) {
  Builder& b = n.b;
  const Value &x = n.In(0), &filter = n.In(1);
  const ElementType element = x.element();
  RETURN_IF_ERROR(n.RequireFloat(0));
  RETURN_IF_ERROR(n.RequireRank(0, 3, 3));
  RETURN_IF_ERROR(n.RequireRank(1, 3, 3));
  const int64_t channels = x.dim(1), taps = filter.dim(2);
  if (filter.shape() != Shape{channels, 1, taps} || taps < 1) {
    return absl::InvalidArgumentError(absl::StrCat("a filter of ", reference::ToString(filter.shape()),
                                                   " doesn't fit an input of ", reference::ToString(x.shape())));
  }
  for (size_t i : {1, 2, 3}) {
    if (n.Has(i)) RETURN_IF_ERROR(n.RequireSameElement(0, i));
  }
  const Shape state_shape = {x.dim(0), channels, taps - 1};
  Value past = n.Has(3) ? n.In(3) : b.Broadcast(b.Scalar(element, 0), state_shape);
  if (past.shape() != state_shape) {
    return absl::InvalidArgumentError(absl::StrCat("past_state is ", reference::ToString(past.shape()), ", ",
                                                   reference::ToString(state_shape), " is expected"));
  }
  const std::string activation = n.String("activation", "none");
  if (activation != "none" && activation != "silu" && activation != "swish") {
    return absl::InvalidArgumentError(
        absl::StrCat("activation is ", Quoted(activation), "; it must be none, silu or swish"));
  }
  const Value all = b.Concat({past, x}, 2);
  Value result = b.Emit("conv",
                        {{"strides", std::vector<int64_t>{1}},
                         {"pads", std::vector<int64_t>{0, 0}},
                         {"dilations", std::vector<int64_t>{1}},
                         {"group", channels}},
                        {all, filter, n.In(2)}, x.type());
  if (activation != "none") {
    const Value wide = b.Cast(result, element == ElementType::kFloat64 ? element : ElementType::kFloat32);
    result = b.Cast(b.Mul(wide, b.Unary("sigmoid", wide)), element);
  }
  return Results{result, b.Slice(all, {0, 0, x.dim(2)}, {1, 1, 1}, state_shape)};
}

}  // namespace

Family LinearAttentionFamily() {
  static const std::vector<Operator> operators = {
      {"CausalConvWithState", {27}, 2, 4, ImportCausalConvWithState},
      {"LinearAttention", {27}, 3, 6, ImportLinearAttention},
  };
  return {"linear attention", operators};
}

}  // namespace aot::import::onnx
