// ai.onnx.ml: preparation of features, encoders, and ZipMap.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/ops/ml_scores.h"
#include "compiler/import/onnx/registry.h"
#include "compiler/import/onnx/text.h"

namespace aot::import::onnx {
namespace {

using reference::ElementType;
using reference::Shape;

// A list of one number, or one for each feature, that broadcasts along the last dimension.
absl::StatusOr<Value> PerFeature(Node& n, const std::vector<double>& values, absl::string_view name, int64_t features) {
  if (values.size() == 1) return FloatConstant(n.b, values, {});
  if (static_cast<int64_t>(values.size()) == features) return FloatConstant(n.b, values, {features});
  return absl::InvalidArgumentError(absl::StrCat(name, " has ", values.size(), " entries; one, or one for each of ",
                                                 features, " features is expected"));
}

absl::StatusOr<Results> ImportScaler(Node& n) {
  RETURN_IF_ERROR(n.RequireRank(0, 1));
  Value x = n.b.Cast(n.In(0), ElementType::kFloat32);
  const int64_t features = x.dim(x.rank() - 1);
  if (n.HasAttribute("offset")) {
    ASSIGN_OR_RETURN(const Value offset, PerFeature(n, n.Floats("offset"), "offset", features));
    x = n.b.Sub(x, offset);
  }
  if (n.HasAttribute("scale")) {
    ASSIGN_OR_RETURN(const Value scale, PerFeature(n, n.Floats("scale"), "scale", features));
    x = n.b.Mul(x, scale);
  }
  return Results{x};
}

absl::StatusOr<Results> ImportNormalizer(Node& n) {
  RETURN_IF_ERROR(n.RequireRank(0, 1, 2));
  Builder& b = n.b;
  const Value x = b.Cast(n.In(0), ElementType::kFloat32);
  const std::string norm = n.String("norm", "MAX");
  const std::vector<int64_t> last = {x.rank() - 1};
  Value divisor;
  if (norm == "MAX") divisor = b.Reduce("reduce_max", x, last);
  if (norm == "L1") divisor = b.Reduce("reduce_sum", b.Unary("abs", x), last);
  if (norm == "L2") divisor = b.Unary("sqrt", b.Reduce("reduce_sum", b.Mul(x, x), last));
  if (!divisor) {
    return absl::InvalidArgumentError(absl::StrCat("norm is ", Quoted(norm), "; it must be MAX, L1 or L2"));
  }
  const Value zero = b.Compare("equal", divisor, b.Scalar(ElementType::kFloat32, 0));
  return Results{b.Div(x, b.Where(zero, b.Scalar(ElementType::kFloat32, 1), divisor))};
}

absl::StatusOr<Results> ImportBinarizer(Node& n) {
  const Value& x = n.In(0);
  double threshold = n.Float("threshold", 0.0);
  // An integer is above a fraction if it is above the integer below.
  if (!reference::IsFloat(x.element())) threshold = std::floor(threshold);
  const Value above = n.b.Compare("greater", x, n.b.Scalar(x.element(), threshold));
  return Results{n.b.Cast(above, x.element())};
}

absl::StatusOr<Results> ImportImputer(Node& n) {
  RETURN_IF_ERROR(n.RequireRank(0, 1));
  Builder& b = n.b;
  const Value& x = n.In(0);
  const int64_t features = x.dim(x.rank() - 1);
  const bool is_float = reference::IsFloat(x.element());
  if (!is_float) {
    const std::vector<int64_t> imputed = n.Ints("imputed_value_int64s");
    if (imputed.size() != 1 && static_cast<int64_t>(imputed.size()) != features) {
      return absl::InvalidArgumentError(absl::StrCat("imputed_value_int64s has ", imputed.size(), " entries"));
    }
    const Value missing =
        b.Compare("equal", x, b.Cast(b.Reshape(b.Int64s({n.Int("replaced_value_int64", 0)}), {}), x.element()));
    return Results{b.Where(missing, b.Cast(b.Int64s(imputed), x.element()), x)};
  }
  ASSIGN_OR_RETURN(const Value imputed,
                   PerFeature(n, n.Floats("imputed_value_floats"), "imputed_value_floats", features));
  const double replaced = n.Float("replaced_value_float", 0.0);
  const Value missing = std::isnan(replaced) ? b.Emit("is_nan", {}, {x}, {ElementType::kBool, x.shape()})
                                             : b.Compare("equal", x, b.Scalar(x.element(), replaced));
  return Results{b.Where(missing, b.Cast(imputed, x.element()), x)};
}

absl::StatusOr<Results> ImportArrayFeatureExtractor(Node& n) {
  Builder& b = n.b;
  RETURN_IF_ERROR(n.RequireRank(0, 1));
  const Value& x = n.In(0);
  if (n.In(1).element() != ElementType::kInt64) return absl::InvalidArgumentError("indices must be int64");
  const int64_t count = Elements(n.In(1).shape()), axis = x.rank() - 1;
  const Value indices = b.Reshape(n.In(1), {count});
  if (const reference::Tensor* constant = indices.constant()) {
    for (int64_t i = 0; i < count; ++i) {
      if (constant->GetInt(i) >= 0 && constant->GetInt(i) < x.dim(axis)) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("index ", constant->GetInt(i), " is outside of ", x.dim(axis), " features"));
    }
  }
  Shape shape = x.shape();
  shape.back() = count;
  const Value picked = b.Emit("gather", {{"axis", axis}}, {x, indices}, {x.element(), shape});
  return Results{x.rank() == 1 ? b.Reshape(picked, {1, count}) : picked};
}

absl::StatusOr<Results> ImportFeatureVectorizer(Node& n) {
  std::vector<Value> parts;
  const std::vector<int64_t> sizes = n.Ints("inputdimensions");
  for (int64_t i = 0; i < n.input_count(); ++i) {
    const auto input = static_cast<size_t>(i);
    if (!n.Has(input)) return absl::InvalidArgumentError(absl::StrCat("input ", i, " is missing"));
    RETURN_IF_ERROR(n.RequireRank(input, 1, 2));
    const Value& x = n.In(input);
    Value rows = n.b.Cast(x.rank() == 2 ? x : n.b.Reshape(x, {1, x.dim(0)}), ElementType::kFloat32);
    const int64_t size = input < sizes.size() ? sizes[input] : rows.dim(1);
    if (size < 0 || rows.dim(0) != (parts.empty() ? rows.dim(0) : parts.front().dim(0))) {
      return absl::InvalidArgumentError("inputs have different numbers of rows");
    }
    // As many features as the attribute says: the rest is left out, missing ones are 0.
    if (size < rows.dim(1)) rows = n.b.Slice(rows, {0, 0}, {1, 1}, {rows.dim(0), size});
    parts.push_back(rows);
    if (size > rows.dim(1)) {
      parts.push_back(n.b.Broadcast(n.b.Scalar(ElementType::kFloat32, 0), {rows.dim(0), size - rows.dim(1)}));
    }
  }
  return Results{n.b.Concat(parts, 1)};
}

// Compares every element with a list: [..., entries].
Value EqualsEntry(Builder& b, const Value& x, const Value& entries) {
  Shape shape = x.shape();
  shape.push_back(1);
  const Value column = b.Reshape(x, shape);
  const Value equal = b.Compare("equal", column, entries);
  if (!reference::IsFloat(x.element())) return equal;
  auto is_nan = [&](const Value& v) { return b.Emit("is_nan", {}, {v}, {ElementType::kBool, v.shape()}); };
  return b.Binary("logical_or", equal, b.Binary("logical_and", is_nan(column), is_nan(entries)));
}

absl::StatusOr<Results> ImportOneHotEncoder(Node& n) {
  Builder& b = n.b;
  if (n.HasAttribute("cats_strings")) return Unsupported("categories that are strings", "integers (cats_int64s)");
  const std::vector<int64_t> categories = n.Ints("cats_int64s");
  if (categories.empty()) return absl::InvalidArgumentError("it has no cats_int64s");
  const Value x = b.Cast(n.In(0), ElementType::kInt64);
  return Results{b.Cast(EqualsEntry(b, x, b.Int64s(categories)), ElementType::kFloat32)};
}

// One side of a LabelEncoder's table, from whichever attribute holds it; absent if none does.
absl::StatusOr<Value> EncoderList(Node& n, const std::string& name) {
  if (n.HasAttribute(name + "_strings")) return Unsupported(absl::StrCat(name, " that are strings"), "numbers");
  if (n.HasAttribute(name + "_int64s")) return n.b.Int64s(n.Ints(name + "_int64s"));
  if (n.HasAttribute(name + "_floats")) {
    const std::vector<double> values = n.Floats(name + "_floats");
    return FloatConstant(n.b, values, {static_cast<int64_t>(values.size())});
  }
  if (const AttributeProto* tensor = n.Find(name + "_tensor")) {
    ASSIGN_OR_RETURN(reference::Tensor values, n.TensorAttribute(*tensor));
    if (values.element() == ElementType::kString)
      return Unsupported(absl::StrCat(name, " that are strings"), "numbers");
    const int64_t count = values.size();
    return n.b.Reshape(n.b.Constant(std::move(values)), {count});
  }
  return Value();
}

absl::StatusOr<Value> EncoderDefault(Node& n, ElementType element) {
  if (const AttributeProto* tensor = n.Find("default_tensor")) {
    ASSIGN_OR_RETURN(reference::Tensor value, n.TensorAttribute(*tensor));
    if (value.size() != 1 || value.element() != element) {
      return absl::InvalidArgumentError("default_tensor must be one element of the values' type");
    }
    return n.b.Reshape(n.b.Constant(std::move(value)), {});
  }
  if (reference::IsFloat(element)) return n.b.Scalar(element, n.Float("default_float", -0.0));
  return n.b.Cast(n.b.Reshape(n.b.Int64s({n.Int("default_int64", -1)}), {}), element);
}

absl::StatusOr<Results> ImportLabelEncoder(Node& n) {
  if (n.version() < 2) return Unsupported("classes that are strings", "LabelEncoder of ai.onnx.ml 2 with numbers");
  Builder& b = n.b;
  ASSIGN_OR_RETURN(const Value keys, EncoderList(n, "keys"));
  ASSIGN_OR_RETURN(const Value values, EncoderList(n, "values"));
  const Value& x = n.In(0);
  if (!keys || !values || keys.shape() != values.shape() || keys.dim(0) < 1 || keys.element() != x.element()) {
    return absl::InvalidArgumentError("keys and values must be lists of one length, keys of the input's type");
  }
  ASSIGN_OR_RETURN(const Value otherwise, EncoderDefault(n, values.element()));
  const Value equal = b.Cast(EqualsEntry(b, x, keys), ElementType::kInt32);
  Shape reduced = equal.shape();
  reduced.back() = 1;
  const int64_t axis = x.rank();
  const Value first =
      b.Emit("arg_max", {{"axis", axis}, {"select_last", false}}, {equal}, {ElementType::kInt64, reduced});
  const Value any = b.Reshape(b.Cast(b.Reduce("reduce_max", equal, {axis}), ElementType::kBool), x.shape());
  const Value index = b.Reshape(first, x.shape());
  const Value found = b.Emit("gather", {{"axis", int64_t{0}}}, {values, index}, {values.element(), x.shape()});
  return Results{b.Where(any, found, otherwise)};
}

// A map from label to score for each row becomes the tensor of scores: the columns are the labels in their order, which
// is known while compiling.
absl::StatusOr<Results> ImportZipMap(Node& n) {
  RETURN_IF_ERROR(n.RequireRank(0, 1, 2));
  const Value& x = n.In(0);
  const size_t ints = n.Ints("classlabels_int64s").size();
  const size_t labels = ints > 0 ? ints : n.Strings("classlabels_strings").size();
  if (static_cast<int64_t>(labels) != x.dim(x.rank() - 1)) {
    return absl::InvalidArgumentError(absl::StrCat(labels, " labels for ", x.dim(x.rank() - 1), " columns of scores"));
  }
  return Results{x.rank() == 2 ? x : n.b.Reshape(x, {1, x.dim(0)})};
}

}  // namespace

Family MlFeaturesFamily() {
  static const std::vector<Operator> operators = {
      {"ArrayFeatureExtractor", {1}, 2, 2, ImportArrayFeatureExtractor},
      {"Binarizer", {1}, 1, 1, ImportBinarizer},
      {"FeatureVectorizer", {1}, 1, kVariadic, ImportFeatureVectorizer},
      {"Imputer", {1}, 1, 1, ImportImputer},
      {"LabelEncoder", {1, 2, 4}, 1, 1, ImportLabelEncoder},
      {"Normalizer", {1}, 1, 1, ImportNormalizer},
      {"OneHotEncoder", {1}, 1, 1, ImportOneHotEncoder},
      {"Scaler", {1}, 1, 1, ImportScaler},
      {"ZipMap", {1}, 1, 1, ImportZipMap},
  };
  return {"features and encoders", operators, kMlDomain};
}

}  // namespace aot::import::onnx
