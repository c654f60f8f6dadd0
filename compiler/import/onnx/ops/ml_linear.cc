// ai.onnx.ml: linear models and support vector machines.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/ops/ml_scores.h"
#include "compiler/import/onnx/registry.h"
#include "compiler/import/onnx/text.h"

namespace aot::import::onnx {
namespace {

using reference::ElementType;
using reference::Shape;

// x coefficients' + intercepts, [rows, models] in float32.
absl::StatusOr<Value> LinearScores(Node& n, int64_t models) {
  ASSIGN_OR_RETURN(Value x, FeatureRows(n, 0));
  x = n.b.Cast(x, ElementType::kFloat32);
  const std::vector<double> coefficients = n.Floats("coefficients"), intercepts = n.Floats("intercepts");
  if (models < 1 || x.dim(1) < 1 || static_cast<int64_t>(coefficients.size()) / models != x.dim(1) ||
      static_cast<int64_t>(coefficients.size()) % models != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(coefficients.size(), " coefficients don't fit ", models, " models of ", x.dim(1), " features"));
  }
  if (!intercepts.empty() && static_cast<int64_t>(intercepts.size()) != models) {
    return absl::InvalidArgumentError(absl::StrCat(intercepts.size(), " intercepts for ", models, " models"));
  }
  Value scores = n.b.MatMul(x, FloatConstant(n.b, coefficients, {models, x.dim(1)}), false, /*trans_b=*/true);
  if (!intercepts.empty()) scores = n.b.Add(scores, FloatConstant(n.b, intercepts, {models}));
  return scores;
}

absl::StatusOr<Results> ImportLinearRegressor(Node& n) {
  ASSIGN_OR_RETURN(const Value scores, LinearScores(n, n.Int("targets", 1)));
  ASSIGN_OR_RETURN(Value result, PostTransform(n, scores, n.String("post_transform", "NONE")));
  return Results{result};
}

absl::StatusOr<Results> ImportLinearClassifier(Node& n) {
  ASSIGN_OR_RETURN(const std::vector<int64_t> labels, ClassLabels(n, "classlabels_ints", "classlabels_strings"));
  const int64_t features = n.In(0).rank() > 0 ? n.In(0).dim(n.In(0).rank() - 1) : 0;
  const auto coefficients = static_cast<int64_t>(n.Floats("coefficients").size());
  const int64_t models = features > 0 ? coefficients / features : 0;
  const std::string transform = n.String("post_transform", "NONE");
  ASSIGN_OR_RETURN(const Value scores, LinearScores(n, models));
  Builder& b = n.b;
  if (models == 1 && labels.size() == 2) {
    if (transform != "NONE") {
      return Unsupported(absl::StrCat("one score for two classes with post_transform ", transform),
                         "post_transform NONE, or a score for each class");
    }
    const Value one = b.Scalar(ElementType::kFloat32, 1);
    const Value positive = b.Compare("greater", scores, b.Scalar(ElementType::kFloat32, 0));
    const Value index = b.Reshape(b.Cast(positive, ElementType::kInt64), {scores.dim(0)});
    return Results{PickLabel(b, labels, index), b.Concat({b.Sub(one, scores), scores}, 1)};
  }
  if (static_cast<int64_t>(labels.size()) != models) {
    return absl::InvalidArgumentError(absl::StrCat(labels.size(), " labels for ", models, " classes"));
  }
  ASSIGN_OR_RETURN(Value result, PostTransform(n, scores, transform));
  return Results{BestLabel(b, labels, scores), result};
}

// K(x, support vector), [rows, vectors].
absl::StatusOr<Value> KernelProducts(Node& n, const Value& x, const Value& vectors) {
  Builder& b = n.b;
  const std::string kernel = n.String("kernel_type", "LINEAR");
  std::vector<double> parameters = n.Floats("kernel_params");
  parameters.resize(3, 0.0);
  auto number = [&](double value) { return b.Scalar(ElementType::kFloat32, value); };
  const Value gamma = number(parameters[0]), coef0 = number(parameters[1]), degree = number(parameters[2]);
  if (kernel == "RBF") {
    // Differences, not |x|^2 + |v|^2 - 2 x v, which loses digits.
    const int64_t rows = x.dim(0), count = vectors.dim(0), features = x.dim(1);
    const Value difference = b.Sub(b.Reshape(x, {rows, 1, features}), b.Reshape(vectors, {1, count, features}));
    const Value squares = b.Reshape(b.Reduce("reduce_sum", b.Mul(difference, difference), {2}), {rows, count});
    return b.Unary("exp", b.Unary("neg", b.Mul(squares, gamma)));
  }
  const Value products = b.MatMul(x, vectors, false, /*trans_b=*/true);
  if (kernel == "LINEAR") return products;
  const Value scaled = b.Add(b.Mul(products, gamma), coef0);
  if (kernel == "POLY") return b.Binary("pow", scaled, degree);
  if (kernel == "SIGMOID") return b.Unary("tanh", scaled);
  return absl::InvalidArgumentError(
      absl::StrCat("kernel_type is ", Quoted(kernel), "; it must be LINEAR, POLY, RBF or SIGMOID"));
}

absl::StatusOr<Results> ImportSvmRegressor(Node& n) {
  Builder& b = n.b;
  ASSIGN_OR_RETURN(Value x, FeatureRows(n, 0));
  x = b.Cast(x, ElementType::kFloat32);
  const std::vector<double> coefficients = n.Floats("coefficients"), vectors = n.Floats("support_vectors"),
                            rho = n.Floats("rho");
  const int64_t features = x.dim(1), supports = n.Int("n_supports", 0);
  const auto count = static_cast<int64_t>(coefficients.size());
  if (rho.empty()) return absl::InvalidArgumentError("it has no rho");
  Value sums;
  if (supports > 0) {
    if (count != supports || features < 1 || static_cast<int64_t>(vectors.size()) / supports != features ||
        static_cast<int64_t>(vectors.size()) % supports != 0) {
      return absl::InvalidArgumentError(absl::StrCat(supports, " support vectors of ", features, " features don't fit ",
                                                     vectors.size(), " elements and ", count, " coefficients"));
    }
    ASSIGN_OR_RETURN(const Value products, KernelProducts(n, x, FloatConstant(b, vectors, {supports, features})));
    sums = b.MatMul(products, FloatConstant(b, coefficients, {supports, 1}));
  } else {
    if (count != features) {
      return absl::InvalidArgumentError(absl::StrCat(count, " coefficients for ", features, " features"));
    }
    sums = b.MatMul(x, FloatConstant(b, coefficients, {features, 1}));
  }
  sums = b.Add(sums, b.Scalar(ElementType::kFloat32, rho[0]));
  if (n.Flag("one_class", false)) {
    const Value positive = b.Compare("greater", sums, b.Scalar(ElementType::kFloat32, 0));
    return Results{b.Where(positive, b.Scalar(ElementType::kFloat32, 1), b.Scalar(ElementType::kFloat32, -1))};
  }
  ASSIGN_OR_RETURN(Value result, PostTransform(n, sums, n.String("post_transform", "NONE")));
  return Results{result};
}

}  // namespace

Family MlLinearFamily() {
  static const std::vector<Operator> operators = {
      {"LinearClassifier", {1}, 1, 1, ImportLinearClassifier},
      {"LinearRegressor", {1}, 1, 1, ImportLinearRegressor},
      {"SVMRegressor", {1}, 1, 1, ImportSvmRegressor},
  };
  return {"linear models and support vectors", operators, kMlDomain};
}

}  // namespace aot::import::onnx
