// Shapes as values, and new shapes for the same elements.
#include <algorithm>
#include <numeric>
#include <set>

#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/registry.h"
#include "compiler/import/onnx/shape_error.h"

namespace aot::import::onnx {
namespace {

using reference::ElementType;
using reference::Shape;

absl::StatusOr<Results> ImportShape(Node& n) {
  const Shape& shape = n.In(0).shape();
  const int64_t rank = n.In(0).rank();
  auto clamp = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank); };
  const int64_t start = clamp(n.Int("start", 0));
  const int64_t end = std::max(start, clamp(n.Int("end", rank)));
  return Results{
      n.b.Int64s(absl::MakeConstSpan(shape).subspan(static_cast<size_t>(start), static_cast<size_t>(end - start)))};
}

absl::StatusOr<Results> ImportSize(Node& n) {
  return Results{n.b.Reshape(n.b.Int64s({Elements(n.In(0).shape())}), {})};
}

absl::StatusOr<Results> ImportReshape(Node& n) {
  const Value& x = n.In(0);
  std::vector<int64_t> shape;
  if (n.version() < 5) {
    shape = n.Ints("shape");
  } else {
    if (!n.Has(1)) return absl::InvalidArgumentError("input 1 is missing; the operator needs 2");
    ASSIGN_OR_RETURN(shape, n.ConstantInts(1, "the shape"));
  }
  const bool allow_zero = n.Flag("allowzero", false);
  int64_t known = 1;
  int64_t inferred = -1;
  if (shape.size() > kHighestRank) {
    return absl::InvalidArgumentError(
        absl::StrCat("a shape of ", shape.size(), " dimensions; at most ", kHighestRank, " are accepted"));
  }
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0 && !allow_zero) {
      if (static_cast<int64_t>(i) >= x.rank()) {
        return ShapeError(absl::StrCat("dimension ", i,
                                       " of the shape is 0 (copied from the input), but the input has ", x.rank(),
                                       " dimensions"));
      }
      shape[i] = x.dim(static_cast<int64_t>(i));
    }
    if (shape[i] == -1 && inferred < 0) {
      inferred = static_cast<int64_t>(i);
    } else if (shape[i] < 0 || __builtin_mul_overflow(known, shape[i], &known)) {
      return absl::InvalidArgumentError(absl::StrCat("a shape of ", reference::ToString(shape), " is not possible"));
    }
  }
  const int64_t count = Elements(x.shape());
  if (inferred >= 0 && known != 0) {
    shape[static_cast<size_t>(inferred)] = count / known;
    known *= count / known;
  } else if (inferred >= 0) {
    // Nothing says what -1 stands for; with no elements at all, 0 is as good as any.
    shape[static_cast<size_t>(inferred)] = 0;
  }
  if (known != count) {
    return ShapeError(absl::StrCat("an input of ", reference::ToString(x.shape()), " has ", count,
                                   " elements, the shape ", reference::ToString(shape), " does not"));
  }
  return Results{n.b.Reshape(x, std::move(shape))};
}

absl::StatusOr<std::vector<int64_t>> AxesAttributeOrInput(Node& n) {
  if (n.version() < 13) return n.Ints("axes");
  if (!n.Has(1)) return std::vector<int64_t>();
  return n.ConstantInts(1, "the axes");
}

absl::StatusOr<Results> ImportSqueeze(Node& n) {
  const Value& x = n.In(0);
  ASSIGN_OR_RETURN(std::vector<int64_t> axes, AxesAttributeOrInput(n));
  const bool all = axes.empty() && !(n.version() >= 13 && n.Has(1));
  ASSIGN_OR_RETURN(axes, n.Axes(std::move(axes), x.rank()));
  Shape shape;
  for (int64_t i = 0; i < x.rank(); ++i) {
    const bool chosen = std::binary_search(axes.begin(), axes.end(), i);
    if (chosen && x.dim(i) != 1) {
      return ShapeError(absl::StrCat("dimension ", i, " is ", x.dim(i), "; only dimensions of 1 can go"));
    }
    if (!chosen && !(all && x.dim(i) == 1)) shape.push_back(x.dim(i));
  }
  return Results{n.b.Reshape(x, std::move(shape))};
}

absl::StatusOr<Results> ImportUnsqueeze(Node& n) {
  const Value& x = n.In(0);
  ASSIGN_OR_RETURN(std::vector<int64_t> axes, AxesAttributeOrInput(n));
  const int64_t rank = x.rank() + static_cast<int64_t>(axes.size());
  if (rank > kHighestRank) {
    return absl::InvalidArgumentError(
        absl::StrCat("a result of ", rank, " dimensions; at most ", kHighestRank, " are accepted"));
  }
  ASSIGN_OR_RETURN(axes, n.Axes(std::move(axes), rank));
  Shape shape = x.shape();
  for (int64_t axis : axes) shape.insert(shape.begin() + axis, 1);  // ascending, so that each is in its final place
  return Results{n.b.Reshape(x, std::move(shape))};
}

absl::StatusOr<Results> ImportFlatten(Node& n) {
  const Value& x = n.In(0);
  const int64_t given = n.Int("axis", 1);
  ASSIGN_OR_RETURN(const int64_t axis, n.Axis(given, x.rank() + (given == x.rank() ? 1 : 0)));
  const auto dims = absl::MakeConstSpan(x.shape());
  Shape shape{Elements(dims.first(static_cast<size_t>(axis))), Elements(dims.subspan(static_cast<size_t>(axis)))};
  return Results{n.b.Reshape(x, std::move(shape))};
}

}  // namespace

Family ShapeFamily() {
  static const std::vector<Operator> operators = {
      {"Flatten", {1, 9, 11, 13, 21, 23, 24, 25}, 1, 1, ImportFlatten},
      {"Reshape", {1, 5, 13, 14, 19, 21, 23, 24, 25}, 1, 2, ImportReshape},
      {"Shape", {1, 13, 15, 19, 21, 23, 24, 25}, 1, 1, ImportShape},
      {"Size", {1, 13, 19, 21, 23, 24, 25}, 1, 1, ImportSize},
      {"Squeeze", {1, 11, 13, 21, 23, 24, 25}, 1, 2, ImportSqueeze},
      {"Unsqueeze", {1, 11, 13, 21, 23, 24, 25}, 1, 2, ImportUnsqueeze},
  };
  return {"shape", operators};
}

}  // namespace aot::import::onnx
