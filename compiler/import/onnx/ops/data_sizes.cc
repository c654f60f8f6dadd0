// Operators that give as many elements as the data has: selections and distinct elements. Their results have room for
// the largest number and an extent that says how many there are.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/registry.h"

namespace aot::import::onnx {
namespace {

using reference::ElementType;
using reference::Shape;
using reference::TensorType;

const TensorType kCount = {ElementType::kInt64, {1}};

// Row-major positions of the elements that aren't 0, int64 [n], and their number [1]. Of constants there are exactly as
// many positions, however large the constant.
std::vector<Value> Positions(Builder& b, const Value& x) {
  if (const reference::Tensor* constant = x.constant()) {
    const bool real = reference::IsFloat(constant->element());
    std::vector<int64_t> found;
    for (int64_t i = 0; i < constant->size(); ++i) {
      if (real ? constant->GetFloat(i) != 0 : constant->GetInt(i) != 0) found.push_back(i);
    }
    return {b.Int64s(found), b.Int64s({static_cast<int64_t>(found.size())})};
  }
  return b.Emit(reference::Operation{"nonzero", {}, {{ElementType::kInt64, {Elements(x.shape())}}, kCount}},
                {b.Cast(x, ElementType::kBool)});
}

absl::StatusOr<Results> ImportNonZero(Node& n) {
  Builder& b = n.b;
  const Value& x = n.In(0);
  const std::vector<Value> found = Positions(b, x);
  const int64_t count = found[0].dim(0);
  // Each position as one index a dimension. A scalar has none: 0 x 1 if it isn't 0, else 0 x 0.
  std::vector<Value> rows;
  int64_t stride = Elements(x.shape());
  for (int64_t axis = 0; axis < x.rank() && count > 0; ++axis) {
    stride /= x.dim(axis);
    Value index = found[0];
    if (stride > 1) index = b.Div(index, b.Scalar(ElementType::kInt64, static_cast<double>(stride)));
    if (axis > 0) {
      const Value size = b.Scalar(ElementType::kInt64, static_cast<double>(x.dim(axis)));
      index = b.Binary("mod", index, size, {{"fmod", false}});
    }
    rows.push_back(b.Reshape(index, {1, count}));
  }
  const Value indices = rows.empty() ? b.Constant(reference::Tensor(TensorType{ElementType::kInt64, {x.rank(), count}}))
                                     : b.Concat(rows, 0);
  return Results{b.WithExtents(indices, {{1, found[1]}})};
}

absl::StatusOr<Results> ImportCompress(Node& n) {
  Builder& b = n.b;
  Value x = n.In(0), condition = n.In(1);
  RETURN_IF_ERROR(n.RequireRank(1, 1, 1));
  if (condition.element() != ElementType::kBool) {
    return absl::InvalidArgumentError(
        absl::StrCat("the condition must be bool, not ", reference::Name(condition.element())));
  }
  int64_t axis = 0;
  if (n.HasAttribute("axis")) {
    ASSIGN_OR_RETURN(axis, n.Axis(n.Int("axis", 0), x.rank()));
  } else {
    x = b.Reshape(x, {Elements(x.shape())});
  }
  // It may be shorter than the dimension.
  condition = b.Slice(condition, {0}, {1}, {std::min(condition.dim(0), x.dim(axis))});
  const std::vector<Value> found = Positions(b, condition);
  Shape shape = x.shape();
  shape[static_cast<size_t>(axis)] = found[0].dim(0);
  const Value rows = b.Emit("gather", {{"axis", axis}}, {x, found[0]}, {x.element(), std::move(shape)});
  return Results{b.WithExtents(rows, {{axis, found[1]}})};
}

absl::StatusOr<Results> ImportUnique(Node& n) {
  Builder& b = n.b;
  Value x = n.In(0);
  int64_t axis = 0;
  if (n.HasAttribute("axis")) {
    ASSIGN_OR_RETURN(axis, n.Axis(n.Int("axis", 0), x.rank()));
  } else {
    x = b.Reshape(x, {Elements(x.shape())});
  }
  // The slices along the axis as rows of a matrix.
  std::vector<int64_t> perm{axis};
  int64_t columns = 1;
  for (int64_t i = 0; i < x.rank(); ++i) {
    if (i == axis) continue;
    perm.push_back(i);
    columns *= x.dim(i);
  }
  const int64_t rows = x.dim(axis);
  const Value matrix = b.Reshape(b.Transpose(x, perm), {rows, columns});
  const TensorType numbers = {ElementType::kInt64, {rows}};
  const std::vector<Value> found =
      b.Emit(reference::Operation{"unique", {{"sorted", n.Flag("sorted", true)}}, {numbers, numbers, numbers, kCount}},
             {matrix});
  const Value distinct = b.Emit("gather", {{"axis", axis}}, {x, found[0]}, x.type());
  return Results{b.WithExtents(distinct, {{axis, found[3]}}), b.WithExtents(found[0], {{0, found[3]}}), found[1],
                 b.WithExtents(found[2], {{0, found[3]}})};
}

absl::StatusOr<Results> ImportNonMaxSuppression(Node& n) {
  Builder& b = n.b;
  const Value &boxes = n.In(0), &scores = n.In(1);
  for (size_t i = 0; i < 2; ++i) {
    RETURN_IF_ERROR(n.RequireRank(i, 3, 3));
    if (n.In(i).element() == ElementType::kFloat32) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("boxes and scores must be float32, not ", reference::Name(n.In(i).element())));
  }
  if (boxes.dim(2) != 4 || boxes.dim(0) != scores.dim(0) || boxes.dim(1) != scores.dim(2)) {
    return absl::InvalidArgumentError(absl::StrCat("boxes of ", reference::ToString(boxes.shape()), " and scores of ",
                                                   reference::ToString(scores.shape()),
                                                   "; batch x boxes x 4 and batch x classes x boxes are expected"));
  }
  std::vector<Value> operands{boxes, scores};
  for (size_t i = 2; i < 5; ++i) {
    const ElementType element = i == 2 ? ElementType::kInt64 : ElementType::kFloat32;
    if (n.Has(i) && (Elements(n.In(i).shape()) != 1 || n.In(i).element() != element)) {
      return absl::InvalidArgumentError(absl::StrCat("input ", i, " must be one ", reference::Name(element)));
    }
    operands.push_back(n.Has(i) ? b.Reshape(n.In(i), {1}) : Value());
  }
  const int64_t center = n.Int("center_point_box", 0);
  if (center != 0 && center != 1) {
    return absl::InvalidArgumentError(absl::StrCat("center_point_box is ", center, "; it must be 0 or 1"));
  }
  // Without a limit ONNX selects nothing.
  if (!operands[2]) operands[2] = b.Int64s({0});
  int64_t each = boxes.dim(1);
  if (const reference::Tensor* limit = operands[2].constant()) {
    each = std::clamp<int64_t>(limit->GetInt(0), 0, each);
  }
  const int64_t room = Elements(std::vector<int64_t>{scores.dim(0), scores.dim(1), each});
  const std::vector<Value> found = b.Emit(
      reference::Operation{
          "non_max_suppression", {{"center", center == 1}}, {{ElementType::kInt64, {room, 3}}, kCount}},
      operands);
  return Results{b.WithExtents(found[0], {{0, room == 0 ? b.Int64s({0}) : found[1]}})};
}

}  // namespace

Family DataSizesFamily() {
  static const std::vector<Operator> operators = {
      {"Compress", {9, 11}, 2, 2, ImportCompress},
      {"NonMaxSuppression", {10, 11}, 2, 5, ImportNonMaxSuppression},
      {"NonZero", {9, 13}, 1, 1, ImportNonZero},
      {"Unique", {11}, 1, 1, ImportUnique},
  };
  return {"sizes that the data decides", operators};
}

}  // namespace aot::import::onnx
