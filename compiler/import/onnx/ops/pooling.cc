// Pooling over windows and over all spatial dimensions.
#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/ops/pooling.h"
#include "compiler/import/onnx/ops/window.h"
#include "compiler/import/onnx/registry.h"

namespace aot::import::onnx {
namespace {

using reference::Attributes;
using reference::ElementType;
using reference::Shape;

constexpr int64_t kLargestP = int64_t{1} << 53;

// p was a float in version 1 of the Lp operators.
absl::StatusOr<int64_t> ReadP(Node& n) {
  int64_t p = 2;
  if (n.version() < 2) {
    const double value = n.Float("p", 2.0);
    if (value != std::floor(value) || value > 1e6) return Unsupported("a fractional p", "integers up to 1e6");
    p = static_cast<int64_t>(value);
  } else {
    p = n.Int("p", 2);
  }
  if (p < 1) return absl::InvalidArgumentError(absl::StrCat("p is ", p, ", it must be at least 1"));
  // What float64 has exactly, which powers are computed in.
  if (p > kLargestP) return Unsupported(absl::StrCat("p of ", p), absl::StrCat("p of at most ", kLargestP));
  return p;
}

// Where the largest element of each window is, as an index into the whole tensor: [N, C, sizes...]. Cells outside of
// the input stand for the first one inside, which changes nothing: of equal elements the first one counts.
absl::StatusOr<Value> MaxIndices(Node& n, const Shape& result) {
  constexpr int64_t kMostCells = int64_t{1} << 26;  // listed while compiling
  Builder& b = n.b;
  const Value& x = n.In(0);
  const size_t dims = result.size() - 2;
  ASSIGN_OR_RETURN(Window window, ReadWindow(n, dims, {}));
  ASSIGN_OR_RETURN(const Shape sizes,
                   SlidingSizes(window, absl::MakeConstSpan(x.shape()).subspan(2), n.Flag("ceil_mode", false)));
  const int64_t windows = Elements(sizes), cells = Elements(window.kernel), maps = Elements({x.dim(0), x.dim(1)});
  const absl::Span<const int64_t> spatial = absl::MakeConstSpan(x.shape()).subspan(2);
  const int64_t elements = Elements(spatial), listed = Elements({windows, cells});
  if (listed > kMostCells) {
    return Unsupported(absl::StrCat("indices of ", windows, " windows of ", cells, " elements"),
                       absl::StrCat("up to ", kMostCells, " elements of all windows"));
  }
  const bool column_major = n.Int("storage_order", 0) == 1;
  std::vector<int64_t> sources, indices;
  for (int64_t w = 0; w < windows; ++w) {
    int64_t first = -1;
    for (int64_t cell = 0; cell < cells; ++cell) {
      int64_t at = w, in = cell, row_major = 0, row_pitch = 1;
      bool inside = true;
      for (size_t d = dims; d-- > 0;) {
        const int64_t position =
            (at % sizes[d]) * window.strides[d] + (in % window.kernel[d]) * window.dilations[d] - window.pads[d];
        inside = inside && position >= 0 && position < spatial[d];
        row_major += position * row_pitch;
        row_pitch *= spatial[d];
        at /= sizes[d];
        in /= window.kernel[d];
      }
      if (inside && first < 0) {
        first = row_major;
        std::fill(sources.end() - cell, sources.end(), first);
      }
      sources.push_back(inside ? row_major : std::max<int64_t>(first, 0));
    }
  }
  for (int64_t source : sources) {
    int64_t rest = source, index = 0, pitch = elements;
    for (size_t d = dims; d-- > 0;) {
      pitch /= spatial[d];
      index += rest % spatial[d] * pitch;
      rest /= spatial[d];
    }
    indices.push_back(column_major ? index : source);
  }
  const Value taken = b.Emit("gather", {{"axis", int64_t{1}}}, {b.Reshape(x, {maps, elements}), b.Int64s(sources)},
                             {x.element(), {maps, listed}});
  const Value best = b.Emit("arg_max", {{"axis", int64_t{2}}, {"select_last", false}},
                            {b.Reshape(taken, {maps, windows, cells})}, {ElementType::kInt64, {maps, windows, 1}});
  std::vector<int64_t> window_starts, map_starts;
  for (int64_t w = 0; w < windows; ++w) window_starts.push_back(w * cells);
  for (int64_t m = 0; m < maps; ++m) map_starts.push_back(m * elements);
  const Value place = b.Add(b.Reshape(best, {maps, windows}), b.Int64s(window_starts));
  const Value in_map =
      b.Emit("gather", {{"axis", int64_t{0}}}, {b.Int64s(indices), place}, {ElementType::kInt64, place.shape()});
  return b.Reshape(b.Add(in_map, b.Reshape(b.Int64s(map_starts), {maps, 1})), result);
}

absl::StatusOr<Results> ImportPool(Node& n) {
  if (n.op() == "AveragePool") {
    ASSIGN_OR_RETURN(Value mean, Pool(n, n.In(0), "avg_pool"));
    return Results{mean};
  }
  if (n.op() == "LpPool") {
    ASSIGN_OR_RETURN(Value norm, Pool(n, n.In(0), "lp_pool"));
    return Results{norm};
  }
  ASSIGN_OR_RETURN(Value largest, Pool(n, n.In(0), "max_pool"));
  Results results{largest};
  if (n.Wants(1)) {
    ASSIGN_OR_RETURN(Value indices, MaxIndices(n, largest.shape()));
    results.push_back(std::move(indices));
  }
  return results;
}

absl::StatusOr<Results> ImportGlobalPool(Node& n) {
  const Value& x = n.In(0);
  RETURN_IF_ERROR(n.RequireRank(0, 2));
  std::vector<int64_t> spatial;
  for (int64_t i = 2; i < x.rank(); ++i) spatial.push_back(i);
  if (n.op() == "GlobalAveragePool") return Results{n.b.Reduce("reduce_mean", x, spatial)};
  if (n.op() == "GlobalMaxPool") return Results{n.b.Reduce("reduce_max", x, spatial)};
  // (sum |x|^p)^(1/p); the powers of higher p leave float32's range.
  RETURN_IF_ERROR(n.RequireFloat(0));
  ASSIGN_OR_RETURN(const int64_t p, ReadP(n));
  if (p == 1) return Results{n.b.Reduce("reduce_sum", n.b.Unary("abs", x), spatial)};
  if (p == 2) return Results{n.b.Unary("sqrt", n.b.Reduce("reduce_sum", n.b.Mul(x, x), spatial))};
  const Value magnitude = n.b.Unary("abs", n.b.Cast(x, ElementType::kFloat64));
  const Value powers = n.b.Binary("pow", magnitude, n.b.Scalar(ElementType::kFloat64, static_cast<double>(p)));
  const Value sum = n.b.Reduce("reduce_sum", powers, spatial);
  const Value inverse = n.b.Scalar(ElementType::kFloat64, 1.0 / static_cast<double>(p));
  return Results{n.b.Cast(n.b.Binary("pow", sum, inverse), x.element())};
}

}  // namespace

absl::StatusOr<Value> Pool(Node& n, const Value& x, const std::string& operation) {
  if (x.rank() < 3) {
    return absl::InvalidArgumentError(absl::StrCat("an input of ", reference::ToString(x.shape()), " has no windows"));
  }
  if (x.rank() > 5) {
    return Unsupported(absl::StrCat(x.rank() - 2, " spatial dimensions"), "1 to 3 spatial dimensions");
  }
  ASSIGN_OR_RETURN(Window window, ReadWindow(n, static_cast<size_t>(x.rank()) - 2, {}));
  ASSIGN_OR_RETURN(Shape sizes,
                   SlidingSizes(window, absl::MakeConstSpan(x.shape()).subspan(2), n.Flag("ceil_mode", false)));
  Shape shape{x.dim(0), x.dim(1)};
  shape.insert(shape.end(), sizes.begin(), sizes.end());
  Attributes attributes = {
      {"kernel", window.kernel}, {"strides", window.strides}, {"pads", window.pads}, {"dilations", window.dilations}};
  if (operation == "avg_pool") attributes["count_include_pad"] = n.Flag("count_include_pad", false);
  if (operation == "lp_pool") {
    ASSIGN_OR_RETURN(attributes["p"], ReadP(n));
  }
  return n.b.Emit(operation, std::move(attributes), {x}, {x.element(), std::move(shape)});
}

Family PoolingFamily() {
  static const std::vector<Operator> operators = {
      {"AveragePool", {1, 7, 10, 11, 19, 22}, 1, 1, ImportPool}, {"GlobalAveragePool", {1, 22}, 1, 1, ImportGlobalPool},
      {"GlobalLpPool", {1, 2, 22}, 1, 1, ImportGlobalPool},      {"GlobalMaxPool", {1, 22}, 1, 1, ImportGlobalPool},
      {"LpPool", {1, 2, 11, 18, 22}, 1, 1, ImportPool},          {"MaxPool", {1, 8, 10, 11, 12, 22}, 1, 1, ImportPool},
  };
  return {"pooling", operators};
}

}  // namespace aot::import::onnx
