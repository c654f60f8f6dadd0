// Constants and tensors made from nothing but their shape.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/registry.h"
#include "compiler/import/onnx/text.h"

namespace aot::import::onnx {
namespace {

using reference::ElementType;
using reference::Shape;
using reference::Tensor;
using reference::TensorType;

// Sequences that are written out while importing.
constexpr int64_t kLongestRange = int64_t{1} << 26;

absl::StatusOr<Results> ImportConstant(Node& n) {
  if (const AttributeProto* value = n.Find("value")) {
    if (!value->has_t()) return absl::InvalidArgumentError("the attribute value must be a tensor");
    ASSIGN_OR_RETURN(Tensor tensor, n.TensorAttribute(*value));
    return Results{n.b.Constant(std::move(tensor))};
  }
  if (const AttributeProto* value = n.Find("sparse_value")) {
    if (!value->has_sparse_tensor())
      return absl::InvalidArgumentError("the attribute sparse_value must be a sparse tensor");
    ASSIGN_OR_RETURN(Tensor tensor, n.SparseTensorAttribute(*value));
    return Results{n.b.Constant(std::move(tensor))};
  }
  if (n.HasAttribute("value_int")) return Results{n.b.Reshape(n.b.Int64s({n.Int("value_int", 0)}), {})};
  if (n.HasAttribute("value_ints")) return Results{n.b.Int64s(n.Ints("value_ints"))};
  if (n.HasAttribute("value_float")) return Results{n.b.Scalar(ElementType::kFloat32, n.Float("value_float", 0))};
  if (n.HasAttribute("value_floats")) {
    const std::vector<double> values = n.Floats("value_floats");
    Tensor tensor(TensorType{ElementType::kFloat32, {static_cast<int64_t>(values.size())}});
    for (size_t i = 0; i < values.size(); ++i) tensor.SetFloat(static_cast<int64_t>(i), values[i]);
    return Results{n.b.Constant(std::move(tensor))};
  }
  if (n.HasAttribute("value_string") || n.HasAttribute("value_strings")) {
    return Unsupported("string tensors", "numeric and boolean tensors");
  }
  return absl::InvalidArgumentError("it has none of the attributes that give a constant's value");
}

absl::StatusOr<Results> ImportConstantOfShape(Node& n) {
  ASSIGN_OR_RETURN(std::vector<int64_t> shape, n.ConstantInts(0, "the shape"));
  Value value = n.b.Scalar(ElementType::kFloat32, 0);
  if (const AttributeProto* attribute = n.Find("value")) {
    ASSIGN_OR_RETURN(Tensor tensor, n.TensorAttribute(*attribute));
    if (tensor.size() != 1) return absl::InvalidArgumentError("the attribute value must have one element");
    value = n.b.Reshape(n.b.Constant(std::move(tensor)), {});
  }
  RETURN_IF_ERROR(CheckShape(value.element(), shape));
  return Results{n.b.Broadcast(value, std::move(shape))};
}

absl::StatusOr<Results> ImportRange(Node& n) {
  RETURN_IF_ERROR(n.RequireSameElement(0, 1));
  RETURN_IF_ERROR(n.RequireSameElement(0, 2));
  const ElementType element = n.In(0).element();
  for (size_t i = 0; i < 3; ++i) {
    if (n.In(i).constant() && n.In(i).constant()->size() == 1) continue;
    if (!n.In(i).constant()) {
      return Unsupported("the length depends on values that are only known at run time",
                         "constant start, limit and delta");
    }
    return absl::InvalidArgumentError("start, limit and delta must be scalars");
  }
  const Tensor &start = *n.In(0).constant(), &limit = *n.In(1).constant(), &delta = *n.In(2).constant();
  const bool real = reference::IsFloat(element);
  const double step = real ? delta.GetFloat(0) : static_cast<double>(delta.GetInt(0));
  const double span = real ? limit.GetFloat(0) - start.GetFloat(0)
                           : static_cast<double>(limit.GetInt(0)) - static_cast<double>(start.GetInt(0));
  const double length = std::ceil(span / step);
  if (step == 0 || std::isnan(length) || length > static_cast<double>(kLongestRange)) {
    return absl::InvalidArgumentError(absl::StrCat("a range of ", span, " in steps of ", step, "; at most ",
                                                   kLongestRange, " elements are accepted"));
  }
  Tensor tensor(TensorType{element, {length > 0 ? static_cast<int64_t>(length) : 0}});
  for (int64_t i = 0; i < tensor.size(); ++i) {
    if (real) {
      tensor.SetFloat(i, start.GetFloat(0) + static_cast<double>(i) * step);
    } else {
      tensor.SetInt(i, start.GetInt(0) + i * delta.GetInt(0));
    }
  }
  return Results{n.b.Constant(std::move(tensor))};
}

// Positions along the last two dimensions, shaped so that comparing them gives a matrix.
Value Rows(Builder& b, int64_t count) {
  std::vector<int64_t> positions(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) positions[static_cast<size_t>(i)] = i;
  return b.Reshape(b.Int64s(positions), {count, 1});
}
Value Columns(Builder& b, int64_t count, int64_t shift) {
  std::vector<int64_t> positions(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) positions[static_cast<size_t>(i)] = i + shift;
  return b.Int64s(positions);
}

absl::Status CheckMatrix(int64_t rows, int64_t columns) {
  if (rows <= kLongestRange && columns <= kLongestRange) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("a matrix of ", rows, "x", columns, "; at most ", kLongestRange, " rows and columns are accepted"));
}

// Diagonals beyond the corners of a matrix all mean the same.
int64_t ClampDiagonal(int64_t k, int64_t rows, int64_t columns) {
  return std::max(-rows - 1, std::min(k, columns + 1));
}

absl::StatusOr<Results> ImportTrilu(Node& n) {
  const Value& x = n.In(0);
  RETURN_IF_ERROR(n.RequireRank(0, 2));
  const int64_t rows = x.dim(x.rank() - 2), columns = x.dim(x.rank() - 1);
  RETURN_IF_ERROR(CheckMatrix(rows, columns));
  // Upper: column >= row + k. Lower: column <= row + k.
  Value edge = Rows(n.b, rows);
  if (n.Has(1)) {
    if (Elements(n.In(1).shape()) != 1 || n.In(1).element() != ElementType::kInt64) {
      return absl::InvalidArgumentError("the diagonal must be one int64");
    }
    const Value low = n.b.Int64s({-rows - 1}), high = n.b.Int64s({columns + 1});
    const Value k = n.b.Binary("min", n.b.Binary("max", n.b.Reshape(n.In(1), {1}), low), high);
    edge = n.b.Add(edge, k);
  }
  const Value keep =
      n.b.Compare(n.Flag("upper", true) ? "greater_equal" : "less_equal", Columns(n.b, columns, 0), edge);
  return Results{n.b.Where(keep, x, n.b.Scalar(x.element(), 0))};
}

absl::StatusOr<Results> ImportEyeLike(Node& n) {
  const Value& x = n.In(0);
  RETURN_IF_ERROR(n.RequireRank(0, 2, 2));
  ElementType element = x.element();
  if (n.HasAttribute("dtype")) {
    ASSIGN_OR_RETURN(element, ToElementType(n.Int("dtype", 0)));
  }
  const int64_t rows = x.dim(0), columns = x.dim(1);
  RETURN_IF_ERROR(CheckMatrix(rows, columns));
  const Value shifted = Columns(n.b, columns, -ClampDiagonal(n.Int("k", 0), rows, columns));
  return Results{n.b.Cast(n.b.Compare("equal", shifted, Rows(n.b, rows)), element)};
}

}  // namespace

Family GenerationFamily() {
  static const std::vector<Operator> operators = {
      {"Constant", {1, 9, 11, 12, 13, 19, 21, 23, 24, 25}, 0, 0, ImportConstant},
      {"ConstantOfShape", {9, 20, 21, 23, 24, 25}, 1, 1, ImportConstantOfShape},
      {"EyeLike", {9, 22}, 1, 1, ImportEyeLike},
      {"Range", {11, 27}, 3, 3, ImportRange},
      {"Trilu", {14}, 1, 2, ImportTrilu},
  };
  return {"generation", operators};
}

}  // namespace aot::import::onnx
