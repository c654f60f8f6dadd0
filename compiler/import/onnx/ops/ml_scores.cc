#include "compiler/import/onnx/ops/ml_scores.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/text.h"

namespace aot::import::onnx {
namespace {

using reference::ElementType;
using reference::Shape;

Value Softmax(Builder& b, const Value& scores) { return b.Unary("softmax", scores, {{"axis", int64_t{1}}}); }

// A softmax that leaves scores of zero out of the sum.
Value SoftmaxZero(Builder& b, const Value& scores) {
  const ElementType element = scores.element();
  const Value largest = b.Reduce("reduce_max", scores, {1});
  const Value counts = b.Compare("greater", b.Unary("abs", scores), b.Scalar(element, 1e-7));
  const Value powers = b.Unary("exp", b.Sub(scores, largest));
  const Value rest = b.Mul(scores, b.Unary("exp", b.Sub(b.Scalar(element, 0), largest)));
  const Value sum = b.Reduce("reduce_sum", b.Where(counts, powers, b.Scalar(element, 0)), {1});
  return b.Div(b.Where(counts, powers, rest), sum);
}

// sqrt(2) times the inverse error function of 2 x - 1, by Winitzki's approximation, as ONNX Runtime has it.
Value Probit(Builder& b, const Value& scores) {
  const ElementType element = scores.element();
  auto number = [&](double value) { return b.Scalar(element, value); };
  const Value x = b.Sub(b.Mul(scores, number(2)), number(1));
  const Value log = b.Unary("log", b.Mul(b.Sub(number(1), x), b.Add(number(1), x)));
  const Value v = b.Add(number(2 / (3.14159 * 0.147)), b.Mul(log, number(0.5)));
  const Value square = b.Sub(b.Mul(v, v), b.Mul(log, number(1 / 0.147)));
  const Value magnitude = b.Unary("sqrt", b.Sub(b.Unary("sqrt", square), v));
  const Value sign = b.Where(b.Compare("less", x, number(0)), number(-1.41421356), number(1.41421356));
  return b.Mul(sign, magnitude);
}

}  // namespace

absl::StatusOr<Value> FeatureRows(Node& n, size_t input) {
  RETURN_IF_ERROR(n.RequireRank(input, 1, 2));
  const Value& x = n.In(input);
  const Value rows = x.rank() == 2 ? x : n.b.Reshape(x, {1, x.dim(0)});
  return rows.element() == ElementType::kFloat64 ? rows : n.b.Cast(rows, ElementType::kFloat32);
}

absl::StatusOr<Value> PostTransform(Node& n, const Value& scores, const std::string& transform) {
  if (transform == "NONE") return scores;
  if (transform == "LOGISTIC") return n.b.Unary("sigmoid", scores);
  if (transform == "SOFTMAX") return Softmax(n.b, scores);
  if (transform == "SOFTMAX_ZERO") return SoftmaxZero(n.b, scores);
  if (transform == "PROBIT") return Probit(n.b, scores);
  return absl::InvalidArgumentError(absl::StrCat("post_transform is ", Quoted(transform),
                                                 "; it must be NONE, LOGISTIC, SOFTMAX, SOFTMAX_ZERO or PROBIT"));
}

absl::StatusOr<std::vector<int64_t>> ClassLabels(Node& n, absl::string_view ints, absl::string_view strings) {
  if (n.HasAttribute(strings) && !n.Strings(strings).empty()) {
    return Unsupported(absl::StrCat("labels that are strings (", strings, ")"), absl::StrCat("integers (", ints, ")"));
  }
  std::vector<int64_t> labels = n.Ints(ints);
  if (labels.empty()) return absl::InvalidArgumentError(absl::StrCat("it has no ", ints));
  return labels;
}

Value PickLabel(Builder& b, const std::vector<int64_t>& labels, const Value& index) {
  bool counts = true;
  for (size_t i = 0; i < labels.size(); ++i) counts = counts && labels[i] == static_cast<int64_t>(i);
  if (counts) return index;
  return b.Emit("gather", {{"axis", int64_t{0}}}, {b.Int64s(labels), index}, {ElementType::kInt64, index.shape()});
}

Value BestLabel(Builder& b, const std::vector<int64_t>& labels, const Value& scores) {
  const Value best = b.Emit("arg_max", {{"axis", int64_t{1}}, {"select_last", false}}, {scores},
                            {ElementType::kInt64, {scores.dim(0), 1}});
  return PickLabel(b, labels, b.Reshape(best, {scores.dim(0)}));
}

Value FloatConstant(Builder& b, const std::vector<double>& values, Shape shape) {
  reference::Tensor tensor(reference::TensorType{ElementType::kFloat32, std::move(shape)});
  for (size_t i = 0; i < values.size(); ++i) tensor.SetFloat(static_cast<int64_t>(i), values[i]);
  return b.Constant(std::move(tensor));
}

}  // namespace aot::import::onnx
