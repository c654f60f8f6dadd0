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

// One score stands for two classes: 1 - s and s, or sigmoids of -s and s. The softmaxes leave a lone score alone.
absl::StatusOr<Value> BothScores(Node& n, const Value& scores, const std::string& transform) {
  if (transform == "PROBIT") {
    return Unsupported("one score for two classes with post_transform PROBIT", "a score for each class");
  }
  const Value negative = n.b.Unary("neg", scores);
  if (transform != "LOGISTIC") {
    return n.b.Concat({n.b.Add(n.b.Scalar(ElementType::kFloat32, 1), negative), scores}, 1);
  }
  return n.b.Concat({n.b.Unary("sigmoid", negative), n.b.Unary("sigmoid", scores)}, 1);
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
    const Value positive = b.Compare("greater", scores, b.Scalar(ElementType::kFloat32, 0));
    const Value index = b.Reshape(b.Cast(positive, ElementType::kInt64), {scores.dim(0)});
    ASSIGN_OR_RETURN(Value both, BothScores(n, scores, transform));
    return Results{PickLabel(b, labels, index), both};
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

// A classifier for each pair of classes, in the order 0 1, 0 2, ..., 1 2, ...
struct Pairs {
  int64_t classes = 0, vectors = 0, features = 0;
  std::vector<int64_t> first;  // vector of each class, and one more behind
  std::vector<double> coefficients;

  int64_t count() const { return classes * (classes - 1) / 2; }
};

absl::StatusOr<Pairs> ReadPairs(Node& n, int64_t classes, int64_t features) {
  Pairs pairs;
  pairs.classes = classes;
  pairs.features = features;
  const std::vector<int64_t> per_class = n.Ints("vectors_per_class");
  if (per_class.empty()) {
    return Unsupported("a linear machine without support vectors", "vectors_per_class, or LinearClassifier");
  }
  pairs.coefficients = n.Floats("coefficients");
  const auto elements = static_cast<int64_t>(n.Floats("support_vectors").size());
  bool fits = classes >= 2 && static_cast<int64_t>(per_class.size()) == classes && features > 0;
  for (int64_t count : per_class) {
    pairs.first.push_back(pairs.vectors);
    fits = fits && count > 0 && count <= elements;
    if (fits) pairs.vectors += count;
  }
  pairs.first.push_back(pairs.vectors);
  const auto coefficients = static_cast<int64_t>(pairs.coefficients.size());
  if (!fits || pairs.vectors > elements || elements != pairs.vectors * features ||
      coefficients != (classes - 1) * pairs.vectors || static_cast<int64_t>(n.Floats("rho").size()) != pairs.count()) {
    return absl::InvalidArgumentError(absl::StrCat(
        classes, " classes, ", per_class.size(), " vectors_per_class of ", pairs.vectors, " vectors, ", elements,
        " elements of support_vectors, ", coefficients, " coefficients and the rho don't fit ", features, " features"));
  }
  return pairs;
}

// The weight of each support vector in each pair: its coefficient against the other class.
Value PairWeights(Builder& b, const Pairs& pairs) {
  std::vector<double> weights(static_cast<size_t>(pairs.vectors * pairs.count()), 0.0);
  int64_t pair = 0;
  for (int64_t i = 0; i < pairs.classes; ++i) {
    for (int64_t j = i + 1; j < pairs.classes; ++j, ++pair) {
      auto set = [&](int64_t of, int64_t row) {
        for (int64_t v = pairs.first[static_cast<size_t>(of)]; v < pairs.first[static_cast<size_t>(of) + 1]; ++v) {
          weights[static_cast<size_t>(v * pairs.count() + pair)] =
              pairs.coefficients[static_cast<size_t>(row * pairs.vectors + v)];
        }
      };
      set(i, j - 1);
      set(j, i);
    }
  }
  return FloatConstant(b, weights, {pairs.vectors, pairs.count()});
}

// The class with the most votes; a pair's positive score is one for its first class.
Value Vote(Builder& b, const Pairs& pairs, const Value& scores) {
  std::vector<double> turns(static_cast<size_t>(pairs.count() * pairs.classes), 0.0);
  std::vector<double> second(static_cast<size_t>(pairs.classes), 0.0);
  int64_t pair = 0;
  for (int64_t i = 0; i < pairs.classes; ++i) {
    for (int64_t j = i + 1; j < pairs.classes; ++j, ++pair) {
      turns[static_cast<size_t>(pair * pairs.classes + i)] = 1;
      turns[static_cast<size_t>(pair * pairs.classes + j)] = -1;
      second[static_cast<size_t>(j)] += 1;
    }
  }
  const Value positive =
      b.Cast(b.Compare("greater", scores, b.Scalar(ElementType::kFloat32, 0)), ElementType::kFloat32);
  return b.Add(b.MatMul(positive, FloatConstant(b, turns, {pairs.count(), pairs.classes})),
               FloatConstant(b, second, {pairs.classes}));
}

absl::StatusOr<Results> ImportSvmClassifier(Node& n) {
  Builder& b = n.b;
  ASSIGN_OR_RETURN(const std::vector<int64_t> labels, ClassLabels(n, "classlabels_ints", "classlabels_strings"));
  ASSIGN_OR_RETURN(Value x, FeatureRows(n, 0));
  x = b.Cast(x, ElementType::kFloat32);
  // They come from an iteration that ends when it is close enough, so that other ways give other numbers.
  if (!n.Floats("prob_a").empty()) return Unsupported("probabilities (prob_a)", "scores (without prob_a)");
  ASSIGN_OR_RETURN(const Pairs pairs, ReadPairs(n, static_cast<int64_t>(labels.size()), x.dim(1)));
  constexpr int64_t kMostWeights = int64_t{1} << 26;
  if (Elements({pairs.vectors, pairs.count()}) > kMostWeights) {
    return Unsupported(absl::StrCat(pairs.vectors, " support vectors for ", pairs.count(), " pairs of classes"),
                       absl::StrCat("up to ", kMostWeights, " weights"));
  }
  ASSIGN_OR_RETURN(
      const Value products,
      KernelProducts(n, x, FloatConstant(b, n.Floats("support_vectors"), {pairs.vectors, pairs.features})));
  const Value scores =
      b.Add(b.MatMul(products, PairWeights(b, pairs)), FloatConstant(b, n.Floats("rho"), {pairs.count()}));
  const std::string transform = n.String("post_transform", "NONE");
  const Value label = BestLabel(b, labels, Vote(b, pairs, scores));
  if (pairs.classes > 2) {
    ASSIGN_OR_RETURN(Value result, PostTransform(n, scores, transform));
    return Results{label, result};
  }
  if (transform == "NONE") return Results{label, b.Concat({b.Unary("neg", scores), scores}, 1)};
  ASSIGN_OR_RETURN(Value both, BothScores(n, scores, transform));
  return Results{label, both};
}

}  // namespace

Family MlLinearFamily() {
  static const std::vector<Operator> operators = {
      {"LinearClassifier", {1}, 1, 1, ImportLinearClassifier},
      {"LinearRegressor", {1}, 1, 1, ImportLinearRegressor},
      {"SVMClassifier", {1}, 1, 1, ImportSvmClassifier},
      {"SVMRegressor", {1}, 1, 1, ImportSvmRegressor},
  };
  return {"linear models and support vectors", operators, kMlDomain};
}

}  // namespace aot::import::onnx
