// Losses over classes: dimension 1 of the scores.
#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/registry.h"
#include "compiler/import/onnx/text.h"

namespace aot::import::onnx {
namespace {

using reference::ElementType;
using reference::Shape;

// Classes as labels choose them: scores [N, C, d...], labels [N, d...].
absl::Status CheckLabels(Node& n) {
  const Value& scores = n.In(0);
  const Value& labels = n.In(1);
  RETURN_IF_ERROR(n.RequireFloat(0));
  RETURN_IF_ERROR(n.RequireRank(0, 2));
  Shape expected = scores.shape();
  expected.erase(expected.begin() + 1);
  if (labels.element() != ElementType::kInt32 && labels.element() != ElementType::kInt64) {
    return absl::InvalidArgumentError(
        absl::StrCat("the labels must be int32 or int64, not ", reference::Name(labels.element())));
  }
  if (labels.shape() != expected || scores.dim(1) < 1) {
    return absl::InvalidArgumentError(absl::StrCat("labels of ", reference::ToString(labels.shape()),
                                                   " don't fit scores of ", reference::ToString(scores.shape())));
  }
  if (n.Has(2) && (n.In(2).shape() != Shape{scores.dim(1)} || n.In(2).element() != scores.element())) {
    return absl::InvalidArgumentError("there must be one weight of the scores' type for each class");
  }
  return absl::OkStatus();
}

Value SumOfAll(Builder& b, const Value& x) {
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < x.rank(); ++i) axes.push_back(i);
  return b.Reshape(b.Reduce("reduce_sum", x, std::move(axes)), {});
}

// -log_probability of each label, weighted by its class, and reduced as the node says.
absl::StatusOr<Value> Loss(Node& n, const Value& log_probabilities) {
  Builder& b = n.b;
  Value labels = n.In(1);
  const ElementType element = log_probabilities.element();
  const std::string reduction = n.String("reduction", "mean");
  if (reduction != "none" && reduction != "sum" && reduction != "mean") {
    return absl::InvalidArgumentError(
        absl::StrCat("reduction is ", Quoted(reduction), "; it must be none, sum or mean"));
  }
  Value ignored;
  if (n.HasAttribute("ignore_index")) {
    // An ignored label need not be a class: read class 0 instead and take it out afterwards.
    const Value ignore = b.Cast(b.Reshape(b.Int64s({n.Int("ignore_index", 0)}), {}), labels.element());
    ignored = b.Compare("equal", labels, ignore);
    labels = b.Where(ignored, b.Scalar(labels.element(), 0), labels);
  }
  Shape column = labels.shape();
  column.insert(column.begin() + 1, 1);
  const Value chosen = b.Emit("gather_elements", {{"axis", int64_t{1}}}, {log_probabilities, b.Reshape(labels, column)},
                              {element, column});
  Value loss = b.Unary("neg", b.Reshape(chosen, labels.shape()));
  const Value zero = b.Scalar(element, 0);
  Value weights;
  if (n.Has(2)) {
    weights = b.Emit("gather", {{"axis", int64_t{0}}}, {n.In(2), labels}, {element, labels.shape()});
    loss = b.Mul(loss, weights);
  }
  if (ignored) {
    loss = b.Where(ignored, zero, loss);
    weights = b.Where(ignored, zero, weights ? weights : b.Scalar(element, 1));
  }
  if (reduction == "none") return loss;
  const Value sum = SumOfAll(b, loss);
  if (reduction == "sum") return sum;
  const Value total = weights ? SumOfAll(b, weights) : b.Scalar(element, static_cast<double>(Elements(labels.shape())));
  return b.Div(sum, total);
}

absl::StatusOr<Results> ImportNegativeLogLikelihoodLoss(Node& n) {
  RETURN_IF_ERROR(CheckLabels(n));
  ASSIGN_OR_RETURN(Value loss, Loss(n, n.In(0)));
  return Results{std::move(loss)};
}

absl::StatusOr<Results> ImportSoftmaxCrossEntropyLoss(Node& n) {
  RETURN_IF_ERROR(CheckLabels(n));
  const Value log_probabilities = n.b.Unary("log_softmax", n.In(0), {{"axis", int64_t{1}}});
  ASSIGN_OR_RETURN(Value loss, Loss(n, log_probabilities));
  return Results{std::move(loss), log_probabilities};
}

}  // namespace

Family LossFamily() {
  static const std::vector<Operator> operators = {
      {"NegativeLogLikelihoodLoss", {12, 13, 22}, 2, 3, ImportNegativeLogLikelihoodLoss},
      {"SoftmaxCrossEntropyLoss", {12, 13}, 2, 3, ImportSoftmaxCrossEntropyLoss},
  };
  return {"loss", operators};
}

}  // namespace aot::import::onnx
